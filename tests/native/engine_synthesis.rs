//! Synthesis: prompts, presets, retries, fallbacks, traces, stop and continue.

use crate::support::*;
use turnwise_engine::*;

const RESEARCH: &str = "You have reached the maximum number of reasoning steps. Based on all the research and analysis you've done so far, provide a final conclusion or answer. Synthesize your findings and provide the best response you can with the information gathered.";
const ORCHESTRATOR: &str = "You have reached the maximum number of turns. Please provide an answer based on the information you have gathered so far.";

fn two_turns(preset: Preset) -> RunConfig {
    RunConfig { max_turns: 2, ..config(preset) }
}

/// Two turns with one call each.
fn to_the_limit() -> Vec<Step> {
    vec![
        calls("looking", &[("a", "search", "{}")]),
        executed("search", "x"),
        calls("reading", &[("b", "read", "{}")]),
        executed("read", "y"),
    ]
}

fn then(mut script: Vec<Step>, more: Vec<Step>) -> Vec<Step> {
    script.extend(more);
    script
}

#[test]
fn both_prompts_are_the_exact_ones() {
    let played = play(two_turns(Preset::Research), then(to_the_limit(), vec![text("so it is")]));
    assert_eq!(played.requests[2].tail, [Message::user(RESEARCH)]);
    assert_eq!(played.requests[2].tools, ToolChoice::None);
    let played = play(two_turns(Preset::Orchestrator), then(to_the_limit(), vec![text("so it is")]));
    assert_eq!(played.requests[2].tail, [Message::system(ORCHESTRATOR)]);
}

#[test]
fn with_no_tool_call_before_the_limit_the_prompt_is_added_all_the_same() {
    for (preset, prompt) in
        [(Preset::Research, Message::user(RESEARCH)), (Preset::Orchestrator, Message::system(ORCHESTRATOR))]
    {
        let config = RunConfig { max_turns: 1, ..config(preset) };
        let played = play(config, vec![cut_reply(text("I would begin with")), text("In short: no.")]);
        assert_eq!((played.ending().output.as_str(), played.run().turns()[0].tool_calls.len()), ("In short: no.", 0));
        assert_eq!(played.ending().termination_reason.to_string(), "max_turns_synthesized");
        let sent = played.conversation(1);
        assert_eq!(sent.last(), Some(&prompt), "the prompt is the last message");
        assert!(sent.iter().all(|message| !matches!(message, Message::Tool(_))), "{sent:?}");
        assert!(sent.iter().any(|m| matches!(m, Message::Assistant(said) if said.content == "I would begin with")));
    }
}

#[test]
fn a_limit_reached_during_a_retry_waits_for_the_retry_and_its_tool_results() {
    for (preset, prompt) in
        [(Preset::Research, Message::user(RESEARCH)), (Preset::Orchestrator, Message::system(ORCHESTRATOR))]
    {
        let script = vec![
            Step::Fail(error(Slug::NetworkError, Retry::Yes)),
            Step::Timer(None),
            text(""),
            calls("at last", &[("a", "search", "{}"), ("b", "read", "{}")]),
            executed("read", "second"),
            executed("search", "first"),
            text("concluded"),
        ];
        let played = play(RunConfig { max_turns: 1, ..config(preset) }, script);
        assert_eq!(played.run().turns()[0].attempts.len(), 3, "the whole retry cycle belongs to the last turn");
        assert_eq!(played.requests.len(), 4);
        let sent = played.conversation(3);
        let tail: Vec<&Message> = sent.iter().rev().take(3).rev().collect();
        let [Message::Tool(first), Message::Tool(second), last] = tail.as_slice() else { panic!("{sent:?}") };
        assert!(first.content.starts_with("first") && second.content.starts_with("second"), "{sent:?}");
        assert_eq!(*last, &prompt, "after the tool results");
        assert_eq!(played.ending().output, "concluded");
    }
}

#[test]
fn a_system_prompt_that_a_provider_does_not_take_is_in_the_traces() {
    for (kind, moved) in [(ProviderKind::Openai, 0), (ProviderKind::Anthropic, 1)] {
        let providers = vec![ProviderConfig { kind, ..ProviderConfig::default() }];
        let played = play(
            RunConfig { providers, ..two_turns(Preset::Orchestrator) },
            then(to_the_limit(), vec![text("so it is")]),
        );
        let traces = played.run().traces().iter().filter(|trace| trace.name == "system_message_sent_as_user");
        assert_eq!(traces.count(), moved, "{kind:?}");
    }
}

