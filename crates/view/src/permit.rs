//! A question whether a tool call may run, as a person reads it: what it would do, and the change as lines with marks.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use turnwise_content::format::{counted, thousands};
use turnwise_engine::SideEffect;
use turnwise_engine::hidden::visible;
use turnwise_protocol::ShownChange;
use turnwise_protocol::app::{HandleId, PermitId};

/// Longer lines are shown in pieces of so many characters, each in a row of its own.
const PIECE: usize = 1_000;
/// A question begins with so many rows. The others are shown before it can be answered with yes.
pub const FIRST_ROWS: usize = 400;

/// A tool call that asks whether it may run.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionQuestion<'a> {
    pub id: PermitId,
    /// The run that asks.
    pub handle: HandleId,
    /// The tool.
    pub name: &'a str,
    /// JSON text.
    pub arguments: &'a str,
    pub touches: SideEffect,
    /// It was running when its page was closed, so its effect may already have happened.
    pub again: bool,
    /// What it would change in files.
    pub diff: Option<ShownChange<'a>>,
    /// The folders on the user's disk that it may write to, by name.
    pub folders: Vec<String>,
    /// The host that it goes to, if that is known.
    pub host: Option<String>,
}

/// The question of one call. The worker makes it, and sends it to the page as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PermitView {
    pub id: PermitId,
    /// The run that asks.
    pub handle: HandleId,
    /// A sentence: what the tool wants to do.
    pub title: String,
    /// What else matters before an answer.
    pub warning: Option<String>,
    pub body: PermitBody,
    /// The name of the tool, for the answer that covers all its calls.
    pub tool: String,
    /// The folders on the user's disk that it may write to, by name.
    pub folders: Vec<String>,
    /// The host that it goes to, for the answer that covers all calls of the tool to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// What the call would do: all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PermitBody {
    /// The changes in files, or the arguments as JSON.
    pub rows: Vec<PermitRow>,
    /// How many lines the changes add and remove; `None`: these are arguments.
    pub figures: Option<String>,
}

/// One line of a diff or of arguments, or a piece of a long one. Characters that cannot be seen are written out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermitRow {
    #[serde(rename = "k")]
    pub kind: LineKind,
    #[serde(rename = "t")]
    pub text: String,
    /// It goes on with the line of the row before.
    #[serde(rename = "c", default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
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
const CHANGED: &str =
    "A file has changed since you were asked, so nothing was written. This is what the call would change now.";

impl From<PermissionQuestion<'_>> for PermitView {
    fn from(permit: PermissionQuestion<'_>) -> Self {
        let PermissionQuestion { id, handle, name, arguments, touches, again, diff, folders, host } = permit;
        let (title, body) = match diff {
            Some(ShownChange { diff, .. }) => (of_diff(name, diff), of_lines(diff_lines(diff), true)),
            None => {
                let arguments = pretty(arguments);
                let lines = arguments.split('\n').map(|line| (LineKind::Same, Cow::Borrowed(line))).collect();
                let acts =
                    host.as_ref().map_or_else(|| acts(touches).to_owned(), |host| format!("ask {}", visible(host)));
                (format!("{name} wants to {acts}"), of_lines(lines, false))
            }
        };
        let title = if diff.is_some() && !folders.is_empty() { format!("{title} on your disk") } else { title };
        let changed = diff.is_some_and(|change| change.again).then(|| CHANGED.to_owned());
        let omitted = diff.map(|change| change.omitted).filter(|omitted| *omitted > 0).map(|omitted| {
            let lines = thousands(omitted as u64);
            format!(
                "The change is too long to be shown: its last {lines} lines are missing here, and would be written too."
            )
        });
        let warnings: Vec<String> = again.then(|| AGAIN.to_owned()).into_iter().chain(changed).chain(omitted).collect();
        let warning = (!warnings.is_empty()).then(|| warnings.join(" "));
        PermitView { id, handle, title, warning, body, tool: name.to_owned(), folders, host }
    }
}

impl PermitBody {
    /// The rows that a question does not begin with; 0: it shows everything.
    #[must_use]
    pub fn later_rows(&self) -> usize {
        self.rows.len().saturating_sub(FIRST_ROWS)
    }
}

