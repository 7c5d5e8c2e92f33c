//! `query_json`: the jq language over a JSON file.

use serde_json::json;

use crate::support::memory::{Memory, call};

const SHOP: &str = r#"{"items":[{"id":1,"name":"Pen, blue","price":1.5,"tags":["a","b"]},{"id":2,"name":"Ink","price":12},{"id":3,"name":"Pad \"A5\"","price":7,"stock":null}]}"#;
const LINES: &str = "{\"a\":1}\n{\"a\":2}\n\n{\"b\":\"x\"}\n";

fn query(path: &str, content: &str, filter: &str) -> Result<String, String> {
    let mut files = Memory::with(&[(path, content.as_bytes())]);
    call(&mut files, "query_json", json!({"path": path, "filter": filter}))
}

#[test]
fn results_are_lines_of_json() {
    let cases = [
        (SHOP, ".items[] | select(.price > 5) | .name", "\"Ink\"\n\"Pad \\\"A5\\\"\"\n[2 results]"),
        (SHOP, ".items | map(.price) | add", "20.5\n[1 result]"),
        (SHOP, ".items[0]", "{\"id\":1,\"name\":\"Pen, blue\",\"price\":1.5,\"tags\":[\"a\",\"b\"]}\n[1 result]"),
        (
            SHOP,
            "[.items[] | {id, p: (.price * 2)}]",
            "[{\"id\":1,\"p\":3},{\"id\":2,\"p\":24},{\"id\":3,\"p\":14}]\n[1 result]",
        ),
        (SHOP, "empty", "[0 results]"),
        (SHOP, ".items | group_by(.price > 5) | map(length)", "[1,2]\n[1 result]"),
        (SHOP, ".items[] | .name | test(\"^P\")", "true\nfalse\ntrue\n[3 results]"),
        (SHOP, "1, halt, 2", "1\n[1 result]"),
        (SHOP, ".items[0] | [.id, .name, .stock] | @csv", "\"1,\\\"Pen, blue\\\",\"\n[1 result]"),
        (SHOP, "[1, \"a\\tb\", null] | @tsv", "\"1\\ta\\\\tb\\t\"\n[1 result]"),
        (SHOP, ".items | INDEX(.id) | keys", "[\"1\",\"2\",\"3\"]\n[1 result]"),
        (SHOP, ".items[] | select(.id | IN(1, 3)) | .id", "1\n3\n[2 results]"),
        (SHOP, "\"xax\" | trimstr(\"x\") | toarray", "[\"a\"]\n[1 result]"),
        (SHOP, "nan, infinite, (1 / 3)", "null\n1.7976931348623157e308\n0.3333333333333333\n[3 results]"),
        ("12345678901234567890", ".", "12345678901234567890\n[1 result]"),
        ("\u{feff}[1]", ".[]", "1\n[1 result]"),
        (LINES, ".a", "1\n2\nnull\n[3 results]"),
    ];
    for (content, filter, expected) in cases {
        assert_eq!(query("f.json", content, filter).as_deref(), Ok(expected), "{filter}");
    }
}

#[test]
fn an_error_says_where() {
    let cases = [
        (SHOP, ".items[", "the filter is wrong at "),
        (SHOP, ".items |", "the filter is wrong at its end: expected term"),
        (
            SHOP,
            ".items\n  | foo(1)",
            "the filter is wrong at line 2, column 5: there is no filter `foo` with 1 arguments",
        ),
        (SHOP, "$x", "the filter is wrong at line 1, column 1: there is no variable `$x`"),
        (SHOP, "now", "there is no filter `now`, which is not available here"),
        (SHOP, "env", "there is no filter `env`, which is not available here"),
        (SHOP, "input", "there is no filter `input`, which is not available here"),
        (SHOP, "import \"a\" as a; .", "the filter imports a module; there are none here"),
        (SHOP, ".items | .name", "the filter failed: cannot index"),
        (SHOP, "1, 2, error(\"stop\")", "the filter failed: \"stop\" after 2 results:\n1\n2"),
        (
            LINES,
            ".a + 1 | if . > 2 then error(\"big\") else . end",
            "\"big\" at value 2 of the file after 1 result:\n2",
        ),
        ("{\"a\": 1,\n \"b\": }", ".", "f.json: not JSON: "),
        ("a,b\n1,2\n", ".", "f.json: not JSON: "),
        ("", ".", "f.json: not JSON: it has no value"),
    ];
    for (content, filter, expected) in cases {
        let error = query("f.json", content, filter).unwrap_err();
        assert!(error.contains(expected), "{filter}: {error}");
    }
    let error = query("f.json", "{\"a\": 1,\n \"b\": }", ".").unwrap_err();
    assert!(error.ends_with(" at line 2, column 7"), "{error}");
    let error = query("f.csv", "a,b\n1,2\n", ".").unwrap_err();
    assert!(error.ends_with("; query_table reads such files"), "{error}");
    let deep = "[".repeat(100_000);
    assert!(query("f.json", &deep, ".").unwrap_err().contains("nested deeper than 256 levels"));
    assert!(query("f.json", "1", &"(".repeat(5_000)).unwrap_err().contains("nested deeper than 64 brackets"));
}

