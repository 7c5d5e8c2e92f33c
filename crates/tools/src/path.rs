//! Paths of the workspace: relative, `/` between parts, no `.` or `..`, no control characters. Those that a tool writes have no
//! character that a person cannot see.

use turnwise_engine::hidden;

/// The folder for the complete text of truncated tool results; hidden from listing and search, not writable by the model.
pub const RESULTS: &str = "results/";

/// The reason why a path is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathError {
    Empty,
    /// Starts with `/`, `\` or a drive letter, or is a URL.
    Absolute,
    /// Contains a part `..`.
    Parent,
    /// Contains a control character.
    Control,
    /// Contains a character that cannot be seen, or that changes the order of others.
    Hidden(char),
    /// Longer than [`MAX_PATH`] bytes.
    TooLong,
}

pub const MAX_PATH: usize = 1024;

/// The normal form of a path: `\\` becomes `/`; white space around parts, empty parts and `.` are removed.
///
/// # Errors
/// The first rule the path breaks.
pub fn normalize(path: &str) -> Result<String, PathError> {
    let path = path.trim().replace('\\', "/");
    if path.len() > MAX_PATH {
        return Err(PathError::TooLong);
    }
    if path.chars().any(char::is_control) {
        return Err(PathError::Control);
    }
    if path.starts_with('/') {
        return Err(PathError::Absolute);
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part.trim() {
            "" | "." => {}
            ".." => return Err(PathError::Parent),
            part => parts.push(part),
        }
    }
    match parts.first() {
        None => Err(PathError::Empty),
        Some(first) if is_root(first) => Err(PathError::Absolute),
        Some(_) => Ok(parts.join("/")),
    }
}

/// The normal form of the path of a file that a tool writes: a name that reads differently from what it is cannot be made. Files of the
/// user may have such names, and can be read.
///
/// # Errors
/// The first rule the path breaks.
pub fn normalize_new(path: &str) -> Result<String, PathError> {
    if let Some(found) = hidden::hidden_in(path.trim()) {
        return Err(PathError::Hidden(found));
    }
    normalize(path)
}

/// Whether a part is a drive letter or a URL's scheme.
fn is_root(part: &str) -> bool {
    part.split_once(':').is_some_and(|(head, tail)| {
        tail.is_empty() || (head.len() == 1 && head.starts_with(|c: char| c.is_ascii_alphabetic()))
    })
}

/// The file with the complete text of a truncated result.
#[must_use]
pub fn result_path(handle: &str) -> String {
    format!("{RESULTS}{handle}.txt")
}

impl std::fmt::Display for PathError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PathError::Hidden(found) => {
                return write!(
                    f,
                    "the path contains {}, which cannot be seen or changes the order of other characters; leave it out",
                    hidden::code_point(*found)
                );
            }
            PathError::Empty => "the path is empty",
            PathError::Absolute => "the path is absolute; give one relative to the workspace, such as docs/a.md",
            PathError::Parent => "the path contains `..`; it must stay inside the workspace",
            PathError::Control => "the path contains a control character",
            PathError::TooLong => "the path is longer than 1024 bytes",
        })
    }
}

impl std::error::Error for PathError {}
