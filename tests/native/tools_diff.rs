//! `diff_files`: a unified diff that rebuilds the second file, limited in size and work.

use proptest::prelude::*;
use serde_json::json;

use crate::support::memory::{Memory, call};

fn diff(a: &[u8], b: &[u8]) -> Result<String, String> {
    let mut files = Memory::with(&[("old/a.txt", a), ("b.txt", b)]);
    call(&mut files, "diff_files", json!({"a": "old/a.txt", "b": "b.txt"}))
}

#[test]
fn a_diff_is_unified() {
    let cases: [(&str, &str, &str); 7] = [
        ("a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n[1 lines added, 1 removed]"),
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n[1 lines added, 0 removed]"),
        ("a\n", "", "@@ -1 +0,0 @@\n-a\n[0 lines added, 1 removed]"),
        ("a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n[1 lines added, 1 removed]"),
        (
            "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
            "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n",
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -10,3 +10,4 @@\n 10\n 11\n 12\n+13\n[2 lines added, 1 removed]",
        ),
        ("a\nb\nc\n", "c\na\nb\n", "@@ -1,3 +1,3 @@\n+c\n a\n b\n-c\n[1 lines added, 1 removed]"),
        ("x\nx\nx\n", "x\nx\n", "@@ -1,3 +1,2 @@\n x\n x\n-x\n[0 lines added, 1 removed]"),
    ];
    for (a, b, expected) in cases {
        let answer = diff(a.as_bytes(), b.as_bytes()).unwrap();
        assert_eq!(answer, format!("--- old/a.txt\n+++ b.txt\n{expected}"), "{a:?} -> {b:?}");
    }
}

#[test]
fn equal_files_say_so() {
    let cases: [(&[u8], &[u8], &str); 5] = [
        (b"a\nb\n", b"a\nb\n", "old/a.txt and b.txt are equal."),
        (b"", b"", "old/a.txt and b.txt are equal."),
        (b"a\r\nb\r\n", b"a\nb\n", "old/a.txt and b.txt differ in line ends only: old/a.txt has CRLF, b.txt has LF."),
        (
            b"a\r\nb\n",
            b"a\nb\n",
            "old/a.txt and b.txt differ in line ends only: old/a.txt has CRLF and LF, b.txt has LF.",
        ),
        (b"\x00\x01", b"\x00\x01", "old/a.txt and b.txt are equal, byte by byte."),
    ];
    for (a, b, expected) in cases {
        assert_eq!(diff(a, b).as_deref(), Ok(expected));
    }
}

#[test]
fn what_cannot_be_compared_is_named() {
    assert!(diff(b"\x00\x01", b"\x00").unwrap_err().contains("are binary files and differ"));
    assert!(diff(b"text", b"\x00").unwrap_err().starts_with("b.txt is a binary file (1 B)"));
    let mut files = Memory::with(&[("docs/report.md", b"x")]);
    let error = call(&mut files, "diff_files", json!({"a": "docs/report.md", "b": "report.md"})).unwrap_err();
    assert_eq!(error, "there is no file report.md; did you mean docs/report.md?");
}

#[test]
fn a_large_diff_is_cut_and_says_so() {
    let lines = |word: &str| (0..2_000).map(|n| format!("{word} {n}\n")).collect::<String>();
    let answer = diff(lines("old").as_bytes(), lines("new").as_bytes()).unwrap();
    assert!(answer.len() < 18_500, "{}", answer.len());
    assert!(answer.ends_with(" of its 4001 lines, read the files for the rest]"), "{}", &answer[answer.len() - 200..]);
    assert!(answer.contains("[2000 lines added, 2000 removed; "));
    let long = diff("x".repeat(50_000).as_bytes(), b"y\n").unwrap();
    assert!(long.contains("… [line of 50000 characters]"), "{long}");
}

#[test]
fn files_that_share_nothing_are_not_matched_line_by_line() {
    let lines = |word: &str, n: usize| (0..n).map(|n| format!("{word} {n}\n")).collect::<String>();
    let answer = diff(lines("old", 200_000).as_bytes(), lines("new", 200_000).as_bytes()).unwrap();
    assert!(answer.contains("[200000 lines added, 200000 removed; "));
    assert!(answer.contains("; some long parts differ too much to be matched line by line and are shown as replaced]"));
    // A small change in a large file is still found.
    let (large, other) = (lines("line", 200_000), lines("line", 200_000).replace("line 25000\n", "changed\n"));
    let answer = diff(large.as_bytes(), other.as_bytes()).unwrap();
    assert!(answer.contains("-line 25000\n+changed\n") && answer.ends_with("[1 lines added, 1 removed]"), "{answer}");
    // What is only inserted, or too costly to compare, costs nothing.
    let after = |before: &str, word: &str| format!("start\n{before}same\n{word}\nend\n");
    let answer = diff(after("", "old").as_bytes(), after(&lines("line", 20_000), "new").as_bytes()).unwrap();
    assert!(answer.contains("[20001 lines added, 1 removed;") && !answer.contains("differ too much"), "{answer}");
}

/// Applies a unified diff whose lines all fit.
fn patched(a: &str, diff: &str) -> String {
    let old: Vec<&str> = a.split_inclusive('\n').collect();
    let (mut out, mut at) = (String::new(), 0);
    let mut lines = diff.lines().skip(2).peekable();
    while let Some(line) = lines.next() {
        if let Some(header) = line.strip_prefix("@@ -") {
            let (start, count) = header.split(' ').next().unwrap().split_once(',').map_or_else(
                || (header.split(' ').next().unwrap().parse::<usize>().unwrap(), 1),
                |(start, count)| (start.parse().unwrap(), count.parse::<usize>().unwrap()),
            );
            let start = if count == 0 { start } else { start - 1 };
            out.extend(old[at..start].iter().copied());
            at = start;
            continue;
        }
        if line.starts_with('[') {
            break;
        }
        let whole = if lines.peek().is_some_and(|next| next.starts_with('\\')) { "" } else { "\n" };
        match line.split_at(1) {
            (" ", text) => {
                assert_eq!(old[at], format!("{text}{whole}"));
                out.push_str(old[at]);
                at += 1;
            }
            ("-", text) => {
                assert_eq!(old[at], format!("{text}{whole}"));
                at += 1;
            }
            ("+", text) => out.push_str(&format!("{text}{whole}")),
            ("\\", _) => {}
            other => panic!("{other:?}"),
        }
    }
    out.extend(old[at..].iter().copied());
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn a_diff_applied_to_the_first_file_gives_the_second(a in "([abcd]{0,2}\n){0,14}[ab]?", b in "([abcd]{0,2}\n){0,14}[ab]?") {
        let answer = diff(a.as_bytes(), b.as_bytes()).unwrap();
        if a == b {
            prop_assert!(answer.contains("are equal"));
        } else {
            prop_assert_eq!(patched(&a, &answer), b, "{}", answer);
        }
    }
}
