//! Exports a trajectory to a file in any format; the two human-readable formats are written here, with the view's texts.
//!
//! Only the tools' worker calls this: the HTML report parses the models' Markdown and highlights code.

mod figures;
mod html;
mod markdown;
mod nodes;
mod turns;

use turnwise_record::trajectory::{ExportFormat, Trajectory};

/// Returns the text of the file.
#[must_use]
pub fn export(document: &Trajectory, format: ExportFormat) -> String {
    match format {
        ExportFormat::Html => html::write(document),
        ExportFormat::Markdown => markdown::write(document),
        // All others have a writer, which a test checks.
        other => other.writer().map(|write| write(document)).unwrap_or_default(),
    }
}
