//! The answers of the built-in tools.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use serde_json::{Value, json};
use turnwise_engine::EpochMillis;
use turnwise_files::{FileInfo, Files};
use turnwise_tools::path::{PathError, normalize};
use turnwise_tools::search::FileIndex;
use turnwise_tools::{Needs, names, needs, run};

/// An in-memory workspace that counts reads.
#[derive(Default)]
struct Memory {
    infos: BTreeMap<String, FileInfo>,
    contents: BTreeMap<String, Vec<u8>>,
    reads: RefCell<Vec<String>>,
    version: u64,
}

impl Memory {
    fn with(files: &[(&str, &str)]) -> Self {
        let mut memory = Memory::default();
        for (path, content) in files {
            memory.put(path, content.as_bytes());
        }
        memory
    }

    fn put(&mut self, path: &str, content: &[u8]) {
        self.version += 1;
        self.infos.insert(path.into(), FileInfo { version: self.version, size: content.len() as u64 });
        self.contents.insert(path.into(), content.into());
    }
}

impl Files for Memory {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        &self.infos
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.reads.borrow_mut().push(path.into());
        self.contents.get(path).cloned().ok_or_else(|| "gone".into())
    }

    fn write(&mut self, path: String, content: Vec<u8>) {
        self.put(&path, &content);
    }
}

/// Polls a future once; nothing here ever waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a tool waited for nothing"),
    }
}

const AT: EpochMillis = EpochMillis(1_795_300_145_678);

#[allow(clippy::needless_pass_by_value)] // reads better at the call sites
fn call(files: &mut Memory, name: &str, args: Value) -> Result<String, String> {
    now(run(name, &args, files, &mut FileIndex::default(), AT))
}

fn calculate(expression: &str) -> Result<String, String> {
    call(&mut Memory::default(), "calculate", json!({"expression": expression}))
}

#[test]
fn calculate_is_exact_and_knows_units() {
    let cases = [
        ("2^100", "1267650600228229401496703205376"),
        ("0.1 + 0.2", "0.3"),
        ("17.5% of 2400", "420"),
        ("5 feet 3 inches to cm", "160.02 cm"),
        ("90 km/h to m/s", "25 m / s"),
        ("0xff to decimal", "255"),
        ("(1200 - 300) / 4", "225"),
    ];
    for (expression, expected) in cases {
        assert_eq!(calculate(expression).as_deref(), Ok(expected), "{expression}");
    }
}

#[test]
fn calculate_refuses_what_it_cannot_know() {
    for expression in ["1/0", "2 +", "roll d6", "10 USD to EUR", "no_such_name + 1", "   "] {
        let error = calculate(expression).unwrap_err();
        assert!(error.starts_with("cannot evaluate: "), "{expression}: {error}");
    }
}

#[test]
fn calculate_survives_deep_brackets() {
    assert_eq!(calculate(&format!("{}1{}", "(".repeat(40), ")".repeat(40))).as_deref(), Ok("1"));
    assert!(calculate(&"(".repeat(1_000)).unwrap_err().contains("nested deeper"));
    let sum = vec!["1"; 300].join(" + ");
    assert_eq!(calculate(&sum).as_deref(), Ok("300"));
}

#[test]
fn now_says_the_time_it_is_given() {
    let cases = [
        (0, "1970-01-01T00:00:00Z (Thursday, UTC)"),
        (951_782_400_000, "2000-02-29T00:00:00Z (Tuesday, UTC)"),
        (1_709_251_199_999, "2024-02-29T23:59:59Z (Thursday, UTC)"),
        (1_795_300_145_678, "2026-11-21T22:29:05Z (Saturday, UTC)"),
        (4_102_444_800_000, "2100-01-01T00:00:00Z (Friday, UTC)"),
    ];
    for (at, expected) in cases {
        let answer = now(run("now", &json!({}), &mut Memory::default(), &mut FileIndex::default(), EpochMillis(at)));
        assert_eq!(answer.as_deref(), Ok(expected));
    }
}

#[test]
fn paths_are_relative_and_normal() {
    let cases = [
        ("a.md", Ok("a.md")),
        ("./docs//a.md", Ok("docs/a.md")),
        ("docs\\a.md", Ok("docs/a.md")),
        (" docs/./a b.md ", Ok("docs/a b.md")),
        ("a:b.md", Err(PathError::Absolute)),
        ("notes: today.md", Ok("notes: today.md")),
        ("", Err(PathError::Empty)),
        (".", Err(PathError::Empty)),
        ("/etc/passwd", Err(PathError::Absolute)),
        ("C:\\x", Err(PathError::Absolute)),
        ("https://a.b/c", Err(PathError::Absolute)),
        ("a/../b", Err(PathError::Parent)),
        ("..", Err(PathError::Parent)),
        ("a\\..\\b", Err(PathError::Parent)),
        ("a\u{0}b", Err(PathError::Control)),
        ("...", Ok("...")),
    ];
    for (path, expected) in cases {
        assert_eq!(normalize(path), expected.map(str::to_owned), "{path:?}");
    }
    assert_eq!(normalize(&"a".repeat(2_000)), Err(PathError::TooLong));
}

