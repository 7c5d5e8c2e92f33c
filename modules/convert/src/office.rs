//! Word documents, presentations, OpenDocument texts, rich text and e-books, read by `anydoc`. Where it leaves something out, it reads a
//! copy in which that is text.

use anydoc::{ConvertError, Format};

use super::epub;
use super::lost::Lost;
use super::markdown;
use super::odf;
use super::old;
use super::rtf;
use super::slides;
use super::text::TextBuilder;
use super::word;
use turnwise_files::document::Document;

/// # Errors
/// A sentence that says why there is no text.
pub fn convert(bytes: &[u8], format: Format) -> Result<Document, String> {
    let of =
        |prepared: Option<(Vec<u8>, Lost)>| prepared.map_or_else(Default::default, |(copy, lost)| (Some(copy), lost));
    let prepared = match format {
        Format::Docx => of(word::prepared(bytes)),
        Format::Pptx => of(slides::prepared(bytes)),
        Format::Doc => of(old::prepared(bytes)),
        Format::Rtf => of(Some(rtf::prepared(bytes))),
        Format::Epub => epub::prepared(bytes)?,
        Format::Odt | Format::Odp => of(odf::prepared(bytes, format)),
        _ => of(None),
    };
    let (copy, mut lost) = prepared;
    let document = anydoc::to_document(copy.as_deref().unwrap_or(bytes), format).map_err(|error| sentence(&error))?;
    let mut text = TextBuilder::default();
    markdown::write(&document, &mut text, &mut lost);
    if format == Format::Doc {
        for (name, part) in old::parts(bytes) {
            text.gap();
            text.line(&format!("[{name}:]\n{part}"));
        }
    }
    let label = label(format);
    let mut notes: Vec<String> = lost.note().into_iter().collect();
    if format == Format::Ppt {
        notes.push("comments, footers and charts of this old format are not read".to_owned());
    }
    if text.is_blank() {
        let article = if label.starts_with(['O', 'e']) { "an" } else { "a" };
        let but = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        return Err(format!("it is {article} {label} without text{but}"));
    }
    Ok(text.finish(label.to_owned(), notes))
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