/// Parses a unified diff into lines, without its file names if there is only one file.
fn diff_lines(diff: &str) -> Vec<(LineKind, Cow<'_, str>)> {
    let one_file = files(diff).len() < 2;
    let ends = line_ends(diff);
    let mut in_head = true;
    let mut lines = Vec::new();
    for line in diff.split_terminator('\n') {
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
                lines.push((LineKind::Note, Cow::Owned(place(line))));
                continue;
            }
            Some('+') => (LineKind::Added, line.get(1..).unwrap_or_default()),
            Some('-') => (LineKind::Removed, line.get(1..).unwrap_or_default()),
            Some('\\') => (LineKind::Note, line.get(2..).unwrap_or_default()),
            Some(' ') => (LineKind::Same, line.get(1..).unwrap_or_default()),
            _ => continue,
        };
        let text = if ends == LineEnds::Alike { text.strip_suffix('\r').unwrap_or(text) } else { text };
        lines.push((kind, Cow::Borrowed(text)));
    }
    lines
}

/// How the changed lines of a diff end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnds {
    Alike,
    /// Some in CRLF and some in LF: the difference is shown.
    Mixed,
}

fn line_ends(diff: &str) -> LineEnds {
    let mut changed = diff.split_terminator('\n').filter(|line| line.starts_with(['+', '-']) && !is_name(line));
    let first = changed.next().map(|line| line.ends_with('\r'));
    if changed.all(|line| Some(line.ends_with('\r')) == first) { LineEnds::Alike } else { LineEnds::Mixed }
}

fn is_name(line: &str) -> bool {
    line.starts_with("--- ") || line.starts_with("+++ ")
}

