//! Reads trajectories from files: our own documents, HTML reports that embed one, and files of other agents. PURE.

mod atif;
mod file;
mod steps;

use serde::Deserialize;

use super::document::ParseError;
use super::{Trajectory, clamp};

/// The text before and after the document in an HTML report.
pub const EMBEDDED: (&str, &str) = ("<script type=\"application/json\" id=\"turnwise-trajectory\">", "</script>");
/// The prefix of `schema_version` in an ATIF file, and the supported minor versions.
const ATIF: (&str, std::ops::RangeInclusive<u32>) = ("ATIF-v1.", 0..=8);

/// The reason a file cannot be opened as a trajectory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportError {
    /// Neither JSON nor an HTML report.
    Unknown,
    /// An HTML page without a trajectory in it.
    NoReport,
    /// A Turnwise document that cannot be read.
    Document(ParseError),
    /// ATIF of an unknown version.
    UnknownAtif(String),
    /// ATIF with a missing or invalid part.
    DamagedAtif(String),
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let takes = "Turnwise opens its own trajectories (.json), its HTML reports, and ATIF files (1.0 to 1.8).";
        match self {
            ImportError::Unknown => write!(f, "This is neither JSON nor an HTML report. {takes}"),
            ImportError::NoReport => write!(f, "This HTML page does not contain a trajectory. {takes}"),
            ImportError::Document(ParseError::OtherFormat) => {
                write!(f, "This JSON file is not in a trajectory format that Turnwise knows. {takes}")
            }
            ImportError::Document(error) => write!(f, "{error}"),
            ImportError::UnknownAtif(version) => {
                write!(f, "This file is {version}; this Turnwise reads ATIF 1.0 to 1.8. Nothing was changed.")
            }
            ImportError::DamagedAtif(why) => write!(f, "This ATIF file is damaged: {why}"),
        }
    }
}

impl std::error::Error for ImportError {}

/// The field that identifies an ATIF file.
#[derive(Deserialize)]
struct SchemaField {
    schema_version: String,
}

/// Reads a file of any known format.
///
/// # Errors
/// A message for users that says what is wrong with the file and which files can be opened.
pub fn import(text: &str) -> Result<Trajectory, ImportError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('<') {
        return report(text);
    }
    if !text.starts_with(['{', '[']) {
        return Err(ImportError::Unknown);
    }
    match serde_json::from_str::<SchemaField>(text) {
        Ok(mark) if mark.schema_version.starts_with("ATIF-") => atif(&mark.schema_version, text),
        Ok(_) | Err(_) => Trajectory::parse(text).map_err(ImportError::Document),
    }
}

fn report(page: &str) -> Result<Trajectory, ImportError> {
    let (start, end) = EMBEDDED;
    let after = page.split_once(start).map(|(_, after)| after).ok_or(ImportError::NoReport)?;
    let document = after.split_once(end).map_or(after, |(document, _)| document);
    Trajectory::parse(document).map_err(ImportError::Document)
}

fn atif(version: &str, text: &str) -> Result<Trajectory, ImportError> {
    let (start, minors) = ATIF;
    let minor = version.strip_prefix(start).and_then(|minor| minor.parse().ok());
    if !minor.is_some_and(|minor: u32| minors.contains(&minor)) {
        return Err(ImportError::UnknownAtif(version.to_owned()));
    }
    let file = serde_json::from_str(text).map_err(|e| ImportError::DamagedAtif(e.to_string()))?;
    let mut document = atif::trajectory(file, 1);
    clamp::document(&mut document);
    Ok(document)
}
