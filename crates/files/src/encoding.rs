//! How the bytes of a text become characters. PURE.
//!
//! UTF-8, UTF-16 and UTF-32 are told and read here. The encodings of old need tables, which a worker has
//! ([`Files::decode`](crate::Files::decode)); here is what a file declares, and whether bytes can be text at all.

/// A text, and how its bytes are to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText {
    /// Without byte order mark. What is no character of the encoding is U+FFFD.
    pub text: String,
    pub encoding: TextEncoding,
    /// The number of U+FFFD that stand for bytes which are no characters.
    pub faults: usize,
}

/// The encoding of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEncoding {
    /// Its name as the Encoding Standard has it, such as `UTF-8`, `windows-1252` or `Shift_JIS`; `UTF-32LE` and `UTF-32BE` too.
    pub name: String,
    /// Whether a byte order mark is before the text.
    pub bom: bool,
    pub origin: EncodingOrigin,
}

/// How an encoding was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingOrigin {
    /// A byte order mark says so, or the bytes are valid UTF-8.
    Certain,
    /// The text names it, as HTML and XML do.
    Declared,
    /// From the bytes alone.
    Guessed,
}

/// What bytes are, as far as it can be told without the tables of old encodings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognized {
    Text(DecodedText),
    /// Text in an old encoding: the one that it declares, or one to be guessed.
    Old {
        declared: Option<String>,
    },
    Binary,
}

/// Where a text names its encoding, in bytes.
const DECLARED_IN: usize = 2_048;
/// Of so many bytes that are no characters, at most one may be a fault of a text in UTF-8: with more, it is another encoding.
const CHARACTERS_PER_FAULT: usize = 4;

impl TextEncoding {
    fn certain(name: &str, bom: bool) -> Self {
        TextEncoding { name: name.to_owned(), bom, origin: EncodingOrigin::Certain }
    }

    /// Whether it is UTF-8.
    #[must_use]
    pub fn is_utf8(&self) -> bool {
        self.name == "UTF-8"
    }

    /// The name, as people write it: `Windows-1252`.
    #[must_use]
    pub fn shown(&self) -> String {
        self.name.replace("windows", "Windows")
    }
}

