//! What differs between servers of Chat Completions and between families of models: the ids of calls, thoughts that go back, the order
//! of messages, thoughts in the text. The comments name the public reports.

use serde_json::{Value, json};
use turnwise::engine::*;
use turnwise::llm::encoder;

use crate::support::*;

fn provider(base_url: &str, model: &str) -> ProviderConfig {
    ProviderConfig {
        kind: ProviderKind::Openai,
        base_url: base_url.into(),
        model: model.into(),
        ..ProviderConfig::default()
    }
}

/// A reply of `from` with one call; the engine's id and the model's.
fn reply(from: Option<&ProviderConfig>, id: &str, wire_id: Option<&str>) -> Message {
    let call = ToolCall::new(CallId(id.into()), "f".into(), "{}".into());
    Message::Assistant(AssistantMessage {
        reasoning: "thought".into(),
        tool_calls: vec![ToolCall { wire_id: wire_id.map(str::to_owned), ..call }],
        from: from.map(Origin::from),
        ..AssistantMessage::default()
    })
}

fn result(id: &str) -> Message {
    let (call_id, name, content) = (CallId(id.into()), "f".to_owned(), "12".to_owned());
    Message::Tool(ToolMessage { call_id, name, content, images: Vec::new(), is_error: false })
}

fn request(p: &ProviderConfig, messages: &[Message]) -> Value {
    let (mut encoder, mut bytes) = (encoder(p, &RunConfig::default()), Vec::new());
    encoder.start(&mut bytes);
    messages.iter().for_each(|message| encoder.message(message, &mut bytes));
    encoder.end(&[], ToolChoice::None, &mut bytes);
    serde_json::from_slice(&bytes).unwrap()
}

/// The messages of a request.
fn sent(p: &ProviderConfig, messages: &[Message]) -> Vec<Value> {
    request(p, messages)["messages"].as_array().unwrap().clone()
}

