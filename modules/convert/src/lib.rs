//! Office documents, e-books, mails and workbooks as Markdown with places, and workbooks as rows. PURE: bytes in, text out.
//!
//! This is a part of the tools' worker (`main.rs` exports it), loaded on first use. The format is told by the
//! bytes; the name only serves messages. Deliberately absent: PDFs (`www/parts/pdf.js`), and files that are text already.

mod cells;
mod charts;
mod epub;
mod extras;
mod html;
mod inserted;
mod limits;
mod lost;
mod mail;
mod markdown;
mod markup;
mod markup_sheets;
mod odf;
mod office;
mod old;
mod outlook;
mod package;
mod parts;
mod references;
mod rtf;
mod sheets;
mod slides;
mod symbols;
mod text;
mod word;
mod xml;

pub use mail::attachment;
pub use sheets::{Sheet, sheets};
use turnwise_files::document::{Container, Document, HEAD, container};

/// The text of a document. `name`: its path.
///
/// # Errors
/// A sentence without the file's name that says why it has no text, such as `it is protected by a password`.
pub fn convert(bytes: &[u8], name: &str) -> Result<Document, String> {
    limits::check_size(bytes)?;
    if container(bytes.get(..HEAD).unwrap_or(bytes)) == Some(Container::Mail) {
        return mail::convert(bytes);
    }
    if let Some(message) = outlook::convert(bytes) {
        return message;
    }
    if let Some(markup) = markup_sheets::markup(bytes) {
        return sheets::convert_markup(bytes, markup);
    }
    let slashed = package::with_slashes(bytes);
    let bytes = slashed.as_deref().unwrap_or(bytes);
    match package::kind(bytes)? {
        package::ContainerKind::Office(format) => office::convert(bytes, format),
        package::ContainerKind::Workbook(format) => sheets::convert(bytes, format),
        package::ContainerKind::Archive => package::listing(bytes, name),
    }
}