/// Lines as rows: what cannot be seen is written out, and long lines are in pieces.
fn of_lines(lines: Vec<(LineKind, Cow<'_, str>)>, is_diff: bool) -> PermitBody {
    let count = |kind| lines.iter().filter(|(found, _)| *found == kind).count() as u64;
    let figures = is_diff
        .then(|| format!("{} added, {} removed", counted(count(LineKind::Added), "line"), count(LineKind::Removed)));
    let mut rows = Vec::with_capacity(lines.len());
    for (kind, text) in lines {
        let shown = visible(&text);
        let mut rest = &*shown;
        let mut continued = false;
        loop {
            let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            rows.push(PermitRow { kind, text: piece.to_owned(), continued });
            if after.is_empty() {
                break;
            }
            (rest, continued) = (after, true);
        }
    }
    PermitBody { rows, figures }
}

/// `@@ -2,7 +2,8 @@` as words; other remarks between the signs as they are.
fn place(header: &str) -> String {
    let inside = header.trim_matches('@').trim();
    let after = inside.split(' ').nth(1).and_then(|part| part.strip_prefix('+'));
    let line = after.and_then(|part| part.split(',').next()?.parse::<u64>().ok());
    line.map_or_else(|| inside.to_owned(), |line| format!("Line {}", line.max(1)))
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
        [(path, true)] => format!("{name} wants to create {}", visible(path)),
        [(path, false)] => format!("{name} wants to change {}", visible(path)),
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

    fn permit(touches: SideEffect, diff: Option<&str>) -> PermissionQuestion<'_> {
        PermissionQuestion {
            id: PermitId(1),
            handle: HandleId(2),
            name: "write_file",
            arguments: r#"{"path":"a.md"}"#,
            touches,
            again: false,
            diff: diff.map(|diff| ShownChange { diff, omitted: 0, again: false }),
            folders: Vec::new(),
            host: None,
        }
    }

    fn shown(body: &PermitBody) -> Vec<String> {
        body.rows.iter().map(|row| format!("{}{}", row.kind.mark(), row.text)).collect()
    }

    #[test]
    fn a_diff_is_lines_with_marks() {
        let diff =
            "--- garden/a.md\n+++ garden/a.md\n@@ -1,3 +1,3 @@\n same\n-old\n--- not a file name\n+new\n+++ nor this\n";
        // The folders are those that the call names, whatever comes first in the diff.
        let folders = vec!["beds".to_owned(), "garden".to_owned()];
        let view =
            PermitView::from(PermissionQuestion { folders: folders.clone(), ..permit(SideEffect::Folder, Some(diff)) });
        assert_eq!(view.title, "write_file wants to change garden/a.md on your disk");
        assert_eq!(view.folders, folders);
        assert_eq!(
            shown(&view.body),
            ["Line 1", "same", "\u{2212}old", "\u{2212}-- not a file name", "+new", "+++ nor this"]
        );
        assert_eq!(view.body.figures.as_deref(), Some("2 lines added, 2 removed"));
        assert_eq!((view.warning, view.body.later_rows()), (None, 0));
    }

    #[test]
    fn a_new_file_and_several_files_are_named() {
        let one = "--- /dev/null\n+++ b.md\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(PermitView::from(permit(SideEffect::Workspace, Some(one))).title, "write_file wants to create b.md");
        let two = format!("{one}\n--- a.md\n+++ a.md\n@@ -1 +1 @@\n-y\n+z\n");
        let view = PermitView::from(permit(SideEffect::Workspace, Some(&two)));
        assert_eq!(view.title, "write_file wants to change 2 files");
        let rows = view.body.rows.iter();
        let notes: Vec<&str> = rows.filter(|row| row.kind == LineKind::Note).map(|row| row.text.as_str()).collect();
        assert_eq!(notes, ["b.md", "Line 1", "a.md", "Line 1"]);
    }

    #[test]
    fn other_calls_show_their_arguments() {
        let view = PermitView::from(PermissionQuestion { again: true, ..permit(SideEffect::Network, None) });
        assert_eq!(view.title, "write_file wants to use the network");
        assert_eq!(view.warning.as_deref(), Some(AGAIN));
        assert_eq!(shown(&view.body), ["{", "  \"path\": \"a.md\"", "}"]);
        assert_eq!(view.body.figures, None);
    }

    #[test]
    fn nothing_of_a_change_is_left_out_and_what_does_not_begin_the_question_is_counted() {
        let long = "x".repeat(2 * PIECE + 5);
        let many: String = (0..FIRST_ROWS).map(|n| format!("+line {n}\n")).collect();
        let diff = format!("--- /dev/null\n+++ a.sh\n@@ -0,0 +1,402 @@\n+{long}\n{many}+last\n");
        let view = PermitView::from(permit(SideEffect::Folder, Some(&diff)));
        let text: String = view.body.rows.iter().map(|row| row.text.as_str()).collect();
        assert!(text.contains(&long) && text.ends_with("last"), "{}", text.len());
        assert_eq!(view.body.rows.iter().filter(|row| row.continued).count(), 2);
        assert_eq!((view.body.later_rows(), view.body.rows.len()), (5, FIRST_ROWS + 5));
        assert_eq!(view.body.figures.as_deref(), Some("402 lines added, 0 removed"));
        let change = ShownChange { diff: &diff, omitted: 1_234, again: true };
        let warning =
            PermitView::from(PermissionQuestion { diff: Some(change), ..permit(SideEffect::Folder, None) }).warning;
        let warning = warning.expect("there is a warning");
        assert!(warning.starts_with(CHANGED) && warning.contains("its last 1,234 lines are missing here"), "{warning}");
        let arguments = format!(r#"{{"text":"{long}"}}"#);
        let view = PermitView::from(PermissionQuestion { arguments: &arguments, ..permit(SideEffect::Network, None) });
        assert!(view.body.rows.iter().map(|row| row.text.as_str()).collect::<String>().contains(&long));
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        let diff =
            "--- a\u{202e}dm.sh\n+++ a\u{202e}dm.sh\n@@ -1 +1 @@\n-a\r\n+if x\u{2066}# admin\u{2069}\n+\u{200b}b\n";
        let view = PermitView::from(permit(SideEffect::Folder, Some(diff)));
        assert_eq!(view.title, "write_file wants to change a[U+202E]dm.sh");
        assert_eq!(
            shown(&view.body)[1..],
            ["\u{2212}a[U+000D]", "+if x[U+2066]# admin[U+2069]", "+[U+200B]b"],
            "also line ends, where they differ"
        );
        let alike = "--- a\n+++ a\n@@ -1 +1 @@\n-a\r\n+b\rc\r\n";
        let view = PermitView::from(permit(SideEffect::Folder, Some(alike)));
        assert_eq!(shown(&view.body)[1..], ["\u{2212}a", "+b[U+000D]c"]);
        let arguments = "{\"to\":\"\\u202eevil\",\"raw\":\"\u{202e}\"}";
        let view = PermitView::from(PermissionQuestion { arguments, ..permit(SideEffect::Network, None) });
        let text = shown(&view.body).join("\n");
        assert!(text.contains("[U+202E]evil") && !text.contains('\u{202e}'), "{text}");
    }
}
