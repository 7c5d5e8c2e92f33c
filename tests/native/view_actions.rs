//! Tool calls in words: what each does, groups of like calls, and what is under way.

use serde_json::{Value, json};
use turnwise_engine::{CallId, CallRecord, Slug, own_tools, skills};
use turnwise_view::action::{ActionView, groups, running, several};
use turnwise_view::call::{CallNote, CallState, CallView, GroupView};

fn call(name: &str, args: Value, result: Option<&str>) -> CallRecord {
    CallRecord { id: CallId("a".into()), name: name.into(), args, result: result.map(Into::into), ..support() }
}

fn support() -> CallRecord {
    serde_json::from_value(json!({
        "id": "a", "name": "x", "args": {}, "result": null, "is_final": false, "attempt": 1, "started_ms": 0, "duration_ms": null,
    })).expect("a call")
}

/// The closed card as text.
fn line(call: &CallRecord) -> String {
    let view = CallView::new(call, 0);
    let note = match view.note {
        Some(CallNote::Value(text)) => format!(" = {text}"),
        Some(CallNote::Size(text)) => format!(" · {text}"),
        None => String::new(),
    };
    format!("{} {}{note}", view.verb, view.summary)
}

#[test]
fn every_tool_of_the_product_has_words() {
    let own = [own_tools::REPORT, own_tools::BATCH, own_tools::PROGRESS, own_tools::SPAWN, own_tools::PROGRAM];
    let own =
        own.into_iter().chain([own_tools::EARLIER, own_tools::FETCH_URL, own_tools::SEARCH_WEB, skills::READ_SKILL]);
    let docs = turnwise_docs_index::tools::specs().into_iter().map(|spec| spec.name);
    let built_in = turnwise_tools::all().into_iter().filter(|tool| tool.name != "loop_forever" && tool.name != "crash");
    let all = own.map(str::to_owned).chain(built_in.map(|tool| tool.name)).chain(docs);
    let mut count = 0;
    for name in all {
        for state in [CallState::Open, CallState::Done, CallState::Failed, CallState::Ended] {
            let action =
                ActionView::new(&name, &json!({}), &[], state).unwrap_or_else(|| panic!("{name} has no words"));
            assert!(!action.verb.contains('_') && action.verb.starts_with(char::is_uppercase), "{action:?}");
        }
        count += 1;
    }
    assert!(count > 20, "{count}");
    assert_eq!(ActionView::new("getItem", &json!({}), &[], CallState::Done), None);
}

#[test]
fn a_line_says_what_was_done_with_what() {
    let pdf = "[contract.pdf: PDF, 9 pages; 3 lines of text]\none\ntwo\nthree\n[lines 1-3 of 3]";
    assert_eq!(line(&call("read_file", json!({"path": "contract.pdf"}), Some(pdf))), "Read contract.pdf · 3 lines");
    let part = call("read_file", json!({"path": "a.pdf", "place": "page 7", "limit": 9}), None);
    assert_eq!(line(&part), "Reading a.pdf, page 7");
    let from = |offset: i64| line(&call("read_file", json!({"path": "log.txt", "offset": offset}), None));
    assert_eq!(
        [from(1), from(401), from(-1)],
        ["Reading log.txt", "Reading log.txt from line 401", "Reading log.txt, the last 1 line"]
    );
    let wrote =
        call("write_file", json!({"content": "x\ny", "path": "a: b.md"}), Some("Replaced a: b.md: 2 lines, 3 B"));
    assert_eq!(line(&wrote), "Wrote a: b.md · 2 lines, 3 B");
    let missing = CallRecord {
        error: Some("no such file".into()),
        slug: Some(Slug::ToolExecFailed),
        ..call("read_file", json!({"path": "b.md"}), Some("Error: no such file"))
    };
    assert_eq!(line(&missing), "Could not read b.md");
    let stopped = CallRecord { slug: Some(Slug::Stopped), ..call("now", json!({}), Some("stopped")) };
    assert!(line(&stopped).starts_with("Looking up the time "), "{}", line(&stopped));
    assert_eq!(line(&call("calculate", json!({"expression": "6 * 7"}), Some("42"))), "Calculated 6 * 7 = 42");
    let searched =
        call("search_files", json!({"query": "boots", "limit": 3}), Some("a.md:1 0.9 boots\nb.md:2 0.1 boots"));
    assert_eq!(line(&searched), "Searched the files for “boots” · 2 lines");
    // Arguments that are not JSON, and tools of the user, are shown as they are.
    assert_eq!(line(&call("read_file", json!("{\"path\": "), None)), "read_file {\"path\":");
    assert_eq!(line(&call("getItem", json!({"id": 7}), Some("lamp"))), "getItem 7 = lamp");
}

#[test]
fn a_batch_counts_its_calls_in_words() {
    let read = || call("read_file", json!({"path": "a.md"}), Some("x"));
    let lookup = || call("lookup", json!({}), Some("x"));
    let calls = vec![call("search_files", json!({"query": "a"}), Some("x")), read(), lookup(), read(), lookup()];
    let batch = CallRecord { calls, ..call("batch", json!({}), Some("x")) };
    assert_eq!(line(&batch), "Made 5 calls: searched the files, read 2 files, lookup × 2");
}

#[test]
fn four_like_calls_in_a_row_are_one_group() {
    let split = |text: &str| groups(text.split(' '));
    assert_eq!(split("read_file read_file read_file"), [1, 1, 1]);
    assert_eq!(split("now read_file read_file read_file read_file now"), [1, 4, 1]);
    assert_eq!(split("a b a b a b a b"), [1; 8], "only in a row");
    assert_eq!(split("run_code run_code run_code run_code query_table query_table query_table query_table"), [1; 8]);
    assert_eq!(groups(std::iter::empty()), Vec::<usize>::new());

    let read = |path: &str, result| CallView::new(&call("read_file", json!({"path": path}), result), 0);
    let words = |calls: &[CallView]| {
        let GroupView { words, objects, progress, failed } = GroupView::new(calls);
        (words, objects, progress.unwrap_or_default(), failed.unwrap_or_default())
    };
    let mut calls: Vec<CallView> = ["a.md", "b.md", "c.md", "d.md"].map(|path| read(path, None)).to_vec();
    let text = |words: &str, progress: &str, failed: &str| {
        (words.to_owned(), "a.md, b.md, c.md, d.md".to_owned(), progress.to_owned(), failed.to_owned())
    };
    assert_eq!(words(&calls), text("Reading 4 files", "", ""));
    calls[1] = read("b.md", Some("x"));
    assert_eq!(words(&calls), text("Reading 4 files", "1 done", ""));
    calls = ["a.md", "b.md", "c.md", "d.md"].map(|path| read(path, Some("x"))).to_vec();
    calls[3].state = CallState::Failed;
    assert_eq!(words(&calls), text("Read 3 files", "", "1 failed"));
    assert_eq!(several("getItem", 12, false), "getItem × 12");
}

#[test]
fn what_is_under_way_is_a_part_of_a_sentence() {
    let open = |name: &str, args| call(name, args, None);
    assert_eq!(running(&[open("read_file", json!({"path": "A.md"}))]), "reading A.md");
    assert_eq!(running(&[open("now", json!({}))]), "looking up the time");
    assert_eq!(running(&[open("getItem", json!({}))]), "running getItem");
    let two = [open("read_file", json!({"path": "a"})), open("read_file", json!({"path": "b"}))];
    assert_eq!(running(&two), "reading 2 files");
    assert_eq!(running(&[open("now", json!({})), open("getItem", json!({}))]), "running 2 tools");
}
