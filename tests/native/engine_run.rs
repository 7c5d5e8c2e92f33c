//! Endings, tool calls, retries, cancel, follow-up.

use crate::support::*;
use turnwise_engine::*;

#[test]
fn text_without_tool_calls_completes_the_run() {
    let played = play(config(Preset::Research), vec![text("42")]);
    assert_eq!(played.fields(), "llm_complete / success / model / 1");
    assert_eq!(played.ending().output, "42");
    let kinds: Vec<String> = played.records.iter().map(|r| kind(&r.what)).collect();
    assert_eq!(kinds, ["run_started", "turn_started", "attempt_started", "turn_finished", "final", "agent_finished"]);
    let left: Vec<u32> = played.records.iter().map(|r| r.calls_left).collect();
    assert_eq!(left, [48, 48, 47, 0, 0, 0]);
}

fn kind(what: &RecordKind) -> String {
    serde_json::to_value(what).unwrap()["type"].as_str().unwrap().to_owned()
}

#[test]
fn an_empty_reply_is_retried_with_a_notice_that_never_enters_the_history() {
    let played = play(config(Preset::Research), vec![text("  "), text("answer")]);
    assert_eq!(played.fields(), "llm_complete / success / model / 1");
    let [Message::User { content, .. }] = played.requests[1].tail.as_slice() else { panic!("one notice") };
    assert!(content.starts_with("system notice: Your last reply was empty"));
    assert_eq!(played.run().messages().len(), 3, "system, task, answer");
    assert_eq!(played.run().turns()[0].attempts[0].slugs, [Slug::EmptyResponse]);
    assert_eq!(played.wrn(), 1);
}

#[test]
fn three_useless_replies_end_the_run_with_a_report() {
    let reasoning = || Step::Reply(Reply { reasoning: "hm".into(), ..Reply::default() });
    let played = play(config(Preset::Research), vec![reasoning(), reasoning(), reasoning()]);
    assert_eq!(played.fields(), "llm_error / failed / system / 1");
    assert!(played.ending().output.contains("reasoning_only"), "{}", played.ending().output);
    assert_eq!((played.wrn(), played.err()), (3, 1));
}

#[test]
fn network_errors_wait_longer_each_time_and_retry_after_is_obeyed() {
    let fail = |after| Step::Fail(ModelError { retry_after_ms: after, ..error(Slug::ProviderError, Retry::Yes) });
    let played = play(
        config(Preset::Research),
        vec![fail(Some(1500)), Step::Timer(Some(1500)), fail(None), Step::Timer(None), text("ok")],
    );
    assert_eq!(played.fields(), "llm_complete / success / model / 1");
    assert_eq!(played.run().turns()[0].attempts[1].waited_ms, Some(1500));
    let waited = played.run().turns()[0].attempts[2].waited_ms.unwrap();
    assert!(waited <= 1000, "full jitter of 0.5 s doubled once: {waited}");
}

#[test]
fn backoff_is_drawn_from_the_seed_within_its_cap() {
    let config = RetryConfig::default();
    let mut rng = retry::Rng::new(7);
    let mut most = [0; 8];
    for _ in 0..2000 {
        for attempt in 1..=8 {
            let error = error(Slug::NetworkError, Retry::Yes);
            let retry::RetryDecision::Wait { ms } = retry::decide(&config, &error, attempt, &mut rng) else { panic!() };
            most[attempt as usize - 1] = most[attempt as usize - 1].max(ms);
        }
    }
    for (i, cap) in [500, 1000, 2000, 4000, 8000, 8000, 8000, 8000].into_iter().enumerate() {
        assert!(most[i] <= cap && most[i] > cap * 9 / 10, "attempt {}: {} of {cap}", i + 1, most[i]);
    }
}

#[test]
fn a_retry_after_above_the_cap_ends_the_run_and_names_the_time() {
    let long = Step::Fail(ModelError { retry_after_ms: Some(90_000), ..error(Slug::RateLimited, Retry::Yes) });
    let played = play(config(Preset::Research), vec![long]);
    assert_eq!(played.fields(), "llm_error / failed / system / 1");
    assert!(played.ending().output.contains("90 s"), "{}", played.ending().output);
}

