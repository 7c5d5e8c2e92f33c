//! A trajectory as the text of a file, in every format; the two for people are written here, in the words of the view.
//!
//! Behind the feature `worker`: the Markdown of models is parsed for the HTML report.

mod escape;
mod html;
mod markdown;
mod nodes;
mod turns;

use crate::trajectory::Trajectory;
use crate::trajectory::export::{Format, atif, mini_swe, native, openai, otlp};

/// The text of the file.
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
