//! Strict semantics, a row for each situation: slugs of every attempt, requests, ending fields, log counts; the messages
//! that were sent stand in `tests/golden/strict_messages.txt`.
#![cfg(not(target_arch = "wasm32"))]

mod support;

use serde_json::json;
use support::*;
use turnwise::engine::*;

/// One situation.
struct Row {
    name: &'static str,
    config: RunConfig,
    script: Vec<Step>,
    /// `turn.attempt slugs` of every attempt that failed.
    slugs: &'static str,
    requests: u32,
    fields: &'static str,
    /// WRN and ERR records.
    logs: (usize, usize),
}

fn strict() -> RunConfig {
    let mut c = RunConfig { max_turns: 4, max_attempts: 2, ..config(Preset::Strict) };
    c.tools.extend([batch::batch_spec(), batch::progress_spec()]);
    c
}

fn with(change: impl FnOnce(&mut RunConfig)) -> RunConfig {
    let mut c = strict();
    change(&mut c);
    c
}

fn format(format: ReportFormat, schema: Option<serde_json::Value>) -> RunConfig {
    with(|c| c.report = ReportConfig { format, schema })
}

fn row(
    name: &'static str,
    config: RunConfig,
    script: Vec<Step>,
    slugs: &'static str,
    requests: u32,
    fields: &'static str,
    logs: (usize, usize),
) -> Row {
    Row { name, config, script, slugs, requests, fields, logs }
}

fn call(name: &str, args: &str) -> Step {
    calls("", &[("", name, args)])
}

const REPORT: &str = r#"{"format": "text", "content": "the answer"}"#;

/// The report tool's arguments fit its schema.
fn checked(name: &'static str) -> Step {
    executed(name, "")
}

/// A valid report, accepted.
fn report() -> Vec<Step> {
    vec![call("final_report", REPORT), checked("final_report")]
}

/// A turn that succeeds.
fn turn() -> Vec<Step> {
    vec![call("search", "{}"), executed("search", "found")]
}

fn rejected(name: &'static str, slug: Slug, path: Option<&str>) -> Step {
    let path = path.map(str::to_owned);
    let message = format!("{}: does not fit", path.as_deref().unwrap_or("no JSON"));
    Step::Tool(name, ToolOutcome::Rejected { slug, path, message })
}

fn script(parts: impl IntoIterator<Item = Vec<Step>>) -> Vec<Step> {
    parts.into_iter().flatten().collect()
}

fn then_report(steps: Vec<Step>) -> Vec<Step> {
    script([steps, report()])
}

const OK1: &str = "final_report / success / model / 1";
const OK2: &str = "final_report / success / model / 2";
const OK3: &str = "final_report / success / model / 3";
const SPENT1: &str = "retries_exhausted / failed / system / 1";
const SPENT2: &str = "retries_exhausted / failed / system / 2";
const MAXED1: &str = "max_turns_exhausted / failed / system / 1";

fn replies() -> Vec<Row> {
    let reasoning = || Step::Reply(Reply { reasoning: "hm".into(), ..Reply::default() });
    vec![
        row("a report at once", strict(), report(), "", 1, OK1, (0, 0)),
        row("a tool turn, then a report", strict(), script([turn(), report()]), "", 2, OK2, (0, 0)),
        row(
            "no tools: text only",
            strict(),
            then_report(vec![text("I am done")]),
            "1.1 text_only no_tools",
            2,
            OK1,
            (1, 0),
        ),
        row("empty", strict(), then_report(vec![text("")]), "1.1 empty_response no_tools", 2, OK1, (1, 0)),
        row(
            "white space only",
            strict(),
            then_report(vec![text(" \n\t")]),
            "1.1 empty_response no_tools",
            2,
            OK1,
            (1, 0),
        ),
        row("reasoning only", strict(), then_report(vec![reasoning()]), "1.1 reasoning_only no_tools", 2, OK1, (1, 0)),
        row(
            "text cut by its length",
            strict(),
            then_report(vec![cut_reply(text("half"))]),
            "1.1 truncated_output text_only no_tools",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "calls cut by their length",
            strict(),
            then_report(vec![cut_reply(call("search", "{\"q\": \"ha"))]),
            "1.1 truncated_output",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "a report cut by its length",
            strict(),
            then_report(vec![cut_reply(call("final_report", "{\"format\": \"te"))]),
            "1.1 truncated_output",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "text twice: retries exhausted on turn 1",
            strict(),
            vec![text("a"), text("b")],
            "1.1 text_only no_tools; 1.2 text_only no_tools",
            2,
            SPENT1,
            (2, 1),
        ),
        row(
            "exhausted on turn 2, turn 1 done",
            strict(),
            script([turn(), vec![text("a"), text("")]]),
            "2.1 text_only no_tools; 2.2 empty_response no_tools",
            3,
            SPENT2,
            (2, 1),
        ),
        row(
            "one attempt only: the first failure ends the run",
            with(|c| c.max_attempts = 1),
            vec![text("a")],
            "1.1 text_only no_tools",
            1,
            SPENT1,
            (1, 1),
        ),
    ]
}