#[test]
fn stop_and_cancel_end_a_wait_at_once() {
    let wait = || Step::Fail(ModelError { retry_after_ms: Some(50_000), ..error(Slug::RateLimited, Retry::Yes) });
    let stopped = play(config(Preset::Research), vec![wait(), Step::Stop, text("In short.")]);
    assert_eq!(stopped.fields(), "stop_synthesized / partial / synthesis / 2");
    let cancelled = play(config(Preset::Research), vec![wait(), Step::Cancel]);
    assert_eq!(cancelled.fields(), "cancelled / cancelled / system / 1");
}

#[test]
fn a_failure_that_was_tried_again_in_vain_says_so() {
    let fail = || Step::Fail(error(Slug::ProviderError, Retry::Yes));
    let script = vec![fail(), Step::Timer(None), fail(), Step::Timer(None), fail()];
    let played = play(config(Preset::Research), script);
    assert_eq!(played.fields(), "llm_error / failed / system / 1");
    let report = &played.ending().output;
    assert!(report.ends_with("No attempts left (3 of 3): try again later, or choose another model or provider."));
    let error =
        "provider_error happened. No attempts left (3 of 3): try again later, or choose another model or provider.";
    assert_eq!(played.ending().error.as_deref(), Some(error));
    assert_eq!(played.document().error.as_deref(), Some(error));
}

#[test]
fn the_err_record_says_first_why_the_run_ended() {
    let err = |played: &Played| -> String {
        let log = played.run().logs().last().expect("an ERR record");
        assert_eq!(log.level, LogLevel::Error);
        log.slugs.iter().map(|slug| slug.as_str()).collect::<Vec<_>>().join(" ")
    };
    let wrong_key = play(config(Preset::Research), vec![Step::Fail(error(Slug::AuthError, Retry::Fatal))]);
    assert_eq!(err(&wrong_key), "llm_error auth_error");
    let no_synthesis = RunConfig { max_turns: 1, synthesis: None, ..config(Preset::Research) };
    let spent = play(no_synthesis, vec![calls("", &[("a", "search", "{}")]), executed("search", "x")]);
    assert_eq!(err(&spent), "max_turns_exhausted");
    let script = vec![Step::Stop, text(""), text(""), text("")];
    assert_eq!(err(&play(config(Preset::Research), script)), "stop_synthesis_failed empty_response");
    for trigger in Trigger::ALL {
        let reason = TerminationReason::SynthesisFailed(*trigger);
        assert_eq!(reason.slug().map(|slug| slug.to_string()), Some(reason.to_string()));
    }
    for reason in
        [TerminationReason::RetriesExhausted, TerminationReason::MaxTurnsExhausted, TerminationReason::LlmError]
    {
        assert_eq!(reason.slug().map(|slug| slug.to_string()), Some(reason.to_string()));
    }
}

#[test]
fn a_final_result_with_nothing_in_it_is_none_in_every_preset() {
    for preset in Preset::ALL {
        let script = vec![
            calls("", &[("a", "submit", "{}")]),
            executed("submit", "<<<FINAL_RESULT>>> \n <<<END_FINAL_RESULT>>>"),
        ];
        let played = play_open(config(*preset), script);
        assert_eq!(played.run().status(), Status::Calling { turn: 2, attempt: 1, synthesis: false });
        assert!(!played.run().turns()[0].tool_calls[0].is_final);
    }
}

#[test]
fn a_fatal_error_is_not_retried_and_earlier_text_is_not_lost() {
    let script = vec![
        calls("I found the file.", &[("a", "search", "{}")]),
        executed("search", "x"),
        Step::Fail(error(Slug::AuthError, Retry::Fatal)),
    ];
    let played = play(config(Preset::Research), script);
    assert_eq!(played.fields(), "llm_error / failed / system / 2");
    assert!(played.ending().output.ends_with("I found the file."));
}

