//! Exports a trajectory to a file in any format; the two human-readable formats are written here, with the view's texts.
//!
//! Behind the feature `worker`, because the HTML report parses the models' Markdown.

mod html;
mod markdown;
mod nodes;
mod turns;

use crate::trajectory::Trajectory;
use crate::trajectory::export::{Format, atif, mini_swe, native, openai, otlp};

/// Returns the text of the file.
#[must_use]
pub fn export(document: &Trajectory, format: Format) -> String {
    match format {
        Format::Native => native(document),
        Format::Atif => atif::write(document),
        Format::Otlp => otlp::write(document),
        Format::OpenaiJsonl => openai::write(document),
        Format::MiniSweAgent => mini_swe::write(document),
        Format::Markdown => markdown::write(document),
        Format::Html => html::write(document),
    }
}
