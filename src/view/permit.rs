//! A question whether a tool call may run, as a person reads it: what it would do, and the change as lines with marks.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::format::counted;
use crate::engine::SideEffect;
use crate::protocol::desk::{PermitId, SeatId};

/// A tool call that asks whether it may run.
#[derive(Clone, Debug, PartialEq)]
pub struct Permit<'a> {
    pub id: PermitId,
    /// The run that asks.
    pub seat: SeatId,
    /// The tool.
    pub name: &'a str,
    /// JSON text.
    pub arguments: &'a str,
    pub touches: SideEffect,
    /// It was running when its page was closed, so its effect may already have happened.
    pub again: bool,
    /// What it would change in files, as a unified diff.
    pub diff: Option<&'a str>,
    /// The folders on the user's disk that it may write to, by name.
    pub folders: Vec<String>,
}

/// The question of one call. The desk makes it, and sends it to the page as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PermitView {
    pub id: PermitId,
    /// The run that asks.
    pub seat: SeatId,
    /// A sentence: what the tool wants to do.
    pub title: String,
    /// What else matters before an answer.
    pub warning: Option<String>,
    pub body: PermitBody,
    /// The name of the tool, for the answer that covers all its calls.
    pub tool: String,
    /// The folders on the user's disk that it may write to, by name.
    pub folders: Vec<String>,
}

/// What the call would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PermitBody {
    /// The changes in files, and how many lines they add and remove.
    Diff { lines: Vec<DiffLine>, figures: String },
    /// The arguments, as JSON.
    Arguments(String),
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    pub kind: LineKind,
    pub text: String,
}

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineKind {
    Added,
    Removed,
    Same,
    /// A file, the place of a change in it, or a remark.
    Note,
}

impl LineKind {
    /// The sign in front of the line.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            LineKind::Added => "+",
            LineKind::Removed => "\u{2212}",
            LineKind::Same | LineKind::Note => "",
        }
    }

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LineKind::Added => "added",
            LineKind::Removed => "removed",
            LineKind::Same => "same",
            LineKind::Note => "note",
        }
    }
}

const AGAIN: &str = "It was running when the page was closed, so its effect may already have happened.";

impl From<Permit<'_>> for PermitView {
    fn from(permit: Permit<'_>) -> Self {
        let Permit { id, seat, name, arguments, touches, again, diff, folders } = permit;
        let (title, body) = match diff {
            Some(diff) => (of_diff(name, diff), body(diff)),
            None => (format!("{name} wants to {}", acts(touches)), PermitBody::Arguments(pretty(arguments))),
        };
        let title = if diff.is_some() && !folders.is_empty() { format!("{title} on your disk") } else { title };
        PermitView { id, seat, title, warning: again.then(|| AGAIN.to_owned()), body, tool: name.to_owned(), folders }
    }
}

/// Parses a unified diff into lines, without its file names if there is only one file.
#[must_use]
pub fn diff_lines(diff: &str) -> Vec<DiffLine> {
    let one_file = files(diff).len() < 2;
    let mut in_head = true;
    let mut lines = Vec::new();
    for line in diff.lines() {
        // In a hunk, a removed line may begin with two more hyphens.
        in_head |= line.is_empty();
        let (kind, text) = match line.chars().next() {
            _ if in_head && line.starts_with("--- ") => continue,
            _ if in_head && line.starts_with("+++ ") => {
                if one_file {
                    continue;
                }
                (LineKind::Note, line.get(4..).unwrap_or_default())
            }
            Some('@') => {
                in_head = false;
                lines.push(DiffLine { kind: LineKind::Note, text: place(line) });
                continue;
            }
            Some('+') => (LineKind::Added, line.get(1..).unwrap_or_default()),
            Some('-') => (LineKind::Removed, line.get(1..).unwrap_or_default()),
            Some('\\') => (LineKind::Note, line.get(2..).unwrap_or_default()),
            Some(' ') => (LineKind::Same, line.get(1..).unwrap_or_default()),
            _ => continue,
        };
        lines.push(DiffLine { kind, text: text.to_owned() });
    }
    lines
}

/// `@@ -2,7 +2,8 @@` as words; other remarks between the signs as they are.
fn place(header: &str) -> String {
    let inside = header.trim_matches('@').trim();
    let after = inside.split(' ').nth(1).and_then(|part| part.strip_prefix('+'));
    let line = after.and_then(|part| part.split(',').next()?.parse::<u64>().ok());
    line.map_or_else(|| inside.to_owned(), |line| format!("Line {}", line.max(1)))
}