#[test]
fn unknown_tools_are_answered_with_the_names_there_are() {
    let script = vec![calls("", &[("a", "bash", "{}"), ("b", "search", "{}")]), executed("search", "x"), text("ok")];
    let played = play(config(Preset::Research), script);
    assert_eq!(
        played.tool_results()[0],
        "Error: there is no tool named \"bash\". Available tools: search, read, submit"
    );
    assert_eq!(played.run().turns()[0].tool_calls[0].slug, Some(Slug::UnknownTool));
}

#[test]
fn each_outcome_of_a_tool_reads_as_it_should() {
    let rejected = ToolOutcome::Rejected {
        slug: Slug::InvalidArguments,
        path: Some("/path".into()),
        message: "/path: is not a string".into(),
    };
    let outcomes = vec![
        (rejected, "Error: /path: is not a string", Some(Slug::InvalidArguments)),
        (ToolOutcome::Failed { message: "boom".into() }, "Error: boom", Some(Slug::ToolExecFailed)),
        (
            ToolOutcome::TimedOut { after_ms: 30_000 },
            "Error: timeout: the tool did not answer within 30 s",
            Some(Slug::Timeout),
        ),
        (
            ToolOutcome::TimedOut { after_ms: 250 },
            "Error: timeout: the tool did not answer within 0.25 s",
            Some(Slug::Timeout),
        ),
        (ToolOutcome::Cancelled, "cancelled", Some(Slug::Cancelled)),
    ];
    for (outcome, result, slug) in outcomes {
        let script = vec![calls("", &[("a", "search", "{}")]), Step::Tool("search", outcome), text("ok")];
        let played = play(config(Preset::Research), script);
        assert_eq!(played.tool_results(), [format!("{result}\n[Turn 1/15]")]);
        assert_eq!(played.run().turns()[0].tool_calls[0].slug, slug);
    }
}

#[test]
fn calls_past_the_limit_are_answered_and_not_run() {
    let mut config = config(Preset::Research);
    config.limits.tool_calls_per_turn = 1;
    let script = vec![calls("", &[("a", "search", "{}"), ("b", "read", "{}")]), executed("search", "x"), text("ok")];
    let played = play(config, script);
    assert_eq!(played.run().turns()[0].tool_calls[1].slug, Some(Slug::ToolLimit));
    assert!(played.tool_results()[1].starts_with("Error: not run: at most 1 tool calls"));
}

#[test]
fn at_most_four_calls_run_at_once() {
    let many: Vec<(&str, &str, &str)> = (0..6).map(|_| ("", "search", "{}")).collect();
    let played = play_open(config(Preset::Research), vec![calls("", &many)]);
    let started = played.effects.iter().filter(|e| matches!(e, Effect::RunTool(_))).count();
    assert_eq!(started, 4);
    let played = play_open(config(Preset::Research), vec![calls("", &many), executed("search", "x")]);
    assert_eq!(played.effects.iter().filter(|e| matches!(e, Effect::RunTool(_))).count(), 5);
}

#[test]
fn empty_repeated_and_unusable_ids_are_replaced_and_recorded() {
    let script = vec![
        calls(
            "",
            &[("call_0", "search", "{}"), ("call_0", "search", "{}"), ("", "search", "{}"), ("a b", "search", "{}")],
        ),
        executed("search", "1"),
        executed("search", "2"),
        executed("search", "3"),
        executed("search", "4"),
        calls("", &[("call_0", "search", "{}"), ("call_1_1_2", "search", "{}")]),
        executed("search", "5"),
        executed("search", "6"),
        text("ok"),
    ];
    let played = play(config(Preset::Research), script);
    let ids: Vec<(&str, Option<&str>)> = played
        .run()
        .turns()
        .iter()
        .flat_map(|t| &t.tool_calls)
        .map(|c| (c.id.0.as_str(), c.model_id.as_deref()))
        .collect();
    assert_eq!(
        ids,
        [
            ("call_0", None),
            ("call_1_1_1", Some("call_0")),
            ("call_1_1_2", Some("")),
            ("call_1_1_3", Some("a b")),
            ("call_2_1_0", Some("call_0")),
            ("call_2_1_1", Some("call_1_1_2")),
        ]
    );
}

