//! A conversation as prompts of Chrome's built-in model, and its answers as chat completions.

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::Decoder;
use turnwise_llm::prompt_api::{Tools, completion, prompt};

fn lookup() -> ToolSpec {
    ToolSpec {
        name: "lookup".into(),
        description: "Looks a word up".into(),
        parameters: json!({ "type": "object", "properties": { "word": { "type": "string" } } }),
        may_finish: false,
        side_effect: SideEffect::None,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    }
}

fn history() -> Vec<Message> {
    let call = ToolCall::new(CallId("c1".into()), "lookup".into(), r#"{"word":"a"}"#.into());
    let tool = |is_error, content: &str| {
        Message::Tool(ToolMessage {
            call_id: CallId("c1".into()),
            name: "lookup".into(),
            content: content.into(),
            images: Vec::new(),
            is_error,
        })
    };
    vec![
        Message::system("be brief"),
        Message::user("look up a"),
        Message::Assistant(AssistantMessage {
            content: "I look.".into(),
            tool_calls: vec![call],
            ..AssistantMessage::default()
        }),
        tool(false, "A"),
        tool(true, "no such word"),
        Message::system("conclude"),
        Message::user("system notice: go on"),
    ]
}

fn text(value: &str) -> Value {
    json!({ "type": "text", "value": value })
}

#[test]
fn native_tools_are_parts_of_their_own() {
    let asked = prompt(&history(), &[lookup()], Tools::Native);
    let answer = |rest: Value| {
        let mut value = json!({ "callID": "c1", "name": "lookup" });
        value.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        json!({ "type": "tool-response", "value": value })
    };
    assert_eq!(
        asked.initial,
        json!([
            { "role": "system", "content": "be brief" },
            { "role": "user", "content": [text("look up a")] },
            { "role": "assistant", "content": [
                text("I look."),
                { "type": "tool-call", "value": { "callID": "c1", "name": "lookup", "arguments": { "word": "a" } } },
            ] },
            // A tool response is not combined with anything else.
            { "role": "user", "content": [
                answer(json!({ "result": [text("A")] })),
                answer(json!({ "errorMessage": "no such word" })),
            ] },
        ])
    );
    // A later system message is sent as a user message.
    assert_eq!(asked.ask, json!([{ "role": "user", "content": [text("conclude"), text("system notice: go on")] }]));
    assert_eq!(asked.tools[0]["inputSchema"], lookup().parameters);
    assert_eq!(asked.constraint, None);
}

#[test]
fn described_tools_are_text_and_a_schema() {
    let asked = prompt(&history(), &[lookup()], Tools::Described);
    let system = asked.initial[0]["content"].as_str().unwrap();
    assert!(system.starts_with("be brief") && system.contains("- lookup: Looks a word up"), "{system}");
    assert_eq!(asked.initial[2]["content"][1], text(r#"{"arguments":{"word":"a"},"tool":"lookup"}"#));
    assert_eq!(asked.ask[0]["content"][0], text("Result of lookup:\nA"));
    assert_eq!(asked.tools, json!([]));
    let schema = asked.constraint.unwrap();
    let fits = |value: Value| jsonschema::validator_for(&schema).unwrap().is_valid(&value);
    assert!(fits(json!({ "answer": "yes" })) && fits(json!({ "tool": "lookup", "arguments": { "word": "a" } })));
    assert!(
        !fits(json!({ "tool": "other", "arguments": {} })) && !fits(json!({ "tool": "lookup" })) && !fits(json!("a"))
    );
}

#[test]
fn a_conversation_that_does_not_end_with_the_user_is_asked_to_go_on() {
    let messages = &history()[..3];
    assert_eq!(prompt(messages, &[], Tools::Native).ask, json!([{ "role": "user", "content": [text("Go on.")] }]));
}

#[test]
fn every_answer_is_a_reply_that_the_decoder_reads() {
    let reply = |answer: Value, described| {
        let mut decoder = Decoder::new(&ProviderConfig { kind: ProviderKind::PromptApi, ..ProviderConfig::default() });
        decoder.push(completion(&answer, described).to_string().as_bytes());
        decoder.finish().0.unwrap()
    };
    let said = |reply: Reply| {
        let calls = reply.tool_calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect::<Vec<_>>();
        (reply.content, calls, reply.finish)
    };
    let called = |id: &str, arguments: &str| vec![(id.to_owned(), "lookup".to_owned(), arguments.to_owned())];
    let cases = [
        (json!("Hello."), false, ("Hello.", vec![], FinishReason::Stop)),
        (json!([text("I "), text("look.")]), false, ("I look.", vec![], FinishReason::Stop)),
        (
            json!([{ "type": "tool-call", "value": { "callID": "x", "name": "lookup", "arguments": { "word": "a" } } }]),
            false,
            ("", called("x", r#"{"word":"a"}"#), FinishReason::ToolCalls),
        ),
        (
            json!([{ "type": "tool-call", "value": { "name": "lookup" } }]),
            false,
            ("", called("", "{}"), FinishReason::ToolCalls),
        ),
        (
            json!(r#"{"tool":"lookup","arguments":{"word":"a"}}"#),
            true,
            ("", called("", r#"{"word":"a"}"#), FinishReason::ToolCalls),
        ),
        (json!(r#"{"answer":"Yes."}"#), true, ("Yes.", vec![], FinishReason::Stop)),
        (json!(r#"{"other":1}"#), true, (r#"{"other":1}"#, vec![], FinishReason::Stop)),
        (json!("Not JSON"), true, ("Not JSON", vec![], FinishReason::Stop)),
        (Value::Null, false, ("", vec![], FinishReason::Stop)),
    ];
    for (answer, described, (content, calls, finish)) in cases {
        assert_eq!(said(reply(answer.clone(), described)), (content.to_owned(), calls, finish), "{answer}");
    }
}
