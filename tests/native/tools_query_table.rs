//! `query_table`: which files are tables, what the engine is asked, and how its answer is shown. The engine itself is
//! tested in `tests/e2e/query.test.mjs`.

use serde_json::{Value, json};
use turnwise_tools::tabular::names::{TableFormat, tables};

use crate::support::memory::{Memory, call};

/// Paths, and the paths that are tables with their names.
type Case = (&'static [&'static str], &'static [(&'static str, &'static str)]);

#[test]
fn a_table_is_named_after_its_file() {
    let cases: [Case; 11] = [
        (&["sales.csv"], &[("sales.csv", "sales")]),
        (&["data/Sales 2024 (final).csv"], &[("data/Sales 2024 (final).csv", "Sales_2024_final")]),
        (&["2024.tsv"], &[("2024.tsv", "t2024")]),
        (&["größe-café.json"], &[("größe-café.json", "größe_café")]),
        (&["---.csv"], &[("---.csv", "table")]),
        // Two files of one name are told apart by their folders, then by their extensions.
        (&["a/x.csv", "b/X.csv", "y.csv"], &[("a/x.csv", "a_x"), ("b/X.csv", "b_X"), ("y.csv", "y")]),
        (&["x.csv", "x.json"], &[("x.csv", "x_csv"), ("x.json", "x_json")]),
        // What even then has the name of another is numbered, without taking the name of a third.
        (
            &["q 1.csv", "q-1.csv", "q_1.csv"],
            &[("q 1.csv", "q_1_csv"), ("q-1.csv", "q_1_csv_2"), ("q_1.csv", "q_1_csv_3")],
        ),
        (
            &["q-1.csv", "q_1.csv", "q_1_csv_2.csv"],
            &[("q-1.csv", "q_1_csv"), ("q_1.csv", "q_1_csv_3"), ("q_1_csv_2.csv", "q_1_csv_2")],
        ),
        (&["notes.md", "results/r.csv", "a.CSV"], &[("a.CSV", "a")]),
        // Texts and pages are only reached by their paths, and do not change the names of tables.
        (&["a.csv", "a.html", "b/a.txt"], &[("a.csv", "a"), ("a.html", "a.html"), ("b/a.txt", "b/a.txt")]),
    ];
    for (paths, expected) in cases {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let found = tables(paths.iter());
        let found: Vec<(&str, &str)> = found.iter().map(|file| (file.path.as_str(), file.name.as_str())).collect();
        assert_eq!(found, expected);
    }
    let formats = ["a.csv", "b.tab", "c.json", "d.ndjson", "e.xlsx", "f.ods"].map(str::to_owned);
    let formats: Vec<TableFormat> = tables(formats.iter()).into_iter().map(|file| file.format).collect();
    use TableFormat::*;
    assert_eq!(formats, [Csv, Tsv, Json, Jsonl, Workbook, Workbook]);
}

#[allow(clippy::needless_pass_by_value)] // reads better at the call sites
fn ask(expected: Value, answer: Value, args: Value) -> (Result<String, String>, Memory) {
    let mut files = Memory::with(&[("data/sales.csv", b"a,b\n1,2\n"), ("book.xlsx", b"PK"), ("readme.md", b"#")]);
    files.sql.borrow_mut().push_back((expected, answer));
    let result = call(&mut files, "query_table", args);
    assert!(files.sql.borrow().is_empty(), "the engine was not asked");
    (result, files)
}

