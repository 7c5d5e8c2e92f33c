//! The view of strict runs: attempts and the messages to the model, progress, batches, the sentence that explains a
//! failure, the log. Pure, from the engine's state alone.

use crate::support::*;
use serde_json::{Value, json};
use turnwise_content::slack;
use turnwise_engine::*;
use turnwise_view::attempt::Weight;
use turnwise_view::call::{CallState, ProgressView};
use turnwise_view::log::{Level, Log, LogFilter};
use turnwise_view::report::{ReportBody, ReportPosition};
use turnwise_view::*;

fn view(played: &Played) -> ViewModel {
    ViewModel::from(played.run())
}

fn strict(max_turns: u32) -> RunConfig {
    let mut config = RunConfig { max_turns, ..config(Preset::Strict) };
    config.tools.extend([own_tools::batch_spec(), own_tools::progress_spec()]);
    config
}

fn with_report(format: ReportFormat, schema: Option<Value>) -> RunConfig {
    RunConfig { report: ReportConfig { format, schema }, ..strict(5) }
}

/// A report that passes its own check.
fn report(args: &Value) -> Vec<Step> {
    vec![calls("", &[("r", "final_report", &args.to_string())]), executed("final_report", "")]
}

fn text_report() -> Vec<Step> {
    report(&json!({ "format": "text", "content": "all is well" }))
}

fn refused(slug: Slug, path: &str) -> ToolOutcome {
    ToolOutcome::Rejected { slug, path: Some(path.into()), message: format!("{path} is wrong") }
}

fn names(slugs: &[SlugView]) -> Vec<&'static str> {
    slugs.iter().map(|slug| slug.name).collect()
}

#[test]
fn every_slug_has_texts_of_its_own() {
    let mut seen = std::collections::BTreeSet::new();
    for slug in Slug::ALL {
        let (meaning, because) = (slug.meaning(), slug.because());
        assert!(meaning.ends_with('.') && meaning.starts_with(char::is_uppercase), "{slug}: {meaning}");
        assert!(!because.ends_with('.') && !because.starts_with(char::is_uppercase), "{slug}: {because}");
        assert!(seen.insert(because), "{slug}: {because} is used twice");
        assert!(slug.notice().is_none_or(|notice| notice.ends_with('.')), "{slug}");
    }
}

#[test]
fn each_failed_attempt_is_shown_with_its_calls_and_what_the_model_was_told() {
    let mut script = vec![text("I think so."), calls("", &[("a", "nope", "{}")])];
    script.extend([calls("", &[("b", "search", "{}")]), executed("search", "found")]);
    script.extend(text_report());
    let model = view(&play(strict(5), script));
    let turn = &model.turns[0];
    assert_eq!(turn.failed.len(), 2);
    let [first, second] = turn.failed.as_slice() else { panic!() };
    assert_eq!(names(&first.slugs), ["text_only", "no_tools"]);
    assert_eq!(first.message, "The reply was text, where a tool call is needed.");
    assert_eq!((first.attempt.as_str(), first.then.as_str()), ("attempt 1 of 3", "tried again at once"));
    assert!(first.calls.is_empty());
    let told = first.notice.as_deref().expect("a notice");
    assert!(told.starts_with("Your last reply was text"), "without its prefix: {told}");
    assert_eq!((names(&second.slugs), second.message.as_str()), (vec!["unknown_tool"], ""), "its card says it");
    assert_eq!(second.calls.len(), 1, "the call of the failed attempt stands with it");
    assert_eq!(second.calls[0].name, "nope");
    assert!(second.notice.as_deref().expect("a notice").contains("does not exist"));
    assert_eq!(turn.calls.len(), 1);
    assert_eq!(turn.calls[0].name, "search");
}

#[test]
fn a_notice_that_is_sent_again_after_a_network_error_is_not_about_it() {
    let script = vec![text("no"), Step::Fail(error(Slug::StreamCut, Retry::Yes)), Step::Timer(None)];
    let model = view(&play_open(strict(5), script));
    let failed = &model.turns[0].failed;
    assert!(failed[0].notice.is_some());
    assert_eq!((names(&failed[1].slugs), failed[1].notice.clone()), (vec!["stream_cut"], None));
}

