//! Deliberately hostile server data: each case ends in `reply_too_large` or in a cut, in time and memory that grow
//! linearly (retries.md#limits-on-what-a-server-may-send). Bytes go through the real decoder in chunks; memory is what the decoder reports as held.

use std::time::Duration;

use crate::support::work::Work;
use crate::support::{Step, calls, config, executed, play, play_open, text};
use serde_json::{Value, json};
use turnwise_engine::caps::{self, MAX_CALLS, MAX_EVENT, MAX_RESULT};
use turnwise_engine::*;
use turnwise_llm::Decoder;

const MIB: usize = 1 << 20;
/// Generous for unoptimised builds; quadratic work takes minutes.
const SOON: Duration = Duration::from_secs(5);
/// A partial line, the reply's texts and calls, the raw response.
const MOST_HELD: usize = 16 * MIB;

const KINDS: [ProviderKind; 4] =
    [ProviderKind::Openai, ProviderKind::OpenaiResponses, ProviderKind::Anthropic, ProviderKind::Gemini];

struct Fed {
    result: Result<Reply, ModelError>,
    bytes: usize,
    most_held: usize,
    took: Duration,
}

/// Feeds chunks until the decoder wants no more, as the shell does.
fn feed<'a>(kind: ProviderKind, pieces: impl Iterator<Item = &'a [u8]>) -> Fed {
    let (began, mut decoder) = (Work::begin(), Decoder::new(&ProviderConfig { kind, ..ProviderConfig::default() }));
    let (mut bytes, mut most_held) = (0, 0);
    for piece in pieces {
        decoder.push(piece);
        bytes += piece.len();
        most_held = most_held.max(decoder.held());
        if decoder.is_done() {
            break;
        }
    }
    let (result, raw) = decoder.finish();
    assert!(raw.text.len() <= RAW_CAP);
    Fed { result, bytes, most_held, took: began.done() }
}

/// Checks that the attempt failed because of its size, quickly, and that little was held.
fn too_large(name: &str, fed: &Fed, words: &str) {
    let error = fed.result.as_ref().expect_err(name);
    assert_eq!((error.slug, error.retry), (Slug::ReplyTooLarge, Retry::Yes), "{name}: {}", error.message);
    assert!(error.message.contains(words), "{name}: {}", error.message);
    assert!(fed.took < SOON, "{name}: {:?}", fed.took);
    assert!(fed.most_held <= MOST_HELD, "{name}: {} bytes held", fed.most_held);
}

fn sse(event: &Value) -> String {
    format!("data: {event}\n\n")
}

/// One call in the format of a provider kind, as a separate event.
fn call_event(kind: ProviderKind, n: usize) -> Vec<Value> {
    let id = format!("c{n}");
    match kind {
        ProviderKind::Openai => {
            let call = json!({ "index": n, "id": id, "function": { "name": "f", "arguments": "{}" } });
            vec![json!({ "choices": [{ "delta": { "tool_calls": [call] } }] })]
        }
        ProviderKind::OpenaiResponses => {
            let item = json!({ "type": "function_call", "id": id, "call_id": id, "name": "f", "arguments": "{}" });
            vec![json!({ "type": "response.output_item.done", "output_index": n, "item": item })]
        }
        ProviderKind::Anthropic => {
            let block = json!({ "type": "tool_use", "id": id, "name": "f", "input": {} });
            vec![json!({ "type": "content_block_start", "index": n, "content_block": block })]
        }
        _ => {
            let part = json!({ "functionCall": { "id": id, "name": "f", "args": {} } });
            vec![json!({ "candidates": [{ "content": { "parts": [part] } }] })]
        }
    }
}

fn pieces(bytes: &[u8], size: usize) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(size)
}

#[test]
fn a_hundred_thousand_tool_calls() {
    for kind in KINDS {
        let stream: String = (0..100_000).flat_map(|n| call_event(kind, n)).map(|event| sse(&event)).collect();
        let fed = feed(kind, pieces(stream.as_bytes(), 16_384));
        too_large(&format!("{} calls, one an event", kind.as_str()), &fed, "256 tool calls");
    }
    // All calls in one event, which fits.
    let list: Vec<Value> = (0..30_000).map(|n| json!({ "index": n, "id": n, "function": { "name": "f" } })).collect();
    let event = sse(&json!({ "choices": [{ "delta": { "tool_calls": list } }] }));
    too_large("in one event", &feed(ProviderKind::Openai, pieces(event.as_bytes(), 65_536)), "tool calls");
    let list: Vec<Value> = (0..30_000).map(|n| json!({ "type": "tool_use", "id": n, "input": {} })).collect();
    let answer = json!({ "type": "message", "content": list }).to_string();
    too_large("in one answer", &feed(ProviderKind::Anthropic, pieces(answer.as_bytes(), 65_536)), "tool calls");
    let list: Vec<Value> = (0..30_000).map(|n| json!({ "type": "function_call", "id": n, "call_id": n })).collect();
    let answer = json!({ "object": "response", "status": "completed", "output": list }).to_string();
    too_large("in one answer", &feed(ProviderKind::OpenaiResponses, pieces(answer.as_bytes(), 65_536)), "tool calls");
}

