//! The limits of a conversion, all in one place. Beyond them, a document is refused or read in part, and the text says so.
//! The part's memory has a limit of its own (`.ci/build`), and a tool call has its deadline.

use turnwise_files::document::MAX_DOCUMENT_BYTES;
use turnwise_files::size_text;

/// Maximum length of the text of a document, in bytes.
pub const MAX_TEXT: usize = 16 << 20;
/// Maximum size of all files in a package together, unpacked, as the package declares it, and of those that we unpack.
pub const MAX_UNPACKED: u64 = 512 << 20;
/// Maximum size of a part of a package, unpacked, of which a copy is made: twice that has room in the module's memory. A document with a
/// larger part is read as it is, without what such a copy adds.
pub const MAX_PART: u64 = 256 << 20;
/// Maximum number of files in a package.
pub const MAX_ENTRIES: usize = 20_000;
/// Maximum number of cells that are read of a workbook.
pub const MAX_CELLS: usize = 4_000_000;
/// Maximum length of the texts of all cells of a workbook together, in bytes.
pub const MAX_CELL_TEXT: usize = 128 << 20;
/// Maximum number of values in the tables of a workbook together, with those of empty cells.
pub const MAX_TABLE_VALUES: usize = 4 * MAX_CELLS;
/// Maximum size of a part of a workbook, unpacked, that is looked through for what it has besides values.
pub const MAX_EXTRAS: u64 = 64 << 20;
/// Maximum number of columns of a sheet that are shown.
pub const MAX_COLUMNS: u32 = 256;
/// Maximum number of characters of a cell.
pub const MAX_CELL_CHARS: usize = 4_000;
/// Maximum nesting of lists, quotes and tables.
pub const MAX_DEPTH: usize = 32;

/// # Errors
/// A sentence for a file that is too large, or empty.
pub fn check_size(bytes: &[u8]) -> Result<(), String> {
    match bytes.len() as u64 {
        0 => Err("it is empty".to_owned()),
        size if size > MAX_DOCUMENT_BYTES => Err(format!(
            "it is too large to be read as a document ({}, at most {})",
            size_text(size),
            size_text(MAX_DOCUMENT_BYTES)
        )),
        _ => Ok(()),
    }
}