fn tool_calls() -> Vec<Row> {
    let two = |a: &'static str, b: &'static str| calls("", &[("", a, "{}"), ("", b, "{}")]);
    vec![
        row("unknown tool", strict(), then_report(vec![call("bash", "{}")]), "1.1 unknown_tool", 2, OK1, (1, 0)),
        row("a call without a name", strict(), then_report(vec![call("", "{}")]), "1.1 unknown_tool", 2, OK1, (1, 0)),
        row(
            "unknown tool beside a real one",
            strict(),
            then_report(vec![two("bash", "search"), executed("search", "x")]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "malformed JSON",
            strict(),
            then_report(vec![call("search", "{\"q\":"), rejected("search", Slug::MalformedToolCall, None)]),
            "1.1 malformed_tool_call",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "schema-invalid arguments",
            strict(),
            then_report(vec![call("search", "{}"), rejected("search", Slug::InvalidArguments, Some("/q"))]),
            "1.1 invalid_arguments",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "malformed beside invalid beside unknown",
            strict(),
            then_report(vec![
                calls("", &[("", "bash", "{}"), ("", "search", "{}"), ("", "read", "{")]),
                rejected("search", Slug::InvalidArguments, Some("/q")),
                rejected("read", Slug::MalformedToolCall, None),
            ]),
            "1.1 malformed_tool_call invalid_arguments unknown_tool",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "malformed twice: exhausted",
            strict(),
            vec![
                call("search", "{"),
                rejected("search", Slug::MalformedToolCall, None),
                call("search", "{"),
                rejected("search", Slug::MalformedToolCall, None),
            ],
            "1.1 malformed_tool_call; 1.2 malformed_tool_call",
            2,
            SPENT1,
            (2, 1),
        ),
        row(
            "a tool that throws counts as executed",
            strict(),
            then_report(vec![
                call("search", "{}"),
                Step::Tool("search", ToolOutcome::Failed { message: "boom".into() }),
            ]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "a tool that times out counts as executed",
            strict(),
            then_report(vec![call("search", "{}"), Step::Tool("search", ToolOutcome::TimedOut { after_ms: 10 })]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "a tool with an empty result counts as executed",
            strict(),
            then_report(vec![call("search", "{}"), executed("search", "")]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "calls past the limit beside one that ran",
            with(|c| c.limits.tool_calls_per_turn = 1),
            then_report(vec![two("search", "read"), executed("search", "x")]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "only calls past the limit",
            with(|c| c.limits.tool_calls_per_turn = 0),
            vec![two("search", "read"), two("search", "read")],
            "1.1 tool_limit; 1.2 tool_limit",
            2,
            SPENT1,
            (2, 1),
        ),
        row(
            "an unknown tool past the limit is past the limit",
            with(|c| c.limits.tool_calls_per_turn = 1),
            then_report(vec![two("bash", "bash")]),
            "1.1 unknown_tool tool_limit",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "a final result ends a strict run",
            strict(),
            vec![call("submit", "{}"), executed("submit", "<<<FINAL_RESULT>>>7<<<END_FINAL_RESULT>>>")],
            "",
            1,
            "final_result / success / tool / 1",
            (0, 0),
        ),
        row(
            "a final result of a tool that may not finish is only a result",
            strict(),
            then_report(vec![call("search", "{}"), executed("search", "<<<FINAL_RESULT>>>7<<<END_FINAL_RESULT>>>")]),
            "",
            2,
            OK2,
            (0, 0),
        ),
    ]
}

fn progress_and_batch() -> Vec<Row> {
    let batch = |inner: serde_json::Value| call("batch", &json!({ "calls": inner }).to_string());
    let status = || json!({ "name": "progress_report", "arguments": { "status": "s" } });
    let search = || json!({ "name": "search", "arguments": {} });
    vec![
        row(
            "progress only",
            strict(),
            then_report(vec![call("progress_report", "{\"status\": \"working\"}"), checked("progress_report")]),
            "1.1 progress_only",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "progress beside a real call",
            strict(),
            then_report(vec![
                calls("", &[("", "progress_report", "{\"status\": \"s\"}"), ("", "search", "{}")]),
                checked("progress_report"),
                executed("search", "x"),
            ]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "progress with invalid arguments",
            strict(),
            then_report(vec![
                call("progress_report", "{}"),
                rejected("progress_report", Slug::InvalidArguments, Some("/status")),
            ]),
            "1.1 invalid_arguments",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "progress that is not offered",
            with(|c| c.tools.retain(|t| t.name != "progress_report")),
            then_report(vec![call("progress_report", "{}")]),
            "1.1 unknown_tool",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "batch with one real call",
            strict(),
            then_report(vec![batch(json!([search()])), checked("batch"), executed("search", "x")]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "batch with two real calls, answered in index order",
            strict(),
            then_report(vec![
                batch(json!([search(), { "name": "read", "arguments": {} }])),
                checked("batch"),
                executed("read", "second"),
                executed("search", "first"),
            ]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "batch only: nothing in it that is real",
            strict(),
            then_report(vec![batch(json!([{ "name": "bash", "arguments": {} }])), checked("batch")]),
            "1.1 unknown_tool",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "batch of progress only",
            strict(),
            then_report(vec![batch(json!([status()])), checked("batch"), checked("progress_report")]),
            "1.1 progress_only",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "empty batch",
            strict(),
            then_report(vec![batch(json!([])), rejected("batch", Slug::InvalidArguments, Some("/calls"))]),
            "1.1 invalid_arguments",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "malformed batch",
            strict(),
            then_report(vec![call("batch", "{\"calls\": ["), rejected("batch", Slug::MalformedToolCall, None)]),
            "1.1 malformed_tool_call",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "report inside a batch",
            strict(),
            then_report(vec![
                batch(json!([{ "name": "final_report", "arguments": { "format": "text", "content": "x" } }])),
                checked("batch"),
            ]),
            "1.1 invalid_arguments",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "batch inside a batch",
            strict(),
            then_report(vec![batch(json!([{ "name": "batch", "arguments": {} }])), checked("batch")]),
            "1.1 invalid_arguments",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "sub-agents inside a batch",
            strict(),
            then_report(vec![batch(json!([{ "name": "spawn_subagents", "arguments": {} }])), checked("batch")]),
            "1.1 invalid_arguments",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "a real call beside a forbidden one in a batch",
            strict(),
            then_report(vec![
                batch(json!([{ "name": "batch", "arguments": {} }, search()])),
                checked("batch"),
                executed("search", "x"),
            ]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "an inner call with invalid arguments",
            strict(),
            then_report(vec![
                batch(json!([search()])),
                checked("batch"),
                rejected("search", Slug::InvalidArguments, Some("/q")),
            ]),
            "1.1 invalid_arguments",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "inner calls count against the limit",
            with(|c| c.limits.tool_calls_per_turn = 1),
            then_report(vec![batch(json!([search(), search()])), checked("batch"), executed("search", "x")]),
            "",
            2,
            OK2,
            (0, 0),
        ),
    ]
}

fn reports() -> Vec<Row> {
    let slack = r#"{"format": "slack", "messages": [{"blocks": []}]}"#;
    let schema = || Some(json!({ "type": "object", "required": ["a"] }));
    let json_report = r#"{"format": "json", "content": {"a": 1}}"#;
    vec![
        row(
            "markdown report",
            format(ReportFormat::Markdown, None),
            vec![call("final_report", r##"{"format": "markdown", "content": "# A"}"##), checked("final_report")],
            "",
            1,
            OK1,
            (0, 0),
        ),
        row(
            "json report",
            format(ReportFormat::Json, schema()),
            vec![call("final_report", json_report), checked("final_report")],
            "",
            1,
            OK1,
            (0, 0),
        ),
        row(
            "slack report",
            format(ReportFormat::Slack, None),
            vec![call("final_report", slack), checked("final_report")],
            "",
            1,
            OK1,
            (0, 0),
        ),
        row(
            "report of the wrong format",
            format(ReportFormat::Markdown, None),
            vec![
                call("final_report", REPORT),
                rejected("final_report", Slug::InvalidArguments, Some("/format")),
                call("final_report", r##"{"format": "markdown", "content": "# A"}"##),
                checked("final_report"),
            ],
            "1.1 final_report_invalid_format",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "report of the wrong format that slipped through the schema",
            format(ReportFormat::Markdown, None),
            vec![
                call("final_report", REPORT),
                checked("final_report"),
                call("final_report", r##"{"format": "markdown", "content": "# A"}"##),
                checked("final_report"),
            ],
            "1.1 final_report_invalid_format",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "report failing its schema, then accepted",
            format(ReportFormat::Json, schema()),
            vec![
                call("final_report", r#"{"format": "json", "content": {}}"#),
                rejected("final_report", Slug::InvalidArguments, Some("/content/a")),
                call("final_report", json_report),
                checked("final_report"),
            ],
            "1.1 final_report_schema_fail",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "report failing its schema twice",
            format(ReportFormat::Json, schema()),
            vec![
                call("final_report", r#"{"format": "json", "content": {}}"#),
                rejected("final_report", Slug::InvalidArguments, Some("/content/a")),
                call("final_report", r#"{"format": "json", "content": 1}"#),
                rejected("final_report", Slug::InvalidArguments, Some("/content")),
            ],
            "1.1 final_report_schema_fail; 1.2 final_report_schema_fail",
            2,
            SPENT1,
            (2, 1),
        ),
        row(
            "empty report",
            strict(),
            then_report(vec![call("final_report", r#"{"format": "text", "content": " \n"}"#), checked("final_report")]),
            "1.1 final_report_invalid_format",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "slack report without messages",
            format(ReportFormat::Slack, None),
            vec![
                call("final_report", r#"{"format": "slack", "messages": []}"#),
                checked("final_report"),
                call("final_report", slack),
                checked("final_report"),
            ],
            "1.1 final_report_invalid_format",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "malformed report",
            strict(),
            then_report(vec![
                call("final_report", "{\"format\""),
                rejected("final_report", Slug::MalformedToolCall, None),
            ]),
            "1.1 malformed_tool_call",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "valid report behind another call: judged when that has run",
            strict(),
            vec![
                calls("", &[("", "search", "{}"), ("", "final_report", REPORT)]),
                executed("search", "x"),
                checked("final_report"),
            ],
            "",
            1,
            OK1,
            (0, 0),
        ),
        row(
            "a call behind a valid report is not run",
            strict(),
            vec![calls("", &[("", "final_report", REPORT), ("", "search", "{}")]), checked("final_report")],
            "",
            1,
            OK1,
            (0, 0),
        ),
        row(
            "two reports: the second is not run",
            strict(),
            vec![calls("", &[("", "final_report", REPORT), ("", "final_report", REPORT)]), checked("final_report")],
            "",
            1,
            OK1,
            (0, 0),
        ),
        row(
            "an invalid report beside a real call: the turn succeeds",
            strict(),
            then_report(vec![
                calls("", &[("", "search", "{}"), ("", "final_report", "{}")]),
                executed("search", "x"),
                rejected("final_report", Slug::InvalidArguments, Some("/content")),
            ]),
            "",
            2,
            OK2,
            (0, 0),
        ),
        row(
            "an invalid report beside an unknown tool",
            strict(),
            then_report(vec![
                calls("", &[("", "bash", "{}"), ("", "final_report", "{}")]),
                rejected("final_report", Slug::InvalidArguments, Some("/format")),
            ]),
            "1.1 final_report_invalid_format unknown_tool",
            2,
            OK1,
            (1, 0),
        ),
    ]
}

fn limits() -> Vec<Row> {
    let last = || with(|c| c.max_turns = 1);
    let two_providers = || with(|c| (c.max_turns, c.providers) = (1, vec![ProviderConfig::default(); 2]));
    let fail = |slug| Step::Fail(error(slug, Retry::Yes));
    let fatal = |slug| Step::Fail(error(slug, Retry::Fatal));
    vec![
        row("the last turn takes a report", last(), report(), "", 1, OK1, (0, 0)),
        row(
            "last turn, text: one provider",
            last(),
            vec![text("a"), text("b")],
            "1.1 final_report_missing text_only no_tools; 1.2 final_report_missing text_only no_tools",
            2,
            MAXED1,
            (2, 1),
        ),
        row(
            "last turn, text: two providers",
            two_providers(),
            vec![text("a"), text("b")],
            "1.1 final_report_missing text_only no_tools; 1.2 final_report_missing text_only no_tools",
            2,
            MAXED1,
            (2, 1),
        ),
        row(
            "last turn, other tools are answered and not run",
            last(),
            then_report(vec![call("search", "{}")]),
            "1.1 final_report_missing",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "last turn, a tool beside a valid report",
            last(),
            vec![calls("", &[("", "search", "{}"), ("", "final_report", REPORT)]), checked("final_report")],
            "",
            1,
            OK1,
            (0, 0),
        ),
        row(
            "last turn, invalid report twice",
            last(),
            vec![
                call("final_report", "{}"),
                rejected("final_report", Slug::InvalidArguments, Some("/format")),
                call("final_report", "{}"),
                rejected("final_report", Slug::InvalidArguments, Some("/content")),
            ],
            "1.1 final_report_invalid_format; 1.2 final_report_schema_fail",
            2,
            MAXED1,
            (2, 1),
        ),
        row(
            "max-turns exhaustion after three good turns",
            strict(),
            script([turn(), turn(), turn(), vec![text("a"), text("")]]),
            "4.1 final_report_missing text_only no_tools; 4.2 final_report_missing empty_response no_tools",
            5,
            "max_turns_exhausted / failed / system / 4",
            (2, 1),
        ),
        row(
            "a failed attempt does not advance the turn",
            strict(),
            script([vec![text("a")], turn(), vec![text("b")], turn(), report()]),
            "1.1 text_only no_tools; 2.1 text_only no_tools",
            5,
            OK3,
            (2, 0),
        ),
        row(
            "network errors use up the attempts",
            strict(),
            vec![fail(Slug::NetworkError), Step::Timer(None), fail(Slug::StreamCut)],
            "1.1 network_error; 1.2 stream_cut",
            2,
            SPENT1,
            (2, 1),
        ),
        row(
            "a rate limit, then success",
            strict(),
            script([vec![fail(Slug::RateLimited), Step::Timer(None)], report()]),
            "1.1 rate_limited",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "a wrong key ends the run",
            strict(),
            vec![fatal(Slug::AuthError)],
            "1.1 auth_error",
            1,
            "llm_error / failed / system / 1",
            (1, 1),
        ),
        row(
            "a network error on the last turn",
            last(),
            vec![fail(Slug::NetworkError), Step::Timer(None), fail(Slug::Timeout)],
            "1.1 network_error; 1.2 timeout",
            2,
            MAXED1,
            (2, 1),
        ),
        row(
            "a notice is repeated after a request without reply",
            with(|c| c.max_attempts = 3),
            script([vec![text("a"), fail(Slug::NetworkError), Step::Timer(None)], report()]),
            "1.1 text_only no_tools; 1.2 network_error",
            3,
            OK1,
            (2, 0),
        ),
        row(
            "stop: the next turn is the last, its report is partial",
            strict(),
            script([turn(), vec![Step::Stop], report()]),
            "2.1 stopped",
            3,
            "final_report / partial / model / 3",
            (0, 0),
        ),
        row(
            "stop while a tool runs",
            strict(),
            script([vec![call("search", "{}"), Step::Stop, executed("search", "in time")], report()]),
            "",
            2,
            "final_report / partial / model / 2",
            (0, 0),
        ),
        row(
            "stop, and no report comes",
            strict(),
            vec![Step::Stop, text("a"), text("b")],
            "1.1 stopped; 2.1 final_report_missing text_only no_tools; 2.2 final_report_missing text_only no_tools",
            3,
            "max_turns_exhausted / failed / system / 2",
            (2, 1),
        ),
        row("stop on the last turn changes nothing", last(), script([vec![Step::Stop], report()]), "", 1, OK1, (0, 0)),
        row("cancel", strict(), vec![Step::Cancel], "1.1 cancelled", 1, "cancelled / cancelled / system / 1", (0, 0)),
    ]
}

fn rows() -> Vec<Row> {
    [replies(), tool_calls(), progress_and_batch(), reports(), limits()].into_iter().flatten().collect()
}

#[test]
fn there_are_at_least_sixty_situations() {
    assert!(rows().len() >= 60, "{}", rows().len());
}

#[test]
fn each_situation_has_its_slugs_requests_fields_and_logs() {
    let mut faults = String::new();
    for row in rows() {
        let bound = row.config.max_turns * row.config.max_attempts;
        let name = row.name;
        let played = std::panic::catch_unwind(|| play(row.config, row.script)).unwrap_or_else(|_| panic!("{name}"));
        let mut slugs = Vec::new();
        for turn in played.run().turns() {
            for a in turn.attempts.iter().filter(|a| !a.slugs.is_empty()) {
                let names: Vec<&str> = a.slugs.iter().map(|s| s.as_str()).collect();
                slugs.push(format!("{}.{} {}", turn.turn, a.attempt, names.join(" ")));
            }
        }
        let is = (slugs.join("; "), played.run().requests(), played.fields(), (played.wrn(), played.err()));
        let should = (row.slugs.to_owned(), row.requests, row.fields.to_owned(), row.logs);
        if is != should {
            faults.push_str(&format!("{name}:\n  is     {is:?}\n  should {should:?}\n"));
        }
        assert!(played.run().requests() <= bound, "{name}");
        assert!(!played.ending().output.is_empty(), "{name}: no report");
    }
    assert!(faults.is_empty(), "\n{faults}");
}

#[test]
fn the_messages_that_were_sent_are_the_golden_ones() {
    let mut all = String::new();
    for row in rows() {
        let played = play(row.config, row.script);
        all.push_str(&format!("## {}\n", row.name));
        for (i, request) in played.requests.iter().enumerate() {
            // The system message and the task are the same in all.
            let sent: Vec<&Message> =
                request.append.iter().skip(if i == 0 { 2 } else { 0 }).chain(&request.tail).collect();
            all.push_str(&format!("request {} ({:?})\n", i + 1, request.tools));
            for message in sent {
                all.push_str(&format!("  {}\n", one_line(message)));
            }
        }
        all.push_str(&format!("report: {}\n\n", played.ending().output));
    }
    golden("strict_messages.txt", &all);
}

fn one_line(message: &Message) -> String {
    match message {
        Message::System { content } => format!("system: {content:?}"),
        Message::User { content } => format!("user: {content:?}"),
        Message::Tool(t) => format!("tool {}: {:?}", t.name, t.content),
        Message::Assistant(a) => {
            let calls: Vec<String> = a.tool_calls.iter().map(|c| format!("{}({})", c.name, c.arguments)).collect();
            format!("assistant: {:?} {}", a.content, calls.join(" "))
        }
    }
}