#[test]
fn a_line_of_a_gigabyte() {
    let buffer = vec![b'a'; 65_536];
    for kind in KINDS {
        for start in ["data: {\"", ": ", "{\"choices\": \""] {
            let line = std::iter::once(start.as_bytes()).chain(std::iter::repeat_n(&buffer[..], 16_384));
            let fed = feed(kind, line);
            too_large(&format!("{} {start}", kind.as_str()), &fed, "4 MiB");
            assert!(fed.bytes <= MAX_EVENT + buffer.len() + start.len(), "{} bytes were taken", fed.bytes);
        }
    }
}

#[test]
fn an_event_of_many_lines_and_a_stream_without_an_end() {
    let lines = "data: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n".repeat(1024);
    let fed = feed(ProviderKind::Openai, std::iter::repeat_n(lines.as_bytes(), 1024));
    too_large("an event of many lines", &fed, "4 MiB in one event");
    let nothing = ": nothing\n\n".repeat(8192);
    let fed = feed(ProviderKind::Openai, std::iter::repeat_n(nothing.as_bytes(), 1 << 14));
    assert_eq!(fed.result.unwrap_err().slug, Slug::ReplyTooLarge);
    assert!(fed.bytes <= caps::MAX_STREAM + nothing.len());
}

/// A megabyte of text in 8-byte chunks, three times.
#[test]
fn text_reasoning_and_arguments_past_their_limits() {
    let eight = "abcdefgh";
    let openai = |delta: Value| json!({ "choices": [{ "delta": delta }] });
    let block = |delta: Value| json!({ "type": "content_block_delta", "index": 0, "delta": delta });
    let part = |part: Value| json!({ "candidates": [{ "content": { "parts": [part] } }] });
    let tool = json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": eight } });
    let use_tool = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "a", "name": "f" } });
    let signed = json!({ "text": "", "thoughtSignature": "abcdefghijklmnop" });
    let openai_kind = ProviderKind::Openai;
    let cases = [
        ("text", openai_kind, None, openai(json!({ "content": eight })), "of text"),
        ("reasoning", openai_kind, None, openai(json!({ "reasoning": eight })), "of reasoning"),
        (
            "arguments, the name in each piece",
            openai_kind,
            None,
            openai(json!({ "tool_calls": [tool] })),
            "tool arguments",
        ),
        (
            "details",
            openai_kind,
            None,
            openai(json!({ "reasoning_details": [{ "type": "t", "text": eight }] })),
            "1024 parts",
        ),
        (
            "arguments",
            ProviderKind::Anthropic,
            Some(use_tool),
            block(json!({ "type": "input_json_delta", "partial_json": eight })),
            "tool arguments",
        ),
        ("text", ProviderKind::Anthropic, None, block(json!({ "type": "text_delta", "text": eight })), "of text"),
        (
            "arguments",
            ProviderKind::OpenaiResponses,
            None,
            json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "delta": eight }),
            "tool arguments",
        ),
        ("text", ProviderKind::Gemini, None, part(json!({ "text": eight })), "of text"),
        ("signatures", ProviderKind::Gemini, None, part(signed), "1024 parts"),
    ];
    for (name, kind, first, event, words) in cases {
        let (first, event) = (first.map(|event| sse(&event)).unwrap_or_default(), sse(&event).repeat(128));
        let stream = std::iter::once(first.as_bytes()).chain(std::iter::repeat_n(event.as_bytes(), 4096));
        let fed = feed(kind, stream);
        let name = format!("{} {name}", kind.as_str());
        let error = fed.result.as_ref().expect_err(&name);
        assert_eq!(error.slug, Slug::ReplyTooLarge, "{name}");
        assert!(error.message.contains(words), "{name}: {}", error.message);
        // A quarter of a million events take longer without optimisation.
        assert!(fed.took < 4 * SOON, "{name}: {:?}", fed.took);
        assert!(fed.most_held <= MOST_HELD, "{name}: {}", fed.most_held);
    }
}

