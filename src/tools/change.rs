//! What a tool would change in a file, as a unified diff for a person to read.

use similar::{ChangeTag, TextDiff};

/// Unchanged lines around each change.
const CONTEXT: usize = 3;
/// Maximum number of lines of a diff.
const MAX_LINES: usize = 400;
/// Maximum number of characters of one line.
const MAX_LINE: usize = 500;
/// Maximum number of differing lines that are compared; the comparison takes a time that grows with their product.
const MAX_COMPARED: usize = 20_000;

/// The change of one file, as a unified diff. `before`: its bytes, if it exists.
#[must_use]
pub fn unified(path: &str, before: Option<&[u8]>, after: &str) -> String {
    let old = match before.map(std::str::from_utf8) {
        None => None,
        Some(Ok(text)) => Some(text),
        Some(Err(_)) => {
            return format!("--- {path}\n+++ {path}\n@@ replaces a file that is no text @@\n{}", added(after));
        }
    };
    let from = if old.is_none() { "/dev/null" } else { path };
    let old = old.unwrap_or_default();
    let body = if old == after {
        "@@ no change @@\n".to_owned()
    } else if differing(old, after) > MAX_COMPARED {
        let lines = |text: &str| text.lines().count();
        format!("@@ too large to compare: {} lines before, {} after @@\n{}", lines(old), lines(after), added(after))
    } else {
        hunks(old, after)
    };
    format!("--- {from}\n+++ {path}\n{body}")
}

fn hunks(old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        lines.push(hunk.header().to_string());
        for change in hunk.iter_changes() {
            let mark = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            lines.push(line(mark, change.value()));
            if change.missing_newline() {
                lines.push("\\ no newline at the end".to_owned());
            }
        }
    }
    joined(lines)
}

fn added(text: &str) -> String {
    joined(text.lines().map(|one| line('+', one)).collect())
}

fn line(mark: char, text: &str) -> String {
    let text = text.trim_end_matches(['\n', '\r']);
    match text.char_indices().nth(MAX_LINE) {
        None => format!("{mark}{text}"),
        Some((end, _)) => format!("{mark}{}…", text.get(..end).unwrap_or_default()),
    }
}

fn joined(mut lines: Vec<String>) -> String {
    if lines.len() > MAX_LINES {
        let rest = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("@@ {rest} more lines @@"));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The number of lines that are neither in the common beginning nor in the common end of both texts.
fn differing(old: &str, new: &str) -> usize {
    let same_start = old.lines().zip(new.lines()).take_while(|(a, b)| a == b).count();
    let (a, b) = (old.lines().count() - same_start, new.lines().count() - same_start);
    let same_end = old.lines().rev().zip(new.lines().rev()).take(a.min(b)).take_while(|(a, b)| a == b).count();
    a + b - 2 * same_end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_stands_between_its_neighbours() {
        let old = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
        let new = old.replace("five", "5");
        let expected = "--- n.txt\n+++ n.txt\n@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+5\n six\n seven\n eight\n";
        assert_eq!(unified("n.txt", Some(old.as_bytes()), &new), expected);
    }

    #[test]
    fn a_new_file_comes_from_nothing() {
        let expected = "--- /dev/null\n+++ a.md\n@@ -0,0 +1 @@\n+hello\n\\ no newline at the end\n";
        assert_eq!(unified("a.md", None, "hello"), expected);
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        assert!(unified("a.bin", Some(&[0xff, 0xfe]), "x").contains("no text @@\n+x"));
        assert!(unified("a", Some(b"same"), "same").ends_with("@@ no change @@\n"));
        let many = |of: &str| (0..15_000).map(|n| format!("{of} {n}\n")).collect::<String>();
        let large = unified("a", Some(many("old").as_bytes()), &many("new"));
        assert!(large.contains("too large to compare: 15000 lines before, 15000 after"), "{large:.200}");
        assert!(large.ends_with("@@ 14600 more lines @@\n"));
    }

    #[test]
    fn a_small_change_in_a_large_file_is_compared() {
        let old: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 50000\n", "changed\n");
        let diff = unified("a", Some(old.as_bytes()), &new);
        assert!(diff.contains("-line 50000\n+changed\n"), "{diff:.300}");
    }
}
