//! The list of files in a ZIP archive, so that a dropped archive is opened without being held in memory: the caller reads its end, then
//! its list, then one file after the other. PURE. PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.

/// The number of bytes at the end of an archive in which [`list_at`] looks for its end record, with the longest comment.
pub const TAIL: u64 = 22 + 65_535;
/// The length of a file's header before its name.
pub const LOCAL: u64 = 30;
/// Maximum size of all files of an archive together, unpacked, in bytes.
pub const MOST_BYTES: u64 = 512 << 20;
/// Maximum number of files of an archive.
pub const MOST_FILES: usize = 20_000;

/// The reason why an archive is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOpened {
    Damaged,
    Encrypted,
    /// It has more, or larger, files than the limits allow.
    TooMuch,
    /// A compression other than deflate, or the 64-bit extension.
    Method,
}

impl NotOpened {
    /// Completes the sentence `all.zip was not opened: …`.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            NotOpened::Damaged => "it is damaged",
            NotOpened::Encrypted => "it is protected by a password",
            NotOpened::TooMuch => "it would unpack to more than 512 MB, or 20,000 files",
            NotOpened::Method => "it is compressed in a way that this browser cannot read",
        }
    }
}

/// One file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    pub path: String,
    /// Where its header begins.
    pub at: u64,
    /// Its size in the archive, and unpacked.
    pub packed: u64,
    pub size: u64,
    /// `false`: it is stored as it is.
    pub deflated: bool,
}

/// Where the list of files is: its start and its length. `tail`: the last [`TAIL`] bytes, or all of a shorter archive.
///
/// # Errors
/// If there is no end record, or the archive needs the 64-bit extension.
pub fn list_at(tail: &[u8]) -> Result<(u64, u64), NotOpened> {
    let at = tail.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").ok_or(NotOpened::Damaged)?;
    let end = tail.get(at..).ok_or(NotOpened::Damaged)?;
    let (count, length, start) = (u16_at(end, 10)?, u32_at(end, 12)?, u32_at(end, 16)?);
    if start == u64::from(u32::MAX) || count == u64::from(u16::MAX) {
        return Err(NotOpened::Method);
    }
    if count > MOST_FILES as u64 {
        return Err(NotOpened::TooMuch);
    }
    Ok((start, length))
}

/// The files of an archive, without folders, from the bytes of its list.
///
/// # Errors
/// If the list is damaged, a file is encrypted or compressed in another way, or a limit is exceeded.
pub fn files(list: &[u8]) -> Result<Vec<Packed>, NotOpened> {
    let (mut rest, mut files, mut total) = (list, Vec::new(), 0_u64);
    while rest.starts_with(b"PK\x01\x02") {
        let (flags, method) = (u16_at(rest, 8)?, u16_at(rest, 10)?);
        let (packed, size, at) = (u32_at(rest, 20)?, u32_at(rest, 24)?, u32_at(rest, 42)?);
        let lengths = [u16_at(rest, 28)?, u16_at(rest, 30)?, u16_at(rest, 32)?];
        let [name, extra, comment] = lengths.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        let path = rest.get(46..46 + name).ok_or(NotOpened::Damaged)?;
        let path = String::from_utf8_lossy(path).replace('\\', "/");
        rest = rest.get(46 + name + extra + comment..).ok_or(NotOpened::Damaged)?;
        if path.ends_with('/') {
            continue;
        }
        if flags & 1 == 1 {
            return Err(NotOpened::Encrypted);
        }
        let deflated = match method {
            0 => false,
            8 => true,
            _ => return Err(NotOpened::Method),
        };
        total = total.saturating_add(size);
        if total > MOST_BYTES || files.len() >= MOST_FILES {
            return Err(NotOpened::TooMuch);
        }
        files.push(Packed { path, at, packed, size, deflated });
    }
    Ok(files)
}

/// Where a file's bytes begin, counted from its header. `header`: its first [`LOCAL`] bytes.
///
/// # Errors
/// If it is not a header.
pub fn data_at(header: &[u8]) -> Result<u64, NotOpened> {
    if !header.starts_with(b"PK\x03\x04") {
        return Err(NotOpened::Damaged);
    }
    Ok(LOCAL + u16_at(header, 26)? + u16_at(header, 28)?)
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u64, NotOpened> {
    let two = bytes.get(at..at + 2).and_then(|two| <[u8; 2]>::try_from(two).ok()).ok_or(NotOpened::Damaged)?;
    Ok(u64::from(u16::from_le_bytes(two)))
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u64, NotOpened> {
    let four = bytes.get(at..at + 4).and_then(|four| <[u8; 4]>::try_from(four).ok()).ok_or(NotOpened::Damaged)?;
    Ok(u64::from(u32::from_le_bytes(four)))
}
