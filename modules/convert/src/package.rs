//! The container of a document: which format it holds, and its limits before anything is unpacked.

use std::io::Cursor;

use anydoc::Format;
use zip::ZipArchive;

use super::limits::{MAX_ENTRIES, MAX_UNPACKED};
use super::parts::Package;
use super::text::TextBuilder;
use turnwise_files::document::Document;
use turnwise_files::size_text;

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

/// A copy of a workbook without the spaces before its numbers, which some programs write and `calamine` refuses.
pub fn with_plain_numbers(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut package = Package::open(bytes)?;
    for name in package.names() {
        if !name.starts_with("xl/worksheets/") || !name.ends_with(".xml") {
            continue;
        }
        let xml = String::from_utf8(package.bytes(&name)?).ok()?;
        let mut out = String::with_capacity(xml.len());
        let mut parts = xml.split("<v>");
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            out.push_str("<v>");
            out.push_str(part.trim_start());
        }
        package.change_bytes(&name, out.into_bytes());
    }
    package.copy()
}

/// A copy of a package in whose names a program wrote `\\` for `/`; `None` if there is no such name.
pub fn with_slashes(bytes: &[u8]) -> Option<Vec<u8>> {
    let package = bytes.starts_with(b"PK").then(|| Package::open(bytes)).flatten()?;
    let names = package.names();
    let wrong = names.iter().any(|name| name.starts_with("xl\\") || name.starts_with("word\\"));
    (wrong && names.len() <= MAX_ENTRIES).then(|| package.copy()).flatten()
}
