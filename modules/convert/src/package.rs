//! The container of a document: which format it holds, its limits before anything is unpacked, and marks for slides.

use std::io::{Cursor, Read, Write};

use anydoc::Format;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::limits::{MAX_ENTRIES, MAX_UNPACKED};
use super::text::TextBuilder;
use turnwise_files::document::Document;
use turnwise_files::size_text;

/// The first paragraph of a slide in the copy starts with this text. Its private-use characters do not occur in documents.
pub const MARK: &str = "\u{f7a51}slide\u{f7a51}";

/// What a container holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKind {
    Office(Format),
    Workbook(Format),
    /// Any other ZIP archive.
    Archive,
}

/// # Errors
/// A sentence for a container that is encrypted, damaged or too large inside.
pub fn kind(bytes: &[u8]) -> Result<ContainerKind, String> {
    let zipped = bytes.starts_with(b"PK");
    if zipped {
        check(bytes)?;
    }
    match Format::from_bytes(bytes) {
        Some(format @ (Format::Excel | Format::Ods)) => Ok(ContainerKind::Workbook(format)),
        Some(format) => Ok(ContainerKind::Office(format)),
        None if zipped => Ok(ContainerKind::Archive),
        None if contains(bytes, &utf16("EncryptedPackage")) => {
            Err("it is protected by a password; save a copy without one and add that".to_owned())
        }
        None => {
            Err("its format is not known: it is an old office file, but neither a document, nor a workbook, nor a \
                     presentation; or it is damaged"
                .to_owned())
        }
    }
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn open(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>, String> {
    ZipArchive::new(Cursor::new(bytes))
        .map_err(|_| "it is damaged: its end is missing, or its list of files".to_owned())
}

fn check(bytes: &[u8]) -> Result<(), String> {
    let mut archive = open(bytes)?;
    if archive.len() > MAX_ENTRIES {
        return Err(format!("it holds {} files, and at most {MAX_ENTRIES} are read", archive.len()));
    }
    let mut unpacked = 0_u64;
    for index in 0..archive.len() {
        let Ok(file) = archive.by_index_raw(index) else { continue };
        unpacked = unpacked.saturating_add(file.size());
    }
    if unpacked > MAX_UNPACKED {
        return Err(format!(
            "it would unpack to {}, and at most {} are read",
            size_text(unpacked),
            size_text(MAX_UNPACKED)
        ));
    }
    Ok(())
}

/// An archive that is no document: the names and sizes of its files.
///
/// # Errors
/// A sentence if its list cannot be read.
pub fn listing(bytes: &[u8], name: &str) -> Result<Document, String> {
    let office = [".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub"];
    if let Some(end) = office.iter().find(|end| name.to_lowercase().ends_with(**end)) {
        return Err(format!("it is named {end}, but it is a ZIP archive without such a document in it"));
    }
    let mut archive = open(bytes)?;
    let mut text = TextBuilder::default();
    let count = archive.len();
    let mut lost = 0_usize;
    for index in 0..count {
        let Ok(file) = archive.by_index_raw(index) else {
            lost += 1;
            continue;
        };
        if !file.is_dir() {
            text.line(&format!("- {}  {}", file.name().replace(['\n', '\r'], " "), size_text(file.size())));
        }
    }
    if text.is_blank() {
        return Err("it is a ZIP archive without files, or its list of files is damaged".to_owned());
    }
    let mut notes = vec!["each of its files can be read by its path below that of the archive".to_owned()];
    if lost > 0 {
        notes.push(format!("{lost} of its files are damaged and not listed"));
    }
    Ok(text.finish(format!("ZIP archive, {count} files"), notes))
}

/// A copy of a presentation in which every slide begins with [`MARK`], without its pictures and films. `None` if it cannot be made:
/// then the original is read, without slide numbers.
pub fn with_marks(bytes: &[u8], format: Format) -> Option<Vec<u8>> {
    if format == Format::Pptx {
        copy(bytes, |name| name.starts_with("ppt/slides/") && name.ends_with(".xml"), marked_slide)
    } else {
        copy(bytes, |name| name == "content.xml", marked_pages)
    }
}

/// A copy of a workbook without the spaces before its numbers, which some programs write and `calamine` refuses.
pub fn with_plain_numbers(bytes: &[u8]) -> Option<Vec<u8>> {
    let wanted = |name: &str| name.starts_with("xl/worksheets/") && name.ends_with(".xml");
    copy(bytes, wanted, |xml| {
        let mut out = String::with_capacity(xml.len());
        let mut parts = xml.split("<v>");
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            out.push_str("<v>");
            out.push_str(part.trim_start());
        }
        out
    })
}

/// A copy of a package in whose names a program wrote `\\` for `/`; `None` if there is no such name.
pub fn with_slashes(bytes: &[u8]) -> Option<Vec<u8>> {
    if !bytes.starts_with(b"PK") {
        return None;
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    if archive.len() > MAX_ENTRIES
        || !archive.file_names().any(|name| name.starts_with("xl\\") || name.starts_with("word\\"))
    {
        return None;
    }
    let mut copy = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).ok()?;
        let name = file.name().replace('\\', "/");
        copy.raw_copy_file_rename(file, name).ok()?;
    }
    Some(copy.finish().ok()?.into_inner())
}

