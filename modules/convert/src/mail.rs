//! Mails, folders of mails (mbox) and web archives (MHTML) as Markdown: their headers, bodies, and the names of what is attached.

use std::borrow::Cow;
use std::collections::BTreeSet;

use mail_parser::{Address, Encoding, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use super::html;
use super::text::TextBuilder;
use turnwise_files::document::{Document, PackedFile};
use turnwise_files::size_text;

/// Messages of a folder that are read.
const MAX_MESSAGES: usize = 10_000;

/// # Errors
/// A sentence that says why there is no text.
pub fn convert(bytes: &[u8]) -> Result<Document, String> {
    let messages = messages(bytes);
    let mut text = TextBuilder::default();
    let mut notes = Vec::new();
    let mut files = Vec::new();
    let many = messages.len() > 1;
    let mut archive = false;
    for (number, raw) in messages.iter().take(MAX_MESSAGES).enumerate() {
        let Some(message) = MessageParser::default().parse(*raw) else {
            notes.push(format!("message {} is damaged and was not read", number + 1));
            continue;
        };
        if many {
            text.marked(&format!("message {}", number + 1));
        }
        archive = is_web_archive(&message);
        write(&message, archive, &mut text, &mut notes);
        let attached = attached(&message, archive, if many { number + 1 } else { 0 });
        if !attached.is_empty() {
            text.gap();
            text.line("Attached:");
            for (file, part) in &attached {
                let kind = part.content_type().map(kind_of).unwrap_or_default();
                text.line(&format!("- {}  {}{kind}", file.path, size_text(file.size)));
            }
        }
        files.extend(attached.into_iter().map(|(file, _)| file));
        if text.is_full() {
            break;
        }
    }
    if messages.len() > MAX_MESSAGES {
        notes.push(format!("only the first {MAX_MESSAGES} of {} messages were read", messages.len()));
    }
    if text.is_blank() && files.is_empty() {
        return Err("it is a mail without text".to_owned());
    }
    let kind = match (many, archive) {
        (true, _) => format!("mail folder, {} messages", messages.len()),
        (false, true) => "web archive (MHTML)".to_owned(),
        (false, false) => "mail".to_owned(),
    };
    if !files.is_empty() {
        notes.push("what is attached can be read by its path below that of this file".to_owned());
    }
    let mut document = text.finish(kind, notes);
    document.files = files;
    Ok(document)
}

/// The content of an attached file, by its path in [`Document::files`]. Text is in UTF-8.
///
/// # Errors
/// A sentence: there is none.
pub fn attachment(bytes: &[u8], path: &str) -> Result<Vec<u8>, String> {
    let messages = messages(bytes);
    let many = messages.len() > 1;
    for (number, raw) in messages.iter().take(MAX_MESSAGES).enumerate() {
        let Some(message) = MessageParser::default().parse(*raw) else { continue };
        let attached = attached(&message, is_web_archive(&message), if many { number + 1 } else { 0 });
        if let Some((_, part)) = attached.iter().find(|(file, _)| file.path == path) {
            return Ok(part.contents().to_vec());
        }
    }
    Err("it is not attached to this mail".to_owned())
}

/// The messages of a folder; of anything else, the whole.
fn messages(bytes: &[u8]) -> Vec<&[u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = bytes.trim_ascii_start();
    if !bytes.starts_with(b"From ") {
        return vec![bytes];
    }
    // Each begins with such a line below an empty one, or at the start.
    let mut starts = Vec::new();
    let mut at = 0;
    let mut blank = true;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if blank && line.starts_with(b"From ") && line.contains(&b':') {
            starts.push((at, at + line.len()));
        }
        blank = line.trim_ascii().is_empty();
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([bytes.len()]);
    starts.iter().zip(ends).filter_map(|((_, from), to)| bytes.get(*from..to)).collect()
}

/// Whether it is a page with its pictures rather than a mail: it has no receiver, and its root is HTML with related parts.
fn is_web_archive(message: &Message<'_>) -> bool {
    let related = message.content_type().is_some_and(|kind| {
        kind.ctype().eq_ignore_ascii_case("multipart")
            && kind.subtype().is_some_and(|sub| sub.eq_ignore_ascii_case("related"))
    });
    let page = message.content_type().is_some_and(|kind| {
        kind.subtype().is_some_and(|sub| sub.eq_ignore_ascii_case("html")) && message.content_location().is_some()
    });
    (related || page) && message.to().is_none()
}

fn write(message: &Message<'_>, archive: bool, text: &mut TextBuilder, notes: &mut Vec<String>) {
    if let Some(subject) = message.subject().map(str::trim).filter(|subject| !subject.is_empty()) {
        text.line(&format!("# {}", subject.split_whitespace().collect::<Vec<_>>().join(" ")));
        text.gap();
    }
    if !archive {
        let people = [
            ("From", message.from()),
            ("To", message.to()),
            ("Cc", message.cc()),
            ("Bcc", message.bcc()),
            ("Reply-To", message.reply_to()),
        ];
        for (name, address) in people {
            let address = address.map(addresses).filter(|address| !address.is_empty());
            if let Some(address) = address {
                text.line(&format!("{name}: {address}"));
            }
        }
        if let Some(date) = message.date() {
            text.line(&format!("Date: {}", date.to_rfc3339()));
        }
        text.gap();
    }
    // The same text in two forms: the plain one, unless it only says that there is another.
    let plain: Vec<Cow<'_, str>> = message
        .text_bodies()
        .filter(|part| part.is_text() && !part.is_text_html())
        .map(|part| body(message, part))
        .collect();
    let pages: Vec<Cow<'_, str>> =
        message.html_bodies().filter(|part| part.is_text_html()).map(|part| body(message, part)).collect();
    let words = |texts: &[Cow<'_, str>]| texts.iter().map(|text| text.split_whitespace().count()).sum::<usize>();
    let mut page = TextBuilder::default();
    for html in &pages {
        html::write(html, &mut page);
    }
    let page_words = words(&[Cow::Borrowed(page.written())]);
    if archive || words(&plain) * 4 < page_words {
        for html in &pages {
            html::write(html, text);
            text.gap();
        }
    } else {
        for part in &plain {
            for line in part.trim_end().lines() {
                text.line(line.trim_end_matches('\r'));
            }
            text.gap();
        }
    }
    let problems = message.parts.iter().filter(|part| part.is_encoding_problem).count();
    if problems > 0 {
        notes.push(format!("{problems} of its parts are not encoded as they say, and were read as far as possible"));
    }
    let lost: usize = plain.iter().chain(&pages).map(|text| text.matches(char::REPLACEMENT_CHARACTER).count()).sum();
    if lost > 0 {
        notes.push(format!(
            "{lost} places are no characters of the encoding that the mail names, and are shown as U+FFFD"
        ));
    }
    let encrypted =
        message.content_type().and_then(|kind| kind.subtype()).is_some_and(|sub| sub.eq_ignore_ascii_case("encrypted"));
    if encrypted {
        notes.push("it is encrypted: its text is in a part that cannot be read".to_owned());
    }
}

/// The text of a part. Some programs name no encoding, or ASCII, for what is neither: it is UTF-8 if it can be read so, else Windows-1252.
fn body<'m>(message: &'m Message<'_>, part: &'m MessagePart<'_>) -> Cow<'m, str> {
    let text = part.text_contents().unwrap_or_default();
    let named = part.content_type().and_then(|kind| kind.attribute("charset"));
    let raw = message.raw_message.get(part.offset_body as usize..part.offset_end as usize);
    let unnamed = named.is_none_or(|name| name.eq_ignore_ascii_case("us-ascii") || name.eq_ignore_ascii_case("utf-8"));
    match (raw, part.encoding) {
        (Some(raw), Encoding::None) if unnamed && !raw.is_ascii() => match std::str::from_utf8(raw) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(raw).0,
        },
        _ => Cow::Borrowed(text),
    }
}

fn addresses(address: &Address<'_>) -> String {
    let one = |name: Option<&str>, address: Option<&str>| match (name, address) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    };
    address
        .iter()
        .map(|addr| one(addr.name(), addr.address()))
        .filter(|one| !one.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

fn kind_of(kind: &mail_parser::ContentType<'_>) -> String {
    format!("  {}/{}", kind.ctype(), kind.subtype().unwrap_or("*"))
}

/// What is attached to a message: parts with a name of their own, and the mails in it. The pictures of a web archive count too.
/// `number`: of the message in its folder, or 0.
fn attached<'m>(message: &'m Message<'_>, archive: bool, number: usize) -> Vec<(PackedFile, &'m MessagePart<'m>)> {
    let mut found = Vec::new();
    let mut taken = BTreeSet::new();
    for part in message.attachments() {
        let location = part.content_location().and_then(|location| location.rsplit('/').next());
        let subject = part.message().and_then(Message::subject).map(|subject| format!("{subject}.eml"));
        let name = part.attachment_name().map(str::to_owned).or(subject).or_else(|| location.map(str::to_owned));
        let name =
            name.or_else(|| archive.then(|| part.content_id().map(str::to_owned)).flatten()).unwrap_or_else(|| {
                let ending = match &part.body {
                    PartType::Message(_) => "eml",
                    PartType::Html(_) => "html",
                    PartType::Text(_) => "txt",
                    _ => part.content_type().and_then(|kind| kind.subtype()).unwrap_or("bin"),
                };
                format!("unnamed.{ending}")
            });
        let plain: String = name
            .trim()
            .chars()
            .map(|c| if c.is_control() || matches!(c, '/' | '\\') { '_' } else { c })
            .take(200)
            .collect();
        let plain = if plain.trim_matches('.').is_empty() { "unnamed".to_owned() } else { plain };
        let base = if number == 0 { plain } else { format!("{number}/{plain}") };
        let mut path = base.clone();
        let mut again = 2;
        while !taken.insert(path.clone()) {
            path = format!("{base} ({again})");
            again += 1;
        }
        found.push((PackedFile { path, size: part.contents().len() as u64 }, part));
    }
    found
}
