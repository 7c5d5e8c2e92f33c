//! The encoding of a fetched text, decided as a browser decides it: a byte order mark, the header, what the text declares in its
//! first bytes, and for pages that declare nothing and are no UTF-8 the usual encoding of their language.

/// Declarations further back do not count (HTML standard, "prescan a byte stream").
const PRESCAN: usize = 1024;

/// Encodings of pages without a declaration, by language (HTML standard, "determining the character encoding"); all others are
/// `windows-1252`.
const BY_LANGUAGE: &[(&str, &str)] = &[
    ("ar", "windows-1256"),
    ("az", "windows-1254"),
    ("ba", "windows-1251"),
    ("be", "windows-1251"),
    ("bg", "windows-1251"),
    ("cs", "windows-1250"),
    ("el", "ISO-8859-7"),
    ("et", "windows-1257"),
    ("fa", "windows-1256"),
    ("he", "windows-1255"),
    ("hr", "windows-1250"),
    ("hu", "ISO-8859-2"),
    ("ja", "Shift_JIS"),
    ("kk", "windows-1251"),
    ("ko", "EUC-KR"),
    ("ku", "windows-1254"),
    ("ky", "windows-1251"),
    ("lt", "windows-1257"),
    ("lv", "windows-1257"),
    ("mk", "windows-1251"),
    ("pl", "ISO-8859-2"),
    ("ru", "windows-1251"),
    ("sah", "windows-1251"),
    ("sk", "windows-1250"),
    ("sl", "ISO-8859-2"),
    ("sr", "windows-1251"),
    ("tg", "windows-1251"),
    ("th", "windows-874"),
    ("tr", "windows-1254"),
    ("tt", "windows-1251"),
    ("uk", "windows-1251"),
    ("vi", "windows-1258"),
    ("zh-hant", "Big5"),
    ("zh-tw", "Big5"),
    ("zh-hk", "Big5"),
    ("zh", "gb18030"),
];

/// The usual encoding of pages in all other languages.
pub const FALLBACK: &str = "windows-1252";

/// The declared encoding of a text, as a label for a decoder, in small letters. The label need not exist.
#[must_use]
pub fn declared(content_type: &str, text: &[u8]) -> Option<String> {
    let mark = match text {
        [0xEF, 0xBB, 0xBF, ..] => Some("utf-8"),
        [0xFE, 0xFF, ..] => Some("utf-16be"),
        [0xFF, 0xFE, ..] => Some("utf-16le"),
        _ => None,
    };
    let header = || charset(&content_type.to_ascii_lowercase());
    mark.map(str::to_owned).or_else(header).or_else(|| in_text(&head(text)))
}

/// The usual encoding of a page that declares none, by its language.
#[must_use]
pub fn usual(text: &[u8]) -> &'static str {
    let head = head(text);
    let html = head.split("<html").nth(1).and_then(|tail| tail.split('>').next()).unwrap_or_default();
    let language = html.split("lang=").nth(1).unwrap_or_default().trim_start_matches(['"', '\'']);
    let found = BY_LANGUAGE.iter().find(|(tag, _)| {
        language.strip_prefix(tag).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    });
    found.map_or(FALLBACK, |(_, label)| label)
}

/// The first bytes in small letters, other than ASCII left out.
fn head(text: &[u8]) -> String {
    let ascii = text.iter().take(PRESCAN).filter(|byte| byte.is_ascii());
    ascii.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

fn in_text(head: &str) -> Option<String> {
    if let Some(xml) = head.trim_start().strip_prefix("<?xml") {
        let encoding = xml.split("?>").next()?.split("encoding").nth(1)?.trim_start().strip_prefix('=')?;
        return Some(label(encoding.trim_start())).filter(|label| !label.is_empty());
    }
    // Comments are no declarations.
    let head: String = head
        .split("<!--")
        .enumerate()
        .map(|(n, part)| if n == 0 { part } else { part.split_once("-->").map_or("", |(_, rest)| rest) })
        .collect();
    let named = head.split("<meta").skip(1).find_map(|tag| charset(tag.split('>').next().unwrap_or_default()))?;
    // A text whose declaration can be read in ASCII is not in these.
    Some(match named.as_str() {
        utf16 if utf16.starts_with("utf-16") => "utf-8".to_owned(),
        "x-user-defined" => "windows-1252".to_owned(),
        _ => named,
    })
}

/// The value of `charset=`.
fn charset(text: &str) -> Option<String> {
    text.split("charset").skip(1).find_map(|tail| {
        let value = label(tail.trim_start().strip_prefix('=')?.trim_start());
        (!value.is_empty()).then_some(value)
    })
}

fn label(text: &str) -> String {
    let text = text.trim_start_matches(['"', '\'']);
    text.split(['"', '\'', ';', ' ', '/', '>', '?', ',']).next().unwrap_or_default().trim().to_owned()
}