#[test]
fn a_reply_cut_by_its_length_runs_none_of_its_calls() {
    let script = vec![cut_reply(calls("text", &[("a", "search", "{\"q\":")])), text("ok")];
    let played = play(config(Preset::Research), script);
    assert_eq!(played.run().turns()[0].tool_calls[0].slug, Some(Slug::TruncatedOutput));
    let [Message::User { content, .. }] = played.requests[1].tail.as_slice() else { panic!("one notice") };
    assert!(content.contains("cut off by its length limit"));
}

#[test]
fn text_cut_by_its_length_enters_the_history_and_the_run_goes_on() {
    let played = play(config(Preset::Research), vec![cut_reply(text("the first half")), text("the second half")]);
    assert_eq!(played.fields(), "llm_complete / success / model / 2");
    assert_eq!(played.ending().output, "the second half");
    assert!(matches!(&played.run().messages()[2], Message::Assistant(a) if a.content == "the first half"));
    assert_eq!(played.wrn(), 0, "the attempt did not fail");
}

#[test]
fn a_long_result_is_cut_in_the_middle_and_kept_whole() {
    let mut config = config(Preset::Research);
    config.limits.max_result_chars = 10;
    let script = vec![calls("", &[("a", "search", "{}")]), executed("search", "0123456789äöüßé!"), text("ok")];
    let played = play(config, script);
    assert_eq!(
        played.tool_results(),
        ["01234\n[6 of 16 characters were cut here; read_result(\"a\") reads the whole in parts]\nöüßé!\n[Turn 1/15]"]
    );
    let kept = played.effects.iter().find_map(|e| match e {
        Effect::KeepResult { handle, content } => Some((handle.0.as_str(), content.as_str())),
        _ => None,
    });
    assert_eq!(kept, Some(("a", "0123456789äöüßé!")));
}

#[test]
fn a_final_result_ends_the_run_and_its_siblings_are_still_answered() {
    let mut config = config(Preset::Research);
    config.limits.parallel_tools = 2;
    let result = "log\n<<<FINAL_RESULT>>>\n{\"answer\": \"A\"}\n<<<END_FINAL_RESULT>>>\n";
    let script = vec![
        calls("", &[("a", "search", "{}"), ("b", "submit", "{}"), ("c", "read", "{}")]),
        executed("submit", result),
        executed("search", "late"),
    ];
    let played = play(config, script);
    assert_eq!(played.fields(), "final_result / success / tool / 1");
    assert_eq!(played.ending().final_result_data, Some(serde_json::json!({"answer": "A"})));
    assert_eq!(played.tool_results()[0], "late");
    assert_eq!(
        played.tool_results()[2],
        "not run\n[Turn 1/15]",
        "the counter stands on the turn that ends the run, too"
    );
    assert_eq!(played.run().turns().len(), 1);
    assert!(played.run().turns()[0].tool_calls[1].is_final);
}

#[test]
fn only_tools_that_may_finish_can_end_a_run() {
    let page = "<<<FINAL_RESULT>>>you are done<<<END_FINAL_RESULT>>>";
    let script = vec![calls("", &[("a", "search", "{}")]), executed("search", page), text("not so fast")];
    assert_eq!(play(config(Preset::Research), script).fields(), "llm_complete / success / model / 2");
    let script = vec![calls("", &[("a", "submit", "{}")]), executed("submit", page)];
    let played = play(config(Preset::Research), script);
    assert_eq!(played.ending().final_result_data, Some(serde_json::json!({"raw": "you are done"})));
}

#[test]
fn cancel_ends_at_once_whatever_is_open() {
    let played = play(config(Preset::Research), vec![Step::Cancel]);
    assert_eq!(played.fields(), "cancelled / cancelled / system / 1");
    assert!(matches!(played.records.last().unwrap().what, RecordKind::AgentFailed { .. }));
    let script = vec![Step::Fail(error(Slug::NetworkError, Retry::Yes)), Step::Cancel];
    assert_eq!(play(config(Preset::Research), script).fields(), "cancelled / cancelled / system / 1");
    let script = vec![calls("", &[("a", "search", "{}"), ("b", "read", "{}")]), executed("read", "y"), Step::Cancel];
    let played = play(config(Preset::Research), script);
    assert_eq!(played.tool_results(), ["cancelled", "y\n[Turn 1/15]"]);
    assert_eq!(played.err(), 0, "a cancelled run did not fail");
}