impl DecodedText {
    /// What has to be said about the text before it is shown; `None` of plain UTF-8.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let name = self.encoding.shown();
        let mut notes = Vec::new();
        match self.encoding.origin {
            EncodingOrigin::Certain if self.encoding.is_utf8() => {}
            EncodingOrigin::Certain => notes.push(format!("in {name}")),
            EncodingOrigin::Declared => notes.push(format!("in {name}, as it declares")),
            EncodingOrigin::Guessed => notes.push(format!("in {name}, guessed from its bytes")),
        }
        match self.faults {
            0 => {}
            1 => notes.push(format!("1 place is no character of {name} and is shown as U+FFFD")),
            faults => notes.push(format!("{faults} places are no characters of {name} and are shown as U+FFFD")),
        }
        match self.text.bytes().filter(|byte| *byte == 0).count() {
            0 => {}
            1 => notes.push("1 NUL byte, shown as ␀".to_owned()),
            count => notes.push(format!("{count} NUL bytes, shown as ␀")),
        }
        if notes.is_empty() {
            return None;
        }
        if self.encoding.is_utf8() {
            notes.insert(0, format!("in {name}"));
        }
        Some(notes.join("; "))
    }

    /// The text as it is shown: a NUL byte is `␀`, and many are `␀×4096`.
    #[must_use]
    pub fn shown(self) -> String {
        if !self.text.contains('\0') {
            return self.text;
        }
        let mut out = String::with_capacity(self.text.len());
        let mut rest = self.text.as_str();
        while let Some(at) = rest.find('\0') {
            let (before, from) = rest.split_at(at);
            let after = from.trim_start_matches('\0');
            let count = from.len() - after.len();
            out.push_str(before);
            if count < 4 {
                out.extend(std::iter::repeat_n('␀', count));
            } else {
                out.push_str(&format!("␀×{count}"));
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

/// What these bytes are: the whole of a file, or its beginning.
#[must_use]
pub fn recognize(bytes: &[u8]) -> Recognized {
    if let Some(text) = marked(bytes) {
        return Recognized::Text(text);
    }
    if !bytes.contains(&0) {
        return without_nul(bytes);
    }
    if let Some(text) = unmarked_utf16(bytes) {
        return Recognized::Text(text);
    }
    // A log that was cut while its program wrote on begins with a hole, and some programs write NUL between records.
    let Counts { text, odd, runs, lines } = Counts::of(bytes);
    match utf8(bytes, false) {
        _ if text == 0 || odd * 200 > text => Recognized::Binary,
        Some(decoded) => Recognized::Text(decoded),
        None if runs <= lines => Recognized::Old { declared: declared(bytes) },
        None => Recognized::Binary,
    }
}

fn without_nul(bytes: &[u8]) -> Recognized {
    if let Some(text) = utf8(bytes, false) {
        // The 7-bit encoding of Japanese mail switches with escape sequences.
        let switches = |sequence: &[u8]| bytes.windows(3).any(|window| window == sequence);
        if bytes.is_ascii() && bytes.contains(&0x1b) && (switches(b"\x1b$B") || switches(b"\x1b$@")) {
            return Recognized::Old { declared: Some("ISO-2022-JP".to_owned()) };
        }
        return Recognized::Text(text);
    }
    let Counts { text, odd, .. } = Counts::of(bytes);
    if odd * 200 > text { Recognized::Binary } else { Recognized::Old { declared: declared(bytes) } }
}

/// What decides whether bytes are text.
struct Counts {
    /// Bytes that are not NUL.
    text: usize,
    /// Control characters that texts do not have.
    odd: usize,
    /// Runs of NUL.
    runs: usize,
    lines: usize,
}

impl Counts {
    fn of(bytes: &[u8]) -> Self {
        let mut counts = Counts { text: 0, odd: 0, runs: 0, lines: 0 };
        let mut before = 1;
        for byte in bytes {
            match byte {
                0 => counts.runs += usize::from(before != 0),
                b'\n' => counts.lines += 1,
                b'\t' | b'\r' | 0x08 | 0x0b | 0x0c | 0x1b => {}
                1..0x20 | 0x7f => counts.odd += 1,
                _ => {}
            }
            counts.text += usize::from(*byte != 0);
            before = *byte;
        }
        counts
    }
}

/// A text with a byte order mark.
fn marked(bytes: &[u8]) -> Option<DecodedText> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return utf8(rest, true);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe\0\0")
        && rest.len().is_multiple_of(4)
        && !rest.is_empty()
    {
        return Some(utf32("UTF-32LE", rest, u32::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\0\0\xfe\xff") {
        return Some(utf32("UTF-32BE", rest, u32::from_be_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Some(utf16("UTF-16LE", rest, true)).filter(plausible);
    }
    let rest = bytes.strip_prefix(b"\xfe\xff")?;
    Some(utf16("UTF-16BE", rest, true)).filter(plausible)
}

/// Whether what was read as UTF-16 can be a text: two bytes of a binary file may look like a mark.
fn plausible(decoded: &DecodedText) -> bool {
    let (mut all, mut odd) = (0_usize, decoded.faults);
    for c in decoded.text.chars() {
        all += 1;
        odd += usize::from(c.is_control() && !c.is_whitespace() && c != '\0' && c != '\u{1b}');
    }
    odd * 20 <= all
}

/// UTF-8 if it is valid, or as good as valid.
fn utf8(bytes: &[u8], bom: bool) -> Option<DecodedText> {
    let encoding = TextEncoding::certain("UTF-8", bom);
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(DecodedText { text: text.to_owned(), encoding, faults: 0 });
    }
    let (mut text, mut faults, mut characters) = (String::with_capacity(bytes.len()), 0, 0);
    for chunk in bytes.utf8_chunks() {
        characters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            faults += 1;
        }
    }
    (bom || faults * CHARACTERS_PER_FAULT <= characters).then_some(DecodedText { text, encoding, faults })
}

fn utf16(name: &str, bytes: &[u8], bom: bool) -> DecodedText {
    let little = name == "UTF-16LE";
    let (units, rest) = bytes.as_chunks::<2>();
    let units = units.iter().map(|unit| if little { u16::from_le_bytes(*unit) } else { u16::from_be_bytes(*unit) });
    let (mut text, mut faults) = (String::with_capacity(bytes.len()), 0);
    for c in char::decode_utf16(units) {
        faults += usize::from(c.is_err());
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
        faults += 1;
    }
    DecodedText { text, encoding: TextEncoding::certain(name, bom), faults }
}

fn utf32(name: &str, bytes: &[u8], number: fn([u8; 4]) -> u32) -> DecodedText {
    let (mut text, mut faults) = (String::with_capacity(bytes.len() / 2), 0);
    let (units, rest) = bytes.as_chunks::<4>();
    for unit in units {
        let c = char::from_u32(number(*unit));
        faults += usize::from(c.is_none());
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
        faults += 1;
    }
    DecodedText { text, encoding: TextEncoding::certain(name, true), faults }
}

/// UTF-16 without a byte order mark: the NUL bytes are on one side of the pairs only, and the text has nothing odd.
fn unmarked_utf16(bytes: &[u8]) -> Option<DecodedText> {
    let (units, rest) = bytes.as_chunks::<2>();
    let count = |side: usize| units.iter().filter(|unit| unit.get(side) == Some(&0)).count();
    let name = match (count(0), count(1)) {
        (0, low) if low > 0 => "UTF-16LE",
        (high, 0) if high > 0 => "UTF-16BE",
        _ => return None,
    };
    // Records between NUL bytes, all of an odd length, look like it too.
    let Counts { text, odd, .. } = Counts::of(bytes);
    let nul = bytes.len() - text;
    if nul * 10 < units.len() * 7 && odd * 200 <= text && std::str::from_utf8(bytes).is_ok() {
        return None;
    }
    // The beginning of a file may end within a character.
    let bytes = bytes.get(..bytes.len() - rest.len())?;
    let mut decoded = utf16(name, bytes, false);
    let (mut plain, mut all) = (0_usize, 0_usize);
    for c in decoded.text.chars() {
        if c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}') {
            return None;
        }
        all += 1;
        plain += usize::from(c.is_ascii());
    }
    if decoded.faults > 0 || !rest.is_empty() || all < 2 || plain * 10 < all {
        return None;
    }
    decoded.encoding.origin = EncodingOrigin::Guessed;
    Some(decoded)
}

/// The encoding that a text names in its first lines: XML, HTML, CSS, mail and translation files, Python, Ruby, Emacs and Vim, LaTeX.
fn declared(bytes: &[u8]) -> Option<String> {
    let head: String = bytes.iter().take(DECLARED_IN).map(|byte| char::from(*byte).to_ascii_lowercase()).collect();
    let name = |after: &str| -> Option<String> {
        let rest = after.trim_start();
        let rest = rest.strip_prefix(['=', ':']).map_or(rest, str::trim_start);
        let rest = rest.trim_start_matches(['"', '\'']);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c)).unwrap_or(rest.len());
        let name = rest.get(..end)?;
        (name.len() > 2).then(|| name.to_owned())
    };
    // A text about encodings is no declaration: each stands where its format has it.
    if head.trim_start().starts_with("<?xml") {
        let declaration = head.split_once("?>").map_or(head.as_str(), |(declaration, _)| declaration);
        return declaration.split_once("encoding").and_then(|(_, after)| name(after));
    }
    if let Some(after) = head.strip_prefix("@charset ") {
        return name(after);
    }
    let lines = || head.lines().map(str::trim_start);
    if head.contains("<meta") {
        return head.split("<meta").skip(1).find_map(|tag| {
            let tag = tag.split('>').next()?;
            tag.split_once("charset").and_then(|(_, after)| name(after))
        });
    }
    let comment = lines().take(2).filter(|line| line.starts_with(['#', '/', ';', '%', '-', '"', '*']));
    if let Some(found) = comment.filter_map(|line| line.split_once("coding")).find_map(|(_, after)| name(after)) {
        return Some(found.trim_end_matches("-unix").trim_end_matches("-dos").to_owned());
    }
    if let Some(line) = lines().find(|line| line.starts_with("\\usepackage") && line.contains("{inputenc}")) {
        let option = line.split_once('[')?.1.split_once(']')?.0;
        return Some(
            match option {
                "latin1" | "ansinew" => "windows-1252",
                "latin2" => "iso-8859-2",
                "latin9" => "iso-8859-15",
                "applemac" => "macintosh",
                "cp1250" => "windows-1250",
                "cp1251" => "windows-1251",
                "koi8-r" => "koi8-r",
                _ => return None,
            }
            .to_owned(),
        );
    }
    let header = lines().find(|line| line.trim_start_matches('"').starts_with("content-type:"))?;
    header.split_once("charset").and_then(|(_, after)| name(after))
}

/// Whether a text says that it is in UTF-8, as HTML and XML do.
#[must_use]
pub fn declares_utf8(text: &str) -> bool {
    declared(text.as_bytes()).is_some_and(|name| matches!(name.as_str(), "utf-8" | "utf8"))
}

/// The bytes of a text in UTF-8, UTF-16 or UTF-32, without byte order mark; `None` in any other encoding.
#[must_use]
pub fn encode_unicode(text: &str, name: &str) -> Option<Vec<u8>> {
    Some(match name {
        "UTF-8" => text.as_bytes().to_vec(),
        "UTF-16LE" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "UTF-16BE" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        "UTF-32LE" => text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
        "UTF-32BE" => text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
        _ => return None,
    })
}

/// The byte order mark of an encoding; empty if it has none.
#[must_use]
pub fn byte_order_mark(name: &str) -> &'static [u8] {
    match name {
        "UTF-8" => b"\xef\xbb\xbf",
        "UTF-16LE" => b"\xff\xfe",
        "UTF-16BE" => b"\xfe\xff",
        "UTF-32LE" => b"\xff\xfe\0\0",
        "UTF-32BE" => b"\0\0\xfe\xff",
        _ => b"",
    }
}
