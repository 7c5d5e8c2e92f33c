//! A text's terms for the index: its words, and each compound name (`npm-audit`, `max_width`, `std::vec`) as a term of
//! its own. The words of a name may occur all over a site; users ask for the name.

use super::words::split_words;

/// Longer ones are data, not names.
const MAX_NAME_BYTES: usize = 60;
const MAX_PARTS: usize = 6;

/// The terms of a text. A name is the same term whether its words are joined by `-`, `_`, `.` or `::`.
pub fn terms(text: &str) -> Vec<String> {
    let mut out = split_words(text);
    for run in text.split(|c: char| !c.is_alphanumeric() && !joins(c)) {
        let name = run.trim_matches(joins);
        if name.len() > MAX_NAME_BYTES || !name.contains(joins) {
            continue;
        }
        let parts = split_words(name);
        if (2..=MAX_PARTS).contains(&parts.len()) {
            out.push(parts.join("-"));
        }
    }
    out
}

/// Joins adjacent words of a question to the names they may mean: users ask for `npm audit`, pages write `npm-audit`.
pub fn names(question: &str) -> Vec<String> {
    split_words(question).windows(2).map(|pair| pair.join("-")).collect()
}

fn joins(c: char) -> bool {
    matches!(c, '-' | '_' | '.' | ':')
}
