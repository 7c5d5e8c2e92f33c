//! Tables and charts in results: what a text holds, what is refused and why, and where things are drawn.

use std::fs;

use serde_json::{Value, json};
use turnwise_content::figure::draw::{ChartView, Drawing};
use turnwise_content::figure::{Figure, FigureTable, of_separated, read};

fn table(text: &str) -> FigureTable {
    match read(text) {
        Some(Figure::Table(table)) => table,
        other => panic!("{text:?} is {other:?}"),
    }
}

fn chart(value: Value) -> ChartView {
    match read(&format!("=> {value}")) {
        Some(Figure::Chart(chart)) => chart,
        other => panic!("{value} is {other:?}"),
    }
}

/// Why the value of a program is not drawn.
fn fault(value: &Value) -> Option<String> {
    match read(&format!("=> {value}")) {
        Some(Figure::Refused { why }) => Some(why),
        _ => None,
    }
}

fn names(table: &FigureTable) -> Vec<&str> {
    table.columns.iter().map(|column| column.name.as_str()).collect()
}

fn labels(drawing: &Drawing, anchor: &str) -> Vec<String> {
    drawing.labels.iter().filter(|label| label.anchor == anchor).map(|label| label.text.clone()).collect()
}

#[test]
fn each_kind_of_table_is_found() {
    let cases = [
        (r#"[{"name":"b","n":2},{"name":"a","n":10}]"#, "name,n|b,2|a,10"),
        // The order is that of the source, and a later row may add a column.
        (r#"[{"z":1},{"z":2,"a":true}]"#, "z,a|1,|2,true"),
        (r#"{"columns":["a","b"],"rows":[[1,"x"],[2.50,null]]}"#, "a,b|1,x|2.5,"),
        (r#"{"columns":[{"name":"a"}],"rows":[{"a":1,"other":5}]}"#, "a|1"),
        ("console line\n=> [{\"a\":1}]", "a|1"),
        ("=> [\n  {\n    \"a\": 1\n  }\n]", "a|1"),
        ("=> old\n=> [{\"a\":1}]\n[Turn 2 of 10, 8 turns left]", "a|1"),
        ("=> ```json\n[{\"a\":1}]\n```", "a|1"),
        ("[{\"a\":1}]\n[Context 12% full]\n[Turn 2 of 10, 8 turns left]", "a|1"),
        ("2 rows\n\n| a | b |\n| --- | ---: |\n| x \\| y | 1 |\n| `c` | 2 |\n", "a,b|x \\u007c y,1|`c`,2"),
    ];
    for (text, expected) in cases {
        let found = table(text);
        let rows = found.rows.iter().map(|row| row.join(",").replace('|', "\\u007c"));
        let shown: Vec<String> = std::iter::once(names(&found).join(",")).chain(rows).collect();
        assert_eq!(shown.join("|"), expected, "{text}");
        assert_eq!(found.total, found.rows.len());
    }
}

#[test]
fn other_texts_hold_none() {
    let cases = [
        "",
        "nothing",
        "[]",
        "{}",
        "[1, 2]",
        "[{\"a\": {\"b\": 1}}]",
        "[{\"a\": 1}, 2]",
        "{\"rows\": [[1]]}",
        "{\"columns\": [\"a\"], \"rows\": [[1, 2]]}",
        "[{\"a\": 1}] is a list",
        "[{\"a\": 1",
        "=> 42",
        "=> [1, 2",
        "| a |\n| no rule |",
        "| a |\n| --- |\n| 1 |\n\n| b |\n| --- |\n| 2 |",
        "words\nwords\nwords\nwords\nwords\n| a |\n| --- |\n| 1 |",
    ];
    for text in cases {
        assert_eq!(read(text), None, "{text:?}");
    }
}

#[test]
fn a_column_of_numbers_is_sorted_by_them() {
    type Case = (&'static [&'static str], Option<&'static [Option<f64>]>);
    let cases: [Case; 13] = [
        (&["10", "9"], Some(&[Some(10.0), Some(9.0)])),
        (&["1,200", "-3.5"], Some(&[Some(1200.0), Some(-3.5)])),
        (&["12 %", "€ 3"], Some(&[Some(12.0), Some(3.0)])),
        (&["1", "", "–"], Some(&[Some(1.0), None, None])),
        (&["1e3", "\u{2212}2"], Some(&[Some(1000.0), Some(-2.0)])),
        (&["1,234,567.25", "-$12,000"], Some(&[Some(1_234_567.25), Some(-12_000.0)])),
        (&["1\u{202f}200", "12 345 %"], Some(&[Some(1200.0), Some(12_345.0)])),
        // A decimal comma, or no number at all.
        (&["12,25", "3"], None),
        (&["1234,567", "3"], None),
        (&["1, 2", "3"], None),
        (&["2024-01-05", "2"], None),
        (&["12 kg", "3"], None),
        (&["", ""], None),
    ];
    for (cells, expected) in cases {
        let rows = cells.iter().map(|cell| vec![(*cell).to_owned()]).collect();
        let found = FigureTable::new(vec!["n".to_owned()], rows);
        assert_eq!(found.columns[0].numbers.as_deref(), expected, "{cells:?}");
    }
}

#[test]
fn separated_values_follow_their_rules() {
    let cases = [
        ("a,b\n1,2\n", "a|b / 1|2"),
        ("\u{feff}a;b\r\n1,5;\"x;y\"\r\n", "a|b / 1,5|x;y"),
        ("a\tb\n1\t\"two\nlines\"", "a|b / 1|two\nlines"),
        ("a,b\n\"say \"\"hi\"\"\",\n\n3", "a|b / say \"hi\"| / 3|"),
        ("only\n1", "only / 1"),
    ];
    for (text, expected) in cases {
        let Some(Figure::Table(found)) = of_separated(text) else { panic!("{text:?}") };
        let rows = found.rows.iter().map(|row| row.join("|"));
        let shown: Vec<String> = std::iter::once(names(&found).join("|")).chain(rows).collect();
        assert_eq!(shown.join(" / "), expected, "{text:?}");
    }
    assert_eq!(of_separated(""), None);
}

#[test]
fn a_long_table_is_cut_and_says_how_long_it_was() {
    let rows: Vec<Value> = (0..12_000).map(|n| json!({ "n": n })).collect();
    let found = table(&Value::from(rows).to_string());
    assert_eq!((found.rows.len(), found.total), (10_000, 12_000));
}

#[test]
fn a_chart_that_cannot_be_drawn_says_what_to_change() {
    let series = json!([{ "name": "a", "y": [1, 2] }]);
    let many: Vec<usize> = (0..201).collect();
    let nine: Vec<Value> = (0..9).map(|n| json!({ "name": n.to_string(), "y": [1] })).collect();
    let cases = [
        (
            json!({ "chart": "pie", "x": [1, 2], "series": series }),
            "This chart is not drawn: `pie` is not a kind of chart; the kinds are `bar`, `line`, `point` and `area`.",
        ),
        (json!({ "chart": "bar", "series": series }), "missing field `x`"),
        (json!({ "chart": "bar", "x": [], "series": series }), "`x` is empty"),
        (json!({ "chart": "bar", "x": [1], "series": series }), "`series[0].y` has 2 values and `x` has 1 positions"),
        (json!({ "chart": "line", "x": [1], "series": [] }), "`series` has 0 entries, and 1 to 8 are allowed"),
        (json!({ "chart": "line", "x": [1], "series": nine }), "`series` has 9 entries, and 1 to 8 are allowed"),
        (json!({ "chart": "bar", "x": many, "series": [{ "name": "a", "y": many }] }), "at most 200 are allowed"),
        (json!({ "chart": "line", "x": [1], "series": [{ "name": "a", "y": [null] }] }), "every value is null"),
        (json!({ "chart": "line", "x": [1], "series": [{ "name": "a", "y": ["1"] }] }), "invalid type: string"),
        (
            json!({ "chart": "line", "x": [null], "series": [{ "name": "a", "y": [1] }] }),
            "a position in `x` is neither",
        ),
    ];
    for (value, expected) in cases {
        let why = fault(&value).unwrap_or_else(|| panic!("{value} has no fault"));
        assert!(why.contains(expected), "{why}");
        assert_eq!(read(&value.to_string()), Some(Figure::Refused { why }), "other tools have charts, too");
    }
    // The other name that models use.
    assert_eq!(fault(&json!({ "chart": "bar", "x": ["q"], "series": [{ "name": "a", "values": [1] }] })), None);
}

#[test]
fn data_of_other_tools_may_have_a_key_chart() {
    for text in [r#"{"chart": "https://a.b/c.png"}"#, r#"{"chart": {"id": 5}, "name": "a"}"#, r#"{"chart": null}"#] {
        assert_eq!(read(text), None, "{text}");
        assert!(matches!(read(&format!("=> {text}")), Some(Figure::Refused { .. })), "of a program: {text}");
    }
    assert_eq!(names(&table(r#"{"chart": 5, "columns": ["a"], "rows": [[1]]}"#)), ["a"]);
}

#[test]
fn the_schema_and_the_reader_agree() {
    let schema: Value =
        serde_json::from_str(&fs::read_to_string("docs/schema/turnwise-chart.v1.json").unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let of = |kind: &str, x: Value, values: Value| json!({ "chart": kind, "x": x, "series": [{ "name": "a", "y": values }] });
    for (value, is_valid) in [
        (of("bar", json!(["q"]), json!([1])), true),
        (of("area", json!(["2026-01"]), json!([null])), true),
        (of("pie", json!(["q"]), json!([1])), false),
        (of("line", json!([]), json!([])), false),
        (of("line", json!([{}]), json!([1])), false),
        (json!({ "chart": "line", "x": [1] }), false),
        (json!({ "chart": "line", "x": [1], "series": [{ "y": [1] }] }), false),
    ] {
        assert_eq!(validator.is_valid(&value), is_valid, "{value}");
        let refused = fault(&value).is_some_and(|why| !why.contains("every value is null"));
        assert_eq!(!refused, is_valid, "{value}");
    }
}

#[test]
fn axes_have_round_numbers_and_say_what_they_measure() {
    let of = |kind: &str, values: Value| {
        let x: Vec<usize> = (0..values.as_array().unwrap().len()).collect();
        chart(json!({ "chart": kind, "x": x, "series": [{ "name": "a", "y": values }] }))
    };
    let cases = [
        ("bar", json!([3, 9]), vec!["0", "2.5", "5.0", "7.5", "10.0"]),
        ("bar", json!([-4, 8]), vec!["\u{2212}5", "0", "5", "10"]),
        ("line", json!([101, 104]), vec!["101", "102", "103", "104"]),
        ("line", json!([1_200_000, 4_000_000]), vec!["0", "1 M", "2 M", "3 M", "4 M"]),
        ("line", json!([0.001, 0.002]), vec!["0", "0.0005", "0.0010", "0.0015", "0.0020"]),
        ("point", json!([5, 5]), vec!["4.50", "4.75", "5.00", "5.25", "5.50"]),
        ("area", json!([12_000, 48_000]), vec!["0", "20,000", "40,000", "60,000"]),
    ];
    for (kind, values, expected) in cases {
        let found = of(kind, values.clone());
        for drawing in &found.drawings {
            assert_eq!(labels(drawing, "end"), expected, "{kind} {values}");
        }
    }
}

#[test]
fn positions_are_numbers_dates_or_labels() {
    let of = |kind: &str, x: Value| {
        let values: Vec<usize> = (0..x.as_array().unwrap().len()).collect();
        chart(json!({ "chart": kind, "x": x, "series": [{ "name": "a", "y": values }] }))
    };
    let cases = [
        ("line", json!([0, 5, 20]), vec!["0", "5", "10", "15", "20"], 0.0),
        ("line", json!(["2026-01", "2026-03", "2026-12"]), vec!["Jan 2026", "Mar", "May", "Jul", "Sep", "Nov"], 0.0),
        ("line", json!(["2026-03-01", "2026-03-05"]), vec!["1 Mar", "2 Mar", "3 Mar", "4 Mar", "5 Mar"], 0.0),
        ("line", json!(["1999-05-05", "2026-03-05"]), vec!["2000", "2005", "2010", "2015", "2020", "2025"], 0.0),
        (
            "line",
            json!(["2026-03-01T08:00", "2026-03-01T12:00"]),
            vec!["08:00", "09:00", "10:00", "11:00", "12:00"],
            0.0,
        ),
        ("line", json!(["north", "south"]), vec!["north", "south"], 300.0),
        // The positions of bars are compared, not measured.
        ("bar", json!([2024, 2026]), vec!["2024", "2026"], 300.0),
    ];
    for (kind, x, expected, band) in cases {
        let found = of(kind, x.clone());
        let drawing = &found.drawings[0];
        assert_eq!(labels(drawing, "middle"), expected, "{x}");
        assert!(if band > 0.0 { drawing.band > band } else { drawing.band == 0.0 }, "{x}: {}", drawing.band);
    }
}

#[test]
fn a_narrow_chart_has_as_many_ticks_as_their_labels_have_room_for() {
    let seconds: Vec<usize> = (0..90).map(|n| n * 2).collect();
    let months: Vec<String> = (1..=12).map(|month| format!("2025-{month:02}")).collect();
    let cases = [
        (json!(seconds), vec!["0", "50", "100", "150"]),
        (json!(months), vec!["Jan 2025", "Apr", "Jul", "Oct"]),
        (json!([123_456_000, 123_456_400]), vec!["123.4560 M", "123.4562 M", "123.4564 M"]),
    ];
    for (x, expected) in cases {
        let values: Vec<usize> = (0..x.as_array().unwrap().len()).collect();
        let found = chart(json!({ "chart": "area", "x": x, "series": [{ "name": "a", "y": values }] }));
        assert_eq!(labels(found.drawings.last().unwrap(), "middle"), expected, "{x}");
    }
}

#[test]
fn a_position_stands_where_its_date_says() {
    let found = chart(
        json!({ "chart": "line", "x": ["2024-02-01", "2024-03-01", "2024-03-31"], "series": [{ "name": "a", "y": [1, 2, 3] }] }),
    );
    let at = &found.drawings[0].at;
    // 2024 was a leap year: 29 and 30 days.
    assert!(((at[1] - at[0]) / (at[2] - at[1]) - 29.0 / 30.0).abs() < 0.01, "{at:?}");
}

#[test]
fn everything_is_inside_the_picture() {
    let kinds = ["bar", "line", "point", "area"];
    for (kind, count) in kinds.iter().flat_map(|kind| [1_usize, 2, 7, 50, 200].map(|count| (kind, count))) {
        let x: Vec<String> = (0..count).map(|n| format!("a rather long label {n}")).collect();
        let values: Vec<Option<f64>> = (0..count).map(|n| (n % 5 != 3).then(|| (n as f64 * 7.3).sin() * 1e6)).collect();
        let found = chart(json!({ "chart": kind, "x": x, "x_label": "Where", "y_label": "How much", "series": [
            { "name": "a", "y": values }, { "name": "b", "y": values }
        ] }));
        for drawing in &found.drawings {
            for label in &drawing.labels {
                let width = label.text.chars().count() as f64 * 6.7;
                let left = label.x
                    - match label.anchor {
                        "end" => width,
                        "middle" => width / 2.0,
                        _ => 0.0,
                    };
                assert!(
                    left >= -1.0 && left + width <= drawing.width + 1.0,
                    "{kind} {count}: {label:?} in {}",
                    drawing.width
                );
                assert!(label.y > 0.0 && label.y < drawing.height);
            }
            let middle: Vec<_> =
                drawing.labels.iter().filter(|label| label.anchor == "middle" && label.text != "Where").collect();
            for pair in middle.windows(2) {
                let half = |label: &str| label.chars().count() as f64 * 3.35;
                assert!(
                    pair[0].x + half(&pair[0].text) <= pair[1].x - half(&pair[1].text) + 1.0,
                    "{kind} {count}: {pair:?} overlap"
                );
            }
            assert_eq!(drawing.at.len(), count);
            assert!(drawing.at.iter().all(|x| *x >= 0.0 && *x <= drawing.width));
            assert!(drawing.paths.iter().all(|path| !path.d.contains("NaN") && !path.d.contains("inf")));
        }
    }
}

#[test]
fn a_missing_value_is_a_gap() {
    let found =
        chart(json!({ "chart": "line", "x": [1, 2, 3, 4, 5], "series": [{ "name": "a", "y": [1, 2, null, 4, 5] }] }));
    let line = found.drawings[0].paths.iter().find(|path| path.class == "line s0").unwrap();
    assert_eq!(line.d.matches('M').count(), 2, "{}", line.d);
    assert_eq!(found.stops[2], ["3", ""]);
}

#[test]
fn a_chart_says_in_words_what_it_shows() {
    let found = chart(json!({
        "chart": "bar", "title": "Orders", "x": ["Q1", "Q2", "Q3"], "x_label": "Quarter",
        "series": [{ "name": "2025", "y": [1200, 950.5, null] }, { "name": "2026", "y": [0.1, 0.30000000000000004, 2] }]
    }));
    assert_eq!(
        found.description,
        "Bar chart from Q1 to Q3. 2025: lowest 950.5 (Q2), highest 1,200 (Q1). 2026: lowest 0.1 (Q1), highest 2 (Q3)."
    );
    assert_eq!(found.stops, [["Q1", "1,200", "0.1"], ["Q2", "950.5", "0.3"], ["Q3", "", "2"]]);
    assert_eq!(names(&found.table), ["Quarter", "2025", "2026"]);
    assert_eq!(found.table.columns[1].numbers.as_ref().unwrap()[0], Some(1200.0));
}
