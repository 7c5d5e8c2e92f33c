//! The palette: which entries match what was typed, best first.

/// How well an entry matches; smaller is better. `None`: it does not. Every word of the query has to begin a word of the entry,
/// or to be inside one.
#[must_use]
pub fn rank(entry: &str, query: &str) -> Option<usize> {
    let entry = entry.to_lowercase();
    let mut rank = 0;
    for word in query.to_lowercase().split_whitespace() {
        let begins = entry.split(|c: char| !c.is_alphanumeric()).any(|part| part.starts_with(word));
        rank += match (entry.starts_with(word), begins) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) if entry.contains(word) => 2,
            _ => return None,
        };
    }
    Some(rank)
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn entries_that_begin_with_the_words_come_first() {
        assert_eq!(rank("New run", ""), Some(0));
        assert_eq!(rank("New run", "ne"), Some(0));
        assert_eq!(rank("Open: a new run", "ne ru"), Some(2));
        assert_eq!(rank("Renew", "new"), Some(2));
        assert_eq!(rank("New run", "new plan"), None);
    }
}
