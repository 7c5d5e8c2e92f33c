//! Files as tools and users see them: the workspace of a run, the text of a document, kinds of files, ZIP archives. PURE.
//!
//! [`Files`] is the workspace that a tool gets, [`document`] what a document says and where, [`encoding`] how bytes become text, [`saved`] the result of a query as a
//! file. Deliberately absent: reading and writing files (`ui`, `worker`), and the readers of formats (`modules/convert`,
//! `www/parts`).

mod access;
pub mod base64;
pub mod document;
pub mod encoding;
pub mod kind;
pub mod saved;
pub mod zip;

pub use access::{
    Engine, FileContent, FileInfo, Files, FoundFile, MAX_TEXT_BYTES, NoText, decode, read_content, read_text, size_text,
};
