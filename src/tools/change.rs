//! What a tool would change in a file, as a unified diff for a person to read.

use super::diff::hunks;

/// Maximum number of lines of a diff.
const MAX_LINES: usize = 400;

/// The change of one file, as a unified diff. `before`: its bytes, if it exists. A remark is written between two `@@`.
#[must_use]
pub fn unified(path: &str, before: Option<&[u8]>, after: &str) -> String {
    let (from, old, remark) = match before.map(std::str::from_utf8) {
        None => ("/dev/null", "", None),
        Some(Ok(text)) if text == after => (path, text, Some("@@ no change @@")),
        Some(Ok(text)) => (path, text, None),
        Some(Err(_)) => (path, "", Some("@@ replaces a file that is not text @@")),
    };
    let lines: Vec<String> = hunks(old, after).0.into_iter().flatten().collect();
    let mut text = format!("--- {from}\n+++ {path}\n");
    for line in remark.into_iter().chain(lines.iter().map(String::as_str).take(MAX_LINES)) {
        text.push_str(line);
        text.push('\n');
    }
    if lines.len() > MAX_LINES {
        let all = |sign: char| lines.iter().filter(|line| line.starts_with(sign)).count();
        let (rest, added, removed) = (lines.len() - MAX_LINES, all('+'), all('-'));
        text.push_str(&format!("@@ {rest} more lines; in all, {added} are added and {removed} removed @@\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_shown_with_its_neighbours() {
        let old = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
        let new = old.replace("five", "5");
        let expected = "--- n.txt\n+++ n.txt\n@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+5\n six\n seven\n eight\n";
        assert_eq!(unified("n.txt", Some(old.as_bytes()), &new), expected);
    }

    #[test]
    fn a_new_file_comes_from_nothing() {
        let expected = "--- /dev/null\n+++ a.md\n@@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n";
        assert_eq!(unified("a.md", None, "hello"), expected);
    }

    #[test]
    fn what_is_not_compared_or_cut_is_said() {
        let replaced = unified("a.bin", Some(&[0xff, 0xfe]), "x\n");
        assert!(replaced.contains("@@ replaces a file that is not text @@\n@@ -0,0 +1 @@\n+x\n"), "{replaced}");
        assert!(unified("a", Some(b"same"), "same").ends_with("@@ no change @@\n"));
        let many = |of: &str| (0..15_000).map(|n| format!("{of} {n}\n")).collect::<String>();
        let large = unified("a", Some(many("old").as_bytes()), &many("new"));
        let end = "@@ 29601 more lines; in all, 15000 are added and 15000 removed @@\n";
        assert!(large.ends_with(end), "{}", large.lines().last().unwrap_or_default());
    }

    #[test]
    fn a_small_change_in_a_large_file_is_compared() {
        let old: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 50000\n", "changed\n");
        let diff = unified("a", Some(old.as_bytes()), &new);
        assert!(diff.contains("-line 50000\n+changed\n"), "{diff:.300}");
    }
}
