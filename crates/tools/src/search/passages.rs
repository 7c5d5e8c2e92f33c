//! Splits a file into passages: at headings, at blank lines once there is enough text, and at a maximum length.

use crate::words::split_words;

/// Lines of one passage, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    pub line: usize,
    pub lines: usize,
}

/// A blank line ends a passage that has this many characters.
const ENOUGH_CHARS: usize = 300;
/// A passage of this many lines or characters ends anywhere.
const MAX_LINES: usize = 25;
const MAX_CHARS: usize = 1_500;

/// The passages of a text, each with its heading and its lines. A text has at least one.
pub fn passages(text: &str) -> Vec<(Passage, String, String)> {
    let mut out = Vec::new();
    let (mut above, mut open) = (String::new(), String::new());
    let mut start = 1;
    let mut lines = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let blank = line.trim().is_empty();
        let full = lines >= MAX_LINES || open.len() >= MAX_CHARS || (blank && open.len() >= ENOUGH_CHARS);
        if lines > 0 && (full || heading(line).is_some()) {
            close(&mut out, Passage { line: start, lines }, &mut above, &mut open);
            lines = 0;
        }
        if lines == 0 {
            start = number;
        }
        if !blank || lines > 0 {
            lines += 1;
        }
        if let Some(heading) = heading(line) {
            above = heading.to_owned();
        }
        open.push_str(line);
        open.push('\n');
    }
    close(&mut out, Passage { line: start, lines }, &mut above, &mut open);
    if out.is_empty() {
        out.push((Passage::default(), String::new(), String::new()));
    }
    out
}

fn close(out: &mut Vec<(Passage, String, String)>, passage: Passage, heading: &mut String, open: &mut String) {
    let (heading, text) = (std::mem::take(heading), std::mem::take(open));
    if !text.trim().is_empty() {
        out.push((passage, heading, text));
    }
}

/// The first heading of a Markdown or reStructuredText file, or nothing.
pub fn title(text: &str) -> Option<String> {
    let mut before = "";
    for line in text.lines().take(60) {
        if let Some(heading) = heading(line) {
            return Some(heading.to_owned());
        }
        let underline = line.len() >= 3 && line.chars().all(|c| matches!(c, '=' | '-' | '~' | '*'));
        if underline && !before.trim().is_empty() && before.len() <= line.len() + 3 {
            return Some(before.trim().to_owned());
        }
        before = line;
    }
    None
}

/// The text of a Markdown heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim())
}

/// The line of the passage with most of the terms, and an excerpt of that line around the first of them.
pub fn best_line(text: &str, passage: Passage, terms: &[String], max_chars: usize) -> (usize, String) {
    let lines = text.lines().enumerate().skip(passage.line.saturating_sub(1)).take(passage.lines.max(1));
    let mut best = (passage.line.max(1), "", 0);
    for (index, line) in lines {
        let found = split_words(line);
        let score = 2 * terms.iter().filter(|term| found.contains(term)).count() + usize::from(best.1.is_empty());
        if !line.trim().is_empty() && score > best.2 {
            best = (index + 1, line, score);
        }
    }
    (best.0, snippet(best.1, terms, max_chars))
}

/// An excerpt of a line around the first of the terms.
pub fn snippet(line: &str, terms: &[String], max_chars: usize) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ").replace('"', "'");
    let total = line.chars().count();
    if total <= max_chars {
        return line;
    }
    let lower = line.to_lowercase();
    let first = terms.iter().filter_map(|term| lower.find(term.as_str())).min().unwrap_or(0);
    // Lower case may change the lengths of some characters: accurate enough for a window.
    let first = lower.get(..first).map_or(0, |before| before.chars().count());
    let from = first.saturating_sub(max_chars / 4).min(total - max_chars);
    let part: String = line.chars().skip(from).take(max_chars).collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if from + max_chars < total { "…" } else { "" });
    format!("{before}{part}{after}")
}
