//! `edit_file`: exact replacement of one place, and what it says if there is not exactly one.

use serde_json::json;

use crate::support::memory::{Memory, call};

const POEM: &str = "one\n  two\nthree\n\ntwo\nfour\n";

struct Case {
    file: &'static str,
    old: &'static str,
    new: &'static str,
    /// The file afterwards, or `None` if it must not change.
    after: Option<&'static str>,
    /// Parts of the answer or of the error.
    says: &'static [&'static str],
}

#[test]
fn exactly_one_place_is_replaced_and_every_other_number_is_told() {
    let cases = [
        Case {
            file: POEM,
            old: "three",
            new: "3",
            after: Some("one\n  two\n3\n\ntwo\nfour\n"),
            says: &["Edited a.txt: 1 place matched, line 3 changed, now line 3 of 6 lines"],
        },
        Case {
            file: POEM,
            old: "three\n",
            new: "3\n3b\n",
            after: Some("one\n  two\n3\n3b\n\ntwo\nfour\n"),
            says: &["line 3 changed, now lines 3-4 of 7 lines"],
        },
        Case {
            file: POEM,
            old: "  two\nthree\n",
            new: "",
            after: Some("one\n\ntwo\nfour\n"),
            says: &["the passage at lines 2-3 was deleted of 4 lines"],
        },
        Case {
            file: POEM,
            old: "\ntwo\n",
            new: "\nzwei\n",
            after: Some("one\n  two\nthree\n\nzwei\nfour\n"),
            says: &["1 place matched"],
        },
        Case {
            file: POEM,
            old: "two",
            new: "2",
            after: None,
            says: &["2 places of a.txt match `old` (lines 2, 5); nothing was changed"],
        },
        Case { file: "a a a", old: "a", new: "b", after: None, says: &["3 places", "(line 1)"] },
        // Places that overlap are ambiguous as well.
        Case { file: "xaaax", old: "aa", new: "b", after: None, says: &["2 places"] },
        Case {
            file: POEM,
            old: "five",
            new: "5",
            after: None,
            says: &["0 places", "nothing was changed", "copy the passage exactly"],
        },
        Case {
            file: POEM,
            old: "two\n three",
            new: "x",
            after: None,
            says: &["0 places", "at line 2 differs from `old` in white space only"],
        },
        Case {
            file: POEM,
            old: "three\nfour",
            new: "x",
            after: None,
            says: &["0 places", "first line of `old` is line 3 of the file, but the lines after it differ"],
        },
        Case { file: POEM, old: "THREE", new: "x", after: None, says: &["0 places", "other capital letters"] },
        Case { file: POEM, old: "\t", new: "x", after: None, says: &["0 places", "only white space"] },
        Case { file: POEM, old: "", new: "x", after: None, says: &["`old` is empty", "write_file"] },
        Case { file: POEM, old: "one", new: "one", after: None, says: &["equal: nothing to change"] },
        // Nothing is normalized: line ends, byte order mark, composed characters.
        Case {
            file: "a\r\nb\r\nc\r\n",
            old: "a\nb",
            new: "x",
            after: None,
            says: &["0 places", "end in CRLF: write \\r\\n"],
        },
        Case { file: "a\nb\n", old: "a\r\nb", new: "x", after: None, says: &["0 places", "end in LF: write \\n"] },
        Case {
            file: "a\r\nb\r\nc\r\n",
            old: "a\r\nb",
            new: "x\r\ny\r\nz",
            after: Some("x\r\ny\r\nz\r\nc\r\n"),
            says: &["lines 1-2 changed, now lines 1-3"],
        },
        Case {
            file: "a\r\nb\r\nc\r\n",
            old: "b",
            new: "x\ny",
            after: Some("a\r\nx\ny\r\nc\r\n"),
            says: &["line ends are mixed now"],
        },
        Case { file: "\u{feff}a,b\n", old: "a,b", new: "c,d", after: Some("\u{feff}c,d\n"), says: &["1 place"] },
        Case { file: "e\u{301}\n", old: "é", new: "e", after: None, says: &["0 places"] },
        Case {
            file: "Grüße, 東京\n",
            old: "東京",
            new: "大阪",
            after: Some("Grüße, 大阪\n"),
            says: &["line 1 changed"],
        },
    ];
    for Case { file, old, new, after, says } in cases {
        let mut files = Memory::with(&[("a.txt", file.as_bytes())]);
        let answer = call(&mut files, "edit_file", json!({"path": "./a.txt", "old": old, "new": new}));
        assert_eq!(answer.is_ok(), after.is_some(), "{old:?}: {answer:?}");
        assert_eq!(files.text("a.txt"), after.unwrap_or(file), "{old:?}");
        let answer = answer.unwrap_or_else(|error| error);
        for part in says {
            assert!(answer.contains(part), "{old:?}: {answer}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_edited_is_named() {
    let mut files =
        Memory::with(&[("docs/report.md", b"text"), ("picture.png", b"\x89PNG\x00"), ("results/call_1.txt", b"text")]);
    let before = files.contents.clone();
    let cases = [
        ("report.md", "there is no file report.md; did you mean docs/report.md?"),
        ("docs", "docs is a folder; list_files with prefix `docs/` shows its files"),
        ("../x", "the path contains `..`"),
        ("picture.png", "picture.png is a binary file"),
        ("results/call_1.txt", "reserved for tool results"),
    ];
    for (path, expected) in cases {
        let error = call(&mut files, "edit_file", json!({"path": path, "old": "text", "new": "x"})).unwrap_err();
        assert!(error.contains(expected), "{path}: {error}");
    }
    assert_eq!(files.contents, before);
}

#[test]
fn very_many_places_are_counted_up_to_a_limit() {
    let mut files = Memory::with(&[("a.txt", "a".repeat(100_000).as_bytes())]);
    let error = call(&mut files, "edit_file", json!({"path": "a.txt", "old": "aaa", "new": "b"})).unwrap_err();
    assert!(error.starts_with("more than 1000 places of a.txt match `old` (line 1, …)"), "{error}");
}