#[test]
fn progress_is_a_line_and_the_panel_shows_the_latest_while_the_run_is_open() {
    let progress = |id, args| calls("", &[(id, "progress_report", args), ("s", "search", "{}")]);
    let mut script = vec![progress("p", r#"{"status":"Reading","detail":"3 files"}"#)];
    script.extend([executed("progress_report", ""), executed("search", "x")]);
    let open = play_open(strict(5), script.clone());
    let model = view(&open);
    let shown = ProgressView { status: "Reading".into(), detail: Some("3 files".into()) };
    assert_eq!(model.turns[0].calls[0].progress, Some(shown.clone()));
    assert_eq!(model.turns[0].calls[1].progress, None);
    assert_eq!(model.panel.progress, Some(shown));

    script.extend(text_report());
    assert_eq!(view(&play(strict(5), script)).panel.progress, None, "it is over");

    let wrong = vec![calls("", &[("p", "progress_report", "{}")])];
    let mut wrong = [wrong, vec![Step::Tool("progress_report", refused(Slug::InvalidArguments, "/status"))]].concat();
    wrong.push(Step::Cancel);
    let model = view(&play(strict(5), wrong));
    let call = &model.turns[0].failed[0].calls[0];
    assert_eq!((call.progress.clone(), call.state), (None, CallState::Failed), "a refused one is a card");
}

#[test]
fn the_panel_shows_cost_and_context_where_they_are_known() {
    let usage = Usage { input: TokenCount(800), output: TokenCount(100), ..Usage::default() };
    let priced = |window| {
        let mut config = RunConfig { max_turns: 5, ..config(Preset::Research) };
        config.limits.context_tokens = window;
        config.providers[0].price = Some(Price { input: 10.0, output: 20.0, cached: 1.0 });
        config
    };
    let calling = || Reply {
        tool_calls: vec![RawCall { id: "s".into(), name: "search".into(), arguments: "{}".into() }],
        usage: Some(usage),
        ..Reply::default()
    };
    let script = || vec![Step::Reply(calling()), executed("search", "found")];
    let model = view(&play_open(priced(Some(1_000)), script()));
    assert_eq!(model.panel.cost.as_deref(), Some("$0.0100"));
    let fill = model.panel.context.expect("a window");
    assert_eq!((fill.bar, fill.level, fill.words), (fill.bar.min(100), CounterLevel::Urgent, "nearly full"));
    let result = model.turns[0].calls[0].result.clone().expect("an answer");
    assert!(result.contains("[Context "), "{result}");
    assert_eq!(model.turns[0].calls[0].note, Some(call::CallNote::Value("found".into())), "without both lines");
    let unknown = view(&play_open(RunConfig { providers: vec![ProviderConfig::default()], ..priced(None) }, script()));
    assert_eq!((unknown.panel.cost, unknown.panel.context), (None, None));
}

#[test]
fn a_batch_shows_its_calls_and_an_accepted_report_is_marked() {
    let args = json!({ "calls": [
        { "name": "search", "arguments": { "query": "a" } },
        { "name": "final_report", "arguments": {} },
    ] });
    let mut script = vec![calls("", &[("b", "batch", &args.to_string())]), executed("batch", "")];
    script.push(executed("search", "found"));
    script.extend(text_report());
    let model = view(&play(strict(5), script));
    let batch = &model.turns[0].calls[0];
    assert_eq!(batch.summary, "2 calls: search, handed in the report");
    assert_eq!(batch.inner.len(), 2);
    assert_eq!(batch.inner[0].summary, "a");
    assert_eq!(batch.inner[1].slug.map(|slug| slug.name), Some("invalid_arguments"));
    assert_eq!(model.turns[1].calls[0].ended_run, Some("accepted"));
}

#[test]
fn the_last_turn_says_that_it_takes_only_a_report() {
    let model = view(&play(strict(1), text_report()));
    assert_eq!(model.turns[0].remark.as_deref(), Some("Last turn: only a report is accepted."));
    assert!(matches!(model.panel.meter.ticks[0].kind, TickKind::Report(_)));
    let mut script = vec![Step::Stop];
    script.extend(text_report());
    let model = view(&play(strict(9), script));
    assert_eq!(
        model.turns[1].remark.as_deref(),
        Some("Last turn: you asked it to wrap up, and only a report is accepted.")
    );
    let ending = model.panel.ending.expect("an ending");
    assert_eq!(ending.headline, "You asked it to wrap up; the model's report was accepted.");
    assert_eq!((ending.outcome, ending.outcome_words), ("partial", "wrapped up as you asked"));
}

#[test]
fn before_a_strict_run_the_preview_names_its_last_turn_and_its_bound() {
    let preview = FilePreview::from(&strict(7));
    assert_eq!(preview.calls, "at most 21", "turns times attempts, and nothing outside");
    assert!(preview.note.contains("accepted report"), "{}", preview.note);
    assert_eq!(preview.meter.ticks.len(), 7);
    assert!(matches!(preview.meter.ticks[6].kind, TickKind::Report(CounterLevel::Urgent)));
    assert!(preview.legend.iter().any(|(_, words)| words == "the last turn asks for the report"));
    assert!(preview.legend.iter().all(|(kind, _)| *kind != TickKind::Synthesis));
    let model = view(&play_open(strict(7), Vec::new()));
    assert_eq!(model.head.facts[1..], ["strict", "report: text"]);
}

/// The headline of a run that failed.
fn headline(config: RunConfig, script: Vec<Step>) -> String {
    view(&play(config, script)).panel.ending.expect("an ending").headline
}

#[test]
fn a_failed_run_is_explained_in_one_sentence() {
    let schema = || {
        vec![
            calls("", &[("r", "final_report", r#"{"format":"json","content":{}}"#)]),
            Step::Tool("final_report", refused(Slug::InvalidArguments, "/content/answer")),
        ]
    };
    let mut script = vec![calls("", &[("s", "search", "{}")]), executed("search", "x"), text("a"), text("b")];
    script.extend(schema());
    assert_eq!(
        headline(with_report(ReportFormat::Json, Some(json!({}))), script),
        "Turn 2 failed three times, the last time because the report did not fit its JSON Schema, so the run ended \
         without an accepted report."
    );
    assert_eq!(
        headline(strict(1), vec![text("a"), text("b"), text("c")]),
        "Turn 1, the last one, failed three times, each time because the last turn must end in a report and the reply \
         had none, so the run ended without an accepted report."
    );
    assert_eq!(
        headline(RunConfig { max_attempts: 1, ..strict(3) }, vec![text("a")]),
        "Turn 1 failed because the reply was text without a tool call, so the run ended without an accepted report."
    );
    let tool_turn = || vec![calls("", &[("s", "search", "{}")]), executed("search", "x")];
    let tool = || calls("", &[("x", "search", "{}")]);
    let limited = |synthesis| RunConfig { max_turns: 1, synthesis, ..config(Preset::Research) };
    assert_eq!(
        headline(limited(Some(SynthesisConfig::default())), [tool_turn(), vec![tool(), tool(), tool()]].concat()),
        "The turn limit was reached, and the synthesis failed three times, each time because the model called a tool \
         instead of concluding, so the run ended without a conclusion."
    );
    assert_eq!(
        headline(limited(None), tool_turn()),
        "The turn limit was reached, and with synthesis switched off nothing concluded the run."
    );
}

#[test]
fn the_report_is_shown_by_its_format_where_no_turn_shows_it() {
    let of = |played: &Played| view(played).segments[0].report.clone();
    let told = of(&play(strict(5), text_report())).expect("a report");
    assert_eq!((told.body, told.position), (ReportBody::Text("all is well".into()), ReportPosition::Before));
    let marked =
        play(with_report(ReportFormat::Markdown, None), report(&json!({ "format": "markdown", "content": "# Hi" })));
    assert_eq!(of(&marked).expect("a report").body, ReportBody::Markdown("# Hi".into()));
    let data = json!({ "format": "json", "content": { "answer": [1, 2] } });
    let tree = of(&play(with_report(ReportFormat::Json, None), report(&data))).expect("a report");
    let ReportBody::Json(place) = &tree.body else { panic!("{tree:?}") };
    assert_eq!(place.line().text, "{ 1 field }");
    assert_eq!(&*tree.copy, "{\n  \"answer\": [\n    1,\n    2\n  ]\n}");
    let sent = json!({ "format": "slack", "messages": [{ "blocks": [{ "type": "divider" }] }] });
    let slack = of(&play(with_report(ReportFormat::Slack, None), report(&sent))).expect("a report");
    assert!(matches!(&slack.body, ReportBody::Slack(messages) if messages[0].blocks == [slack::SlackBlock::Divider]));

    let failed = of(&play(strict(5), vec![text("a"), text("b"), text("c")])).expect("a report");
    assert_eq!((failed.position, failed.note.is_some()), (ReportPosition::After, true), "the system explains itself");
    assert_eq!(of(&play(config(Preset::Research), vec![text("done")])), None, "the turn shows it");
}

#[test]
fn the_log_is_filtered_by_level_slug_and_words_and_exported_as_json_lines() {
    let failed = play(
        strict(5),
        vec![text("a"), Step::Fail(error(Slug::RateLimited, Retry::Yes)), Step::Timer(None), text("c")],
    );
    let mut log = Log::default();
    let source = RunSource::from(failed.run());
    assert!(log.take(&source));
    assert!(!log.take(&source), "nothing new");
    assert_eq!(log.title(), "Log (4)");
    let all = log.view(&LogFilter::default());
    assert_eq!(all.chips.iter().map(|chip| chip.words.as_str()).collect::<Vec<_>>(), ["ERR 1", "WRN 3", "TRC 0"]);
    assert_eq!((all.words.as_str(), all.entries.len(), all.empty), ("4 entries", 4, None));
    assert_eq!(all.entries[0].place, "turn 1, attempt 1");
    assert_eq!(all.entries[1].raw.as_ref().map(|raw| &*raw.text), Some("raw bytes"));
    assert!(all.entries.windows(2).all(|pair| pair[0].at_ms <= pair[1].at_ms));

    let mut filter = LogFilter::default();
    filter.toggle(Level::Warning);
    assert_eq!(log.view(&filter).words, "1 of 4 entries");
    filter.toggle(Level::Error);
    assert_eq!(log.view(&filter).empty, Some("No entry matches this filter."));
    let slug = LogFilter { slug: "rate_limited".into(), ..LogFilter::default() };
    assert_eq!(log.view(&slug).entries.len(), 1);
    let words = LogFilter { text: "RAW bytes".into(), ..LogFilter::default() };
    assert_eq!(log.view(&words).entries.len(), 1, "raw responses are searched too");
    let few = log.view(&LogFilter { most: 1, ..LogFilter::default() });
    assert_eq!((few.entries[0].level, few.more.as_deref()), (Level::Error, Some("Show 3 earlier")), "the newest stay");

    let lines: Vec<Value> = log.json_lines(&slug).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["level"], &lines[0]["slugs"]), (1, &json!("WRN"), &json!(["rate_limited"])));
    assert!(Log::default().view(&LogFilter::default()).empty.expect("words").starts_with("Nothing was logged"));
}

#[test]
fn traces_stand_in_the_log_with_their_data() {
    let mut script = vec![calls("", &[("s", "search", "{}")]), executed("search", "x")];
    script.push(text("so far"));
    let played = play(RunConfig { max_turns: 1, ..config(Preset::Research) }, script);
    let mut log = Log::default();
    log.take(&RunSource::from(&played.document()));
    assert_eq!(log.title(), "Log", "nothing went wrong");
    let traces = log.view(&LogFilter::default()).entries;
    assert!(traces.iter().all(|entry| entry.level == Level::Trace));
    assert!(traces[0].message.starts_with("max_turns_reached {"), "{}", traces[0].message);
}

#[test]
fn weights_tell_what_passed_from_what_ended_the_turn() {
    let turn = view(&play(strict(5), vec![text("a"), text("b"), text("c")])).turns[0].clone();
    let weights: Vec<Weight> = turn.failed.iter().map(|failed| failed.weight).collect();
    assert_eq!(weights, [Weight::Passing, Weight::Passing, Weight::Last]);
    assert_eq!(turn.failed[2].notice, None, "nobody was told");
}
