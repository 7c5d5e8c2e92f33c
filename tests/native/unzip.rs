//! The list of files in a dropped archive.

use std::io::{Cursor, Write};

use turnwise::files::unzip::{LOCAL, NotOpened, Packed, data_at, files, list_at};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn archive() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.add_directory("notes", stored).unwrap();
    zip.start_file("notes/a.txt", stored).unwrap();
    zip.write_all(b"Hello").unwrap();
    zip.start_file("b.csv", stored.compression_method(CompressionMethod::Deflated)).unwrap();
    zip.write_all(&b"x,y\n".repeat(100)).unwrap();
    zip.finish().unwrap().into_inner()
}

fn listed(archive: &[u8]) -> Result<Vec<Packed>, NotOpened> {
    let (start, length) = list_at(archive)?;
    let (start, length) = (usize::try_from(start).unwrap(), usize::try_from(length).unwrap());
    files(archive.get(start..start + length).ok_or(NotOpened::Damaged)?)
}

#[test]
fn the_files_of_an_archive_are_found_with_their_bytes() {
    let archive = archive();
    let found = listed(&archive).unwrap();
    let facts: Vec<_> = found.iter().map(|file| (file.path.as_str(), file.size, file.deflated)).collect();
    assert_eq!(facts, [("notes/a.txt", 5, false), ("b.csv", 400, true)]);
    let at = usize::try_from(found[0].at).unwrap();
    let data = at + usize::try_from(data_at(&archive[at..at + usize::try_from(LOCAL).unwrap()]).unwrap()).unwrap();
    assert_eq!(&archive[data..data + 5], b"Hello");
}

#[test]
fn damaged_encrypted_and_too_large_archives_are_not_opened() {
    let whole = archive();
    assert_eq!(listed(&whole[..whole.len() - 10]), Err(NotOpened::Damaged));
    assert_eq!(listed(b"no archive"), Err(NotOpened::Damaged));
    // The first file's entry in the list, after that of the folder.
    let (start, _) = list_at(&whole).unwrap();
    let at = usize::try_from(start).unwrap();
    let entry = at + 4 + whole[at + 4..].windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let changed = |offset: usize, bytes: &[u8]| {
        let mut copy = whole.clone();
        copy[entry + offset..entry + offset + bytes.len()].copy_from_slice(bytes);
        listed(&copy)
    };
    assert_eq!(changed(8, &[1]), Err(NotOpened::Encrypted));
    assert_eq!(changed(10, &[12]), Err(NotOpened::Method));
    assert_eq!(changed(24, &[0, 0, 0, 0x40]), Err(NotOpened::TooMuch));
    assert_eq!(changed(28, &[0xff, 0xff]), Err(NotOpened::Damaged));
}
