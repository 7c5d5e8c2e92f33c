//! Messages of Outlook (MSG): subject, people, text, and the names of what is attached. [MS-OXMSG], [MS-OXPROPS].

use std::io::{Cursor, Read};

use super::html;
use super::text::TextBuilder;
use turnwise_files::document::Document;

type OutlookFile<'a> = cfb::CompoundFile<Cursor<&'a [u8]>>;

/// The text of a message; `None`: it is another compound file.
pub fn convert(bytes: &[u8]) -> Option<Result<Document, String>> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    if !file.exists("/__properties_version1.0") || !file.exists("/__nameid_version1.0") {
        return None;
    }
    let mut text = TextBuilder::default();
    let mut notes = Vec::new();
    if let Some(subject) = property(&mut file, "", "0037") {
        text.line(&format!("# {}", subject.split_whitespace().collect::<Vec<_>>().join(" ")));
        text.gap();
    }
    let from =
        [property(&mut file, "", "0C1A"), property(&mut file, "", "5D01").or_else(|| property(&mut file, "", "0C1F"))];
    for (name, value) in
        [("From", join(from)), ("To", property(&mut file, "", "0E04")), ("Cc", property(&mut file, "", "0E03"))]
    {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text.line(&format!("{name}: {value}"));
        }
    }
    text.gap();
    if let Some(body) = property(&mut file, "", "1000") {
        for line in body.trim_end().lines() {
            text.line(line.trim_end_matches('\r'));
        }
    } else if let Some(page) =
        stream(&mut file, "/__substg1.0_10130102").or_else(|| stream(&mut file, "/__substg1.0_1013001F"))
    {
        let page = String::from_utf8(page)
            .unwrap_or_else(|error| encoding_rs::WINDOWS_1252.decode(error.as_bytes()).0.into_owned());
        html::write(&page, &mut text);
    } else if file.exists("/__substg1.0_10090102") {
        notes.push(
            "its text is only there as packed rich text, which is not read: save it as .eml or .txt and add that"
                .to_owned(),
        );
    }
    let folders: Vec<String> = file
        .read_storage("/")
        .map(|entries| {
            entries
                .map(|entry| entry.name().to_owned())
                .filter(|name| name.starts_with("__attach_version1.0_"))
                .collect()
        })
        .unwrap_or_default();
    if !folders.is_empty() {
        text.gap();
        text.line("Attached:");
        for folder in folders {
            let at = format!("/{folder}");
            let name = property(&mut file, &at, "3707")
                .or_else(|| property(&mut file, &at, "3704"))
                .or_else(|| property(&mut file, &at, "3001"));
            text.line(&format!("- {}", name.unwrap_or_else(|| "unnamed".to_owned())));
        }
        notes.push("what is attached is named, not read: save it by itself and add that".to_owned());
    }
    if text.is_blank() {
        return Some(Err("it is an Outlook message without text that can be read".to_owned()));
    }
    Some(Ok(text.finish("Outlook message".to_owned(), notes)))
}

fn join(parts: [Option<String>; 2]) -> Option<String> {
    match parts {
        [Some(name), Some(address)] if name != address => Some(format!("{name} <{address}>")),
        [name, address] => name.or(address),
    }
}

/// A text property: in UTF-16, or in a code page of Windows.
fn property(file: &mut OutlookFile<'_>, storage: &str, id: &str) -> Option<String> {
    let text = match stream(file, &format!("{storage}/__substg1.0_{id}001F")) {
        Some(bytes) => encoding_rs::UTF_16LE.decode_without_bom_handling(&bytes).0.into_owned(),
        None => {
            let bytes = stream(file, &format!("{storage}/__substg1.0_{id}001E"))?;
            String::from_utf8(bytes).unwrap_or_else(|error| {
                encoding_rs::WINDOWS_1252.decode_without_bom_handling(error.as_bytes()).0.into_owned()
            })
        }
    };
    Some(text.trim_end_matches('\0').to_owned()).filter(|text| !text.is_empty())
}

fn stream(file: &mut OutlookFile<'_>, path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.open_stream(path).ok()?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
