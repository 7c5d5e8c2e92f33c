//! A conversation that outgrows the context window (retries.md#context-window): what requests leave out, and how it is read.

use crate::support::*;
use serde_json::json;
use turnwise_engine::*;
use turnwise_record::trajectory::{Carried, Recorder, Trajectory, replay};

fn small(window: u64) -> RunConfig {
    let mut config = RunConfig { shortens: true, ..config(Preset::Research) };
    config.limits.context_tokens = Some(window);
    config.counter = None;
    config
}

/// A request as a server has it.
#[derive(Clone)]
struct Sent {
    messages: Vec<Message>,
    earlier: bool,
    tools: ToolChoice,
}

impl Sent {
    fn tokens(&self) -> usize {
        self.messages.iter().map(|message| serde_json::to_string(message).unwrap().len()).sum::<usize>() / 4
    }

    fn note(&self) -> Option<&str> {
        let mut notes = self.messages.iter().filter_map(|message| match message {
            Message::User { content, .. } if content.starts_with(prompts::LEFT_OUT_PREFIX) => Some(content.as_str()),
            _ => None,
        });
        let note = notes.next();
        assert!(notes.next().is_none(), "two notes");
        note
    }
}

/// Runs one task to its end: `model` answers each request, tools answer with `result`. Checks that the record replays.
fn drive(
    config: &RunConfig,
    task: Task,
    result: &str,
    mut model: impl FnMut(&Sent) -> Result<Step, ModelError>,
) -> (Recorder, Vec<Sent>) {
    let (mut recorder, effects) = Recorder::start(config.clone(), task);
    let mut effects = std::collections::VecDeque::from(effects);
    let (mut base, mut told, mut sent, mut at) = (None, Vec::new(), Vec::new(), 0);
    while let Some(effect) = effects.pop_front() {
        at += 1;
        let event = match effect {
            Effect::CallModel(call) => {
                if base.replace(call.base) != Some(call.base) {
                    told.clear();
                }
                told.extend(call.append.clone());
                let messages = told.iter().chain(&call.tail).cloned().collect();
                let request = Sent { messages, earlier: call.earlier, tools: call.tools };
                sent.push(request.clone());
                match model(&request) {
                    Ok(Step::Reply(reply)) => {
                        Event::ModelReplied { request: call.request, reply, raw: None, first_token_ms: None }
                    }
                    Ok(other) => panic!("{other:?}"),
                    Err(error) => Event::ModelFailed { request: call.request, error, raw: None },
                }
            }
            Effect::RunTool(call) => {
                let outcome = ToolOutcome::Executed {
                    content: result.to_owned(),
                    images: Vec::new(),
                    structured_content: None,
                    repaired_args: None,
                };
                Event::ToolFinished { call: call.call, outcome }
            }
            // The end of a wait, not a limit of time.
            Effect::Sleep { timer, ms } if ms < 60_000 => Event::TimerFired { timer },
            _ => continue,
        };
        effects.extend(recorder.handle(Millis(at), event));
    }
    let text = serde_json::to_string(&recorder.document()).unwrap();
    let document = Trajectory::parse(&text).unwrap();
    validate(&document);
    let again = replay(&document).unwrap_or_else(|mismatch| panic!("{mismatch:?}"));
    assert_eq!(serde_json::to_string(&again.document()).unwrap(), text, "replay is byte for byte");
    (recorder, sent)
}

fn follow(after: Option<&Recorder>, input: String) -> Task {
    let Carried { history, refused_tokens, .. } = after.map(|after| Carried::from_run(&after.run)).unwrap_or_default();
    Task { input, history, refused_tokens, ..task() }
}

fn reason(recorder: &Recorder) -> String {
    recorder.run.ending().expect("ended").termination_reason.to_string()
}

fn overflow() -> ModelError {
    error(Slug::ContextGuard, Retry::Fatal)
}

#[test]
fn a_chat_goes_on_when_it_has_outgrown_the_window() {
    let config = small(2_000);
    let (mut last, mut bases): (Option<Recorder>, Vec<Vec<Message>>) = (None, Vec::new());
    for n in 1..=60 {
        let input = format!("Question {n}: {}", "some words ".repeat(20));
        let (recorder, sent) = drive(&config, follow(last.as_ref(), input), "", |sent| {
            assert!(sent.tokens() <= 2_000, "{} tokens", sent.tokens());
            Ok(text(&format!("answer {n} {}", "word ".repeat(60))))
        });
        assert_eq!((reason(&recorder).as_str(), sent.len()), ("llm_complete", 1), "message {n}");
        assert_eq!(recorder.run.messages().len(), 1 + 2 * n, "the conversation itself is whole");
        let left_out = recorder.run.turns()[0].attempts[0].left_out as usize;
        assert_eq!(left_out > 0, sent[0].earlier);
        assert_eq!(sent[0].messages.len() - usize::from(left_out > 0), 2 * n - left_out, "whole turns go");
        bases.push(sent[0].messages.clone());
        last = Some(recorder);
    }
    // What is sent is the beginning of what is sent next, but for a few steps.
    let steps = bases.windows(2).filter(|two| !two[1].starts_with(&two[0])).count();
    assert!((5..=12).contains(&steps), "{steps} of 59 requests began anew");
}