#[test]
fn list_files_shows_path_and_size_and_hides_kept_results() {
    let mut files =
        Memory::with(&[("docs/b.md", "bb"), ("docs/a.md", &"x".repeat(1234)), ("c.txt", ""), ("results/x.txt", "r")]);
    assert_eq!(call(&mut files, "list_files", json!({})).unwrap(), "c.txt  0 B\ndocs/a.md  1.3 KB\ndocs/b.md  2 B");
    assert_eq!(call(&mut files, "list_files", json!({"prefix": "./docs/b"})).unwrap(), "docs/b.md  2 B");
    assert_eq!(call(&mut files, "list_files", json!({"prefix": "results/"})).unwrap(), "results/x.txt  1 B");
    let none = call(&mut files, "list_files", json!({"prefix": "nope"})).unwrap();
    assert_eq!(none, "No file starts with `nope`; the workspace has 3 files.");
    assert_eq!(call(&mut Memory::default(), "list_files", json!({})).unwrap(), "The workspace has no files.");
}

#[test]
fn list_files_of_a_large_folder_is_bounded() {
    let mut files = Memory::default();
    (0..700).for_each(|n| files.put(&format!("f{n:03}"), b""));
    let listed = call(&mut files, "list_files", json!({})).unwrap();
    assert_eq!(listed.lines().count(), 501);
    assert!(listed.ends_with("[200 more files; give a prefix to see them]"));
}

#[test]
fn read_file_gives_lines_and_says_how_to_go_on() {
    let text: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    let mut files =
        Memory::with(&[("a.txt", &text), ("empty", ""), ("dos.txt", "a\r\nb\r\n"), ("bom.txt", "\u{feff}x")]);
    let mut read = |args| call(&mut files, "read_file", args);
    assert_eq!(read(json!({"path": "a.txt"})).unwrap(), text);
    let part = read(json!({"path": "a.txt", "offset": 3, "limit": 2})).unwrap();
    assert_eq!(part, "line 3\nline 4\n[lines 3-4 of 10; continue with offset 5]");
    assert_eq!(read(json!({"path": "./a.txt", "offset": 10})).unwrap(), "line 10\n[lines 10-10 of 10]");
    assert_eq!(read(json!({"path": "empty"})).unwrap(), "[the file is empty]");
    assert_eq!(read(json!({"path": "dos.txt"})).unwrap(), "a\nb\n");
    assert_eq!(read(json!({"path": "bom.txt"})).unwrap(), "x\n");
    assert_eq!(
        read(json!({"path": "a.txt", "offset": 11})).unwrap_err(),
        "a.txt has 10 lines; offset 11 is behind its end"
    );
}

