//! Converts text to search terms: lower case, split at everything that is not a letter or digit and inside `camelCase`,
//! plurals become singulars; scripts without spaces become pairs of characters.

/// Longer runs are not words that anyone searches for (data, hashes).
const MAX_WORD_CHARS: usize = 40;

/// The terms of a text, in order.
pub fn split_words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        if run.chars().any(is_unspaced) {
            pairs(run, &mut out);
            continue;
        }
        let whole = run.to_lowercase();
        let parts = camel_parts(run);
        if parts.len() > 1 {
            out.extend(parts.into_iter().map(|part| singular(part.to_lowercase())));
        }
        if whole.chars().count() <= MAX_WORD_CHARS {
            out.push(singular(whole));
        }
    }
    out
}

/// The words of a name, in order: `max_turns` and `maxTurns` have the same.
pub fn name_parts(name: &str) -> Vec<String> {
    let runs =
        name.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty() && !run.chars().any(is_unspaced));
    runs.flat_map(camel_parts).map(|part| singular(part.to_lowercase())).collect()
}

/// Chinese, Japanese, Korean, Thai: written without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0E7F | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF)
}

fn pairs(run: &str, out: &mut Vec<String>) {
    let chars: Vec<char> = run.to_lowercase().chars().collect();
    match chars.as_slice() {
        [one] => out.push(one.to_string()),
        many => out.extend(many.windows(2).map(|pair| pair.iter().collect())),
    }
}

fn camel_parts(run: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before_lower = false;
    for (at, c) in run.char_indices() {
        if c.is_uppercase() && before_lower {
            parts.extend(run.get(start..at));
            start = at;
        }
        before_lower = c.is_lowercase();
    }
    parts.extend(run.get(start..));
    parts
}

/// Harman's S stemmer for ASCII words, with `-es` after a hiss.
fn singular(mut word: String) -> String {
    let plural = word.len() > 3 && word.is_ascii() && word.ends_with('s');
    if !plural || word.ends_with("us") || word.ends_with("ss") {
        return word;
    }
    let hiss = ["sses", "shes", "ches", "xes", "zes"].iter().any(|end| word.ends_with(end));
    if hiss {
        word.truncate(word.len() - 2);
    } else if word.ends_with("ies") && word.len() > 4 && !word.ends_with("eies") && !word.ends_with("aies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else {
        word.pop();
    }
    word
}