/// A copy of an archive in which `change` rewrites the files that are `wanted`, without pictures and films.
fn copy(bytes: &[u8], wanted: impl Fn(&str) -> bool, change: impl Fn(&str) -> String) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut copy = ZipWriter::new(Cursor::new(Vec::new()));
    // A file may be larger than it declares.
    let mut left = MAX_UNPACKED;
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).ok()?;
        let name = file.name().to_owned();
        if ["ppt/media/", "ppt/embeddings/", "xl/media/", "Pictures/", "media/"]
            .iter()
            .any(|folder| name.starts_with(folder))
        {
            continue;
        }
        if !wanted(&name) {
            copy.raw_copy_file(file).ok()?;
            continue;
        }
        drop(file);
        let mut xml = String::new();
        archive.by_index(index).ok()?.take(left).read_to_string(&mut xml).ok()?;
        left = left.checked_sub(xml.len() as u64).filter(|left| *left > 0)?;
        copy.start_file(name, SimpleFileOptions::default().compression_method(CompressionMethod::Stored)).ok()?;
        copy.write_all(change(&xml).as_bytes()).ok()?;
    }
    Some(copy.finish().ok()?.into_inner())
}

/// The first shape of a slide follows the properties of its group.
fn marked_slide(xml: &str) -> String {
    let strict = xml.contains("http://purl.oclc.org/ooxml/presentationml/main");
    let base = if strict { "http://purl.oclc.org/ooxml" } else { "http://schemas.openxmlformats.org" };
    let year = if strict { "" } else { "2006/" };
    let (presentation, drawing) = (format!("{base}/presentationml/{year}main"), format!("{base}/drawingml/{year}main"));
    let shape = format!(
        "<q:sp xmlns:q=\"{presentation}\"><q:nvSpPr><q:cNvPr id=\"9999\" name=\"\"/><q:cNvSpPr/><q:nvPr/></q:nvSpPr><q:spPr/>\
         <q:txBody><d:bodyPr xmlns:d=\"{drawing}\"/><d:p xmlns:d=\"{drawing}\"><d:r><d:t>{MARK}</d:t></d:r></d:p></q:txBody></q:sp>"
    );
    let Some(at) = xml.find("grpSpPr") else { return xml.to_owned() };
    let rest = xml.get(at..).unwrap_or_default();
    let Some(close) = rest.find('>') else { return xml.to_owned() };
    let empty = rest.get(..close).is_some_and(|tag| tag.ends_with('/'));
    let end = if empty {
        Some(at + close + 1)
    } else {
        rest.get(close..).and_then(|rest| rest.find("grpSpPr>")).map(|end| at + close + end + "grpSpPr>".len())
    };
    let Some(end) = end else { return xml.to_owned() };
    let (before, after) = xml.split_at(end);
    format!("{before}{shape}{after}")
}

fn marked_pages(xml: &str) -> String {
    let frame = format!("<draw:frame><draw:text-box><text:p>{MARK}</text:p></draw:text-box></draw:frame>");
    let mut out = String::with_capacity(xml.len() + 1_000);
    let mut rest = xml;
    while let Some(at) = rest.find("<draw:page ") {
        let Some(close) = rest.get(at..).and_then(|tag| tag.find('>')).map(|close| at + close + 1) else { break };
        let (before, after) = rest.split_at(close);
        out.push_str(before);
        if !before.ends_with("/>") {
            out.push_str(&frame);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