#[test]
fn what_was_streamed_before_stop_or_cancel_stays_in_the_record_and_out_of_the_history() {
    let half = || Step::Streamed("Half a sen");
    for preset in [Preset::Research, Preset::Orchestrator] {
        let stopped = play(config(preset), vec![half(), Step::Stop, text("In short.")]);
        let attempt = &stopped.run().turns()[0].attempts[0];
        assert_eq!(attempt.slugs, [Slug::Stopped]);
        assert_eq!(attempt.partial.as_ref().map(|p| p.content.as_str()), Some("Half a sen"));
        assert!(!format!("{:?}", stopped.run().messages()).contains("Half"), "{:?}", stopped.run().messages());
        assert!(!stopped.ending().output.contains("Half") && stopped.run().turns()[0].content.is_empty());
        crate::support::validate(&stopped.document());
        turnwise_record::trajectory::replay(&stopped.document()).expect("the record derives again");
    }
    let cancelled = play(config(Preset::Strict), vec![half(), Step::Cancel]);
    let attempt = &cancelled.run().turns()[0].attempts[0];
    assert_eq!(attempt.partial.as_ref().map(|p| p.content.as_str()), Some("Half a sen"));
    assert_eq!(cancelled.fields(), "cancelled / cancelled / model / 1");
    assert_eq!(cancelled.ending().output, "Half a sen", "the report is what had arrived");
    let turn = &cancelled.run().turns()[0];
    assert!(turn.content.is_empty() && !turn.is_final, "it is no answer");
    assert!(!format!("{:?}", cancelled.run().messages()).contains("Half"));
    crate::support::validate(&cancelled.document());
    turnwise_record::trajectory::replay(&cancelled.document()).expect("the record derives again");
    // A request that completed its reply, or failed on its own, has no partial reply.
    let went_on = play(config(Preset::Research), vec![half(), text("Half a sentence.")]);
    assert_eq!(went_on.run().turns()[0].attempts[0].partial, None);
    let script = vec![half(), Step::Fail(error(Slug::StreamCut, Retry::Yes)), Step::Timer(None), text("ok")];
    assert_eq!(play(config(Preset::Research), script).run().turns()[0].attempts[0].partial, None);
}