#[test]
fn a_file_that_is_not_there_is_named_with_near_ones() {
    let mut files = Memory::with(&[("data/shop.json", b"[]")]);
    let error = call(&mut files, "query_json", json!({"path": "shop.json", "filter": "."})).unwrap_err();
    assert_eq!(error, "there is no file shop.json; did you mean data/shop.json?");
}

#[test]
fn many_results_are_cut_and_counted() {
    let answer = query("f.json", "null", "range(250000)").unwrap();
    assert!(answer.starts_with("0\n1\n2\n") && answer.contains("\n99\n[results 1-100 of 250,000; "), "{answer}");
    let endless = query("f.json", "null", "repeat(1)").unwrap();
    assert!(endless.contains("[results 1-100 of more than 1,000,000; narrow the filter"), "{endless}");
    let long = query("f.json", "null", "\"x\" * 100000, 1").unwrap();
    assert!(long.contains("… [the value is longer; narrow the filter]") && long.len() < 17_000, "{}", long.len());
}

#[test]
fn a_whole_result_is_saved_for_the_next_tool() {
    let cases = [
        ("out/a.json", ".items[] | .id", "[\n1,\n2,\n3\n]\n", "Wrote out/a.json: 3 results, 12 B"),
        ("a.json", ".items | length", "3\n", "Wrote a.json: 1 result, 2 B"),
        ("a.json", "empty", "[\n\n]\n", "Wrote a.json: 0 results, 5 B"),
        ("a.jsonl", ".items[] | {id}", "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n", "Wrote a.jsonl: 3 results"),
        (
            "a.csv",
            ".items",
            "id,name,price,tags,stock\n1,\"Pen, blue\",1.5,\"[\"\"a\"\",\"\"b\"\"]\",\n2,Ink,12,,\n3,\"Pad \"\"A5\"\"\",7,,\n",
            "Wrote a.csv: 1 result",
        ),
        (
            "a.tsv",
            ".items[] | [.id, .name]",
            "column_1\tcolumn_2\n1\tPen, blue\n2\tInk\n3\t\"Pad \"\"A5\"\"\"\n",
            "Wrote a.tsv",
        ),
        ("a.csv", ".items[].id", "value\n1\n2\n3\n", "Wrote a.csv: 3 results"),
    ];
    for (save_as, filter, expected, said) in cases {
        let mut files = Memory::with(&[("shop.json", SHOP.as_bytes())]);
        let answer =
            call(&mut files, "query_json", json!({"path": "shop.json", "filter": filter, "save_as": save_as})).unwrap();
        assert_eq!(files.text(save_as), expected, "{filter}");
        assert!(answer.contains(said), "{filter}: {answer}");
    }
}

#[test]
fn nothing_is_saved_where_it_must_not_or_cannot() {
    let cases = [
        ("../a.json", ".", "`save_as`: the path contains `..`"),
        ("results/a.json", ".", "reserved for tool results"),
        ("a.txt", ".", "its name has to end in .csv, .tsv, .json or .jsonl"),
        ("data", ".", "`data` is a folder"),
        ("a.json", "1, error(\"x\")", "the filter failed"),
        ("a.json", "repeat(1)", "more than 1,000,000 results, so they were not saved"),
        ("a.json", "range(100) | \"x\" * 1000000", "larger than 64 MB, so it was not saved"),
    ];
    for (save_as, filter, expected) in cases {
        let mut files = Memory::with(&[("data/shop.json", SHOP.as_bytes())]);
        let before = files.contents.clone();
        let error =
            call(&mut files, "query_json", json!({"path": "data/shop.json", "filter": filter, "save_as": save_as}))
                .unwrap_err();
        assert!(error.contains(expected), "{save_as}: {error}");
        assert_eq!(files.contents, before);
    }
}
