//! The files that a user attaches, looks at or downloads: what kind a file is, the pictures and PDFs of a task, ZIP archives.
//! PURE -> engine.
//!
//! Deliberately absent: reading and writing files (`ui`), and the workspace of the built-in tools (`tools`).

pub mod base64;
pub mod kind;
pub mod picture;
pub mod zip;
