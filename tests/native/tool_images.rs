//! Images and PDFs in tool results: how the engine carries them, how each wire format does, and what is read where they
//! do not fit.

use crate::support::wire;

use crate::support::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::prompt_api::{Tools, prompt};
use turnwise_record::trajectory::export::{atif, openai};
use turnwise_record::trajectory::{Trajectory, replay};

const NOTE: &str = "[Left out: 2 pictures or PDFs. This API takes text only in tool results.]";

fn pdf() -> Image {
    Image { media_type: "application/pdf".into(), data: "JVBERi0xLjc=".into() }
}

fn picture() -> Image {
    Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() }
}

fn gives(name: &'static str, images: Vec<Image>) -> Step {
    Step::Tool(
        name,
        ToolOutcome::Executed { content: "seen".into(), images, repaired_args: None, structured_content: None },
    )
}

fn answers(played: &Played) -> Vec<ToolMessage> {
    let sent = played.conversation(played.requests.len() - 1);
    let answer = |message| if let Message::Tool(tool) = message { Some(tool) } else { None };
    sent.into_iter().filter_map(answer).collect()
}

#[test]
fn a_result_brings_its_pictures_to_the_next_request() {
    let script = vec![
        calls("", &[("a", "search", "{}"), ("b", "read", "{}")]),
        gives("read", vec![picture()]),
        gives("search", vec![pdf(), picture()]),
        text("done"),
    ];
    let played = play(config(Preset::Research), script);
    let images: Vec<_> = answers(&played).into_iter().map(|tool| tool.images).collect();
    assert_eq!(images, [vec![pdf(), picture()], vec![picture()]]);

    let document = played.document();
    validate(&document);
    let stored = serde_json::to_string(&document).unwrap();
    let again = replay(&Trajectory::parse(&stored).unwrap()).unwrap_or_else(|m| panic!("{m:?}"));
    assert_eq!(serde_json::to_string(&again.document()).unwrap(), stored);
    // An image is held once, in its event.
    assert_eq!(stored.matches("JVBERi0xLjc=").count(), 1);
    let chat = openai::write(&document);
    assert!(chat.contains(r#""url":"data:image/png;base64,iVBORw0KGgo=""#), "{chat}");
    assert!(!atif::write(&document).is_empty());
}

#[test]
fn a_batch_brings_those_of_all_its_calls() {
    let wanted = json!({ "calls": [{ "name": "search", "args": {} }, { "name": "read", "args": {} }] }).to_string();
    let script = vec![
        calls("", &[("b", "batch", &wanted), ("c", "search", "{}")]),
        executed("batch", ""),
        gives("search", vec![]),
        gives("search", vec![picture()]),
        gives("read", vec![pdf()]),
        text("done"),
    ];
    let mut of_batch = config(Preset::Research);
    of_batch.tools.push(own_tools::batch_spec());
    let images: Vec<_> = answers(&play(of_batch, script)).into_iter().map(|tool| tool.images).collect();
    assert_eq!(images, [vec![picture(), pdf()], vec![]]);
}

#[test]
fn a_picture_weighs_in_the_context_and_goes_with_a_shortened_result() {
    let tokens = |images: Vec<Image>| {
        let script = vec![calls("", &[("a", "search", "{}")]), gives("search", images)];
        play_open(config(Preset::Research), script).run().context_tokens()
    };
    assert!(tokens(vec![picture()]) > tokens(vec![]) + 500);
}

#[test]
fn pictures_past_the_limit_are_left_out_and_the_model_is_told() {
    let huge = Image { data: "A".repeat(caps::MAX_RESULT_IMAGES - 8), ..picture() };
    let outcome = ToolOutcome::Executed {
        content: "seen".into(),
        images: vec![huge, picture(), picture()],
        repaired_args: None,
        structured_content: None,
    };
    let mut event = Event::ToolFinished { call: CallId("a".into()), outcome };
    caps::cut_event(&mut event);
    let Event::ToolFinished { outcome: ToolOutcome::Executed { content, images, .. }, .. } = event else { panic!() };
    assert_eq!(images.len(), 1);
    assert_eq!(content, "seen\n[2 of 3 pictures were left out: they are too large]");
}

/// The message of a request that carries this tool result.
fn answered(kind: ProviderKind, content: &str, images: Vec<Image>) -> Value {
    let p = ProviderConfig { kind, model: "m".into(), ..ProviderConfig::default() };
    let answer = Message::Tool(ToolMessage {
        call_id: CallId("c1".into()),
        name: "look".into(),
        content: content.into(),
        images,
        is_error: false,
    });
    let history = [Message::user("hi"), wire::reply("", &[("c1", "look", "{}")], None), answer];
    let sent = wire::body(&p, &history, &[], ToolChoice::Auto);
    let list = ["messages", "input", "contents"].iter().find_map(|key| sent.get(key)).unwrap();
    list.as_array().unwrap().last().unwrap().clone()
}

#[test]
fn formats_that_take_pictures_in_a_result_carry_them() {
    use ProviderKind::{Anthropic, Gemini, OpenaiResponses};
    let both = || vec![pdf(), picture()];
    let source = |media_type: &str, data: &str| json!({ "type": "base64", "media_type": media_type, "data": data });
    let blocks = json!([
        { "type": "document", "source": source("application/pdf", "JVBERi0xLjc=") },
        { "type": "image", "source": source("image/png", "iVBORw0KGgo=") },
    ]);
    assert_eq!(answered(Anthropic, " ", both())["content"][0]["content"], blocks);
    let mut told = blocks.as_array().unwrap().clone();
    told.insert(0, json!({ "type": "text", "text": "seen" }));
    assert_eq!(answered(Anthropic, "seen", both())["content"][0]["content"], Value::from(told));

    assert_eq!(
        answered(OpenaiResponses, "seen", both())["output"],
        json!([
            { "type": "input_text", "text": "seen" },
            { "type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjc=" },
            { "type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo=" },
        ])
    );
    let parts = &answered(Gemini, "seen", both())["parts"];
    assert_eq!(parts[0]["functionResponse"]["response"], json!({ "result": "seen" }));
    assert_eq!(parts[1], json!({ "inlineData": { "mimeType": "application/pdf", "data": "JVBERi0xLjc=" } }));
    assert_eq!(parts[2], json!({ "inlineData": { "mimeType": "image/png", "data": "iVBORw0KGgo=" } }));
}

#[test]
fn formats_whose_results_are_texts_get_a_note() {
    use ProviderKind::{Custom, Llamacpp, Lmstudio, Ollama, Openai, Openrouter};
    for kind in [Openai, Openrouter, Custom, Ollama, Lmstudio, Llamacpp] {
        let answer = answered(kind, "seen", vec![pdf(), picture()]);
        assert_eq!(answer["content"], format!("{NOTE}\nseen"), "{kind:?}");
    }
    let answer = Message::Tool(ToolMessage {
        call_id: CallId("c1".into()),
        name: "look".into(),
        content: "seen".into(),
        images: vec![pdf(), picture()],
        is_error: false,
    });
    let asked =
        prompt(&[Message::user("hi"), wire::reply("", &[("c1", "look", "{}")], None), answer], &[], Tools::Native);
    assert!(asked.ask.to_string().contains(NOTE), "{}", asked.ask);
}