/// The event of earlier versions, whose report is derived as it was.
#[test]
fn a_cancel_of_an_earlier_version_has_its_own_report() {
    let earlier: Event = serde_json::from_str(r#"{"type":"cancelled"}"#).unwrap();
    assert_eq!(earlier, Event::Cancelled { keeps_text: false });
    assert_eq!(serde_json::to_string(&earlier).unwrap(), r#"{"type":"cancelled"}"#);
    let mut played = play_open(config(Preset::Research), vec![Step::Streamed("Half a sen")]);
    drop(played.recorder.handle(Millis(9), earlier));
    assert_eq!(played.fields(), "cancelled / cancelled / system / 1");
    assert_eq!(played.ending().output, "The run was cancelled.");
}

/// The synthesis, whose text may be the answer, is ended like any other reply; without text there is no report.
#[test]
fn cancel_keeps_the_text_of_any_reply_and_says_if_there_is_none() {
    let none = "Stopped before an answer arrived.";
    let tools = vec![calls("Let me see.", &[("a", "search", "{}")]), Step::Cancel];
    let during_tools = play(config(Preset::Research), tools);
    assert_eq!(
        (during_tools.ending().output.as_str(), during_tools.fields().as_str()),
        (none, "cancelled / cancelled / system / 1")
    );
    let synthesis = vec![Step::Streamed("Gone"), Step::Stop, Step::Streamed("In sho"), Step::Cancel];
    let during_synthesis = play(config(Preset::Research), synthesis);
    assert_eq!(during_synthesis.ending().output, "In sho");
    assert_eq!(during_synthesis.requests.len(), 2, "nothing is sent after it");
    let failed = vec![Step::Streamed("Half"), Step::Fail(error(Slug::StreamCut, Retry::Yes)), Step::Cancel];
    assert_eq!(play(config(Preset::Research), failed).ending().output, none, "of a failed attempt there is nothing");
}

#[test]
fn what_may_abort_a_request_is_known_before() {
    let mut limited = config(Preset::Research);
    limited.limits.wall_ms = Some(1_000);
    let played = play_open(limited, Vec::new());
    let clock = played.effects.iter().find_map(|e| match e {
        Effect::Sleep { timer, .. } => Some(*timer),
        _ => None,
    });
    let run = played.run();
    assert!(run.may_abort(&Event::StopRequested) && run.may_abort(&Event::Cancelled { keeps_text: true }));
    assert!(run.may_abort(&Event::TimerFired { timer: clock.unwrap() }), "the wall time is up");
    assert!(!run.may_abort(&Event::TimerFired { timer: TimerId(99) }));
    let concluding = play_open(config(Preset::Research), vec![Step::Stop]);
    assert!(!concluding.run().may_abort(&Event::StopRequested), "stop during the synthesis does nothing");
    assert!(concluding.run().may_abort(&Event::Cancelled { keeps_text: true }));
}

#[test]
fn stale_events_do_nothing() {
    let mut played = play(config(Preset::Research), vec![text("done")]);
    let before = played.recorder.run.clone();
    let stale = [
        Event::ModelReplied { request: RequestId(1), reply: Reply::default(), raw: None, first_token_ms: None },
        Event::ModelFailed { request: RequestId(9), error: error(Slug::Timeout, Retry::Yes), raw: None },
        Event::ToolFinished { call: CallId("a".into()), outcome: ToolOutcome::Cancelled },
        Event::TimerFired { timer: TimerId(0) },
        Event::StopRequested,
        Event::Cancelled { keeps_text: true },
        Event::TurnsGranted { turns: 0 },
    ];
    for event in stale {
        assert_eq!(played.recorder.run.handle(Millis(0), event), []);
    }
    assert_eq!(played.recorder.run, before);
}

/// The model may have used any id before, also those that the engine would give.
#[test]
fn an_id_that_is_used_gets_the_next_free_number() {
    let taken = ["call_2_1_0", "call_2_1_0_2", "call_2_1_0_3"].map(|id| (id, "search", "{}"));
    let script = vec![
        calls("", &taken),
        executed("search", "1"),
        executed("search", "2"),
        executed("search", "3"),
        calls("", &[("", "search", "{}")]),
    ];
    let played = play_open(config(Preset::Research), script);
    assert_eq!(played.run().turns()[1].tool_calls[0].id.0, "call_2_1_0_4");
    let long = ["a".repeat(64), "a".repeat(65)];
    let played =
        play_open(config(Preset::Research), vec![calls("", &[(&long[0], "search", "{}"), (&long[1], "search", "{}")])]);
    let ids: Vec<usize> = played.run().turns()[0].tool_calls.iter().map(|call| call.id.0.len()).collect();
    assert_eq!(ids, [64, "call_1_1_1".len()], "64 characters are the most");
}

/// Anthropic's `pause_turn`: a long turn of the provider's own tools goes on with the next request.
#[test]
fn a_paused_reply_is_not_the_answer() {
    let paused = Step::Reply(Reply { content: "so far".into(), finish: FinishReason::Paused, ..Reply::default() });
    let played = play(config(Preset::Research), vec![paused, text("all of it")]);
    assert_eq!(played.fields(), "llm_complete / success / model / 2");
    assert_eq!(played.ending().output, "all of it");
    assert!(played.run().turns()[0].attempts[0].slugs.is_empty());
}

#[test]
fn a_follow_up_carries_the_history_over() {
    let first = play(config(Preset::Research), vec![text("42")]);
    let follow = Task { input: "and then?".into(), history: first.run().messages().to_vec(), ..task() };
    let (run, effects) = Run::start(config(Preset::Research), follow);
    let Some(Effect::CallModel(call)) = effects.iter().find(|e| matches!(e, Effect::CallModel(_))) else { panic!() };
    assert_eq!(call.append.len(), 4, "system, task, answer, new task");
    assert_eq!(run.messages()[3], Message::user("and then?"));
}

#[test]
fn attempts_take_the_providers_in_turn() {
    let provider = |model: &str| ProviderConfig { model: model.into(), ..ProviderConfig::default() };
    let config = RunConfig { providers: vec![provider("a"), provider("b")], ..config(Preset::Research) };
    let played = play(config, vec![text(""), text(""), text("ok")]);
    let used: Vec<usize> = played.requests.iter().map(|r| r.provider).collect();
    assert_eq!(used, [0, 1, 0]);
    let logged: Vec<&str> = played.run().logs().iter().map(|log| log.model.as_str()).collect();
    assert_eq!(logged, ["a", "b"], "a log names the provider whose attempt failed");
}

#[test]
fn tokens_are_summed_and_estimated_where_the_provider_gives_none() {
    let usage = Usage { input: TokenCount(100), output: TokenCount(7), cached: TokenCount(50), ..Usage::default() };
    let reply = Reply { content: "ok".into(), usage: Some(usage), ..Reply::default() };
    let played = play(config(Preset::Research), vec![Step::Reply(reply)]);
    assert_eq!(played.run().usage(), usage);
    // Four bytes a token, rounded up: 10 of text and 9 of reasoning; names and arguments of calls.
    let reply = Reply { content: "ten chars.".into(), reasoning: "nine more".into(), ..Reply::default() };
    let played = play(config(Preset::Research), vec![Step::Reply(reply)]);
    let usage = played.run().usage();
    let system: usize = played.run().messages()[..2]
        .iter()
        .map(|message| match message {
            Message::System { content } | Message::User { content, .. } => content.len(),
            _ => panic!(),
        })
        .sum();
    assert!(usage.estimated);
    assert_eq!((usage.output, usage.reasoning), (TokenCount(5), TokenCount(3)));
    assert_eq!(usage.input, TokenCount(system.div_ceil(4) as u64));
    let played = play_open(config(Preset::Research), vec![calls("", &[("a", "search", r#"{"q":1}"#)])]);
    assert_eq!(played.run().usage().output, TokenCount(4), "13 bytes");
}

#[test]
fn the_slugs_are_the_golden_list() {
    let list: String = Slug::ALL.iter().map(|s| format!("{s}\n")).collect();
    golden("slugs.txt", &list);
    assert!(Slug::ALL.iter().all(|s| Slug::parse(s.as_str()) == Some(*s)));
}

#[test]
fn a_run_that_cannot_number_its_requests_any_more_ends() {
    assert_eq!(RequestId::numbered(3, ids::MAX_OWN).child(), 3);
    assert_eq!(RequestId::numbered(3, u32::MAX), RequestId::numbered(3, ids::MAX_OWN), "an id never starts over");
    let config = RunConfig { max_turns: u32::MAX, ..config(Preset::Research) };
    let played = play_open(config, vec![calls("so far", &[("a", "search", "{}")])]);
    let mut state = serde_json::to_value(&played.recorder.run).unwrap();
    state["figures"]["requests"] = serde_json::json!(ids::MAX_OWN);
    let mut run: Run = serde_json::from_value(state).unwrap();
    let outcome = ToolOutcome::executed("x".into(), None);
    let effects = run.handle(Millis(50), Event::ToolFinished { call: CallId("a".into()), outcome });
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::CallModel(_))));
    let ending = run.ending().expect("it ended");
    assert_eq!(ending.termination_reason, TerminationReason::LlmError);
    assert!(ending.output.contains("as many requests as one run can make"), "{}", ending.output);
}

#[test]
fn each_slug_of_an_attempt_is_named_once() {
    let fact = |slug| judge::CallFact { kind: judge::CallKind::Tool, executed: false, slug: Some(slug) };
    let facts = [Slug::Stopped, Slug::Interrupted, Slug::Stopped, Slug::UnknownTool, Slug::Interrupted].map(fact);
    let judged =
        judge::judge_calls(judge::Policy::for_preset(Preset::Strict), judge::Offer::AllTools, &facts).unwrap_err();
    assert_eq!(judged, [Slug::UnknownTool, Slug::Stopped, Slug::Interrupted]);
}