#[test]
fn the_engine_gets_the_tables_and_its_rows_are_a_markdown_table() {
    let expected = json!({
        "sql": "SELECT 1", "paths": ["book.xlsx", "data/sales.csv"], "save": null, "rows": 100, "max_rows": 1_000_000,
        "files": [
            {"path": "book.xlsx", "name": "book", "format": "workbook"},
            {"path": "data/sales.csv", "name": "sales", "format": "csv"},
        ],
    });
    let answer = json!({"columns": ["region", "a|b"], "rows": [["North\nEast", 1.5], [null, 12], ["x|y", "a\tb"]], "total": 3, "notes": ["data/sales.csv: odd"]});
    let (result, _) = ask(expected, answer, json!({"sql": "SELECT 1"}));
    let table = "| region | a\\|b |\n| --- | --- |\n| North⏎East | 1.5 |\n| null | 12 |\n| x\\|y | a b |\n[3 rows]\n[note: data/sales.csv: odd]";
    assert_eq!(result.as_deref(), Ok(table));

    let rows: Vec<Value> = (0..100).map(|n| json!([n])).collect();
    let (result, _) = ask(json!({}), json!({"columns": ["n"], "rows": rows, "total": 123_456}), json!({"sql": "x"}));
    assert!(result.unwrap().ends_with(
        "| 99 |\n[rows 1-100 of 123,456; narrow the query, or use save_as to write all of them into a file]"
    ));
    let (result, _) =
        ask(json!({}), json!({"columns": ["n"], "rows": [[1]], "total": 1_000_000, "cut": true}), json!({"sql": "x"}));
    assert!(result.unwrap().contains("[rows 1-1 of more than 1,000,000; "));
    let wide: Vec<Value> = (0..100).map(|_| json!(["x".repeat(1_000)])).collect();
    let (result, _) = ask(json!({}), json!({"columns": ["n"], "rows": wide, "total": 100}), json!({"sql": "x"}));
    let result = result.unwrap();
    assert!(
        result.len() < 17_000 && result.contains("x…") && result.contains("[rows 1-52 of 100; "),
        "{}",
        &result[result.len() - 200..]
    );
}

#[test]
fn an_unknown_table_is_answered_with_the_tables_and_their_columns() {
    let tables = json!([
        {"name": "sales", "path": "data/sales.csv", "rows": 1, "more": 0, "columns": [["a", "integer"], ["order", "text"], ["unit price", "real"]]},
        {"name": "book_Q1", "path": "book.xlsx", "rows": null, "more": 2, "columns": [["x", ""]]},
        {"name": "log", "path": "log.csv", "columns": [], "note": "it is empty"},
    ]);
    let lines = "- sales (data/sales.csv, 1 row): a integer, \"order\" text, \"unit price\" real\n- book_Q1 (book.xlsx): x, and 2 more\n- log (log.csv): it is empty";
    let (result, _) = ask(
        json!({}),
        json!({"fault": "there is no table nope", "tables": tables}),
        json!({"sql": "SELECT * FROM nope"}),
    );
    assert_eq!(result, Err(format!("there is no table nope. The tables are:\n{lines}")));
    let (result, _) = ask(json!({"sql": "SHOW TABLES"}), json!({ "tables": tables }), json!({"sql": "SHOW TABLES"}));
    assert_eq!(result.as_deref(), Ok(lines));
    let (result, _) =
        ask(json!({}), json!({"fault": "near \"FORM\": syntax error"}), json!({"sql": "SELECT * FORM sales"}));
    assert_eq!(result, Err("near \"FORM\": syntax error".to_owned()));
}

#[test]
fn a_result_is_saved_as_a_file() {
    let answer = json!({"columns": ["a"], "rows": [[1]], "total": 1, "saved": "a\n1\n"});
    let (result, files) = ask(json!({"save": "csv"}), answer, json!({"sql": "SELECT 1", "save_as": "out/total.csv"}));
    assert_eq!(result.as_deref(), Ok("| a |\n| --- |\n| 1 |\n[1 row]\nWrote out/total.csv: 1 row, 4 B"));
    assert_eq!(files.text("out/total.csv"), "a\n1\n");
    let cut = json!({"columns": ["a"], "rows": [[1]], "total": 1_000_000, "cut": true, "saved": "a\n1\n"});
    let (result, files) = ask(json!({}), cut, json!({"sql": "SELECT 1", "save_as": "total.csv"}));
    assert!(result.unwrap_err().contains("more than 1,000,000 rows, so it was not saved"));
    assert!(!files.contents.contains_key("total.csv"));
}

#[test]
fn what_cannot_be_queried_is_refused_before_the_engine_is_loaded() {
    let mut files = Memory::with(&[("readme.md", b"#"), ("data/readme.md", b"#")]);
    let cases = [
        (json!({"sql": "SELECT 1"}), "the workspace has no tables"),
        (json!({"sql": "SELECT 1", "save_as": "/etc/x.csv"}), "`save_as`: the path is absolute"),
        (json!({"sql": "SELECT 1", "save_as": "x.xlsx"}), "has to end in .csv, .tsv, .json or .jsonl"),
        (json!({"sql": "SELECT 1", "save_as": "data"}), "`data` is a folder"),
    ];
    for (args, expected) in cases {
        let error = call(&mut files, "query_table", args).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