#[test]
fn each_trigger_names_itself_in_the_first_sentence() {
    let config = SynthesisConfig::preset(Preset::Orchestrator);
    let first = |trigger| match prompts::synthesis_prompt(Preset::Orchestrator, &config, trigger) {
        Message::System { content } => content.split_inclusive('.').next().unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    let sentences: Vec<String> = Trigger::ALL.iter().map(|t| first(*t)).collect();
    assert_eq!(
        sentences,
        [
            "You have reached the maximum number of turns.",
            "You have been asked to finish now.",
            "Your context window is full.",
            "Your time is up.",
            "Your token budget is used up.",
            "Your cost budget is used up."
        ]
    );
}

#[test]
fn research_numbers_the_synthesis_and_orchestrator_does_not() {
    let script = || then(to_the_limit(), vec![text("so it is")]);
    let played = play(two_turns(Preset::Research), script());
    assert_eq!(played.fields(), "max_turns_synthesized / partial / synthesis / 3");
    let last = played.run().turns().last().unwrap();
    assert_eq!((last.turn, last.synthesis, last.is_final, last.content.as_str()), (3, true, true, "so it is"));
    let played = play(two_turns(Preset::Orchestrator), script());
    assert_eq!(played.fields(), "max_turns_synthesized / partial / synthesis / 2");
    let last = played.run().turns().last().unwrap();
    assert_eq!((last.turn, last.synthesis, last.is_final), (2, true, true));
    assert_eq!(played.run().turns().len(), 3);
}

#[test]
fn the_traces_come_in_order_and_hold_the_aggregated_text() {
    let played = play(two_turns(Preset::Research), then(to_the_limit(), vec![text("so it is")]));
    let traces: Vec<&str> = played.run().traces().iter().map(|t| t.name.as_str()).collect();
    assert_eq!(traces, ["max_turns_reached", "max_turns_prompt_injected", "llm_call"]);
    assert_eq!(played.run().traces()[0].data, serde_json::json!({"turns": 2, "content": "looking\n\nreading"}));
}

#[test]
fn a_failed_synthesis_still_reports_and_is_retried_first() {
    let fail = || Step::Fail(error(Slug::NetworkError, Retry::Yes));
    let ending = || vec![fail(), Step::Timer(None), fail(), Step::Timer(None), fail()];
    let played = play(two_turns(Preset::Research), then(to_the_limit(), ending()));
    assert_eq!(played.fields(), "max_turns_synthesis_failed / failed / system / 3");
    assert_eq!(played.ending().output, "Reached maximum reasoning steps. Failed to synthesize: network_error happened");
    assert_eq!((played.wrn(), played.err(), played.run().requests()), (3, 1, 5));
    let played = play(two_turns(Preset::Orchestrator), then(to_the_limit(), ending()));
    assert_eq!(played.fields(), "max_turns_synthesis_failed / failed / model / 2");
    assert_eq!(played.ending().output, "looking\n\nreading");
}

#[test]
fn orchestrator_without_any_text_falls_back_to_the_system() {
    let silent = vec![calls("", &[("a", "search", "{}")]), executed("search", "x")];
    let fatal = Step::Fail(error(Slug::AuthError, Retry::Fatal));
    let config = RunConfig { max_turns: 1, ..config(Preset::Orchestrator) };
    let played = play(config, then(silent, vec![fatal]));
    assert_eq!(played.fields(), "max_turns_synthesis_failed / failed / system / 1");
}

#[test]
fn a_tool_call_in_synthesis_is_a_failed_attempt_whose_text_is_kept() {
    let again = || calls("half a conclusion", &[("z", "search", "{}")]);
    let played = play(two_turns(Preset::Research), then(to_the_limit(), vec![again(), again(), again()]));
    assert_eq!(played.fields(), "max_turns_synthesized / partial / synthesis / 3");
    assert_eq!(played.ending().output, "half a conclusion");
    let slugs: Vec<&[Slug]> = played.run().turns()[2].attempts.iter().map(|a| a.slugs.as_slice()).collect();
    assert_eq!(slugs, [[Slug::SynthesisToolCall]; 3]);
    assert_eq!(played.requests[3].tail.len(), 2, "prompt and notice");
    assert!(played.run().turns()[2].tool_calls.is_empty());
}

#[test]
fn switched_off_it_ends_with_the_old_sentence() {
    let played = play(RunConfig { synthesis: None, ..two_turns(Preset::Research) }, to_the_limit());
    assert_eq!(played.fields(), "max_turns_exhausted / failed / system / 2");
    assert_eq!(played.ending().output, "Reached maximum reasoning steps.");
}

#[test]
fn stop_during_a_request_aborts_it_and_synthesizes() {
    let played = play(config(Preset::Research), vec![Step::Stop, text("nothing yet")]);
    assert_eq!(played.fields(), "stop_synthesized / partial / synthesis / 2");
    assert_eq!(played.ending().wrap_up, Some(Trigger::Stop));
    assert_eq!((played.wrn(), played.run().requests()), (0, 2));
    assert_eq!(played.run().turns()[0].attempts[0].slugs, [Slug::Stopped]);
    let Message::User { content, .. } = &played.requests[1].tail[0] else { panic!() };
    assert!(content.starts_with("You have been asked to finish now. Based on all"));
}

#[test]
fn stop_during_a_wait_ends_the_wait() {
    let script = vec![Step::Fail(error(Slug::RateLimited, Retry::Yes)), Step::Stop, text("that is all")];
    assert_eq!(play(config(Preset::Research), script).fields(), "stop_synthesized / partial / synthesis / 2");
}

#[test]
fn stop_during_tools_gives_them_two_seconds() {
    let script = vec![
        calls("", &[("a", "search", "{}"), ("b", "read", "{}")]),
        Step::Stop,
        executed("read", "in time"),
        Step::Timer(Some(2000)),
        Step::Stop,
        text("what I have"),
    ];
    let played = play(config(Preset::Research), script);
    assert_eq!(played.tool_results(), ["stopped", "in time\n[Turn 1/15]"]);
    assert_eq!(played.run().turns()[0].tool_calls[0].slug, Some(Slug::Stopped));
    assert_eq!(played.fields(), "stop_synthesized / partial / synthesis / 2");
}

#[test]
fn after_stop_no_queued_call_starts() {
    let mut config = config(Preset::Research);
    config.limits.parallel_tools = 1;
    let script = vec![
        calls("", &[("a", "search", "{}"), ("b", "read", "{}")]),
        Step::Stop,
        executed("search", "in time"),
        text("what I have"),
    ];
    assert_eq!(play(config, script).tool_results(), ["in time", "stopped\n[Turn 1/15]"]);
}

#[test]
fn a_grant_opens_a_segment_with_its_own_ending() {
    let script = then(
        to_the_limit(),
        vec![
            text("so far"),
            Step::Grant(3),
            calls("", &[("c", "search", "{}")]),
            executed("search", "z"),
            text("now complete"),
        ],
    );
    let played = play(two_turns(Preset::Research), script);
    let reasons: Vec<String> = played.run().segments().iter().map(|s| s.termination_reason.to_string()).collect();
    assert_eq!(reasons, ["max_turns_synthesized", "llm_complete"]);
    assert_eq!(played.ending().effective_max_turns, 6, "three turns used, three granted");
    assert_eq!(played.ending().max_turns, 2, "as configured");
    assert_eq!(played.tool_results()[2], "z\n[Turn 4/6 - Only 2 turns left! Prioritize completing your task.]");
    let conversation = played.conversation(3);
    let tail: Vec<&Message> = conversation.iter().rev().take(3).collect();
    assert_eq!(*tail[0], Message::user("You have been granted 3 more turns. Continue with the task."));
    assert!(matches!(tail[1], Message::Assistant(a) if a.content == "so far"));
    assert_eq!(*tail[2], Message::user(RESEARCH));
}

#[test]
fn a_run_that_completed_takes_no_grant() {
    let played = play(config(Preset::Research), vec![text("done"), Step::Grant(5)]);
    assert_eq!(played.run().segments().len(), 1);
}

fn finished(step: Step, finish: FinishReason) -> Step {
    match step {
        Step::Reply(reply) => Step::Reply(Reply { finish, ..reply }),
        other => other,
    }
}

const DECLINED: [(FinishReason, Slug, &str); 2] = [
    (FinishReason::Refusal, Slug::Refusal, "the model refused: I will not."),
    (FinishReason::ContentFilter, Slug::ContentFilter, "the provider's content filter stopped the reply"),
];

#[test]
fn a_refusal_or_a_filtered_reply_is_no_success_and_is_not_asked_for_again() {
    for preset in [Preset::Research, Preset::Orchestrator, Preset::Strict] {
        for (finish, slug, error) in DECLINED {
            for reply in [text("I will not."), calls("I will not.", &[("a", "search", "{}")])] {
                let played = play(config(preset), vec![finished(reply, finish)]);
                let ending = played.ending();
                assert_eq!(ending.termination_reason, TerminationReason::LlmError, "{preset:?} {finish:?}");
                assert_eq!((ending.outcome, ending.answer_source), (Outcome::Failed, AnswerSource::Model));
                assert_eq!((ending.output.as_str(), ending.error.as_deref()), ("I will not.", Some(error)));
                assert_eq!(played.requests.len(), 1);
                assert_eq!(played.run().turns()[0].attempts[0].slugs, [slug]);
                let last = played.run().logs().last().unwrap();
                assert_eq!((last.level, last.slugs.as_slice()), (LogLevel::Error, &[slug, Slug::LlmError][..]));
            }
        }
    }
    let played = play(config(Preset::Research), vec![finished(text(""), FinishReason::ContentFilter)]);
    assert_eq!(played.ending().answer_source, AnswerSource::System, "without words the system reports");
    assert!(!played.ending().output.is_empty());
}

#[test]
fn a_synthesis_that_is_refused_or_filtered_fails_with_its_words() {
    for preset in [Preset::Research, Preset::Orchestrator] {
        for (finish, slug, error) in DECLINED {
            let played = play(two_turns(preset), then(to_the_limit(), vec![finished(text("I will not."), finish)]));
            let ending = played.ending();
            assert_eq!(ending.termination_reason.to_string(), "max_turns_synthesis_failed");
            assert_eq!((ending.outcome, ending.answer_source), (Outcome::Failed, AnswerSource::Model));
            assert_eq!((ending.output.as_str(), ending.error.as_deref()), ("I will not.", Some(error)));
            assert_eq!((played.requests.len(), played.run().logs().last().unwrap().slugs[0]), (3, slug));
        }
    }
}
