//! The changes between two texts, word by word, or line by line if they are long. In the worker only.

use similar::{ChangeTag, TextDiff};

use super::difference::{ChangedText, PieceKind};

/// Longer texts are compared line by line.
const WORDS: usize = 20_000;
/// Texts with more lines than this are shown one after the other.
const LINES: usize = 4_000;
/// The number of unchanged characters shown around a change.
const AROUND: usize = 120;

/// Returns the pieces of both texts: without the removed pieces they give the new text, without the added ones the old text.
#[must_use]
pub fn pieces(old: &str, new: &str) -> Vec<ChangedText> {
    let piece = |kind, text: &str| ChangedText { kind, text: text.to_owned() };
    let mut pieces: Vec<ChangedText> = Vec::new();
    if old.len().max(new.len()) > WORDS && old.lines().count().max(new.lines().count()) > LINES {
        return vec![piece(PieceKind::Removed, old), piece(PieceKind::Added, new)];
    }
    let words = old.len().max(new.len()) <= WORDS;
    let diff = if words { TextDiff::from_words(old, new) } else { TextDiff::from_lines(old, new) };
    for change in diff.iter_all_changes() {
        let kind = match change.tag() {
            ChangeTag::Equal => PieceKind::Same,
            ChangeTag::Insert => PieceKind::Added,
            ChangeTag::Delete => PieceKind::Removed,
        };
        match pieces.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(change.value()),
            _ => pieces.push(piece(kind, change.value())),
        }
    }
    pieces
}

/// Returns the pieces with long unchanged runs replaced by gaps.
#[must_use]
pub fn shortened(pieces: Vec<ChangedText>) -> Vec<ChangedText> {
    let last = pieces.len().saturating_sub(1);
    let mut short = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.into_iter().enumerate() {
        let count = piece.text.chars().count();
        if piece.kind != PieceKind::Same || count <= 3 * AROUND {
            short.push(piece);
            continue;
        }
        let head: String = piece.text.chars().take(if at == 0 { 0 } else { AROUND }).collect();
        let tail: String = piece.text.chars().skip(if at == last { count } else { count - AROUND }).collect();
        let gone = count - head.chars().count() - tail.chars().count();
        let gap = ChangedText { kind: PieceKind::Gap, text: format!("{gone} characters the same") };
        let same = |text: String| ChangedText { kind: PieceKind::Same, text };
        short.extend((!head.is_empty()).then(|| same(head)));
        short.push(gap);
        short.extend((!tail.is_empty()).then(|| same(tail)));
    }
    short
}
