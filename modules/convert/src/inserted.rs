//! A file of another format that is inserted into a Word document as a whole: HTML, a mail archive of HTML, rich text, another document.

use anydoc::Format;

use super::lost::Lost;
use super::markdown;
use super::references::character;
use super::text::TextBuilder;

/// Its text.
///
/// # Errors
/// Why it has none.
pub fn text(bytes: &[u8]) -> Result<String, String> {
    if let Some(format) = Format::from_bytes(bytes) {
        // Not through a changed copy of its own: a file could hold itself.
        let document = anydoc::to_document(bytes, format).map_err(|error| error.to_string())?;
        let mut text = TextBuilder::default();
        markdown::write(&document, &mut text, &mut Lost::default());
        let text = text.finish(String::new(), Vec::new()).text;
        return Ok(format!("[inserted document, read without its comments, headers and symbols:]\n{text}"));
    }
    if bytes.starts_with(b"PK") {
        return Err("it is an archive without a document".to_owned());
    }
    let (decoded, _, _) = encoding_rs::UTF_8.decode(bytes);
    let head = decoded.get(..decoded.floor_char_boundary(2_000)).unwrap_or_default().to_ascii_lowercase();
    if head.contains("mime-version:") || head.contains("content-type: multipart") {
        return mail_archive(&decoded)
            .map(|html| without_markup(&html))
            .ok_or_else(|| "it has no part with HTML".to_owned());
    }
    Ok(if decoded.contains('<') { without_markup(&decoded) } else { decoded.into_owned() })
}

/// The first part of a mail archive that is HTML.
fn mail_archive(mail: &str) -> Option<String> {
    let mail = mail.replace("\r\n", "\n");
    let at = mail
        .to_ascii_lowercase()
        .find("content-type: text/html")
        .or_else(|| mail.to_ascii_lowercase().find("content-type:text/html"))?;
    let part = mail.get(at..)?;
    let (_, body) = part.split_once("\n\n")?;
    // The lines around the one that says the type.
    let start = mail.get(..at)?.rfind("\n\n").unwrap_or_default();
    let headers = mail.get(start..at + part.find("\n\n")?)?.to_ascii_lowercase();
    let body = body.split("\n--").next()?;
    if headers.contains("quoted-printable") {
        return Some(quoted_printable(body));
    }
    (!headers.contains("base64")).then(|| body.to_owned())
}

fn quoted_printable(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'=' {
            out.push(*first);
        } else if let Some(after) = rest.strip_prefix(b"\n") {
            rest = after;
        } else if let Some(byte) =
            rest.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()).and_then(|hex| u8::from_str_radix(hex, 16).ok())
        {
            out.push(byte);
            rest = rest.get(2..).unwrap_or_default();
        } else {
            out.push(b'=');
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The text of HTML: a line for each block, cells apart by a bar.
fn without_markup(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    let mut skipped: Option<&str> = None;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        if skipped.is_none() {
            push_text(text, &mut out);
        }
        let end =
            if tag.starts_with("<!--") { tag.find("-->").map(|end| end + 3) } else { tag.find('>').map(|end| end + 1) };
        let Some(end) = end else {
            rest = "";
            break;
        };
        let inner = tag.get(1..end - 1).unwrap_or_default().to_ascii_lowercase();
        let name: String =
            inner.trim_start_matches('/').chars().take_while(|one| one.is_ascii_alphanumeric()).collect();
        match (skipped, inner.starts_with('/')) {
            (Some(of), true) if of == name => skipped = None,
            (Some(_), _) => {}
            (None, false) => skipped = ["script", "style", "head", "title"].into_iter().find(|one| *one == name),
            _ => {}
        }
        match name.as_str() {
            "td" | "th" if inner.starts_with('/') => out.push_str(" | "),
            "p" | "div" | "br" | "li" | "tr" | "table" | "ul" | "ol" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6"
            | "hr" => out.push('\n'),
            _ => {}
        }
        rest = tag.get(end..).unwrap_or_default();
    }
    push_text(rest, &mut out);
    let lines: Vec<String> = out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

fn push_text(text: &str, out: &mut String) {
    let mut parts = text.split('&');
    out.push_str(&parts.next().unwrap_or_default().replace(['\n', '\r'], " "));
    for part in parts {
        match part.split_once(';').and_then(|(name, after)| Some((character(name)?, after))) {
            Some((one, after)) => {
                out.push(one);
                out.push_str(&after.replace(['\n', '\r'], " "));
            }
            None => {
                out.push('&');
                out.push_str(&part.replace(['\n', '\r'], " "));
            }
        }
    }
}
