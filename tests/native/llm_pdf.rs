//! PDFs attached to a task: what is recognized as one, how each wire format carries it, and what a model reads that
//! accepts none.

use crate::support::wire;

use crate::support::validate;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::prompt_api::{Tools, prompt};
use turnwise_record::trajectory::export::{atif, openai};
use turnwise_record::trajectory::{Recorder, Trajectory, replay};
use wire::body;

use ProviderKind::{
    Anthropic, Custom, Gemini, Llamacpp, Lmstudio, Ollama, Openai, OpenaiResponses, Openrouter, PromptApi,
};

const URL: &str = "data:application/pdf;base64,JVBERi0xLjc=";
const NOTE: &str = "[a PDF was attached here; this model cannot read it]";

fn pdf() -> Image {
    Image::from_data_url(URL).unwrap()
}

fn picture() -> Image {
    Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() }
}

fn asked(content: &str, images: &[Image]) -> Message {
    Message::User { content: content.into(), images: images.to_vec() }
}

/// The content of the only message of a request.
fn content(kind: ProviderKind, message: Message) -> Value {
    let p = ProviderConfig { kind, model: "m".into(), ..ProviderConfig::default() };
    let mut sent = body(&p, &[message], &[], ToolChoice::Auto);
    let list = ["messages", "input", "contents"].iter().find(|key| sent.get(key).is_some()).unwrap();
    let message = &mut sent[*list][0];
    let key = if message.get("parts").is_some() { "parts" } else { "content" };
    message[key].take()
}

#[test]
fn a_pdf_is_a_data_url_like_a_picture_and_no_picture() {
    assert_eq!((pdf().data_url().as_str(), pdf().is_pdf(), picture().is_pdf()), (URL, true, false));
    assert!(Image::PICTURES.iter().all(|kind| Image::MEDIA_TYPES.contains(kind)));
    assert!(!Image::PICTURES.contains(&"application/pdf"));
    for wrong in ["data:application/pdf,x", "data:application/pdf;base64,", "data:application/zip;base64,AA==", "a.pdf"]
    {
        assert_eq!(Image::from_data_url(wrong), None, "{wrong}");
    }
}

#[test]
fn each_format_carries_a_pdf_beside_pictures_and_text() {
    let chat = json!([
        { "type": "text", "text": "Sum it up" },
        { "type": "file", "file": { "filename": "document.pdf", "file_data": URL } },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=" } },
    ]);
    let source = |media_type: &str, data: &str| json!({ "type": "base64", "media_type": media_type, "data": data });
    for (kind, expected) in [
        (Openai, chat.clone()),
        (Openrouter, chat.clone()),
        (Custom, chat),
        (
            OpenaiResponses,
            json!([
                { "type": "input_text", "text": "Sum it up" },
                { "type": "input_file", "filename": "document.pdf", "file_data": URL },
                { "type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo=" },
            ]),
        ),
        (
            Anthropic,
            json!([
                { "type": "document", "source": source("application/pdf", "JVBERi0xLjc=") },
                { "type": "image", "source": source("image/png", "iVBORw0KGgo=") },
                { "type": "text", "text": "Sum it up", "cache_control": { "type": "ephemeral" } },
            ]),
        ),
        (
            Gemini,
            json!([
                { "text": "Sum it up" },
                { "inlineData": { "mimeType": "application/pdf", "data": "JVBERi0xLjc=" } },
                { "inlineData": { "mimeType": "image/png", "data": "iVBORw0KGgo=" } },
            ]),
        ),
    ] {
        assert_eq!(content(kind, asked("Sum it up", &[pdf(), picture()])), expected, "{kind:?}");
    }
}

#[test]
fn a_model_that_takes_none_reads_a_note_in_its_place() {
    for kind in [Ollama, Lmstudio, Llamacpp, PromptApi] {
        let said = |images: &[Image], text: &str| content(kind, asked(text, images));
        assert_eq!(said(&[pdf()], "Sum it up"), json!(format!("Sum it up\n\n{NOTE}")), "{kind:?}");
        assert_eq!(said(&[pdf(), pdf()], ""), json!(format!("{NOTE}\n\n{NOTE}")), "{kind:?}");
        let both = said(&[pdf(), picture()], "a");
        assert_eq!(both[0], json!({ "type": "text", "text": format!("a\n\n{NOTE}") }), "{kind:?}");
        assert_eq!((both.as_array().unwrap().len(), &both[1]["type"]), (2, &json!("image_url")), "{kind:?}");
    }
    let asked = prompt(&[asked("Sum it up", &[pdf()])], &[], Tools::Native).ask;
    assert_eq!(asked[0]["content"][0]["value"], format!("Sum it up\n\n{NOTE}"));
}

#[test]
fn a_run_with_a_pdf_fits_the_schema_replays_and_is_exported() {
    let task = Task { images: vec![pdf(), picture()], ..crate::support::task() };
    let (mut recorder, _) = Recorder::start(crate::support::config(Preset::Research), task);
    let reply = Reply { content: "done".into(), ..Reply::default() };
    let event = Event::ModelReplied { request: RequestId(1), reply, raw: None, first_token_ms: None };
    let _ = recorder.handle(Millis(10), event);
    let document = recorder.document();
    validate(&document);
    let text = serde_json::to_string(&document).unwrap();
    let again = replay(&Trajectory::parse(&text).unwrap()).unwrap_or_else(|m| panic!("{m:?}"));
    assert_eq!(serde_json::to_string(&again.document()).unwrap(), text);

    let chat = openai::write(&document);
    assert!(
        chat.contains(&format!(r#"{{"file":{{"file_data":"{URL}","filename":"document.pdf"}},"type":"file"}}"#)),
        "{chat}"
    );
    let atif = atif::write(&document);
    assert!(atif.contains("[a PDF was attached here]") && !atif.contains("application/pdf"), "{atif}");
}

#[test]
fn a_long_pdf_weighs_more_than_a_short_one_and_a_picture_what_it_did() {
    let tokens = |images: Vec<Image>| {
        let task = Task { images, ..crate::support::task() };
        Run::start(crate::support::config(Preset::Research), task).0.context_tokens()
    };
    let of = |media_type: &str, bytes: usize| vec![Image { media_type: media_type.into(), data: "A".repeat(bytes) }];
    let none = tokens(Vec::new());
    assert_eq!(tokens(of("image/png", 1_000_000)) - none, 1_500);
    assert_eq!(tokens(of("application/pdf", 1_000)) - none, 1_500);
    assert_eq!(tokens(of("application/pdf", 1_000_000)) - none, 31_250);
}
