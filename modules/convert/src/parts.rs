//! The parts of a package by name, their relations, and a copy in which some are changed.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use turnwise_files::zip::{Crc32, ZipEntry, frame};
use zip::ZipArchive;

use super::limits::{MAX_PART, MAX_UNPACKED};
use super::xml::Part;

/// A package, and what is changed in it.
#[derive(Debug)]
pub struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// How much may still be unpacked: a file may be larger than it declares.
    left: u64,
    changed: HashMap<String, Vec<u8>>,
}

/// A relation of a part to another, or to an address outside of the package.
#[derive(Clone, Debug)]
pub struct Relation {
    pub id: String,
    /// The last word of its type: `header`.
    pub kind: String,
    /// The name of the part, or the address.
    pub target: String,
    pub external: bool,
}

/// Folders of pictures, films and embedded files: nothing of them is text.
const MEDIA: [&str; 9] = [
    "ppt/media/",
    "ppt/embeddings/",
    "word/media/",
    "word/embeddings/",
    "word/fonts/",
    "xl/media/",
    "Pictures/",
    "media/",
    "Thumbnails/",
];

impl<'a> Package<'a> {
    #[must_use]
    pub fn open(bytes: &'a [u8]) -> Option<Package<'a>> {
        let archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
        Some(Package { archive, left: MAX_UNPACKED, changed: HashMap::new() })
    }

    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.archive.file_names().map(str::to_owned).collect()
    }

    pub fn bytes(&mut self, name: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.archive.by_name(name).ok()?.take(self.left.min(MAX_PART)).read_to_end(&mut bytes).ok()?;
        self.left = self.left.checked_sub(bytes.len() as u64).filter(|left| *left > 0)?;
        if bytes.len() as u64 == MAX_PART {
            return None;
        }
        Some(bytes)
    }

    pub fn part(&mut self, name: &str) -> Option<Part> {
        Part::parse(&self.bytes(name)?)
    }

    /// The relations of a part; those of the package for an empty name.
    pub fn relations(&mut self, part: &str) -> Vec<Relation> {
        let (folder, file) = part.rsplit_once('/').map_or(("", part), |(folder, file)| (folder, file));
        let rels = if folder.is_empty() { format!("_rels/{file}.rels") } else { format!("{folder}/_rels/{file}.rels") };
        let Some(rels) = self.part(&rels) else { return Vec::new() };
        let relation = |one: &super::xml::Element| {
            let external = one.attr("TargetMode") == Some("External");
            let target = one.attr("Target")?;
            Some(Relation {
                id: one.attr("Id")?.to_owned(),
                kind: one.attr("Type")?.rsplit('/').next()?.to_owned(),
                target: if external { target.to_owned() } else { resolved(folder, target) },
                external,
            })
        };
        rels.root.elements().filter_map(relation).collect()
    }

    /// The part that holds the document, and its relations.
    pub fn main(&mut self, usual: &str) -> (String, Vec<Relation>) {
        let main = self.relations("").into_iter().find(|one| one.kind == "officeDocument");
        let main = main.map_or_else(|| usual.to_owned(), |one| one.target);
        let relations = self.relations(&main);
        (main, relations)
    }

    pub fn change(&mut self, name: &str, part: Part) {
        self.changed.insert(name.to_owned(), part.write());
    }

    pub fn change_bytes(&mut self, name: &str, bytes: Vec<u8>) {
        self.changed.insert(name.to_owned(), bytes);
    }

    /// The copy, without pictures and films.
    #[must_use]
    pub fn copy(mut self) -> Option<Vec<u8>> {
        let mut files = Vec::new();
        for path in self.names() {
            if path.ends_with('/') || MEDIA.iter().any(|folder| path.starts_with(folder)) {
                continue;
            }
            let content = match self.changed.remove(&path) {
                Some(changed) => changed,
                None => self.bytes(&path)?,
            };
            // Some programs write `\\` for `/`.
            files.push((path.replace('\\', "/"), content));
        }
        stored(files)
    }
}

/// A ZIP archive of files by name. Nothing in it is compressed, so that no compressor is shipped.
#[must_use]
pub fn stored(files: Vec<(String, Vec<u8>)>) -> Option<Vec<u8>> {
    let (mut entries, mut contents) = (Vec::new(), Vec::new());
    for (path, content) in files {
        let mut crc = Crc32::new();
        crc.update(&content);
        entries.push(ZipEntry { path, size: u32::try_from(content.len()).ok()?, crc: crc.finish() });
        contents.push(content);
    }
    let (heads, tail) = frame(&entries).ok()?;
    let mut out = Vec::new();
    for (head, content) in heads.iter().zip(contents) {
        out.extend(head);
        out.extend(content);
    }
    out.extend(tail);
    Some(out)
}

/// A path that is relative to a folder.
#[must_use]
pub fn resolved(folder: &str, target: &str) -> String {
    let mut path: Vec<&str> =
        if target.starts_with('/') { Vec::new() } else { folder.split('/').filter(|one| !one.is_empty()).collect() };
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.join("/")
}