#[test]
fn the_model_reads_what_was_left_out() {
    let config = small(2_000);
    let mut last: Option<Recorder> = None;
    for n in 1..=20 {
        let input = if n == 1 { "The code word is heron.".to_owned() } else { format!("{n}: {}", "words ".repeat(50)) };
        last = Some(drive(&config, follow(last.as_ref(), input), "", |_| Ok(text(&"word ".repeat(60)))).0);
    }
    let mut turn = 0;
    let (recorder, sent) = drive(&config, follow(last.as_ref(), "Which code word?".into()), "", |sent| {
        turn += 1;
        Ok(match turn {
            1 => {
                let note = sent.note().expect("a note");
                assert!(note.contains("messages 1 to ") && note.contains("read_earlier({\"from\": 1})"), "{note}");
                calls(
                    "",
                    &[("a", "read_earlier", r#"{"from": 1, "count": 1}"#), ("b", "read_earlier", "{\"from\": 99}")],
                )
            }
            2 => calls("", &[("c", "read_earlier", r#"{"from": 0}"#), ("d", "read_earlier", r#"{"from": "2"}"#)]),
            _ => text("heron"),
        })
    });
    let results: Vec<_> = recorder.run.turns().iter().flat_map(|turn| &turn.tool_calls).collect();
    let read: Vec<&str> = results.iter().map(|call| call.result.as_deref().unwrap()).collect();
    assert!(
        read[0].starts_with("[message 1 of ") && read[0].contains("1. User:\nThe code word is heron."),
        "{}",
        read[0]
    );
    assert!(read[1].starts_with("There are "), "{}", read[1]);
    assert!(read[2].contains("/from: must be a whole number of at least 1, not 0"), "{}", read[2]);
    assert!(read[3].contains("2. You:\nword word") && read[3].contains("}) reads on]"), "{}", read[3]);
    assert!(sent.iter().all(|sent| sent.tokens() <= 2_000 && sent.tools == ToolChoice::Auto));
    assert_eq!(reason(&recorder), "llm_complete");
    // It can be called only where something is left out.
    let (alone, _) = drive(&small(2_000), task(), "", |sent| {
        Ok(if sent.messages.len() > 2 { text("done") } else { calls("", &[("a", "read_earlier", "{}")]) })
    });
    assert_eq!(alone.run.turns()[0].tool_calls[0].slug, Some(Slug::UnknownTool));
}

#[test]
fn a_long_run_keeps_its_task_and_its_newest_results() {
    let mut config = small(3_000);
    config.max_turns = 40;
    let mut n = 0;
    let said = "I look for it. ".repeat(20);
    let (recorder, sent) = drive(&config, task(), &"found ".repeat(40), |sent| {
        n += 1;
        assert!(sent.tokens() <= 3_000);
        assert!(sent.messages.iter().any(|m| matches!(m, Message::User { content, .. } if content == "the task")));
        if n > 1 {
            let last = sent.messages.last().unwrap();
            assert!(matches!(last, Message::Tool(tool) if tool.content.starts_with("found ")), "{last:?}");
        }
        let ids = [format!("a{n}"), format!("b{n}")];
        let round = [(ids[0].as_str(), "search", "{}"), (ids[1].as_str(), "read", "{}")];
        Ok(if n == 30 { text("done") } else { calls(&said, &round) })
    });
    assert_eq!((reason(&recorder).as_str(), sent.len()), ("llm_complete", 30));
    let note = sent.last().unwrap().note().unwrap();
    assert!(note.contains("(1 message of the user, ") && note.contains(" tool results)"), "{note}");
    // A follow-up of the long run keeps its answer, and the question that it answers.
    let (_, sent) = drive(&config, follow(Some(&recorder), "and shorter?".into()), "", |_| Ok(text("short")));
    let texts = serde_json::to_string(&sent[0].messages).unwrap();
    assert!(texts.contains("the task") && texts.contains("\"done\"") && texts.contains("and shorter?"), "{texts}");
}

#[test]
fn what_cannot_be_left_out_is_not_sent() {
    for preset in [Preset::Research, Preset::Orchestrator, Preset::Strict] {
        let mut config = RunConfig { preset, ..small(1_000) };
        if preset == Preset::Strict {
            config.tools.push(own_tools::report_spec(&config.report));
        }
        let (recorder, sent) =
            drive(&config, follow(None, "x".repeat(8_000)), "", |_| panic!("it is known to be too large"));
        let ending = recorder.run.ending().unwrap();
        assert!(sent.is_empty() && ending.outcome == Outcome::Failed, "{preset:?}: {ending:?}");
        assert!(ending.error.as_ref().unwrap().contains("the context window has 1000"), "{ending:?}");
    }
    // A huge message of before does not spoil the next one.
    let config = small(1_000);
    let history = vec![
        Message::system("s"),
        Message::user("x".repeat(8_000)),
        Message::Assistant(AssistantMessage { content: "too long".into(), ..AssistantMessage::default() }),
    ];
    let (recorder, sent) = drive(&config, Task { history, ..task() }, "", |_| Ok(text("done")));
    assert_eq!((reason(&recorder).as_str(), sent[0].messages.len()), ("llm_complete", 3), "system, note, task");
}

#[test]
fn a_refusal_tells_what_the_window_is() {
    let config = RunConfig { shortens: true, ..config(Preset::Research) };
    let (mut last, mut refused, mut requests): (Option<Recorder>, usize, usize) = (None, 0, 0);
    for n in 1..=120 {
        let input = format!("Question {n}: {}", "some words ".repeat(20));
        let (recorder, sent) = drive(&config, follow(last.as_ref(), input), "", |sent| match sent.tokens() > 2_000 {
            true => {
                refused += 1;
                Err(overflow())
            }
            false => Ok(text(&"word ".repeat(60))),
        });
        assert_eq!(reason(&recorder), "llm_complete", "message {n}");
        (last, requests) = (Some(recorder), requests + sent.len());
    }
    assert_eq!((refused, requests), (1, 121), "what one message learnt, the next ones know");
    // In one run, what was refused is not sent again.
    let mut n = 0;
    let (recorder, _) = drive(&RunConfig { max_turns: 60, ..config }, task(), "found", |sent| {
        n += 1;
        let id = format!("a{n}");
        match sent.tokens() > 2_000 {
            true => Err(overflow()),
            false if n == 50 => Ok(text("done")),
            false => Ok(calls(&"I look. ".repeat(40), &[(&id, "search", "{}")])),
        }
    });
    let slugs = recorder.run.turns().iter().flat_map(|turn| &turn.attempts).filter(|attempt| !attempt.slugs.is_empty());
    assert_eq!((reason(&recorder).as_str(), slugs.count()), ("llm_complete", 1));
}

#[test]
fn pictures_of_before_make_room_and_are_read_again() {
    let image = |data: &str| Image { media_type: "image/png".into(), data: data.into() };
    let mut history = vec![Message::system("s")];
    for n in 0..8 {
        history.push(Message::User { content: format!("picture {n}"), images: vec![image(&format!("AAA{n}"))] });
        let content = "a bird".into();
        history.push(Message::Assistant(AssistantMessage { content, ..AssistantMessage::default() }));
    }
    let mut turn = 0;
    let (_, sent) = drive(&small(10_000), Task { history, ..task() }, "", |_| {
        turn += 1;
        Ok(if turn == 1 { calls("", &[("a", "read_earlier", r#"{"from": 1, "count": 1}"#)]) } else { text("done") })
    });
    let pictures = |sent: &Sent| {
        sent.messages.iter().filter(|m| matches!(m, Message::User { images, .. } if !images.is_empty())).count()
    };
    assert!((2..=5).contains(&pictures(&sent[0])), "{}", pictures(&sent[0]));
    let Some(Message::Tool(read)) = sent[1].messages.last() else { panic!() };
    assert_eq!(read.images, [image("AAA0")], "{}", read.content);
}

#[test]
fn the_last_request_fits_and_sub_agents_follow_the_same_rule() {
    let mut config = small(2_000);
    config.max_turns = 12;
    let mut n = 0;
    let (recorder, sent) = drive(&config, task(), &"found ".repeat(30), |sent| {
        n += 1;
        assert!(sent.tokens() <= 2_000);
        let id = format!("a{n}");
        Ok(if sent.tools == ToolChoice::None {
            text("so far")
        } else {
            calls(&"word ".repeat(80), &[(&id, "search", "{}")])
        })
    });
    assert_eq!((reason(&recorder).as_str(), sent.len()), ("max_turns_synthesized", 13));
    assert!(sent.last().unwrap().note().is_some());

    config.tools.push(own_tools::spawn_spec(&[]));
    config.max_turns = 3;
    let mut n = 0;
    let (recorder, _) = drive(&config, task(), &"found ".repeat(30), |sent| {
        n += 1;
        let id = format!("b{n}");
        let child = sent.messages.iter().any(|m| matches!(m, Message::User { content, .. } if content == "look"));
        Ok(match (child, n) {
            (true, ..=7) => calls(&"word ".repeat(140), &[(&id, "search", "{}")]),
            (true, _) => text("the report"),
            (false, 1) => calls("", &[("s", "spawn_subagents", r#"{"tasks": [{"task": "look", "max_turns": 12}]}"#)]),
            (false, _) => text("done"),
        })
    });
    let child = recorder.run.child_runs().next().expect("it ran");
    let left_out = child.turns().iter().flat_map(|turn| &turn.attempts).filter(|attempt| attempt.left_out > 0).count();
    assert!(left_out > 0 && reason(&recorder) == "llm_complete", "{}", reason(&recorder));
}

#[test]
fn a_model_without_tools_still_answers() {
    let mut config = small(1_500);
    config.tools.clear();
    let history: Vec<Message> = std::iter::once(Message::system("s"))
        .chain((0..10).flat_map(|n| {
            let content = "word ".repeat(60);
            let said = Message::Assistant(AssistantMessage { content, ..AssistantMessage::default() });
            [Message::user(format!("{n} {}", "words ".repeat(40))), said]
        }))
        .collect();
    let (recorder, sent) = drive(&config, Task { history, ..task() }, "", |sent| match sent.earlier {
        true => Err(ModelError { status: Some(400), ..error(Slug::ProviderError, Retry::Fatal) }),
        false => Ok(text("done")),
    });
    assert_eq!((reason(&recorder).as_str(), sent.len()), ("llm_complete", 2));
    assert!(!sent[1].note().unwrap().contains("read_earlier"), "nobody can call it");
}

#[test]
fn a_tool_of_the_same_name_stays_what_it_is() {
    let mut config = small(1_500);
    config.tools.push(plain_tool("read_earlier"));
    let history = vec![Message::system("s"), Message::user("x".repeat(4_000)), Message::user("y".repeat(3_000))];
    let mut turn = 0;
    let (recorder, sent) = drive(&config, Task { history, ..task() }, "its own", |sent| {
        turn += 1;
        assert!(!sent.earlier && sent.note().is_some());
        Ok(if turn == 1 { calls("", &[("a", "read_earlier", "{}")]) } else { text("done") })
    });
    assert_eq!(sent.len(), 2);
    assert_eq!(recorder.run.turns()[0].tool_calls[0].result.as_deref(), Some("its own"));
}

#[test]
fn long_messages_are_read_in_parts() {
    let long = |n: usize| Message::user(format!("{n}").repeat(1_000));
    let history = [vec![Message::system("s")], (1..=9).map(long).collect()].concat();
    let mut config = small(2_000);
    config.limits.max_result_chars = 600;
    let asks =
        [json!({ "from": 2 }), json!({ "from": 2, "offset": 600 }), json!({ "from": 2, "count": 1, "offset": 900 })];
    let mut asks = asks.iter().map(ToString::to_string);
    let (recorder, _) = drive(&config, Task { history, ..task() }, "", |_| {
        Ok(asks.next().map_or(text("done"), |args| calls("", &[("", "read_earlier", &args)])))
    });
    let read = recorder.run.turns().iter().flat_map(|turn| &turn.tool_calls).map(|call| call.result.clone().unwrap());
    let heads: Vec<String> = read.map(|text| text.lines().next().unwrap().to_owned()).collect();
    assert!(heads[0].ends_with("; read_earlier({\"from\": 2, \"offset\": 600}) reads on]"), "{heads:?}");
    assert!(heads[1].ends_with("; read_earlier({\"from\": 3}) reads on]"), "{heads:?}");
    assert!(heads[2].starts_with("[message 2 of ") && !heads[2].contains("reads on"), "{heads:?}");
}

#[test]
fn a_record_of_before_is_not_shortened() {
    let mut config = config(Preset::Research);
    config.limits.context_tokens = Some(1_000);
    let history = vec![Message::system("s"), Message::user("x".repeat(8_000))];
    let (_, sent) = drive(&config, Task { history, ..task() }, "", |_| Ok(text("done")));
    assert!(sent[0].messages.len() == 3 && sent[0].note().is_none());
}