/// The id of the call, which its result has too.
fn id(p: &ProviderConfig, message: Message) -> String {
    let Message::Assistant(said) = &message else { panic!() };
    let ours = said.tool_calls[0].id.0.clone();
    let all = sent(p, &[message, result(&ours)]);
    assert_eq!(all[0]["tool_calls"][0]["id"], all[1]["tool_call_id"]);
    all[1]["tool_call_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_model_gets_its_own_ids_back_byte_for_byte() {
    // kimchi#1063, llxprt-code#712, vllm#50768
    let kimi = provider("http://localhost:8000/v1", "kimi-k2-instruct");
    assert_eq!(id(&kimi, reply(Some(&kimi), "call_1_1_0", Some("functions.f:0"))), "functions.f:0");
    // LiteLLM puts Gemini's signature into the id.
    let long = format!("call_1__thought__{}", "x/+=".repeat(400));
    assert_eq!(id(&kimi, reply(Some(&kimi), "call_1_1_0", Some(&long))), long);
    let same_place = provider("http://localhost:8000/v1/ ", "kimi-k2-instruct");
    assert_eq!(id(&same_place, reply(Some(&kimi), "call_1_1_0", Some("functions.f:0"))), "functions.f:0");
    // One of another model, of another server, of nobody.
    for other in
        [provider("http://localhost:8000/v1", "other"), provider("http://localhost:9000/v1", "kimi-k2-instruct")]
    {
        assert_eq!(id(&kimi, reply(Some(&other), "call_1_1_0", Some("functions.f:0"))), "call_1_1_0");
    }
    assert_eq!(id(&kimi, reply(None, "call_1_1_0", Some("functions.f:0"))), "call_1_1_0");
}

#[test]
fn ids_of_another_model_fit_the_rule_of_the_server() {
    let vllm = provider("http://localhost:8000/v1", "Qwen/Qwen3-8B");
    let ours = "chatcmpl-tool-c9ZCzB9b9NikK5kjPBXpFGabcdefghij";
    // vercel/ai#5171, opencode#12653: at most 40 characters.
    let openai = provider("", "gpt-5.4-mini");
    let fitted = id(&openai, reply(Some(&vllm), ours, None));
    assert_eq!((fitted.len(), &fitted[..31]), (40, &ours[..31]));
    assert_ne!(fitted, id(&openai, reply(Some(&vllm), &format!("{ours}k"), None)), "two ids stay two");
    assert_eq!(id(&openai, reply(Some(&vllm), "sub1_call_1_1_0", Some("x"))), "sub1_call_1_1_0");
    assert_eq!(id(&vllm, reply(Some(&vllm), ours, None)), ours, "its own stays");
    // Mistral: exactly nine letters and digits, also for what the engine named.
    for mistral in [
        provider("https://api.mistral.ai/v1", "mistral-large-latest"),
        provider("http://localhost:8000/v1", "mistralai/Devstral-Small-2"),
    ] {
        for (from, ours) in [(&vllm, ours), (&mistral, "call_1_1_0"), (&mistral, "sub1_call_1_1_0")] {
            let fitted = id(&mistral, reply(Some(from), ours, None));
            assert!(fitted.len() == 9 && fitted.bytes().all(|b| b.is_ascii_alphanumeric()), "{ours}: {fitted}");
        }
        assert_eq!(id(&mistral, reply(Some(&mistral), "aBcDeFg12", None)), "aBcDeFg12");
        assert_eq!(id(&mistral, reply(Some(&mistral), "sub1_call_1_1_0", Some("aBcDeFg12"))), "aBcDeFg12");
    }
}

#[test]
fn messages_and_responses_take_ids_the_same_way() {
    let anthropic = ProviderConfig { kind: ProviderKind::Anthropic, ..provider("", "claude-sonnet-5") };
    let ids = |p: &ProviderConfig, message: Message| {
        let body = request(p, &[Message::user("a"), message, result("call_1_1_0")]);
        let text = body.to_string();
        let of = |key: &str| {
            text.split(&format!("\"{key}\":\"")).nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned()
        };
        of(if p.kind == ProviderKind::Anthropic { "tool_use_id" } else { "call_id" })
    };
    assert_eq!(ids(&anthropic, reply(Some(&anthropic), "call_1_1_0", Some("toolu_1"))), "toolu_1");
    assert_eq!(ids(&anthropic, reply(None, "call_1_1_0", Some("toolu_1"))), "call_1_1_0");
    let responses = ProviderConfig { kind: ProviderKind::OpenaiResponses, ..provider("", "gpt-5.6") };
    assert_eq!(ids(&responses, reply(Some(&responses), "call_1_1_0", Some("call|1"))), "call|1");
    assert_eq!(ids(&responses, reply(Some(&anthropic), "call_1_1_0", Some("toolu_1"))), "call_1_1_0");
}

#[test]
fn the_engine_keeps_the_model_s_id_if_it_was_given_once() {
    let script = vec![
        calls("", &[("functions.f:0", "f", "{}"), ("", "f", "{}"), ("functions.f:0", "f", "{}"), ("plain", "f", "{}")]),
        executed("f", "1"),
        executed("f", "2"),
        executed("f", "3"),
        executed("f", "4"),
        text("done"),
    ];
    let config = RunConfig { tools: vec![plain_tool("f")], ..config(Preset::Research) };
    let played = play(config, script);
    let Some(Message::Assistant(said)) = played.run().messages().iter().find(|m| matches!(m, Message::Assistant(_)))
    else {
        panic!()
    };
    let ids: Vec<_> = said.tool_calls.iter().map(|call| (call.id.0.as_str(), call.wire_id.as_deref())).collect();
    assert_eq!(
        ids,
        [("call_1_1_0", Some("functions.f:0")), ("call_1_1_1", None), ("call_1_1_2", None), ("plain", None)]
    );
    assert_eq!(said.from.as_ref().map(|from| from.kind), Some(ProviderKind::Demo));
}

#[test]
fn a_model_s_id_is_kept_only_if_no_other_call_of_the_conversation_has_it() {
    let p = provider("http://localhost:8000/v1", "kimi-k2");
    let ids = |given: &str, history: Vec<Message>| {
        let config = RunConfig { tools: vec![plain_tool("f")], ..config(Preset::Research) };
        let (mut run, _) = Run::start(config, Task { history, ..task() });
        let call = RawCall { id: given.into(), name: "f".into(), arguments: "{}".into() };
        let reply = Reply { tool_calls: vec![call], finish: FinishReason::ToolCalls, ..Reply::default() };
        let request = RequestId(1);
        let _ = run.handle(Millis(1), Event::ModelReplied { request, reply, raw: None, first_token_ms: None });
        let Some(Message::Assistant(said)) = run.messages().last() else { panic!() };
        said.tool_calls[0].wire_id.clone()
    };
    let before =
        || vec![Message::system("s"), reply(Some(&p), "call_1_1_0", Some("functions.f:0")), result("call_1_1_0")];
    assert_eq!(ids("functions.f:0", vec![]).as_deref(), Some("functions.f:0"));
    assert_eq!(ids("functions.f:1", before()).as_deref(), Some("functions.f:1"));
    assert_eq!(ids("functions.f:0", before()), None, "an earlier call of the conversation has it");
    assert_eq!(ids("call_1_1_0", before()), None, "the engine gave it to an earlier call");
}

#[test]
fn where_a_message_came_from_is_no_part_of_the_hash_of_a_request() {
    let (p, config) = (provider("", "m"), RunConfig::default());
    let hash = |message: Message| history::request_hash(&config, &[message], &p, &[], ToolChoice::Auto);
    assert_eq!(hash(reply(Some(&p), "a", Some("b"))), hash(reply(None, "a", None)));
    assert_ne!(hash(reply(Some(&p), "a", Some("b"))), hash(reply(None, "b", None)));
}

#[test]
fn thoughts_go_back_to_the_model_that_wants_them_and_to_no_other() {
    let field = |p: &ProviderConfig, from: Option<&ProviderConfig>| {
        sent(p, &[reply(from, "a", None)])[0].get("reasoning_content").map(|text| text.as_str().unwrap().to_owned())
    };
    // continue#9720, zed#55321 (DeepSeek); opencode#16318, FastGPT#6357, pi#4178 (Kimi)
    for demands in [
        provider("https://api.deepseek.com/v1", "deepseek-v4-pro"),
        provider("https://api.moonshot.ai/v1", "kimi-k2.6"),
        provider("http://localhost:8000/v1", "moonshotai/Kimi-K2-Thinking"),
        provider("http://localhost:8000/v1", "deepseek-ai/DeepSeek-V4"),
    ] {
        assert_eq!(field(&demands, Some(&demands)).as_deref(), Some("thought"), "{}", demands.model);
        assert_eq!(field(&demands, Some(&provider("", "gpt-5.4"))).as_deref(), Some(" "), "of another model");
    }
    // They take them, and demand none.
    let glm = provider("https://api.z.ai/api/paas/v4", "glm-5.3");
    assert_eq!(field(&glm, Some(&glm)).as_deref(), Some("thought"));
    assert_eq!(field(&glm, Some(&provider("", "gpt-5.4"))), None);
    // freellmapi#1070, kilocode#10375, crush#1590: refused, also for models that want them elsewhere.
    for refuses in [
        provider("https://api.groq.com/openai/v1", "moonshotai/kimi-k2-instruct"),
        provider("https://api.cerebras.ai/v1", "deepseek-v4"),
        provider("https://api.mistral.ai/v1", "magistral-medium-latest"),
        provider("", "gpt-5.4"),
        provider("http://localhost:8000/v1", "Qwen/Qwen3-8B"),
    ] {
        assert_eq!(field(&refuses, Some(&refuses)), None, "{}", refuses.base_url);
    }
    let minimax = provider("https://api.minimax.io/v1", "MiniMax-M2");
    assert_eq!(sent(&minimax, &[reply(Some(&minimax), "a", None)])[0]["content"], "<think>thought</think>");
    assert_eq!(sent(&minimax, &[reply(None, "a", None)])[0]["content"], Value::Null);
}

#[test]
fn what_only_one_model_can_read_goes_back_to_it_alone() {
    let with = |from: Option<&ProviderConfig>, opaque: Value| {
        Message::Assistant(AssistantMessage {
            content: "a".into(),
            opaque: Some(opaque),
            from: from.map(Origin::from),
            ..AssistantMessage::default()
        })
    };
    let router = |model: &str| ProviderConfig { kind: ProviderKind::Openrouter, ..provider("", model) };
    let responses = |model: &str| ProviderConfig { kind: ProviderKind::OpenaiResponses, ..provider("", model) };
    let claude = |url: &str| ProviderConfig { kind: ProviderKind::Anthropic, ..provider(url, "claude-sonnet-5") };
    let gemini = |model: &str| ProviderConfig { kind: ProviderKind::Gemini, ..provider("", model) };
    let block = json!({ "type": "thinking", "thinking": "hm", "signature": "SECRET-SIGN" });
    let item = json!({ "type": "reasoning", "encrypted_content": "SECRET-SIGN" });
    let cases = [
        (json!({ "chat": [{ "type": "reasoning.text", "signature": "SECRET-SIGN" }] }), router("a/b"), router("c/d")),
        (json!({ "responses": [item, { "text": 1 }] }), responses("gpt-5.6"), responses("gpt-6")),
        (
            json!({ "anthropic": [{ "type": "thought", "size": 21, "block": block }, { "type": "text", "chars": 1 }] }),
            claude(""),
            claude("https://gateway.example.org/v1"),
        ),
        (
            json!({ "gemini": [{ "part": { "text": 1 }, "signature": "SECRET-SIGN" }] }),
            gemini("gemini-3-pro"),
            gemini("gemini-2.5-pro"),
        ),
    ];
    for (opaque, own, other) in cases {
        let has = |p: &ProviderConfig, from: Option<&ProviderConfig>| {
            request(p, &[Message::user("q"), with(from, opaque.clone()), Message::user("r")])
                .to_string()
                .contains("SECRET-SIGN")
        };
        assert!(has(&own, Some(&own)), "{:?}: its own goes back", own.kind);
        assert!(has(&own, None), "{:?}: a conversation that was passed in is taken as it is", own.kind);
        assert!(!has(&other, Some(&own)), "{:?}: another model gets none of it", own.kind);
    }
}

#[test]
fn the_order_of_messages_is_one_that_the_server_takes() {
    let roles = |p: &ProviderConfig, messages: &[Message]| -> Vec<String> {
        sent(p, messages).iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
    };
    let history = [Message::system("s"), Message::user("q"), reply(None, "a", None), result("a")];
    let concluding: Vec<Message> =
        history.iter().cloned().chain([Message::system("conclude"), Message::user("go on")]).collect();
    // vllm#41114, Qwen3.8#244: one system message, the first.
    let qwen = provider("http://localhost:8000/v1", "Qwen/Qwen3.6-27B");
    assert_eq!(roles(&qwen, &concluding), ["system", "user", "assistant", "tool", "user", "user"]);
    assert_eq!(roles(&provider("", "gpt-5.4"), &concluding), ["system", "user", "assistant", "tool", "system", "user"]);
    // zed#37021, llama.cpp#19851: no user message after a result, and roles alternate.
    let template =
        ProviderConfig { kind: ProviderKind::Llamacpp, ..provider("http://localhost:8080/v1", "Devstral-Small") };
    for mistral in [provider("https://api.mistral.ai/v1", "mistral-medium-latest"), template] {
        assert_eq!(roles(&mistral, &concluding), ["system", "user", "assistant", "tool", "assistant", "user"]);
        let all = sent(&mistral, &concluding);
        assert_eq!(all.last().unwrap()["content"], "conclude\n\ngo on");
    }
}

#[test]
fn a_bridge_comes_after_what_was_sent_before() {
    let mistral = provider("https://api.mistral.ai/v1", "mistral-medium-latest");
    let (mut writer, mut bytes) = (encoder(&mistral, &RunConfig::default()), Vec::new());
    writer.start(&mut bytes);
    for message in [Message::user("q"), reply(Some(&mistral), "aBcDeFg12", None), result("aBcDeFg12")] {
        writer.message(&message, &mut bytes);
    }
    let before = bytes.clone();
    let (mut tail, mut once) = (writer.fork(), bytes.clone());
    tail.message(&Message::user("notice"), &mut once);
    tail.end(&[], ToolChoice::None, &mut once);
    assert!(once.starts_with(&before));
    writer.message(&reply(Some(&mistral), "aBcDeFg13", None), &mut bytes);
    assert!(bytes.starts_with(&before) && !String::from_utf8(bytes).unwrap().contains("notice"));
}

#[test]
fn what_a_server_refuses_is_left_out() {
    let usage = |base_url: &str| request(&provider(base_url, "m"), &[]).get("stream_options").is_some();
    assert!(usage("") && usage("http://localhost:8000/v1"));
    assert!(!usage("https://api.mistral.ai/v1") && !usage("https://api.perplexity.ai"));
    let beside = |base_url: &str| sent(&provider(base_url, "m"), &[reply(None, "a", None)])[0]["content"].clone();
    assert_eq!(beside(""), Value::Null);
    // zeroclaw#9493
    assert_eq!(beside("https://api.cloudflare.com/client/v4/accounts/1/ai/v1"), "");
}

mod thoughts_in_the_text {
    use super::*;
    use crate::support::splits;

    fn decode(pieces: &[&str]) -> (String, String) {
        let chunk = |piece: &&str| json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] });
        let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
        let all = pieces.iter().map(chunk).chain([end]);
        let stream: String = all.map(|chunk| format!("data: {chunk}\n\n")).collect();
        let reply = splits::decode(ProviderKind::Openai, [stream.as_bytes()]).result.unwrap();
        (reply.reasoning, reply.content)
    }

    /// In pieces of each size, in which a tag is cut at each place.
    fn split(text: &str) -> (String, String) {
        let whole = decode(&[text]);
        let letters: Vec<char> = text.chars().collect();
        for size in 1..9 {
            let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            assert_eq!(decode(&pieces), whole, "{text:?} in pieces of {size}");
        }
        whole
    }

    #[test]
    fn what_is_between_the_tags_is_no_answer() {
        // opencode#43770, picoclaw#1233, AI-Studio#496, waidrin#37
        for (text, thoughts, answer) in [
            ("<think>\nHm. 50%?\n</think>\n\n36 euros.", "\nHm. 50%?\n", "36 euros."),
            ("\n <think>a</think>b </think> c", "a", "b </think> c"),
            ("<thinking>a < b</thinking>c", "a < b", "c"),
            ("<thought>größer</thought>\nja", "größer", "ja"),
            ("<think></think>\n\nno thought", "", "no thought"),
            ("<think>only thoughts", "only thoughts", ""),
            ("<think>cut </thi", "cut </thi", ""),
            // DeepSeek R1's template opens the tag itself.
            ("3 x 12.\n</think>\n\n36 euros.", "3 x 12.\n", "36 euros."),
        ] {
            assert_eq!(split(text), (thoughts.to_owned(), answer.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn texts_about_tags_stay_as_they_are() {
        for text in [
            "The tag <think> opens thoughts and </think> closes them.",
            "It ends with `</think>`.",
            "```xml\n<think>\na\n</think>\n```",
            "<thin line>",
            "<",
            "  two spaces",
            "<think",
            "a\n</think> b",
        ] {
            assert_eq!(split(text), (String::new(), text.to_owned()), "{text:?}");
        }
    }
}
