//! A text's terms for the index: its words, and each compound name (`npm-audit`, `max_width`, `maxWidth`, `std::vec`) as a
//! term of its own. The words of a name may occur all over a site; users ask for the name.

use super::words::{name_parts, split_words};

/// Longer ones are data, not names.
const MAX_NAME_BYTES: usize = 60;
const MAX_PARTS: usize = 6;

/// The terms of a text. A name is the same term whether its words are joined by `-`, `_`, `.`, `::` or capitals.
pub fn terms(text: &str) -> Vec<String> {
    let mut out = split_words(text);
    for run in text.split(|c: char| !c.is_alphanumeric() && !joins(c)) {
        let name = run.trim_matches(joins);
        if name.len() > MAX_NAME_BYTES {
            continue;
        }
        out.extend(joined(name));
        if name.contains(joins) {
            // `config.maxTurns`: pages about `maxTurns` are asked for by its own name.
            out.extend(name.split(joins).filter_map(joined));
        }
    }
    out
}

/// The term for a name of several words; `None` for a single word.
fn joined(name: &str) -> Option<String> {
    let parts = name_parts(name);
    (2..=MAX_PARTS).contains(&parts.len()).then(|| parts.join("-"))
}

/// Joins adjacent words of a question to the names they may mean: users ask for `npm audit`, pages write `npm-audit`.
pub fn names(question: &str) -> Vec<String> {
    split_words(question).windows(2).map(|pair| pair.join("-")).collect()
}

fn joins(c: char) -> bool {
    matches!(c, '-' | '_' | '.' | ':')
}
