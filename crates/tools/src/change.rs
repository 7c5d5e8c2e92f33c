//! What a tool would change in a file, as a unified diff for a person to read. It is whole, because a person may permit only what was shown.

use super::diff::hunks;

/// Maximum number of bytes of the diff of a file. A model's arguments are shorter; a table that a query saves may not be.
const MAX_BYTES: usize = 8 << 20;

/// What is there before a change.
#[derive(Clone, Copy, Debug)]
pub enum Previous<'a> {
    /// No file.
    Nothing,
    Text(&'a str),
    /// A file whose content cannot be shown, and why.
    Unknown(&'a str),
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// A unified diff. A remark is written between two `@@`.
    pub diff: String,
    /// The number of lines at the end that the diff leaves out.
    pub omitted: usize,
}

/// The change of one file, as a unified diff.
#[must_use]
pub fn unified(path: &str, before: Previous<'_>, after: &str) -> FileDiff {
    let text = match before {
        Previous::Text(text) => Some(text),
        Previous::Nothing | Previous::Unknown(_) => None,
    };
    let (from, remark) = match (before, text) {
        (Previous::Nothing, _) => ("/dev/null", None),
        (Previous::Unknown(why), _) => (path, Some(format!("@@ replaces a file that {why} @@"))),
        (_, Some(text)) if text == after => (path, Some("@@ no change @@".to_owned())),
        _ => (path, None),
    };
    let lines: Vec<String> = hunks(text.unwrap_or_default(), after, usize::MAX).0.into_iter().flatten().collect();
    let mut diff = format!("--- {from}\n+++ {path}\n");
    let mut shown = 0;
    if let Some(remark) = remark {
        diff.push_str(&remark);
        diff.push('\n');
    }
    for line in &lines {
        if diff.len() + line.len() > MAX_BYTES {
            break;
        }
        diff.push_str(line);
        diff.push('\n');
        shown += 1;
    }
    let omitted = lines.len() - shown;
    if omitted > 0 {
        let all = |sign: char| lines.iter().filter(|line| line.starts_with(sign)).count();
        let (added, removed) = (all('+'), all('-'));
        diff.push_str(&format!("@@ {omitted} more lines; in all, {added} are added and {removed} removed @@\n"));
    }
    FileDiff { diff, omitted }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(path: &str, before: Option<&str>, after: &str) -> String {
        let before = before.map_or(Previous::Nothing, Previous::Text);
        let change = unified(path, before, after);
        assert_eq!(change.omitted, 0);
        change.diff
    }

    #[test]
    fn a_changed_line_is_shown_with_its_neighbours() {
        let old = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
        let new = old.replace("five", "5");
        let expected = "--- n.txt\n+++ n.txt\n@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+5\n six\n seven\n eight\n";
        assert_eq!(diff("n.txt", Some(old), &new), expected);
    }

    #[test]
    fn a_new_file_comes_from_nothing() {
        let expected = "--- /dev/null\n+++ a.md\n@@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n";
        assert_eq!(diff("a.md", None, "hello"), expected);
    }

    #[test]
    fn what_is_not_compared_is_said() {
        let replaced = unified("a.bin", Previous::Unknown("is not text"), "x\n").diff;
        assert!(replaced.contains("@@ replaces a file that is not text @@\n@@ -0,0 +1 @@\n+x\n"), "{replaced}");
        let unknown = unified("a", Previous::Unknown("cannot be read"), "x\n").diff;
        assert!(unknown.starts_with("--- a\n+++ a\n@@ replaces a file that cannot be read @@\n"), "{unknown}");
        assert!(diff("a", Some("same"), "same").ends_with("@@ no change @@\n"));
    }

    #[test]
    fn a_long_change_is_whole_and_one_that_is_too_long_says_what_is_missing() {
        let many = |of: &str, count: usize| (0..count).map(|n| format!("{of} {n}\n")).collect::<String>();
        let long = "x".repeat(100_000);
        let whole = diff("a", Some(&many("old", 15_000)), &format!("{}{long}\n", many("new", 15_000)));
        assert!(whole.ends_with(&format!("+new 14999\n+{long}\n")), "{}", whole.len());
        let cut = unified("a", Previous::Text(&many("old", 500_000)), &many("new", 500_000));
        assert!(cut.omitted > 0 && cut.diff.len() < MAX_BYTES + 200);
        let end = format!("@@ {} more lines; in all, 500000 are added and 500000 removed @@\n", cut.omitted);
        assert!(cut.diff.ends_with(&end), "{}", cut.diff.lines().last().unwrap_or_default());
    }

    #[test]
    fn a_small_change_in_a_large_file_is_compared() {
        let old: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 50000\n", "changed\n");
        let found = diff("a", Some(&old), &new);
        assert!(found.contains("-line 50000\n+changed\n"), "{found:.300}");
    }
}