/// Some servers name the call in every chunk of its arguments: whether the arguments are complete is not rechecked over
/// all of them.
#[test]
fn a_megabyte_of_arguments_in_small_pieces_that_all_name_their_call() {
    let piece = |arguments: &str| {
        let call = json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": arguments } });
        sse(&json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }))
    };
    let body = piece("[1,2,3],").repeat(MIB / 8 / 2);
    let end =
        format!("{}data: {{\"choices\":[{{\"finish_reason\":\"tool_calls\"}}]}}\n\ndata: [DONE]\n\n", piece("0]}"));
    let stream = format!("{}{body}{end}", piece("{\"a\":["));
    let fed = feed(ProviderKind::Openai, pieces(stream.as_bytes(), 16_384));
    let reply = fed.result.unwrap();
    assert_eq!(reply.tool_calls.len(), 1);
    assert_eq!(reply.tool_calls[0].arguments.len(), 6 + MIB / 2 + 3);
    assert!(fed.took < SOON, "{:?}", fed.took);
}

#[test]
fn the_slug_is_retried_and_then_ends_the_run() {
    let large = || Step::Fail(caps::TooLarge::Calls.error());
    let played = play(config(Preset::Research), vec![large(), Step::Timer(None), text("done")]);
    assert_eq!(played.fields(), "llm_complete / success / model / 1");
    assert_eq!(played.run().turns()[0].attempts[0].slugs, [Slug::ReplyTooLarge]);
}

/// As many calls as a reply may hold, all without an id: each is answered, 32 are executed.
#[test]
fn the_engine_answers_the_most_calls_soon() {
    let began = Work::begin();
    let many: Vec<(&str, &str, &str)> = (0..MAX_CALLS).map(|_| ("", "search", "{}")).collect();
    let mut script = vec![calls("", &many)];
    script.extend((0..32).map(|_| executed("search", "found")));
    script.push(text("done"));
    let played = play(config(Preset::Research), script);
    let turn = &played.run().turns()[0];
    let limited = turn.tool_calls.iter().filter(|call| call.slug == Some(Slug::ToolLimit)).count();
    assert_eq!((turn.tool_calls.len(), limited), (MAX_CALLS, MAX_CALLS - 32));
    assert!(began.done() < SOON, "{:?}", began.done());
}

#[test]
fn a_batch_of_a_hundred_thousand_calls_is_refused() {
    let began = Work::begin();
    let mut config = config(Preset::Research);
    config.tools.push(own_tools::batch_spec());
    let inner: Vec<Value> = (0..100_000).map(|_| json!({ "name": "search" })).collect();
    let batch = json!({ "calls": inner }).to_string();
    let checked = Step::Tool("batch", ToolOutcome::executed(String::new(), None));
    let played = play(config, vec![calls("", &[("b", "batch", &batch)]), checked, text("done")]);
    let call = &played.run().turns()[0].tool_calls[0];
    assert_eq!((call.slug, call.calls.len()), (Some(Slug::ToolLimit), 0), "{:?}", call.error);
    assert!(call.result.as_ref().unwrap().contains("at most 256"), "{:?}", call.result);
    assert!(began.done() < SOON, "{:?}", began.done());
}

#[test]
fn a_hundred_thousand_sub_agents_are_refused() {
    let began = Work::begin();
    let mut config = config(Preset::Research);
    config.tools.push(own_tools::spawn_spec(&[]));
    let tasks: Vec<Value> = (0..100_000).map(|_| json!({ "task": "t" })).collect();
    let spawn = json!({ "tasks": tasks }).to_string();
    let checked = Step::Tool("spawn_subagents", ToolOutcome::executed(String::new(), None));
    let played = play_open(config, vec![calls("", &[("s", "spawn_subagents", &spawn)]), checked, text("done")]);
    assert!(played.run().children().is_empty());
    assert_eq!(played.run().turns()[0].tool_calls[0].slug, Some(Slug::ToolLimit));
    assert!(began.done() < SOON, "{:?}", began.done());
}

#[test]
fn a_tools_result_is_cut_before_it_is_recorded() {
    let result = |content: String| Event::ToolFinished {
        call: CallId("a".into()),
        outcome: ToolOutcome::executed(content, None),
    };
    let content = |event: &Event| match event {
        Event::ToolFinished { outcome: ToolOutcome::Executed { content, .. }, .. } => content.clone(),
        other => panic!("{other:?}"),
    };
    let mut large = result("é".repeat(32 * MIB));
    caps::cut_event(&mut large);
    let cut = content(&large);
    assert!(cut.len() <= MAX_RESULT && cut.len() > MAX_RESULT - 100, "{}", cut.len());
    assert!(cut.ends_with(" of 67108864 bytes were kept]"), "{}", &cut[cut.len() - 90..]);
    // Cutting again changes nothing: a replayed record holds what the engine saw.
    caps::cut_event(&mut large);
    assert_eq!(content(&large), cut);
    let mut small = result("a".repeat(MAX_RESULT));
    caps::cut_event(&mut small);
    assert_eq!(content(&small).len(), MAX_RESULT);
}
