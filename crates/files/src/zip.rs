//! Several files as one ZIP archive without compression: the bytes before, between and after their contents. PURE.
//!
//! The contents themselves never pass through here, so that a workspace of any size can be packed without being copied;
//! only their checksums are needed. PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.

/// One file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipEntry {
    /// Relative, with `/` between folders.
    pub path: String,
    pub size: u32,
    /// The checksum by [`Crc32`].
    pub crc: u32,
}

/// The files exceed the limits of an archive without the 64-bit extension: 4 GB, or 65,535 files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch;

/// The checksum of ZIP and gzip, computed piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Crc32(u32);

impl Crc32 {
    #[must_use]
    pub fn new() -> Self {
        Crc32(u32::MAX)
    }

    pub fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let index = usize::from(self.0.to_le_bytes()[0] ^ byte);
            self.0 = TABLE.get(index).copied().unwrap_or_default() ^ (self.0 >> 8);
        }
    }

    #[must_use]
    pub fn finish(self) -> u32 {
        !self.0
    }
}

impl Default for Crc32 {
    fn default() -> Self {
        Crc32::new()
    }
}

const TABLE: [u32; 256] = table();

#[allow(clippy::indexing_slicing)] // in a constant: out of bounds would not compile
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut value = n as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[n] = value;
        n += 1;
    }
    table
}

/// Names in UTF-8.
const UTF8: u16 = 1 << 11;
/// Version 2.0: folders in names.
const NEEDS: u16 = 20;
/// 1980-01-01, the earliest date of the format: files of a workspace have no dates.
const DATE: u16 = 0x21;
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;

/// Returns the bytes before each file, in order, and the bytes after the last one.
///
/// # Errors
/// If the files are too large or too many.
pub fn frame(entries: &[ZipEntry]) -> Result<(Vec<Vec<u8>>, Vec<u8>), TooMuch> {
    let count = u16::try_from(entries.len()).map_err(|_| TooMuch)?;
    let (mut heads, mut central) = (Vec::with_capacity(entries.len()), Vec::new());
    let mut at = 0_u32;
    for entry in entries {
        let common = common(entry)?;
        let mut head = LOCAL.to_le_bytes().to_vec();
        head.extend(&common);
        head.extend(entry.path.as_bytes());
        central.extend(CENTRAL.to_le_bytes());
        central.extend(NEEDS.to_le_bytes());
        central.extend(common);
        // Comment, disk number, internal and external attributes: none.
        central.extend([0; 10]);
        central.extend(at.to_le_bytes());
        central.extend(entry.path.as_bytes());
        let length = u32::try_from(head.len()).map_err(|_| TooMuch)?;
        at = at.checked_add(length).and_then(|at| at.checked_add(entry.size)).ok_or(TooMuch)?;
        heads.push(head);
    }
    let size = u32::try_from(central.len()).map_err(|_| TooMuch)?;
    at.checked_add(size).ok_or(TooMuch)?;
    let mut tail = central;
    tail.extend(END.to_le_bytes());
    tail.extend([0; 4]);
    tail.extend(count.to_le_bytes());
    tail.extend(count.to_le_bytes());
    tail.extend(size.to_le_bytes());
    tail.extend(at.to_le_bytes());
    tail.extend([0; 2]);
    Ok((heads, tail))
}

/// Returns the common part of a file's two headers, up to the length of the extra field.
fn common(entry: &ZipEntry) -> Result<Vec<u8>, TooMuch> {
    let name = u16::try_from(entry.path.len()).map_err(|_| TooMuch)?;
    let mut bytes = Vec::with_capacity(26);
    for field in [NEEDS, UTF8, 0, 0, DATE] {
        bytes.extend(field.to_le_bytes());
    }
    for field in [entry.crc, entry.size, entry.size] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(name.to_le_bytes());
    bytes.extend([0; 2]);
    Ok(bytes)
}
