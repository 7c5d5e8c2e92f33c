//! A text's terms for the index: its words, and each name that is made of several (`npm-audit`, `max_width`, `std::vec`)
//! as a term of its own. Its words may be everywhere on a site; the name is what somebody asks for.

use crate::tools::words::words;

/// Longer ones are data, no names.
const MAX_NAME_BYTES: usize = 60;
const MAX_PARTS: usize = 6;

/// The terms of a text. However a name's words are joined, by `-`, `_`, `.` or `::`, it is the same term.
pub fn terms(text: &str) -> Vec<String> {
    let mut out = words(text);
    for run in text.split(|c: char| !c.is_alphanumeric() && !joins(c)) {
        let name = run.trim_matches(joins);
        if name.len() > MAX_NAME_BYTES || !name.contains(joins) {
            continue;
        }
        let parts = words(name);
        if (2..=MAX_PARTS).contains(&parts.len()) {
            out.push(parts.join("-"));
        }
    }
    out
}

/// Adjacent words of a question, as the name that they may mean: `npm audit` is asked, `npm-audit` is written.
pub fn names(question: &str) -> Vec<String> {
    words(question).windows(2).map(|pair| pair.join("-")).collect()
}

fn joins(c: char) -> bool {
    matches!(c, '-' | '_' | '.' | ':')
}