#[test]
fn read_file_comes_in_parts_that_join_to_the_whole() {
    let text: String = (1..=3_000).map(|n| format!("line number {n} of a long file\n")).collect();
    let mut files = Memory::with(&[("long.txt", &text)]);
    let mut offset = 1;
    let mut whole = String::new();
    loop {
        let part = call(&mut files, "read_file", json!({"path": "long.txt", "offset": offset, "limit": 2000})).unwrap();
        assert!(part.chars().count() < 20_000, "a part must not be cut by the engine");
        let (lines, note) = part.rsplit_once("\n[").unwrap();
        whole.push_str(lines);
        whole.push('\n');
        match note.split_once("continue with offset ") {
            Some((_, next)) => offset = next.trim_end_matches(']').parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(whole, text);
}

#[test]
fn read_file_refuses_binary_files() {
    let mut files = Memory::default();
    files.put("a.png", b"\x89PNG\r\n\x1a\n\0\0\0");
    let error = call(&mut files, "read_file", json!({"path": "a.png"})).unwrap_err();
    assert_eq!(error, "a.png is a binary file (PNG picture, 11 B); only text can be read");
}

#[test]
fn a_missing_file_names_near_matches() {
    let mut files = Memory::with(&[("docs/architecture.md", "a"), ("docs/wire.md", "b"), ("src/main.rs", "c")]);
    let mut error = |path: &str| call(&mut files, "read_file", json!({"path": path})).unwrap_err();
    for path in ["architecture.md", "docs/Architecture.md", "doc/architecure.md"] {
        assert_eq!(error(path), format!("there is no file {path}; did you mean docs/architecture.md?"));
    }
    assert_eq!(error("docs"), "docs is a folder; list_files with prefix `docs/` shows its files");
    assert_eq!(error("zzz"), "there is no file zzz; list_files shows all 3");
    assert!(error("../x").contains("`..`"));
}

#[test]
fn write_file_makes_and_replaces_files_inside_the_workspace_only() {
    let mut files = Memory::with(&[("docs/a.md", "old")]);
    let mut write =
        |path: &str, content: &str| call(&mut files, "write_file", json!({"path": path, "content": content}));
    assert_eq!(write("./notes//n.md", "a\nb\n").unwrap(), "Wrote notes/n.md: 2 lines, 4 B");
    assert_eq!(write("docs/a.md", "new").unwrap(), "Replaced docs/a.md: 1 lines, 3 B");
    for path in ["../x", "/x", "", "results/r.txt", "docs"] {
        assert!(write(path, "x").is_err(), "{path}");
    }
    assert_eq!(files.contents["notes/n.md"], b"a\nb\n");
    assert_eq!(files.contents["docs/a.md"], b"new");
    assert_eq!(files.infos.len(), 2);
}

#[test]
fn no_tool_writes_a_file_whose_name_reads_differently_from_what_it_is() {
    let strange = "docs/\u{202e}gpj.md";
    let mut files = Memory::with(&[(strange, "old"), ("می\u{200c}خواهم.md", "a"), ("a.json", "[1]")]);
    assert_eq!(
        call(&mut files, "read_file", json!({"path": strange})).unwrap(),
        "old\n",
        "a file of the user's can be read"
    );
    let directions = "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}";
    for mark in directions.chars().chain("\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{ad}\u{2028}\n\r\t\u{1b}".chars()) {
        let path = format!("docs/a{mark}b.json");
        let code = format!("U+{:04X}", u32::from(mark));
        for (name, args) in [
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old": "a", "new": "b"})),
            ("query_json", json!({"path": "a.json", "filter": ".", "save_as": path})),
            ("query_table", json!({"sql": "select 1", "save_as": path})),
        ] {
            let error = call(&mut files, name, args).unwrap_err();
            assert!(error.contains(&code), "{name}: {error}");
        }
    }
    assert!(call(&mut files, "edit_file", json!({"path": strange, "old": "old", "new": "b"})).is_err());
    assert_eq!(files.contents.len(), 3);
    let persian = json!({"path": "می\u{200c}خواهم.md", "content": "b"});
    assert!(call(&mut files, "write_file", persian).is_ok(), "spelling needs it");
}

#[test]
fn read_result_reads_by_characters() {
    let whole = "äöü".repeat(5_000);
    let mut files = Memory::with(&[("results/call_1_1_0.txt", &whole)]);
    let mut read = |args| call(&mut files, "read_result", args);
    let part = read(json!({"handle": "call_1_1_0", "offset": 1, "length": 4})).unwrap();
    assert_eq!(part, "öüäö\n[characters 1-5 of 15000; continue with offset 5]");
    let first = read(json!({"handle": "call_1_1_0"})).unwrap();
    assert!(first.ends_with("\n[characters 0-8000 of 15000; continue with offset 8000]"));
    assert!(
        read(json!({"handle": "call_1_1_0", "offset": 8000})).unwrap().ends_with("[characters 8000-15000 of 15000]")
    );
    assert!(read(json!({"handle": "call_1_1_0", "offset": 15000})).unwrap_err().contains("behind its end"));
    let unknown = read(json!({"handle": "call_9"})).unwrap_err();
    assert_eq!(unknown, "there is no kept result `call_9`; known handles: call_1_1_0");
    assert!(read(json!({"handle": "../../secret"})).is_err());
}

#[test]
fn every_tool_of_the_table_runs() {
    for name in names() {
        let error = call(&mut Memory::default(), name, json!({})).err().unwrap_or_default();
        assert!(!error.contains("no built-in tool"), "{name}");
    }
    assert!(call(&mut Memory::default(), "shell", json!({})).unwrap_err().contains("`shell`"));
    assert_eq!(needs("now"), Needs::Nothing);
    assert_eq!(needs("read_file"), Needs::Files);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_normal_path_stays_inside_and_is_its_own_normal_form(path in "(\\.|/|\\\\|\\.\\.|a|b c|:|\\PC){0,12}") {
        if let Ok(normal) = normalize(&path) {
            prop_assert!(!normal.starts_with('/') && !normal.split('/').any(|part| part.is_empty() || part == ".." || part == "."));
            prop_assert_eq!(normalize(&normal), Ok(normal));
        }
    }

    #[test]
    fn calculate_never_panics(expression in "([0-9]|[-+*/().,% ]|km|to|of|sqrt|pi|\\PC){0,24}") {
        // Some expressions take forever, such as a tower of powers or the factorial of a large number. In the product, the
        // worker's deadline ends them; here the thread is left behind.
        let (done, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(calculate(&expression).is_ok()));
        let panicked = Err(std::sync::mpsc::RecvTimeoutError::Disconnected);
        prop_assert_ne!(ended.recv_timeout(std::time::Duration::from_secs(2)), panicked);
    }
}
