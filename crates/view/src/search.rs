//! Where the words of a search occur, in a title or in a passage of what a run said.

use serde::{Deserialize, Serialize};

/// A text in pieces; `true`: the piece is one of the words.
pub type MarkedText = Vec<(String, bool)>;

/// A task that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskHit {
    /// Its line in the list.
    pub line: String,
    /// `None`: the words occur only in its task.
    pub passage: Option<MarkedText>,
}

/// Characters of a passage, and those of them before the first word.
const PASSAGE: usize = 140;
const BEFORE: usize = 40;

/// Whether all words of a search occur in a text, in any place. Both are in lower case.
#[must_use]
pub fn has_words(text: &str, search: &str) -> bool {
    search.split_whitespace().all(|word| text.contains(word))
}

/// Marks the words of a search, which is in lower case, in a text.
#[must_use]
pub fn marked(text: &str, search: &str) -> MarkedText {
    let (lower, places) = lowered(text);
    let mut found: Vec<(usize, usize)> = search
        .split_whitespace()
        .flat_map(|word| lower.match_indices(word).map(|(at, word)| (at, at + word.len())))
        .collect();
    found.sort_unstable();
    let place = |at: usize| places.get(at).copied().unwrap_or(text.len());
    // Words that touch are one piece.
    found.dedup_by(|next, before| {
        let touch = next.0 <= before.1;
        before.1 = if touch { before.1.max(next.1) } else { before.1 };
        touch
    });
    let (mut pieces, mut from) = (Vec::new(), 0);
    let mut add = |from: usize, to: usize, hit: bool| {
        if let Some(piece) = text.get(from..to).filter(|piece| !piece.is_empty()) {
            pieces.push((piece.to_owned(), hit));
        }
    };
    for (start, end) in found {
        let (start, end) = (place(start).max(from), place(end));
        if end > start {
            add(from, start, false);
            add(start, end, true);
            from = end;
        }
    }
    add(from, text.len(), false);
    pieces
}

/// Returns the passage with the most words of a search, which is in lower case. `text`: the task of a run, and then what it said.
/// `None`: only the task has them.
#[must_use]
pub fn passage(task: &str, text: &str, search: &str) -> Option<MarkedText> {
    let said = text.strip_prefix(task).unwrap_or(text);
    let count = |line: &str| {
        let line = line.to_lowercase();
        search.split_whitespace().filter(|word| line.contains(word)).count()
    };
    // The first of those with the most.
    let best = said.lines().map(|line| (count(line), line)).rev().max_by_key(|(count, _)| *count);
    let (_, line) = best.filter(|(count, _)| *count > 0)?;
    let (lower, places) = lowered(line);
    let first = search.split_whitespace().filter_map(|word| lower.find(word)).min()?;
    let first = places.get(first).copied().unwrap_or_default();
    let chars: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
    let at = chars.iter().position(|at| *at >= first).unwrap_or_default();
    let last = chars.len() - 1;
    let (start, end) = (at.saturating_sub(BEFORE), (at.saturating_sub(BEFORE) + PASSAGE).min(last));
    let byte = |char: usize| chars.get(char).copied().unwrap_or(line.len());
    let cut = line.get(byte(start)..byte(end)).unwrap_or_default();
    let mut pieces = marked(cut.trim(), search);
    if start > 0 {
        pieces.insert(0, ("\u{2026}".to_owned(), false));
    }
    if end < last {
        pieces.push(("\u{2026}".to_owned(), false));
    }
    Some(pieces)
}

/// A text in lower case, and for each of its bytes the place in the text: a letter may become longer.
fn lowered(text: &str) -> (String, Vec<usize>) {
    let (mut lower, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
    for (at, c) in text.char_indices() {
        for c in c.to_lowercase() {
            lower.push(c);
            places.extend(std::iter::repeat_n(at, c.len_utf8()));
        }
    }
    (lower, places)
}

#[cfg(test)]
mod tests {
    use super::{marked, passage};

    fn shown(pieces: &[(String, bool)]) -> String {
        pieces.iter().map(|(text, hit)| if *hit { format!("[{text}]") } else { text.clone() }).collect()
    }

    #[test]
    fn every_occurrence_is_marked_in_the_letters_of_the_text() {
        assert_eq!(shown(&marked("Tides and TIDES", "tides")), "[Tides] and [TIDES]");
        assert_eq!(shown(&marked("Moonlight", "moonlight moon light")), "[Moonlight]");
        // A letter that becomes two.
        assert_eq!(shown(&marked("\u{130}stanbul by night", "night")), "\u{130}stanbul by [night]");
        assert_eq!(shown(&marked("nothing", "else")), "nothing");
    }

    #[test]
    fn the_passage_is_the_line_with_the_most_words() {
        let text = "Count the moons\nThe moon is one.\nKelp grows at the Moon's tide.\nmoon tide";
        assert_eq!(
            shown(&passage("Count the moons", text, "moon tide").unwrap()),
            "Kelp grows at the [Moon]'s [tide]."
        );
        assert_eq!(passage("Count the moons", text, "count"), None, "the title has it");
        let long = format!("Task\n{} needle {}", "a ".repeat(100), "b ".repeat(100));
        let found = shown(&passage("Task", &long, "needle").unwrap());
        assert!(
            found.starts_with("\u{2026}a") && found.contains(" [needle] b") && found.ends_with('\u{2026}'),
            "{found}"
        );
        assert!(found.chars().count() <= 146, "{found}");
    }
}