fn body(diff: &str) -> PermitBody {
    let lines = diff_lines(diff);
    let count = |kind| lines.iter().filter(|line| line.kind == kind).count() as u64;
    let figures = format!("{} added, {} removed", counted(count(LineKind::Added), "line"), count(LineKind::Removed));
    PermitBody::Diff { lines, figures }
}

/// The files of a diff: path, and whether it is new.
fn files(diff: &str) -> Vec<(&str, bool)> {
    let mut files = Vec::new();
    // A file's two lines come first, or after the empty line behind another file.
    let mut lines = diff.lines();
    let mut at_file = true;
    while let Some(line) = lines.next() {
        if at_file && let Some(before) = line.strip_prefix("--- ") {
            let after = lines.next().and_then(|after| after.strip_prefix("+++ "));
            files.extend(after.map(|after| (after, before == "/dev/null")));
        }
        at_file = line.is_empty();
    }
    files
}

fn of_diff(name: &str, diff: &str) -> String {
    match files(diff).as_slice() {
        [(path, true)] => format!("{name} wants to create {path}"),
        [(path, false)] => format!("{name} wants to change {path}"),
        several => format!("{name} wants to change {}", counted(several.len() as u64, "file")),
    }
}

fn acts(touches: SideEffect) -> &'static str {
    match touches {
        SideEffect::None => "run",
        SideEffect::Workspace => "change files of this task",
        SideEffect::Folder => "change files in your folder",
        SideEffect::Network => "use the network",
        SideEffect::Page => "act on this page",
    }
}

fn pretty(arguments: &str) -> String {
    let read: Result<Value, _> = serde_json::from_str(arguments);
    read.ok().and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| arguments.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permit(touches: SideEffect, diff: Option<&str>) -> Permit<'_> {
        Permit {
            id: PermitId(1),
            seat: SeatId(2),
            name: "write_file",
            arguments: r#"{"path":"a.md"}"#,
            touches,
            again: false,
            diff,
            folders: Vec::new(),
        }
    }

    #[test]
    fn a_diff_is_lines_with_marks() {
        let diff =
            "--- garden/a.md\n+++ garden/a.md\n@@ -1,3 +1,3 @@\n same\n-old\n--- not a file name\n+new\n+++ nor this\n";
        // The folders are those that the call names, whatever comes first in the diff.
        let folders = vec!["beds".to_owned(), "garden".to_owned()];
        let view = PermitView::from(Permit { folders: folders.clone(), ..permit(SideEffect::Folder, Some(diff)) });
        assert_eq!(view.title, "write_file wants to change garden/a.md on your disk");
        assert_eq!(view.folders, folders);
        let PermitBody::Diff { lines, figures } = view.body else { panic!("no diff") };
        let shown: Vec<String> = lines.iter().map(|line| format!("{}{}", line.kind.mark(), line.text)).collect();
        assert_eq!(shown, ["Line 1", "same", "\u{2212}old", "\u{2212}-- not a file name", "+new", "+++ nor this"]);
        assert_eq!(figures, "2 lines added, 2 removed");
    }

    #[test]
    fn a_new_file_and_several_files_are_named() {
        let one = "--- /dev/null\n+++ b.md\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(PermitView::from(permit(SideEffect::Workspace, Some(one))).title, "write_file wants to create b.md");
        let two = format!("{one}\n--- a.md\n+++ a.md\n@@ -1 +1 @@\n-y\n+z\n");
        let view = PermitView::from(permit(SideEffect::Workspace, Some(&two)));
        assert_eq!(view.title, "write_file wants to change 2 files");
        let PermitBody::Diff { lines, .. } = view.body else { panic!("no diff") };
        let notes: Vec<&str> =
            lines.iter().filter(|line| line.kind == LineKind::Note).map(|line| line.text.as_str()).collect();
        assert_eq!(notes, ["b.md", "Line 1", "a.md", "Line 1"]);
    }

    #[test]
    fn other_calls_show_their_arguments() {
        let view = PermitView::from(Permit { again: true, ..permit(SideEffect::Network, None) });
        assert_eq!(view.title, "write_file wants to use the network");
        assert_eq!(view.warning.as_deref(), Some(AGAIN));
        assert_eq!(view.body, PermitBody::Arguments("{\n  \"path\": \"a.md\"\n}".into()));
    }
}
