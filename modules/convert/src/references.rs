//! Character references of XML and HTML: `&amp;`, `&eacute;`, `&#x2014;`.

/// Text with its references as characters. One that is not known stays as it is written.
#[must_use]
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let end = tail.bytes().take(12).position(|byte| byte == b';');
        let found = end.and_then(|end| Some((character(tail.get(1..end)?)?, end + 1)));
        let (character, length) = found.unwrap_or(('&', 1));
        out.push(character);
        rest = tail.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// From U+00A0 on, in order.
const LATIN1: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro \
    para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute \
    Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN \
    szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute \
    ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";
const OTHERS: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("euro", '€'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("hellip", '…'),
    ("bull", '•'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("sbquo", '‚'),
    ("bdquo", '„'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("trade", '™'),
    ("larr", '←'),
    ("uarr", '↑'),
    ("rarr", '→'),
    ("darr", '↓'),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("le", '≤'),
    ("ge", '≥'),
    ("ne", '≠'),
    ("minus", '−'),
    ("OElig", 'Œ'),
    ("oelig", 'œ'),
    ("Scaron", 'Š'),
    ("scaron", 'š'),
    ("Yuml", 'Ÿ'),
    ("alpha", 'α'),
    ("beta", 'β'),
    ("gamma", 'γ'),
    ("delta", 'δ'),
    ("lambda", 'λ'),
    ("mu", 'μ'),
    ("pi", 'π'),
    ("sigma", 'σ'),
    ("omega", 'ω'),
    ("Omega", 'Ω'),
    ("Delta", 'Δ'),
    ("Sigma", 'Σ'),
    ("infin", '∞'),
    ("asymp", '≈'),
    ("sum", '∑'),
    ("radic", '√'),
    ("check", '✓'),
];

/// The character of a reference, told by what is between `&` and `;`: a name of HTML, or a number.
#[must_use]
pub fn character(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        // Numbers of Windows-1252 are meant as its characters.
        if let 0x80..=0x9f = code {
            let byte = [u8::try_from(code).ok()?];
            return encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte).0.chars().next();
        }
        return char::from_u32(code).filter(|c| !c.is_control() || c.is_whitespace());
    }
    if let Some((_, found)) = OTHERS.iter().find(|(name, _)| *name == entity) {
        return Some(*found);
    }
    let place = LATIN1.split_whitespace().position(|name| name == entity)?;
    char::from_u32(0xa0 + u32::try_from(place).ok()?)
}
