//! The view of scripted runs: levels, ticks, text. Pure, from the engine's state alone.

use crate::support::*;
use serde_json::{Value, json};
use turnwise_content::format;
use turnwise_engine::*;
use turnwise_record::trajectory::Trajectory;
use turnwise_view::call::{CallNote, CallState};
use turnwise_view::panel::Remedy;
use turnwise_view::*;

fn view(played: &Played) -> ViewModel {
    ViewModel::from(played.run())
}

fn limited(max_turns: u32) -> RunConfig {
    RunConfig { max_turns, ..config(Preset::Research) }
}

fn tool_turn(id: &'static str) -> Vec<Step> {
    vec![calls("looking", &[(id, "search", r#"{"query":"x"}"#)]), executed("search", "found")]
}

/// One letter per tick: level (c a r, o without a counter), f or s; uppercase if used, `!` failed, `>` live.
fn ticks(meter: &Meter) -> String {
    let letter = |tick: &Tick| {
        let letter = match tick.kind {
            TickKind::Turn(CounterLevel::Normal) => "c",
            TickKind::Turn(CounterLevel::Moderate) => "a",
            TickKind::Turn(CounterLevel::Urgent) => "r",
            TickKind::Turn(CounterLevel::Off) => "o",
            TickKind::Report(_) => "f",
            TickKind::Synthesis => "s",
        };
        match tick.state {
            TickState::Ahead => letter.to_owned(),
            TickState::Used => letter.to_uppercase(),
            TickState::Live => format!(">{letter}"),
            TickState::Failed => format!("!{letter}"),
        }
    };
    meter.ticks.iter().map(letter).collect()
}

#[test]
fn the_meter_shows_a_tick_a_turn_with_the_counters_three_levels_and_the_synthesis_apart() {
    let mut script = tool_turn("1");
    script.extend(tool_turn("2"));
    let open = play_open(limited(9), script.clone());
    assert_eq!(ticks(&view(&open).panel.meter), "CC>caarrrrs");

    let mut all: Vec<Step> = ["1", "2", "3", "4", "5", "6", "7"].into_iter().flat_map(tool_turn).collect();
    all.push(text("the conclusion"));
    let ended = play(limited(7), all);
    let panel = view(&ended).panel;
    assert_eq!(ticks(&panel.meter), "CAARRRRS");
    assert_eq!(panel.phase, PanelPhase::Ended);
    assert_eq!((panel.turn, panel.max_turns), (7, 7));
    assert!(panel.can_continue);
}

#[test]
fn without_a_counter_ticks_have_no_level_and_without_synthesis_there_is_no_tick_for_it() {
    let plain = RunConfig { counter: None, synthesis: None, ..limited(3) };
    let open = play_open(plain, tool_turn("1"));
    let model = view(&open);
    assert_eq!(ticks(&model.panel.meter), "O>oo");
    assert!(model.head.facts.contains(&"turn counter off".to_owned()), "{:?}", model.head.facts);
    assert!(model.head.facts.contains(&"synthesis off".to_owned()));
    assert_eq!(model.turns[0].counter, None);
}

#[test]
fn the_counter_line_is_shown_exactly_as_the_model_read_it() {
    let open = play_open(limited(7), tool_turn("1").into_iter().chain(tool_turn("2")).collect());
    let model = view(&open);
    let line = |turn: usize| model.turns[turn].counter.clone().expect("a counter line");
    assert_eq!(line(0), CounterLine { text: "[Turn 1/7]".into(), level: CounterLevel::Normal });
    assert_eq!(line(1).text, "[Turn 2/7 - 5 turns remaining, work efficiently.]");
    assert_eq!(line(1).level, CounterLevel::Moderate);
    assert_eq!(
        model.turns[0].calls[0].result.as_deref(),
        Some("found\n[Turn 1/7]"),
        "the card shows what the model saw"
    );
}

/// A template may have several lines, none, or look like anything: the card shows the result without it.
#[test]
fn a_custom_counter_template_is_shown_whole_and_not_as_a_part_of_the_result() {
    for template in ["used {turn}\nof {max}", "({remaining} left)", "[Context 99% full]", ""] {
        let templates = CounterTemplates { normal: template.into(), ..CounterTemplates::default() };
        let counter = Some(CounterConfig { templates, ..CounterConfig::default() });
        let open = play_open(RunConfig { counter, ..limited(7) }, tool_turn("1").into_iter().collect());
        let turn = view(&open).turns.remove(0);
        let line = template.replace("{turn}", "1").replace("{max}", "7").replace("{remaining}", "6");
        assert_eq!(turn.counter, Some(CounterLine { text: line.clone(), level: CounterLevel::Normal }));
        assert_eq!(turn.calls[0].result, Some(format!("found\n{line}")));
        assert_eq!(turn.calls[0].note, Some(CallNote::Value("found".into())), "{template:?}");
    }
}

#[test]
fn every_ending_has_words_and_its_exact_code() {
    let complete = play(limited(5), vec![text("done")]);
    let ending = view(&complete).panel.ending.expect("an ending");
    assert_eq!((ending.reason.as_str(), ending.outcome, ending.source), ("llm_complete", "success", "model"));
    assert_eq!(ending.headline, "The model finished on its own.");
    assert_eq!(ending.turns, "1 of 5 turns");
    assert_eq!((ending.label, view(&complete).panel.facts[..2].join(" · ").as_str()), ("Done", "Done · 1 of 5 turns"));

    let mut script = tool_turn("1");
    script.push(text("conclusion"));
    let limit = play(limited(1), script);
    let model = view(&limit);
    let ending = model.panel.ending.clone().expect("an ending");
    assert_eq!(
        (ending.reason.as_str(), ending.outcome, ending.source),
        ("max_turns_synthesized", "partial", "synthesis")
    );
    assert_eq!(ending.turns, "1 of 1 turn, and the synthesis");
    assert_eq!(model.turns[1].kind, TurnKind::Synthesis { title: "Synthesis: the turn limit was reached".into() });
    assert_eq!(model.turns[1].of, None, "the synthesis is outside the limit");
    assert!(model.panel.announcement.starts_with("Run ended: The turn limit was reached"));

    let cancelled = play(limited(5), vec![Step::Cancel]);
    let model = view(&cancelled);
    let ending = model.panel.ending.expect("an ending");
    assert_eq!((ending.reason.as_str(), ending.source_words), ("cancelled", "none"));
    assert_eq!(ending.remark, Some("There is no answer yet."));
    assert_eq!(model.panel.remedy, Some(Remedy::LastTurn), "it goes on from there, as a separate run");

    let fatal = play(limited(5), vec![Step::Fail(error(Slug::AuthError, Retry::Fatal))]);
    let model = view(&fatal);
    let ending = model.panel.ending.clone().expect("an ending");
    assert_eq!((ending.reason.as_str(), ending.outcome), ("llm_error", "failed"));
    assert_eq!(ending.headline, "Turn 1 failed because the provider refused the key.");
    // The ending says the cause, with what can be done; the turn above it does not say it again.
    assert_eq!(ending.cause.as_deref(), Some("auth_error happened"));
    assert!(model.turns[0].failed[0].is_in_ending);
    assert_eq!(model.panel.remedy, Some(Remedy::Key));
    let report = model.segments[0].report.clone().expect("the system's report");
    assert!(report.copy.contains("auth_error happened"), "{}", report.copy);
    assert_eq!(ticks(&model.panel.meter), "!arrrr");
}

#[test]
fn the_work_of_a_run_with_an_answer_is_one_line_and_a_failure_has_none() {
    let work = |run: &Played| WorkView::from_source(&RunSource::from(run.run()));
    let mut script = tool_turn("1");
    script.push(text("done"));
    let complete = work(&play(limited(5), script.clone())).expect("an answer");
    assert_eq!(complete.answer, Some(1));
    assert!(complete.words.starts_with("2 turns · 1 tool call"), "{}", complete.words);
    let limit = work(&play(limited(1), script)).expect("a conclusion");
    assert!(
        limit.answer == Some(1) && limit.words.starts_with("1 turn · 1 tool call"),
        "the synthesis is no turn: {limit:?}"
    );
    assert_eq!(work(&play(limited(5), vec![Step::Cancel])), None);
    assert_eq!(work(&play(limited(5), vec![Step::Fail(error(Slug::AuthError, Retry::Fatal))])), None);
    assert_eq!(work(&play_open(limited(5), tool_turn("1").into_iter().collect())), None, "it goes on");
}

#[test]
fn an_error_that_may_pass_asks_for_another_try_and_a_refused_request_for_another_model() {
    let ended = |steps: Vec<Step>| {
        let panel = view(&play(limited(5), steps)).panel;
        (panel.ending.expect("an ending").headline, panel.remedy)
    };
    let fails = |retry: Retry| Step::Fail(error(Slug::ProviderError, retry));
    let headline = "Turn 1 failed because the provider refused the request.";
    assert_eq!(ended(vec![fails(Retry::Fatal)]), (headline.to_owned(), Some(Remedy::Model)));
    let headline = "Turn 1 failed three times, each time because the provider answered with an error.";
    let passing = || fails(Retry::Yes);
    let steps = vec![passing(), Step::Timer(None), passing(), Step::Timer(None), passing()];
    assert_eq!(ended(steps), (headline.to_owned(), Some(Remedy::Time)));
}

#[test]
fn a_stop_is_named_in_the_synthesis_and_is_no_failure() {
    let mut script = tool_turn("1");
    script.extend([Step::Stop, text("so far")]);
    let stopped = play(limited(9), script);
    let model = view(&stopped);
    let last = model.turns.last().expect("a turn");
    assert_eq!(last.kind, TurnKind::Synthesis { title: "Synthesis: you asked it to wrap up".into() });
    assert_eq!(model.panel.ending.clone().expect("an ending").reason, "stop_synthesized");
    let dropped = &model.turns[1].failed[0];
    assert_eq!(dropped.weight, attempt::Weight::ByUser, "{dropped:?}");
    assert_eq!(dropped.attempt, "", "nobody counts the attempts of a request that was stopped");
    // The counter of the panel, the ending and the list count alike.
    assert_eq!(
        (model.panel.turn, model.panel.ending.clone().expect("an ending").turns),
        (2, "2 of 9 turns, and the synthesis".into())
    );
    assert!(!ticks(&model.panel.meter).contains('!'));
}

#[test]
fn what_was_streamed_before_the_end_is_shown_with_what_ended_it_live_and_from_a_record() {
    let half = || Step::Streamed("Half a sen");
    let superseded = "Not part of the answer: the run had to conclude while this was written.";
    for (script, cut, words) in [
        (vec![half(), Step::Stop, text("In short.")], ReplyCut::Superseded, superseded),
        (vec![half(), Step::Cancel], ReplyCut::Stopped, "Stopped here"),
    ] {
        let played = play(limited(9), script);
        let document = played.document();
        for model in [view(&played), ViewModel::from(&RunSource::from(&document))] {
            let partial = model.turns[0].failed[0].partial.clone().expect("the text is shown");
            assert_eq!((partial.cut, partial.remark, partial.content.as_str()), (cut, words, "Half a sen"));
            assert_eq!(model.turns[0].content, "", "it is no answer");
            let ending = model.panel.ending.expect("an ending");
            let begun = ending.source_words == "begun, not finished";
            let remark = ending.remark.is_some_and(|remark| remark.starts_with("The part of the answer"));
            assert_eq!((begun, remark), (ending.outcome == "cancelled", ending.outcome == "cancelled"));
        }
    }
}

/// What the store of the app's runs kept each second is shown after a reload, until the run is resumed.
#[test]
fn what_had_arrived_when_the_page_was_closed_is_shown_as_interrupted() {
    let mut played = play_open(limited(9), vec![Step::Streamed("Half a sen")]);
    let interrupted = RunSource { status: Status::Ended, ..RunSource::from(played.run()) };
    let turn = ViewModel::from(&interrupted).turns.remove(0);
    let left = turn.left.expect("the text is shown");
    assert_eq!((left.cut, left.content.as_str()), (ReplyCut::Interrupted, "Half a sen"));
    assert!(turn.failed.is_empty() && turn.content.is_empty());
    assert_eq!(view(&played).turns[0].left, None, "while the run is driven, the text comes by itself");
    drop(played.recorder.handle(Millis(9), Event::Resumed { at: EpochMillis(1_795_298_500_000), authority: None }));
    let resumed = view(&played).turns.remove(0);
    assert_eq!(
        (resumed.left, resumed.failed[0].partial.clone().map(|partial| partial.cut)),
        (None, Some(ReplyCut::Interrupted))
    );
    assert!(!format!("{:?}", played.run().messages()).contains("Half"));
}

/// Wrap up is offered where there is something to conclude from, and once; Stop always.
#[test]
fn wrap_up_is_offered_once_there_is_something_to_conclude_from() {
    let offers = |script: Vec<Step>| view(&play_open(limited(9), script)).panel.can_wrap_up;
    let call = || calls("", &[("a", "search", "{}")]);
    assert!(!offers(vec![]), "nothing was found yet");
    assert!(offers(vec![call()]), "a tool runs");
    assert!(offers(tool_turn("1")), "the second turn is asked for");
    let mut waits = tool_turn("1");
    waits.push(Step::Fail(error(Slug::RateLimited, Retry::Yes)));
    assert!(offers(waits), "it waits before another attempt");
    assert!(!offers(vec![call(), Step::Stop]), "it wraps up already");
    let mut concludes = tool_turn("1");
    concludes.push(Step::Stop);
    assert!(!offers(concludes), "it concludes already");
    assert!(!view(&play(limited(9), vec![text("done")])).panel.can_wrap_up);
}

#[test]
fn a_failed_attempt_stays_visible_with_its_slug_and_what_came_of_it() {
    let cut = || Step::Fail(error(Slug::StreamCut, Retry::Yes));
    let waiting = play_open(limited(5), vec![cut()]);
    let model = view(&waiting);
    let turn = &model.turns[0];
    assert_eq!(turn.failed[0].slugs.iter().map(|slug| slug.name).collect::<Vec<_>>(), ["stream_cut"]);
    assert_eq!(turn.failed[0].attempt, "attempt 1 of 3");
    assert_eq!(turn.failed[0].then, "", "the line below says when");
    let Some(Activity::Waiting(wait)) = turn.live.clone() else { panic!("it waits: {:?}", turn.live) };
    assert_eq!((wait.attempt, wait.of), (2, 3));
    assert!(wait.until > task().started_at.0);
    assert_eq!(model.panel.wait, Some(wait));

    let failed = play(limited(5), vec![cut(), Step::Timer(None), cut(), Step::Timer(None), cut()]);
    let turn = &view(&failed).turns[0];
    // One cause is shown once.
    let [one] = turn.failed.as_slice() else { panic!("{:?}", turn.failed) };
    assert_eq!(one.attempt, "attempts 1 to 3 of 3");
    assert!(one.then.starts_with("tried again after") && one.then.ends_with(", no attempt left"), "{}", one.then);
    assert_eq!(one.tried, "Tried 3 times");

    let other = || Step::Fail(error(Slug::Timeout, Retry::Yes));
    let failed = play(limited(5), vec![cut(), Step::Timer(None), other(), Step::Timer(None), other()]);
    let turn = &view(&failed).turns[0];
    let attempts: Vec<&str> = turn.failed.iter().map(|one| one.attempt.as_str()).collect();
    assert_eq!(attempts, ["attempt 1 of 3", "attempts 2 to 3 of 3"], "another cause is shown on its own");
}

#[test]
fn calls_are_one_quiet_line_and_keep_what_the_model_read() {
    let script = vec![
        calls(
            "",
            &[
                ("a", "search", r#"{"query":"turn limit"}"#),
                ("b", "read", r#"{"path":"a.md","offset":3}"#),
                ("c", "nope", "{}"),
            ],
        ),
        executed("search", "1 line"),
        Step::Tool("read", ToolOutcome::Failed { message: "no such file".into() }),
    ];
    let open = play_open(limited(9), script);
    let calls = view(&open).turns[0].calls.clone();
    let name = |call: &CallView| call.slug.map(|slug| slug.name);
    assert_eq!(calls[0].summary, "turn limit", "one argument stands for itself");
    assert_eq!(calls[0].note, Some(CallNote::Value("1 line".into())));
    assert_eq!(calls[0].state, CallState::Done);
    assert_eq!(calls[1].summary, "path: a.md, offset: 3");
    assert_eq!((calls[1].state, name(&calls[1])), (CallState::Failed, Some("tool_exec_failed")));
    assert_eq!((calls[2].state, name(&calls[2])), (CallState::Failed, Some("unknown_tool")));
    assert!(calls[2].result.as_deref().unwrap_or_default().ends_with("[Turn 1/9]"));
}

#[test]
fn a_grant_stands_between_its_segments_and_the_meter_goes_on() {
    let mut script = tool_turn("1");
    script.extend([text("first conclusion"), Step::Grant(3)]);
    script.extend(tool_turn("2"));
    let open = play_open(limited(1), script);
    let model = view(&open);
    assert_eq!(model.segments.len(), 1);
    assert_eq!(model.segments[0].after, Some(1));
    assert_eq!(model.segments[0].granted, Some(3));
    assert_eq!(model.turns[2].of, Some(5), "turns used, the synthesis included, and 3 more");
    assert_eq!(ticks(&model.panel.meter), "RSR>rrs");
    assert_eq!(model.panel.ending, None, "it runs again");
}

#[test]
fn the_time_before_a_grant_does_not_count_as_elapsed() {
    // Every event comes 10 ms after the one before: the first segment ends after 30 ms, the grant comes at 40 ms.
    let mut script = tool_turn("1");
    script.extend([text("first conclusion"), Step::Grant(3)]);
    let open = view(&play_open(limited(1), script.clone())).panel;
    assert_eq!((open.elapsed_ms, open.paused_ms), (None, 10));
    script.extend(tool_turn("2"));
    script.push(text("the answer"));
    let ended = view(&play(limited(1), script)).panel;
    assert_eq!((ended.elapsed_ms, ended.paused_ms), (Some(60), 10));
}

#[test]
fn a_run_that_can_go_on_says_what_ended_it() {
    let mut limit = tool_turn("1");
    limit.push(text("conclusion"));
    assert_eq!(view(&play(limited(1), limit)).panel.note, "It reached its turn limit. Add turns to continue.");
    let stopped = play(limited(9), vec![Step::Stop, text("so far")]);
    assert_eq!(view(&stopped).panel.note, "It wrapped up before its limit, as you asked. It can continue from there.");
    let mut budget = limited(9);
    budget.limits.tokens = Some(1);
    let spent = play(budget, tool_turn("1").into_iter().chain([text("so far")]).collect());
    assert_eq!(view(&spent).panel.note, "It used up its token budget. Add turns to continue.");
}

#[test]
fn the_bound_of_llm_calls_is_shown_while_it_runs() {
    let open = play_open(limited(2), tool_turn("1"));
    let panel = view(&open).panel;
    assert_eq!(panel.calls, "2");
    assert_eq!(panel.calls_bound, Some(format!("at most {} in all", 2 + open.run().calls_left())));
    assert_eq!(panel.phase, PanelPhase::Running);
    assert!(panel.note.starts_with("This is the last turn"), "{}", panel.note);
}

#[test]
fn continuing_never_lowers_the_limit() {
    let more = |played: &Played| {
        let panel = view(played).panel;
        (panel.can_continue, panel.more_turns)
    };
    // Stopped in turn 2 of 20: the synthesis is turn 3, and 17 are left.
    let mut script = tool_turn("1");
    script.extend([Step::Stop, text("so far")]);
    assert_eq!(more(&play(limited(20), script.clone())), (true, 17));
    let mut granted = script.clone();
    granted.push(Step::Grant(17));
    granted.extend(tool_turn("2"));
    assert_eq!(view(&play_open(limited(20), granted)).panel.max_turns, 20);
    // Near the limit, and at it, five.
    assert_eq!(more(&play(limited(4), script)), (true, 5));
    let mut all = tool_turn("1");
    all.push(text("conclusion"));
    assert_eq!(more(&play(limited(1), all)), (true, 5));
}

#[test]
fn the_files_of_a_run_are_those_that_its_calls_wrote() {
    let tools = [("write_file", None), ("query_table", Some("save_as"))].map(|(name, argument)| ToolSpec {
        side_effect: SideEffect::Workspace,
        effect_argument: argument.map(str::to_owned),
        host_argument: None,
        tool_argument: None,
        ..plain_tool(name)
    });
    let config = RunConfig { tools: tools.into(), ..limited(5) };
    let script = vec![
        calls(
            "writing",
            &[
                ("1", "write_file", r#"{"path":"b.md","content":"x"}"#),
                ("2", "query_table", r#"{"sql":"select 1"}"#),
                ("3", "query_table", r#"{"sql":"select 1","save_as":"a.csv"}"#),
                ("4", "write_file", r#"{"path":"no.md","content":"x"}"#),
                ("5", "write_file", r#"{"path":"b.md","content":"y"}"#),
            ],
        ),
        executed("write_file", "written"),
        executed("query_table", "1"),
        executed("query_table", "saved"),
        Step::Tool("write_file", ToolOutcome::Failed { message: "no space".into() }),
        executed("write_file", "written"),
        text("done"),
    ];
    let played = play(config, script);
    assert_eq!(written::written(&RunSource::from(played.run())), ["b.md", "a.csv"]);
}

#[test]
fn a_document_gives_the_view_of_its_run_but_for_what_can_be_done() {
    let mut script = tool_turn("1");
    script.push(text("conclusion"));
    let played = play(limited(1), script);
    let text = serde_json::to_string(&played.document()).expect("JSON");
    let document = Trajectory::parse(&text).expect("a trajectory");
    let (live, read) = (view(&played), ViewModel::from(&RunSource::from(&document)));
    assert_eq!(read.turns, live.turns);
    assert_eq!(read.segments, live.segments);
    assert_eq!(read.panel.meter, live.panel.meter);
    assert_eq!(read.panel.ending, live.panel.ending);
    assert!(live.panel.can_continue && !read.panel.can_continue);
}

#[test]
fn a_document_written_while_the_run_was_open_loses_no_turn() {
    let mut script = tool_turn("1");
    script.extend([text("first conclusion"), Step::Grant(3)]);
    script.extend(tool_turn("2"));
    let open = play_open(limited(1), script);
    let document = open.document();
    let read = ViewModel::from(&RunSource::from(&document));
    assert_eq!(read.turns.len(), view(&open).turns.len());
}

#[test]
fn the_list_of_runs_names_the_ending_in_words() {
    let words = |played: &Played| RailView::from(&RunSource::from(played.run())).words;
    assert_eq!(words(&play_open(limited(9), tool_turn("1"))), "turn 2 of 9");
    assert_eq!(words(&play(limited(9), vec![text("done")])), "1 turn, complete");
    assert_eq!(words(&play(limited(9), vec![Step::Cancel])), "stopped after 1 turn");
    let failed = play(limited(9), vec![Step::Fail(error(Slug::AuthError, Retry::Fatal))]);
    assert_eq!(words(&failed), "failed: no answer");
}

#[test]
fn numbers_read_as_people_write_them() {
    let rows: &[(String, &str)] = &[
        (format::thousands(18_204), "18,204"),
        (format::thousands(999), "999"),
        (format::duration(38), "38 ms"),
        (format::duration(1_290), "1.2 s"),
        (format::duration(125_000), "2 min 05 s"),
        (format::clock(21_900), "00:21"),
        (format::clock(3_723_000), "1:02:03"),
        (format::clock_exact(61_007), "01:01.007"),
        (format::dollars(0.0), "$0.00"),
        (format::dollars(0.000_01), "under $0.0001"),
        (format::dollars(0.0123), "$0.0123"),
        (format::dollars(1.5), "$1.50"),
        (format::countdown(849), "0.8 s"),
        (format::bytes(4_300), "4.2 KB"),
        (format::counted(1, "turn"), "1 turn"),
        (format::one_line("a\n b  c", 3), "a b…"),
    ];
    for (given, expected) in rows {
        assert_eq!(given, expected);
    }
}

#[test]
fn arguments_that_are_no_json_are_shown_as_the_model_wrote_them() {
    let raw = "{\"path\": oops";
    let call = CallRecord {
        id: CallId("c".into()),
        model_id: None,
        name: "read".into(),
        args: Value::String(raw.into()),
        result: Some("error: not JSON".into()),
        structured_content: None,
        calls: Vec::new(),
        children: Vec::new(),
        is_final: false,
        error: Some("not JSON".into()),
        slug: Some(Slug::MalformedToolCall),
        attempt: 1,
        started_ms: 0,
        duration_ms: Some(0),
    };
    assert_eq!(CallView::new(&call, 0).args, raw);
    let listed = CallRecord { args: json!({"a": [1, 2], "b": {"c": null}}), ..call };
    assert_eq!(CallView::new(&listed, 0).summary, r#"a: [1,2], b: {"c":null}"#);
}

#[test]
fn the_turn_shown_is_the_last_within_the_limit_not_the_synthesis() {
    let mut script = tool_turn("1");
    script.extend([Step::Stop, text("so far")]);
    let panel = view(&play(limited(9), script)).panel;
    assert_eq!((panel.turn, panel.max_turns), (2, 9));
    assert!(panel.meter.label.starts_with("Synthesis after 2 of 9"), "{}", panel.meter.label);
}
