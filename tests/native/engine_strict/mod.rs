//! Strict semantics, one row per situation: slugs of every attempt, requests, ending fields, log counts; the messages
//! that were sent are in `tests/golden/strict_messages.txt`.

mod limits;
mod progress_and_batch;
mod replies;
mod reports;
mod tool_calls;

use crate::support::*;
use serde_json::json;
use turnwise_engine::*;

/// One situation.
struct Row {
    name: &'static str,
    config: RunConfig,
    script: Vec<Step>,
    /// `turn.attempt slugs` of every failed attempt; its WRN record says the same.
    slugs: &'static str,
    requests: u32,
    fields: &'static str,
    /// The numbers of WRN and ERR records.
    logs: (usize, usize),
}

fn strict() -> RunConfig {
    let mut c = RunConfig { max_turns: 4, max_attempts: 2, ..config(Preset::Strict) };
    c.tools.extend([own_tools::batch_spec(), own_tools::progress_spec()]);
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

/// The report tool's arguments pass their schema check.
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

fn rows() -> Vec<Row> {
    [
        replies::replies(),
        tool_calls::tool_calls(),
        progress_and_batch::progress_and_batch(),
        reports::reports(),
        limits::limits(),
    ]
    .into_iter()
    .flatten()
    .collect()
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
        // Why the last reply was refused is part of what the run says of its end.
        let ending = played.ending();
        let last = played.run().turns().last().and_then(|turn| Some((turn, turn.attempts.last()?)));
        let refused =
            last.filter(|_| ending.outcome == Outcome::Failed && ending.answer_source == AnswerSource::System);
        let refused = refused.and_then(|(turn, a)| {
            let mut calls = turn.tool_calls.iter().filter(|call| call.attempt == a.attempt);
            calls.find(|call| call.slug.is_some() && call.slug.as_ref() == a.slugs.first())
        });
        if let Some(CallRecord { name, error: Some(why), .. }) = refused {
            let said = format!("{name}: {why}");
            assert!(ending.error.as_ref().is_some_and(|error| error.contains(&said)), "{}: {ending:?}", row.name);
            assert!(ending.output.contains(&said), "{}: {ending:?}", row.name);
        }
        let (is, should) = (logged(&played), should_log(row.slugs, row.fields));
        if is != should {
            faults.push_str(&format!("{name}:\n  logged {is:?}\n  should {should:?}\n"));
        }
        assert!(played.run().requests() <= bound, "{name}");
        assert!(!played.ending().output.is_empty(), "{name}: no report");
    }
    assert!(faults.is_empty(), "\n{faults}");
}

/// `WRN 1.1 slugs` for every log record, in order.
fn logged(played: &Played) -> Vec<String> {
    let line = |log: &LogRecord| {
        let slugs: Vec<&str> = log.slugs.iter().map(|slug| slug.as_str()).collect();
        match log.level {
            LogLevel::Warn => format!("WRN {}.{} {}", log.turn, log.attempt, slugs.join(" ")),
            LogLevel::Error => format!("ERR {}", slugs.join(" ")),
        }
    };
    played.run().logs().iter().map(line).collect()
}

/// A WRN record for each failed attempt; an ERR record for a failed run, with the reason it ended and then the slugs of
/// its last attempt.
fn should_log(slugs: &str, fields: &str) -> Vec<String> {
    let by_user = |attempt: &str| attempt.ends_with(" stopped") || attempt.ends_with(" cancelled");
    let attempts: Vec<&str> = slugs.split("; ").filter(|attempt| !attempt.is_empty() && !by_user(attempt)).collect();
    let mut lines: Vec<String> = attempts.iter().map(|attempt| format!("WRN {attempt}")).collect();
    if let Some((reason, _)) = fields.split_once(" / failed / ") {
        let last = attempts.last().and_then(|attempt| attempt.split_once(' ')).map_or("", |(_, slugs)| slugs);
        lines.push(format!("ERR {reason} {last}"));
    }
    lines
}

#[test]
fn the_messages_that_were_sent_are_the_golden_ones() {
    let mut all = String::new();
    for row in rows() {
        let played = play(row.config, row.script);
        all.push_str(&format!("## {}\n", row.name));
        for (i, request) in played.requests.iter().enumerate() {
            // The system message and the task are the same in all rows.
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
        Message::User { content, .. } => format!("user: {content:?}"),
        Message::Tool(t) => format!("tool {}: {:?}", t.name, t.content),
        Message::Assistant(a) => {
            let calls: Vec<String> = a.tool_calls.iter().map(|c| format!("{}({})", c.name, c.arguments)).collect();
            format!("assistant: {:?} {}", a.content, calls.join(" "))
        }
    }
}

#[test]
fn a_json_report_is_the_runs_data() {
    let report = r#"{"format": "json", "content": {"a": 1}}"#;
    let played = play(format(ReportFormat::Json, None), vec![call("final_report", report), checked("final_report")]);
    assert_eq!(played.ending().report_data, Some(json!({ "a": 1 })));
    let played = play(strict(), vec![call("final_report", REPORT), checked("final_report")]);
    assert_eq!(played.ending().report_data, None, "a text is no data");
}

#[test]
fn every_failure_that_a_model_causes_has_a_notice_and_no_other_has() {
    let policy = judge::Policy::for_preset(Preset::Strict);
    let told: Vec<&str> = Slug::ALL
        .iter()
        .filter(|slug| prompts::notice(policy, judge::Offer::AllTools, &[**slug]).is_some())
        .map(|slug| slug.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "no_tools",
            "empty_response",
            "reasoning_only",
            "text_only",
            "malformed_tool_call",
            "unknown_tool",
            "tool_limit",
            "final_report_missing",
            "final_report_invalid_format",
            "final_report_schema_fail",
            "invalid_arguments",
            "progress_only",
            "truncated_output",
            "synthesis_tool_call",
            "refused"
        ]
    );
}
