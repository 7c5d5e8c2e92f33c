//! Limits as numbers: sizes of what a server may send, how full a context window is.

use crate::support::*;
use turnwise_engine::caps::*;
use turnwise_engine::*;

/// As listed in retries.md#limits-on-what-a-server-may-send.
#[test]
fn the_limits_are_the_documented_ones() {
    let mib = |bytes: usize| bytes as f64 / 1_048_576.0;
    assert_eq!(mib(MAX_EVENT), 4.0);
    assert_eq!(mib(MAX_STREAM), 256.0);
    assert_eq!([MAX_TEXT, MAX_REASONING, MAX_ARGUMENTS].map(mib), [2.0; 3]);
    assert_eq!((MAX_CALLS, MAX_PARTS), (256, 1024));
    assert_eq!([MAX_OPAQUE, MAX_RESULT].map(mib), [4.0; 2]);
    assert_eq!(RAW_CAP, 131_072);
    assert_eq!([MAX_RESULT_IMAGES, MAX_MODEL_LIST, MAX_SITE_FILE].map(mib), [20.0, 8.0, 32.0]);
}

#[test]
fn a_result_is_cut_to_its_limit_exactly() {
    let note = |kept: usize, whole: usize| format!("\n[the result was cut here: {kept} of {whole} bytes were kept]");
    let mut whole = "x".repeat(MAX_RESULT);
    cut_result(&mut whole, 0);
    assert_eq!(whole.len(), MAX_RESULT, "at its limit it is whole");
    assert!(whole.ends_with('x'));
    let mut long = "x".repeat(MAX_RESULT + 1);
    cut_result(&mut long, 0);
    let kept = long.bytes().take_while(|byte| *byte == b'x').count();
    assert!(long.ends_with(&note(kept, MAX_RESULT + 1)), "{}", &long[kept..]);
    assert_eq!(long.len(), MAX_RESULT);
    // Some of it was left out before.
    let mut short = "abc".to_owned();
    cut_result(&mut short, 7);
    assert_eq!(short, format!("abc{}", note(3, 10)));
}

#[test]
fn pictures_past_their_limit_are_left_out_and_counted() {
    let image = |bytes: usize| Image { data: "A".repeat(bytes), media_type: "image/png".into() };
    let cut = |images: Vec<Image>| {
        let outcome =
            ToolOutcome::Executed { content: "seen".into(), images, repaired_args: None, structured_content: None };
        let mut event = Event::ToolFinished { call: CallId("call_1_1_0".into()), outcome };
        cut_event(&mut event);
        let Event::ToolFinished { outcome: ToolOutcome::Executed { content, images, .. }, .. } = event else {
            panic!()
        };
        (content, images.len())
    };
    assert_eq!(cut(vec![image(MAX_RESULT_IMAGES - 8), image(8)]), ("seen".to_owned(), 2));
    let note = "seen\n[2 of 3 pictures were left out: they are too large]".to_owned();
    assert_eq!(cut(vec![image(8), image(MAX_RESULT_IMAGES), image(8)]), (note, 1));
}

#[test]
fn the_part_of_the_window_that_is_full_is_in_percent() {
    let mut config = config(Preset::Research);
    config.limits.context_tokens = Some(10_000);
    let usage = Usage { input: TokenCount(2_500), ..Usage::default() };
    let Step::Reply(reply) = calls("", &[("a", "search", "{}")]) else { panic!() };
    let played = play_open(config, vec![Step::Reply(Reply { usage: Some(usage), ..reply })]);
    assert_eq!(played.run().context_percent(), Some(25));
}

/// As retries.md#context-window says: over 70 %.
#[test]
fn the_model_is_told_of_a_window_that_is_over_seventy_percent_full() {
    assert_eq!(prompts::context_line(70), None);
    assert_eq!(prompts::context_line(71).as_deref(), Some("[Context 71% full]"));
}

/// The number of a request or a timer holds which sub-agent it belongs to; numbers past the limits stay at them.
#[test]
fn a_request_knows_its_sub_agent() {
    assert_eq!((ids::MAX_OWN, ids::MAX_CHILDREN), (1_048_575, 4_095));
    for (child, n) in [(0, 1), (1, 1), (4_095, 1_048_575)] {
        let (request, timer) = (RequestId::numbered(child, n), TimerId::numbered(child, n));
        assert_eq!((request.child(), request.0 - (child << 20)), (child, n));
        assert_eq!((timer.child(), timer.0), (child, request.0));
    }
    assert_eq!(RequestId::numbered(5_000, 2_000_000), RequestId(u32::MAX));
}

#[test]
fn a_conversation_that_ollama_cuts_off_is_noticed_once() {
    let noticed = |kind, sent: usize, read: u64| {
        let mut config = RunConfig { system: "x".repeat(sent), ..config(Preset::Research) };
        config.providers = vec![ProviderConfig { kind, ..ProviderConfig::default() }];
        let counted = |step: Step| match step {
            Step::Reply(reply) => {
                let usage = Usage { input: TokenCount(read), ..Usage::default() };
                Step::Reply(Reply { usage: Some(usage), ..reply })
            }
            other => other,
        };
        let script = vec![calls("", &[("a", "search", "{}")]), executed("search", "x"), text("done")];
        let played = play(config, script.into_iter().map(counted).collect());
        let traces = played.run().traces();
        let found: Vec<_> = traces.iter().filter(|trace| trace.name == "context_cut_by_server").collect();
        assert!(found.iter().all(|trace| trace.data.to_string().contains("OLLAMA_CONTEXT_LENGTH")));
        found.len()
    };
    // Its window is 4,096 tokens of about four bytes, unless it is set.
    assert_eq!(noticed(ProviderKind::Ollama, 40_000, 4_000), 1);
    assert_eq!(noticed(ProviderKind::Ollama, 40_000, 10_000), 0, "it read all");
    assert_eq!(noticed(ProviderKind::Ollama, 10_000, 2_500), 0);
    assert_eq!(noticed(ProviderKind::Llamacpp, 40_000, 4_000), 0);
}
