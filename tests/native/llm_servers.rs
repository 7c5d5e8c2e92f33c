//! What differs between servers of Chat Completions and between families of models: the ids of calls, thoughts that go back, the order
//! of messages, thoughts in the text. The comments name the public reports.

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::{ServerName, encoder, request_head};

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
        from: from.map(Author::from),
        ..AssistantMessage::default()
    })
}

fn result(id: &str) -> Message {
    let (call_id, name, content) = (CallId(id.into()), "f".to_owned(), "12".to_owned());
    Message::Tool(ToolMessage { call_id, name, content, images: Vec::new(), is_error: false })
}

fn request(p: &ProviderConfig, messages: &[Message]) -> Value {
    let (mut encoder, mut bytes) = (encoder(p, &RunConfig::default(), &[]), Vec::new());
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
    assert_eq!(sent(&minimax, &[reply(None, "a", None)])[0]["content"], "");
}

#[test]
fn what_only_one_model_can_read_goes_back_to_it_alone() {
    let with = |from: Option<&ProviderConfig>, opaque: Value| {
        Message::Assistant(AssistantMessage {
            content: "a".into(),
            opaque: Some(opaque),
            from: from.map(Author::from),
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
    assert_eq!(roles(&qwen, &concluding), ["system", "user", "assistant", "tool", "user"]);
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
    let (mut writer, mut bytes) = (encoder(&mistral, &RunConfig::default(), &[]), Vec::new());
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
    assert_eq!(beside("https://models.example.org/v1"), "");
}

#[test]
fn a_server_is_found_by_its_kind_its_host_or_its_port() {
    use ProviderKind::{Anthropic, Gemini, Llamacpp, Openai, OpenaiResponses, Openrouter};
    for (kind, base_url, expected) in [
        (Openai, "", ServerName::Openai),
        (OpenaiResponses, "https://api.openai.com/v1", ServerName::Openai),
        (Openai, " HTTPS://API.GROQ.COM:443/openai/v1 ", ServerName::Groq),
        (Openai, "https://me.openai.azure.com/openai/v1", ServerName::Azure),
        (OpenaiResponses, "https://me.services.ai.azure.com/openai/v1", ServerName::Azure),
        (Openai, "https://openai.azure.com.example.org/v1", ServerName::Other),
        (Openai, "https://notapi.groq.com/v1", ServerName::Other),
        (Openai, "https://bedrock-mantle.us-east-1.api.aws/v1", ServerName::Bedrock),
        (Openai, "https://generativelanguage.googleapis.com/v1beta/openai", ServerName::GeminiCompatible),
        (Gemini, "", ServerName::Gemini),
        (Gemini, "https://europe-west1-aiplatform.googleapis.com/v1", ServerName::Vertex),
        (Gemini, "https://proxy.example.org/v1beta", ServerName::Gemini),
        (Openai, "https://api.anthropic.com/v1", ServerName::Other),
        (Anthropic, "https://api.deepseek.com/anthropic", ServerName::Anthropic),
        (Openrouter, "https://proxy.example.org/v1", ServerName::Openrouter),
        (Openai, "http://localhost:11434/v1", ServerName::Ollama),
        (Openai, "http://192.168.0.9:1234/v1", ServerName::Lmstudio),
        (Openai, "https://models.example.org:11434/v1", ServerName::Other),
        (Llamacpp, "http://localhost:11434/v1", ServerName::Llamacpp),
        (Openai, "/llm/v1", ServerName::Other),
        (ProviderKind::Custom, "", ServerName::Page),
    ] {
        assert_eq!(ServerName::of(&ProviderConfig { kind, ..provider(base_url, "m") }), expected, "{base_url}");
    }
    for kind in ProviderKind::ALL.iter().filter(|kind| kind.is_http()) {
        let row = ServerName::of(&ProviderConfig { kind: *kind, ..provider("", "m") }).row();
        assert_eq!(row.system_midway, kind.takes_system_midway(), "{kind:?}: the engine says so to the record");
    }
}

#[test]
fn the_key_is_in_the_header_that_the_server_reads() {
    for (kind, base_url, name, value) in [
        (ProviderKind::Openai, "https://me.openai.azure.com/openai/v1", "api-key", "k"),
        (ProviderKind::Openai, "https://proxy.example.org/v1", "authorization", "Bearer k"),
        (ProviderKind::Gemini, "https://us-central1-aiplatform.googleapis.com/v1", "authorization", "Bearer k"),
        (ProviderKind::Gemini, "https://proxy.example.org/v1beta", "x-goog-api-key", "k"),
        (ProviderKind::Anthropic, "https://proxy.example.org/v1", "x-api-key", "k"),
    ] {
        let head = request_head(&ProviderConfig { kind, ..provider(base_url, "m") }, Some("k"));
        assert!(head.headers.contains(&(name.to_owned(), value.to_owned())), "{base_url}: {:?}", head.headers);
    }
}

#[test]
fn attachments_have_the_form_that_the_server_takes() {
    let image = |media_type: &str| Image { media_type: media_type.into(), data: "AA==".into() };
    let images = vec![image("image/png"), image("application/pdf")];
    let content = |base_url: &str| {
        let message = Message::User { content: "a".into(), images: images.clone() };
        sent(&provider(base_url, "m"), &[message])[0]["content"].clone()
    };
    assert_eq!(
        content("https://api.mistral.ai/v1"),
        json!([
            { "type": "text", "text": "a" },
            { "type": "image_url", "image_url": "data:image/png;base64,AA==" },
            { "type": "document_url", "document_url": "data:application/pdf;base64,AA==" },
        ])
    );
    let pdf = "[a PDF was attached here; this model cannot read it]";
    let other = content("https://models.example.org/v1");
    assert_eq!(other[0]["text"], format!("a\n\n{pdf}"));
    assert_eq!(other[1]["image_url"]["url"], "data:image/png;base64,AA==");
    // opencode#30381
    let picture = "[a picture was attached here; this model cannot read it]";
    let workers = content("https://api.cloudflare.com/client/v4/accounts/1/ai/v1");
    assert_eq!(workers, format!("a\n\n{picture}\n\n{pdf}"));
}

#[test]
fn a_call_is_demanded_in_the_word_that_the_server_takes_and_of_no_model_that_cannot_be_told() {
    let choice = |base_url: &str, options: Value, asked: AskedTool| {
        let p = ProviderConfig { provider_options: Some(options), ..provider(base_url, "m") };
        let tools = vec![plain_tool("f"), plain_tool("g")];
        let config = RunConfig { tool_choice: Some(asked), tools, ..RunConfig::default() };
        let (mut encoder, mut bytes) = (encoder(&p, &config, &[]), Vec::new());
        encoder.start(&mut bytes);
        encoder.end(&config.tools, ToolChoice::Asked, &mut bytes);
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        (body["tool_choice"].clone(), body["tools"].as_array().map_or(0, Vec::len))
    };
    let (none, named) = (|| json!({}), || AskedTool::Tool("f".into()));
    assert_eq!(choice("https://api.fireworks.ai/inference/v1", none(), AskedTool::Required), (json!("any"), 2));
    // eino#994, DeepSeek: not while it thinks, which is its default.
    for base_url in ["https://api.deepseek.com", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"] {
        assert_eq!(choice(base_url, none(), AskedTool::Required), (Value::Null, 2));
        assert_eq!(choice(base_url, none(), named()), (Value::Null, 1), "the only tool that it may call");
        assert_eq!(choice(base_url, none(), AskedTool::Auto), (json!("auto"), 2));
        for off in [json!({ "thinking": { "type": "disabled" } }), json!({ "enable_thinking": false })] {
            assert_eq!(choice(base_url, off.clone(), AskedTool::Required), (json!("required"), 2));
            let by_name = json!({ "type": "function", "function": { "name": "f" } });
            assert_eq!(choice(base_url, off, named()), (by_name, 2));
        }
    }
}

#[test]
fn a_call_that_was_repaired_goes_back_repaired() {
    let tools = RunConfig { tools: vec![plain_tool("f")], ..config(Preset::Research) };
    let ran = ToolOutcome::executed("1".into(), Some(json!({ "x": 1 })));
    let given = [("a", "f", "{'x': 1}"), ("b", "f", "{ \"x\": 1 }")];
    let played = play(tools, vec![calls("", &given), Step::Tool("f", ran), executed("f", "1"), text("done")]);
    let sent: Vec<String> = played.requests[1]
        .append
        .iter()
        .filter_map(|message| if let Message::Assistant(said) = message { Some(&said.tool_calls) } else { None })
        .flatten()
        .map(|call| call.written().to_owned())
        .collect();
    // What could be read stays as it was written.
    assert_eq!(sent, [r#"{"x":1}"#, r#"{ "x": 1 }"#]);
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

mod corrections {
    use super::*;
    use turnwise_llm::{Decoder, RetryHeaders, classify_response};

    fn refusal(p: &ProviderConfig, status: u16, body: &str) -> Retry {
        let now = EpochMillis(1_795_000_000_000);
        classify_response(p, status, &RetryHeaders::default(), "application/json", body, now).retry
    }

    fn said(text: &str) -> String {
        json!({ "error": { "message": text, "type": "invalid_request_error" } }).to_string()
    }

    #[test]
    fn a_refusal_names_what_the_next_request_does_differently() {
        use Correction::*;
        let p = provider("https://gateway.example.org/v1", "m");
        for (status, body, expected) in [
            // litellm#34569
            (400, said("Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."), Effort(ReasoningEffort::None)),
            // livekit/agents#7169
            (400, said("Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'none', 'low', 'medium', and 'high'."), Effort(ReasoningEffort::Low)),
            (400, said("Unrecognized request argument supplied: reasoning_effort"), NoEffort),
            (400, said("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."), OtherLimitName),
            // eca#231, in Mistral's shape
            (422, json!({ "object": "error", "message": { "detail": [{ "type": "extra_forbidden", "loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted", "input": 7 }] } }).to_string(), OtherLimitName),
            // crush#1590
            (422, json!({ "detail": [{ "type": "extra_forbidden", "loc": ["body", "messages", 2, "assistant", "reasoning_content"], "msg": "Extra inputs are not permitted" }] }).to_string(), DropThoughts),
            // freellmapi#1070, kilocode#10375
            (400, said("'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]"), DropThoughts),
            // continue#9720, opencode#16318
            (400, said("The `reasoning_content` in the thinking mode must be passed back to the API."), SendThoughts),
            (400, said("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"), SendThoughts),
            // pi#7961
            (400, said("`temperature` is deprecated for this model."), NoSampling),
            (400, said("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported."), NoSampling),
            // eino#994, DeepSeek
            (400, said("<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode"), NoToolChoice),
            // anon-kode#53
            (422, json!({ "detail": [{ "type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted" }] }).to_string(), NoUsageFlag),
            // vllm#41114
            (400, said("System message must be at the beginning."), OneSystemMessage),
            // zed#37021, llama.cpp#19851
            (400, json!({ "object": "error", "message": "Unexpected role 'user' after role 'tool'", "type": "invalid_request_message_order", "code": "3230" }).to_string(), AlternateRoles),
            (500, said("Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."), AlternateRoles),
            (400, json!({ "object": "error", "message": "Tool call id was call_1_1_0 but must be a-z, A-Z, 0-9, with a length of 9.", "code": "3280" }).to_string(), NineCharacterIds),
            // zeroclaw#9493
            (400, said("Invalid input: messages.2.content: expected string, received null"), EmptyText),
            (400, json!({ "error": { "message": "The encrypted content gAAA could not be verified.", "code": "invalid_encrypted_content" } }).to_string(), NoOpaque),
            (404, said("Item with id 'rs_68af' not found. Items are not persisted when `store` is set to false."), NoOpaque),
            (400, said("Item 'fc_12' of type 'function_call' was provided without its required 'reasoning' item: 'rs_12'."), NoOpaque),
            (400, said("messages.1.content.0: Invalid `signature` in `thinking` block"), NoOpaque),
            (400, said("messages.3.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."), NoOpaque),
            (400, said("Thought signature is not valid"), NoOpaque),
            (400, said("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."), NoEffort),
            (400, said("Thinking may not be enabled when tool_choice forces tool use."), NoToolChoice),
            (400, said("tool_choice 'specified' is incompatible with thinking enabled"), NoToolChoice),
            (400, said("Thinking level MINIMAL is not supported for this model."), NoEffort),
            (400, said("Budget 0 is invalid. This model only works in thinking mode."), NoEffort),
            (400, said("Invalid value: 'high'. Supported values are: 'low' and 'medium'. (reasoning.effort)"), Effort(ReasoningEffort::Medium)),
            (400, said("`reasoning_effort` must be one of `low`, `medium`, or `high`"), Effort(ReasoningEffort::Low)),
            (400, said("reasoning_effort: input should be 'none' or 'default'"), NoEffort),
            (400, said("Unrecognized request argument supplied: max_tokens"), OtherLimitName),
            (400, said("System role not supported"), NoSystemMessage),
            (500, said("Jinja Exception: System role not supported"), NoSystemMessage),
            (400, said("Developer instruction is not enabled for models/gemma-3-27b-it"), NoSystemMessage),
            (400, said("messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter."), OneSystemMessage),
            (400, json!({ "message": "Unexpected role 'system' after role 'user'", "code": "3230" }).to_string(), OneSystemMessage),
            (400, said("Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 46 instead."), PlainIds),
            (400, said("messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"), PlainIds),
            (422, json!({ "detail": [{ "type": "string_type", "loc": ["body", "messages", 2, "content"], "msg": "Input should be a valid string", "input": null }] }).to_string(), EmptyText),
            (404, said("No endpoints found that support image input"), NoImages),
            (400, said("Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text` at line 1 column 150"), NoImages),
            // roboflow#11, lmstudio-bug-tracker#362, ollama#17301
            (400, said("Invalid content type. image_url is only supported by certain models."), NoImages),
            (400, said("Model does not support images. Please use a model that does."), NoImages),
            (400, said("this model does not support image input (ref: b8bd630e)"), NoImages),
            // bedrock-access-gateway#191, hermes-agent#111043, suna#254
            (400, said("`temperature` and `top_p` cannot both be specified for this model. Please use only one."), NoSampling),
            (400, said("This model doesn't support the temperature field. Remove temperature and try again."), NoSampling),
            (400, said("litellm.UnsupportedParamsError: bedrock does not support parameters: ['temperature'], for model=deepseek.r1-v1:0."), NoSampling),
            // opencode#5034, AIClient2API#437, Antigravity-Manager#3342, claude-code-hub#518
            (500, said("Only user, assistant and tool roles are supported, got system."), NoSystemMessage),
            (400, said("messages.1.content.0.thinking.signature: Field required"), NoOpaque),
            (400, said("Invalid thought signature."), NoOpaque),
            (400, json!({ "error": { "type": "request_fail", "upstream_error": { "type": "error", "error": { "message": "messages.1.content.0: Invalid `signature` in `thinking` block" } } } }).to_string(), NoOpaque),
            // OpenAI-DotNet#500, mistral-vibe#1117
            (400, said("Unsupported parameter: 'reasoning.effort' is not supported with this model."), NoEffort),
            (400, said("reasoning_effort 'medium' is not supported by zai-glm-5-3. Supported values: ['low', 'high', 'max']"), Effort(ReasoningEffort::Low)),
            // xyntetik-runner#4, opencode#43371, one-api#60, oh-my-pi#1405, pi-subagents#248
            (400, said("unsupported tool schema: additionalProperties is only supported as false alongside declared properties"), PlainSchemas),
            (400, json!({ "error": { "message": "tool catalog refused", "code": "unsupported_keyword" } }).to_string(), PlainSchemas),
            (400, said("Invalid JSON payload received. Unknown name \"multipleOf\" at 'request.tools[0].function_declarations[22].parameters.properties[4].value.items'"), PlainSchemas),
            (400, said("Error from provider: JSON Schema not supported: could not understand the instance {required: [criteria]}"), PlainSchemas),
            (400, said("Error from provider: Conflict in schema definitions for key if. Previous: {required: [expand]}"), PlainSchemas),
            (400, said("input_schema does not support oneOf, allOf, or anyOf at the top level"), PlainSchemas),
            (400, said("Invalid JSON payload received. Unknown name \"$ref\" at 'tools[0].function_declarations[0].parameters'"), PlainSchemas),
        ] {
            assert_eq!(refusal(&p, status, &body), Retry::With(expected), "{body}");
        }
    }

    #[test]
    fn what_is_no_such_refusal_is_not_learnt_from() {
        let p = provider("https://gateway.example.org/v1", "m");
        for (status, body, expected) in [
            (400, said("Your request was malformed."), Retry::Fatal),
            // A parser for the model's calls is missing: no choice of ours helps.
            (401, said("temperature is not supported"), Retry::Fatal),
            (400, said("temperature must be between 0 and 1"), Retry::Fatal),
            (400, said("\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"), Retry::Fatal),
            (400, said("max_tokens must be at least 1"), Retry::Fatal),
            (400, said("This model does not support tools."), Retry::Fatal),
            // What was sent is repeated; it is no part of what is wrong.
            (422, json!({ "detail": [{ "type": "missing", "loc": ["body", "user"], "msg": "Field required", "input": { "content": "temperature is unsupported" } }] }).to_string(), Retry::Fatal),
            (429, said("tool_choice is not supported at this rate"), Retry::Yes),
            (500, said("stream_options are not supported"), Retry::Yes),
            (
                400,
                said("This model's maximum context length is 4096 tokens; max_tokens and max_completion_tokens count."),
                Retry::Fatal,
            ),
        ] {
            assert_eq!(refusal(&p, status, &body), expected, "{body}");
        }
        // What the user added stays; the message of the server names it.
        let added = ProviderConfig { provider_options: Some(json!({ "temperature": 0.2 })), ..p };
        assert_eq!(refusal(&added, 400, &said("`temperature` is deprecated for this model.")), Retry::Fatal);
    }

    #[test]
    fn the_next_request_is_the_one_that_was_named() {
        let p = ProviderConfig { max_output_tokens: Some(7), ..provider("http://localhost:8000/v1", "m") };
        let config = RunConfig {
            temperature: Some(0.5),
            reasoning: Some(ReasoningEffort::Low),
            tool_choice: Some(AskedTool::Required),
            tools: vec![plain_tool("f")],
            ..RunConfig::default()
        };
        let history = [
            Message::system("s"),
            Message::user("q"),
            reply(Some(&p), "call_1_1_0", None),
            result("call_1_1_0"),
            Message::user("n"),
        ];
        let body = |learnt: &[Correction]| -> Value {
            let (mut encoder, mut bytes) = (encoder(&p, &config, learnt), Vec::new());
            encoder.start(&mut bytes);
            history.iter().for_each(|message| encoder.message(message, &mut bytes));
            encoder.end(&config.tools, ToolChoice::Asked, &mut bytes);
            serde_json::from_slice(&bytes).unwrap()
        };
        let before = body(&[]);
        for field in ["stream_options", "temperature", "reasoning_effort", "tool_choice", "max_tokens"] {
            assert!(before.get(field).is_some(), "{field}");
        }
        let gone = |correction, field: &str| assert!(body(&[correction]).get(field).is_none(), "{field}");
        gone(Correction::NoUsageFlag, "stream_options");
        gone(Correction::NoSampling, "temperature");
        gone(Correction::NoEffort, "reasoning_effort");
        gone(Correction::NoToolChoice, "tool_choice");
        gone(Correction::OtherLimitName, "max_tokens");
        assert_eq!(body(&[Correction::OtherLimitName])["max_completion_tokens"], 7);
        assert_eq!(body(&[Correction::Effort(ReasoningEffort::None)])["reasoning_effort"], "none");
        let message = |correction| body(&[correction])["messages"][2].clone();
        assert_eq!(message(Correction::SendThoughts)["reasoning_content"], "thought");
        assert_eq!(message(Correction::EmptyText)["content"], "");
        assert_eq!(message(Correction::NineCharacterIds)["tool_calls"][0]["id"].as_str().unwrap().len(), 9);
        assert_eq!(body(&[Correction::AlternateRoles])["messages"].as_array().unwrap().len(), history.len() + 1);
        assert_eq!(body(&[Correction::NoSystemMessage])["messages"][0], json!({ "role": "user", "content": "s\n\nq" }));
        let id = body(&[Correction::PlainIds])["messages"][2]["tool_calls"][0]["id"].clone();
        assert!(id == "call_1_1_0" && body(&[Correction::PlainIds])["messages"][3]["tool_call_id"] == id, "{id}");
    }

    /// Settings that can be refused.
    fn asking() -> RunConfig {
        RunConfig { temperature: Some(0.5), reasoning: Some(ReasoningEffort::Low), ..config(Preset::Research) }
    }

    fn refused(correction: Correction) -> Step {
        Step::Fail(ModelError { status: Some(400), ..error(Slug::ProviderError, Retry::With(correction)) })
    }

    #[test]
    fn a_corrected_attempt_follows_at_once_at_the_same_provider_and_counts() {
        let two = RunConfig { providers: vec![provider("http://a/v1", "a"), provider("http://b/v1", "b")], ..asking() };
        let played = play(two.clone(), vec![refused(Correction::NoSampling), text("done")]);
        assert_eq!(played.fields(), "llm_complete / success / model / 1");
        let calls: Vec<_> = played.requests.iter().map(|call| (call.provider, call.learnt.clone())).collect();
        assert_eq!(calls, [(0, vec![]), (0, vec![Correction::NoSampling])]);
        assert_ne!(played.requests[0].base, played.requests[1].base);
        let attempts = &played.run().turns()[0].attempts;
        assert_eq!((attempts[0].correction, attempts[1].waited_ms), (Some(Correction::NoSampling), None));
        assert!(attempts[0].error.as_ref().unwrap().ends_with("The next request leaves out temperature and topP."));
        // The other provider comes after a failure of another kind, and has learnt nothing.
        let fail = || Step::Fail(error(Slug::ProviderError, Retry::Yes));
        let played = play(two, vec![refused(Correction::NoSampling), fail(), Step::Timer(None), text("done")]);
        let calls: Vec<_> = played.requests.iter().map(|call| (call.provider, call.learnt.len())).collect();
        assert_eq!(calls, [(0, 0), (0, 1), (1, 0)]);
    }

    #[test]
    fn in_every_format_pictures_and_system_messages_can_be_left_out() {
        let picture = Image { media_type: "image/png".into(), data: "aGk=".into() };
        let mut with_picture = result("call_1_1_0");
        if let Message::Tool(tool) = &mut with_picture {
            tool.images.push(picture.clone());
        }
        let history = [
            Message::system("s"),
            Message::User { content: "q".into(), images: vec![picture] },
            reply(None, "call_1_1_0", None),
            with_picture,
            Message::system("later"),
        ];
        for kind in [ProviderKind::Openai, ProviderKind::OpenaiResponses, ProviderKind::Anthropic, ProviderKind::Gemini]
        {
            let p = ProviderConfig { kind, model: "m".into(), ..ProviderConfig::default() };
            let body = |learnt: &[Correction]| {
                let (mut encoder, mut bytes) = (encoder(&p, &RunConfig::default(), learnt), Vec::new());
                encoder.start(&mut bytes);
                history.iter().for_each(|message| encoder.message(message, &mut bytes));
                let mut fork = encoder.fork();
                fork.end(&[], ToolChoice::None, &mut bytes);
                let value: Value = serde_json::from_slice(&bytes).unwrap();
                value.to_string()
            };
            assert!(body(&[]).contains("aGk="), "{kind:?}");
            let without = body(&[Correction::NoImages]);
            assert!(!without.contains("aGk=") && without.contains("[a picture was attached here"), "{without}");
            let without = body(&[Correction::NoSystemMessage]);
            assert!(!without.to_lowercase().contains("system"), "{without}");
        }
    }

    #[test]
    fn a_refusal_inside_a_stream_is_learnt_from_before_the_reply_begins() {
        let p = provider("https://gateway.example.org/v1", "m");
        let answer = |p: &ProviderConfig, begun: bool| {
            let mut decoder = Decoder::new(p);
            if begun {
                decoder.push(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n");
            }
            decoder.push(
                b"data: {\"error\":{\"code\":400,\"message\":\"`temperature` is deprecated for this model.\"}}\n\n",
            );
            decoder.finish().0.unwrap_err().retry
        };
        assert_eq!(answer(&p, false), Retry::With(Correction::NoSampling));
        assert_eq!(answer(&p, true), Retry::Fatal);
        let added = ProviderConfig { provider_options: Some(json!({ "temperature": 0.2 })), ..p };
        assert_eq!(answer(&added, false), Retry::Fatal);
    }

    #[test]
    fn a_refusal_of_what_the_run_does_not_send_teaches_nothing() {
        let played = play(config(Preset::Research), vec![refused(Correction::NoSampling)]);
        assert_eq!((played.fields(), played.requests.len()), ("llm_error / failed / system / 1".to_owned(), 1));
    }

    #[test]
    fn what_was_learnt_holds_for_the_run() {
        let tools = RunConfig { tools: vec![plain_tool("f")], ..config(Preset::Research) };
        let script =
            vec![refused(Correction::NoEffort), calls("", &[("a", "f", "{}")]), executed("f", "1"), text("done")];
        let played = play(tools, script);
        let learnt: Vec<usize> = played.requests.iter().map(|call| call.learnt.len()).collect();
        assert_eq!(learnt, [0, 1, 1]);
    }

    #[test]
    fn a_template_that_says_the_same_again_gets_no_system_message() {
        // autogen#1037
        let refusals = [Correction::AlternateRoles, Correction::AlternateRoles].map(refused);
        let played = play(asking(), refusals.into_iter().chain([text("done")]).collect());
        assert_eq!(played.fields(), "llm_complete / success / model / 1");
        assert_eq!(played.requests[2].learnt, [Correction::AlternateRoles, Correction::NoSystemMessage]);
    }

    #[test]
    fn the_same_refusal_twice_is_final_and_so_are_three_in_a_row() {
        let played = play(asking(), vec![refused(Correction::NoEffort), refused(Correction::NoEffort)]);
        assert_eq!(played.fields(), "llm_error / failed / system / 1");
        assert_eq!(played.requests.len(), 2);
        let more = RunConfig { max_attempts: 8, ..asking() };
        let three = [Correction::NoEffort, Correction::NoSampling, Correction::NoUsageFlag];
        let played = play(more, three.into_iter().map(refused).collect());
        assert_eq!(played.fields(), "llm_error / failed / system / 1");
        assert_eq!(played.requests.len(), 3);
        // With one attempt nothing is tried again.
        let once = RunConfig { max_attempts: 1, ..asking() };
        let played = play(once, vec![refused(Correction::NoEffort)]);
        assert_eq!((played.fields(), played.requests.len()), ("llm_error / failed / system / 1".to_owned(), 1));
    }
}
