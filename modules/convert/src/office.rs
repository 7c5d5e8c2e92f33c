//! Word documents, presentations, OpenDocument texts, rich text and e-books, read by `anydoc`.

use anydoc::{ConvertError, Format};

use super::markdown;
use super::package::with_marks;
use super::text::TextBuilder;
use turnwise_files::document::Document;

/// # Errors
/// A sentence that says why there is no text.
pub fn convert(bytes: &[u8], format: Format) -> Result<Document, String> {
    let marked = matches!(format, Format::Pptx | Format::Odp).then(|| with_marks(bytes, format)).flatten();
    let document = anydoc::to_document(marked.as_deref().unwrap_or(bytes), format).map_err(|error| sentence(&error))?;
    let mut text = TextBuilder::default();
    markdown::write(&document, &mut text);
    let label = label(format);
    if text.is_blank() {
        let article = if label.starts_with(['O', 'e']) { "an" } else { "a" };
        return Err(match document.assets.len() {
            0 => format!("it is {article} {label} without text"),
            pictures => format!("it is {article} {label} without text: it only holds pictures ({pictures})"),
        });
    }
    Ok(text.finish(label.to_owned(), Vec::new()))
}

fn label(format: Format) -> &'static str {
    match format {
        Format::Doc | Format::Docx => "Word document",
        Format::Odt => "OpenDocument text",
        Format::Ppt | Format::Pptx => "PowerPoint presentation",
        Format::Odp => "OpenDocument presentation",
        Format::Rtf => "rich text document",
        Format::Epub => "e-book",
        Format::Excel | Format::Ods => "workbook",
        Format::Pdf => "PDF",
        Format::Csv => "table",
    }
}

fn sentence(error: &ConvertError) -> String {
    match error {
        ConvertError::Encrypted => "it is protected by a password; save a copy without one and add that".to_owned(),
        ConvertError::ResourceLimit { limit, .. } => {
            format!("it is larger inside than a document may be, and was not read (limit {limit})")
        }
        ConvertError::MissingPart { part } => format!("it is damaged: its part {part} is missing"),
        ConvertError::Malformed { detail, .. } => format!("it is damaged: {detail}"),
        other => format!("it could not be read: {other}"),
    }
}
