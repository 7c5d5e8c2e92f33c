//! Further public reports of what model servers send and refuse: other providers, formats and words than in the other tests.
//!
//! "First try" counts the checks that held before anything was changed for them. The second and the third set were collected, and tried
//! once, after what the sets before had shown was mended. A check whose label names a format is of the rule behind its report. The two
//! reports on Bedrock's tools have three checks now, one at first. Where a report shows a part of a body, the rest is as its format has it.
//!
//! | kind | reports | first try | now |
//! | --- | --- | --- | --- |
//! | no arguments | aichat#1217, hermes-agent-evolution#1170, hermes-agent#83937, langflow#7823, openai-agents-js#664, ogx#3456, bedrock-engineer#188, pydantic-ai#1407, obsidian-systemsculpt-ai#242, vllm#19419 | 12 of 16 | 16 of 16 |
//! | tools refused unless a parameter | pipecat#4043, scenario#878, AutoGLM-GUI#396, oh-my-pi#341, DeepSeek-V3#1376, rakazo#114, vellum-assistant#32428, skim#41, llm-jp-judge#56, litellm#40735, oh-my-pi#1227 | 6 of 11 | 15 of 15 |
//! | the name of the limit | opencode#37964, ProxyAI#927, phoenix#7144, copilot-api#164, void#128, MaxKB#2912, ChatMock#103, opencrabs#1059, catwalk#41, databricks-sdk-go#1183 | 10 of 11 | 11 of 11 |
//! | thoughts that must come back | AutoGLM-GUI#396, deer-flow#2990, hermes-agent#22313, hermes-agent#16748, cursor-byok#276, picoclaw#3230, securo#884, oai-compatible-copilot#49 | 3 of 8 | 8 of 8 |
//! | thoughts between tags in the text | sglang#36285, LifeOS#568, qwen-code#6033, vllm-mlx#599, ollama#18288, qwen-code#10791, openclaw#46205 | 3 of 8 | 8 of 8 |
//! | ids that fit the server | experiential#801, nodetool#4252, forgecode#1142, ClawRouter#17, fastllm#42, openclaw#57672, omlx#1997, SillyTavern#5948 | 9 of 10 | 10 of 10 |
//! | too long, in other words | pi#6262, opencode#27519, harness-sdk#3722, harness-sdk#3969, harness-sdk#1663, cursor-byok#129, Einstein-GPT-for-Developers#228, pi#4563, pi#2626, gemini-cli#11916, bolt.new#7414, Empryo#52, docker-agent#2819 | 10 of 14 | 14 of 14 |
//! | the order of messages | Qwen#956, claude-code#73821, claude-code#63454, hermes-agent#20913, avante.nvim#2695, dsh-plugin-subscriptions#22, ai#2047, vscode#299295, gemini-cli#26486 | 6 of 9 | 9 of 9 |
//! | a bad sample that the server names | ollama#17638, oh-my-pi#3899, harness-sdk#649, ai#6916, accelerated-intelligent-document-processing-on-aws#911, pydantic-ai#3300, sub2api#7098, hermes-agent#83882, opencode#46193 | 4 of 13 | 13 of 13 |
//! | waits | CLIProxyAPI#1666, codegraff2#90, pi#2851, zerogravity#19, marketing-dashboard#11, gemini-for-kubernetes-development#1215, claude-code-proxy#139, kandev#3811 | 2 of 9 | 9 of 9 |
//! | arguments begun twice | ogx#5462, cogito#66, hermes-agent#26053, 9router#1573, vllm#34887 | 10 of 10 | 10 of 10 |
//! | addresses with a query | securityonion#15841, llmcord#110, llm#178, cairn#106, xum#3938, token_proxy#313, paritok-4b-v1#6, cst#742 | 9 of 11 | 11 of 11 |
//! | refused opaque thoughts | codex#3239, codex#8100, sub2api#2863, continue#9628, CLIProxyAPI#2381, opencode#4832, vscode-unify-chat-provider#178 | 9 of 10 | 10 of 10 |
//! | one odd field | opencode#28427, ai#7417, ai#1610, rig#688, litellm#29167, axonhub#645, AIClient2API#157, proxy#9, cherry-studio#20940, langchainjs#10742, big-AGI#871 | 11 of 15 | 15 of 15 |
//! | errors inside a stream | clicky#132, CLIProxyAPI#4980, ccLoad#69, OmniRoute#8210, better-ccflare#449, pi#1458, langchain#39178, VTCode#731, unsloth#9390, llm-d-inference-sim#596, codegraff#748, ragflow#19498 | 12 of 12 | 12 of 12 |
//! | thoughts among the parts | req_llm#742, ai#2422, ai#17779, promptfoo#6544, openclaw#67203, prism#862 | 6 of 8 | 8 of 8 |
//! | calls in pieces | smolagents#1958, langchain#35281, plexus#691, dynamo#4723, Qwen-Agent#943, hermes-agent#11984, bifrost#1829, zeroclaw#2136, ihub-apps#1722 | 9 of 9 | 9 of 9 |
//! | second set, all kinds | hermes-agent#23435, claude-code-router#1215, open-interpreter#215, oai-compatible-copilot#171, GenerativeAIExamples#113, Antigravity-Manager#498, cc-connect#897, inference-perf#695, term-llm#97, OmniRoute#858, TeXRA#9865, dirge#818, continue#9800, dify#4452, physics-intern#14, tt-inference-server#3273, modelship#187, fantasy#195, spiceai#4810, lmstudio-bug-tracker#830, pi#6225 | 17 of 20 | 20 of 20 |
//! | third set, all kinds | copilot-more#35, semantic-kernel#10277, text-generation-inference#3198, puter#1251, 9router#846, better-chatbot#107, DeepSeek-v4-Flash-Vision-Exp-DSpark-1M-NVFP4-KV-2x-DGX-Spark#16, sub2api#6629, gajae-code#1895 | 8 of 9 | 9 of 9 |

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::{Decoder, RetryHeaders, classify_response, encoder, request_head, server};
use turnwise_tools::arguments::Validators;

use crate::support::pattern::pattern;
use crate::support::plain_tool;

use Correction::*;
use ProviderKind::{Anthropic, Gemini, Openai, OpenaiResponses, Openrouter};

const NOW: EpochMillis = EpochMillis(1_795_000_000_000);
const GATEWAY: &str = "https://gateway.example.org/v1";

/// The reports of one kind. All of them are tried; what fails is listed with its source at the end.
#[derive(Default)]
struct Reports {
    tried: usize,
    failed: Vec<String>,
}

impl Reports {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, report: &str, got: T, expected: T) {
        self.holds(report, got == expected, &format!("{got:?}, not {expected:?}"));
    }

    fn holds(&mut self, report: &str, holds: bool, got: &str) {
        self.tried += 1;
        if !holds {
            self.failed.push(format!("{report}: {got}"));
        }
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        let Reports { tried, failed } = self;
        let right = *tried - failed.len();
        assert!(failed.is_empty() || std::thread::panicking(), "{right} of {tried}\n{}", failed.join("\n"));
    }
}

fn at(kind: ProviderKind, base_url: &str, model: &str) -> ProviderConfig {
    ProviderConfig { kind, base_url: base_url.into(), model: model.into(), ..ProviderConfig::default() }
}

fn classify(p: &ProviderConfig, status: u16, body: &str) -> ModelError {
    classify_response(p, status, &RetryHeaders::default(), "application/json", body, NOW)
}

/// What follows a refusal by a gateway of which nothing is known.
fn refused(status: u16, body: &Value) -> Retry {
    classify(&at(Openai, GATEWAY, "m"), status, &body.to_string()).retry
}

fn message(text: &str) -> Value {
    json!({ "error": { "message": text, "type": "invalid_request_error" } })
}

fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn decode(kind: ProviderKind, stream: &str) -> Result<Reply, ModelError> {
    let mut decoder = Decoder::new(&at(kind, "", "m"));
    decoder.push(stream.as_bytes());
    let whole = decoder.finish().0;
    let mut decoder = Decoder::new(&at(kind, "", "m"));
    for part in stream.as_bytes().chunks(5) {
        decoder.push(part);
    }
    assert_eq!(decoder.finish().0, whole, "in parts: {stream}");
    whole
}

/// The thoughts and the answer of a reply, or its error.
fn texts(kind: ProviderKind, events: &[Value]) -> Result<(String, String), String> {
    decode(kind, &stream(events)).map(|reply| (reply.reasoning, reply.content)).map_err(|error| error.message)
}

/// The calls of a reply, each as its name and arguments.
fn calls(kind: ProviderKind, events: &[Value]) -> Result<Vec<String>, String> {
    let written = |call: &RawCall| format!("{} {}", call.name, call.arguments);
    decode(kind, &stream(events))
        .map(|reply| reply.tool_calls.iter().map(written).collect())
        .map_err(|error| error.message)
}

fn chunk(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta }] })
}

fn end(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

/// The events of the Messages format around blocks.
fn claude(blocks: &[Value], stop: &str) -> Vec<Value> {
    let start = json!({ "type": "message_start", "message": { "id": "m", "model": "c", "content": [] } });
    let ends =
        [json!({ "type": "message_delta", "delta": { "stop_reason": stop } }), json!({ "type": "message_stop" })];
    std::iter::once(start).chain(blocks.iter().cloned()).chain(ends).collect()
}

fn responses(events: &[Value]) -> Vec<Value> {
    let end = json!({ "type": "response.completed", "response": { "id": "r", "status": "completed" } });
    events.iter().cloned().chain([end]).collect()
}

fn gemini(parts: Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] })
}

fn gemini_end(reason: &str) -> Value {
    json!({ "candidates": [{ "finishReason": reason }] })
}

fn assistant(from: &ProviderConfig, reasoning: &str, ids: &[(&str, Option<&str>)], arguments: &str) -> Message {
    let call = |(id, wire_id): &(&str, Option<&str>)| ToolCall {
        wire_id: wire_id.map(str::to_owned),
        ..ToolCall::new(CallId((*id).into()), "f".into(), arguments.into())
    };
    Message::Assistant(AssistantMessage {
        reasoning: reasoning.into(),
        tool_calls: ids.iter().map(call).collect(),
        from: Some(Author::from(from)),
        ..AssistantMessage::default()
    })
}

fn result(id: &str) -> Message {
    let (call_id, name, content) = (CallId(id.into()), "f".to_owned(), "12".to_owned());
    Message::Tool(ToolMessage { call_id, name, content, images: Vec::new(), is_error: false })
}

fn request(
    p: &ProviderConfig,
    config: &RunConfig,
    learnt: &[Correction],
    messages: &[Message],
    choice: ToolChoice,
) -> Value {
    let (mut encoder, mut bytes) = (encoder(p, config, learnt), Vec::new());
    encoder.start(&mut bytes);
    messages.iter().for_each(|message| encoder.message(message, &mut bytes));
    encoder.end(&config.tools, choice, &mut bytes);
    serde_json::from_slice(&bytes).unwrap()
}

fn sent(p: &ProviderConfig, learnt: &[Correction], messages: &[Message]) -> Value {
    request(p, &RunConfig::default(), learnt, messages, ToolChoice::Auto)
}

fn with_tool() -> RunConfig {
    RunConfig { tools: vec![plain_tool("f")], ..RunConfig::default() }
}

#[test]
fn no_arguments() {
    let mut reports = Reports::default();
    let mut validators = Validators::new(pattern);
    validators.define(0, &json!({ "type": "object", "properties": { "limit": { "type": "integer" } } }));
    let read = |arguments: &str| {
        validators.check("f", 0, arguments).map(|read| read.value).map_err(|outcome| format!("{outcome:?}"))
    };
    let of_stream = |kind, events: &[Value]| {
        let reply = decode(kind, &stream(events)).map_err(|error| error.message)?;
        read(&reply.tool_calls.first().ok_or("no call")?.arguments)
    };
    let none = || Ok(json!({}));
    let chat = |arguments: Value| {
        let call =
            json!({ "index": 0, "id": "a", "type": "function", "function": { "name": "f", "arguments": arguments } });
        [chunk(json!({ "tool_calls": [call] })), end("tool_calls")]
    };
    reports.same("sigoden/aichat#1217", of_stream(Openai, &chat(json!(""))), none());
    // OpenRouter, GLM
    reports.same("Lexus2016/hermes-agent-evolution#1170", of_stream(Openrouter, &chat(json!(""))), none());
    reports.same("NousResearch/hermes-agent#83937", of_stream(Openai, &chat(json!(" \n"))), none());
    reports.same("langflow-ai/langflow#7823", of_stream(Openai, &chat(Value::Null)), none());
    // Claude behind the Responses format
    let call = json!({ "type": "function_call", "call_id": "toolu_01", "name": "f", "arguments": "" });
    let item = json!({ "type": "response.output_item.done", "output_index": 0, "item": call });
    reports.same("openai/openai-agents-js#664", of_stream(OpenaiResponses, &responses(&[item])), none());
    let item = json!({ "type": "response.output_item.done", "output_index": 0, "item": { "type": "function_call", "call_id": "a", "name": "f", "arguments": null } });
    reports.same("ogx-ai/ogx#3456", of_stream(OpenaiResponses, &responses(&[item])), none());
    // Bedrock: an empty text, also with its quotes
    for text in ["", "\"\"", "''"] {
        reports.same("aws-samples/bedrock-engineer#188", read(text), none());
    }
    for input in [json!(""), Value::Null] {
        let block = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "t", "name": "f", "input": input } });
        reports.same("pydantic/pydantic-ai#1407", of_stream(Anthropic, &claude(&[block], "tool_use")), none());
    }
    for call in [json!({ "name": "f" }), json!({ "name": "f", "args": [] })] {
        let events = [gemini(json!([{ "functionCall": call }])), gemini_end("STOP")];
        reports.same("SystemSculpt/obsidian-systemsculpt-ai#242", of_stream(Gemini, &events), none());
    }
    // vLLM parses the arguments of the history.
    let p = at(Openai, "http://localhost:8000/v1", "m");
    for arguments in ["", "''", "null"] {
        let body = sent(&p, &[], &[assistant(&p, "", &[("a", None)], arguments), result("a")]);
        let back = body["messages"][0]["tool_calls"][0]["function"]["arguments"].clone();
        reports.same("vllm-project/vllm#19419", back, json!("{}"));
    }
}

#[test]
fn tools_refused_unless_a_parameter() {
    let mut reports = Reports::default();
    let off = Retry::With(Effort(ReasoningEffort::None));
    let cases = [
        (
            "pipecat-ai/pipecat#4043",
            400,
            message(
                "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.",
            ),
            off,
        ),
        (
            "langwatch/scenario#878",
            400,
            json!({ "error": { "message": "litellm.BadRequestError: OpenAIException - Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.", "type": null, "param": null, "code": "400" } }),
            off,
        ),
        (
            "suyiiyii/AutoGLM-GUI#396",
            400,
            message("tool_choice 'required' is incompatible with thinking enabled"),
            Retry::With(NoToolChoice),
        ),
        (
            "can1357/oh-my-pi#341",
            400,
            json!({ "message": "The model returned the following errors: Thinking may not be enabled when tool_choice forces tool use." }),
            Retry::With(NoToolChoice),
        ),
        (
            "deepseek-ai/DeepSeek-V3#1376",
            400,
            message("Thinking mode does not support this tool_choice"),
            Retry::With(NoToolChoice),
        ),
        // OpenRouter: the effort `none`
        (
            "elie222/rakazo#114",
            400,
            json!({ "error": { "message": "Reasoning is mandatory for this endpoint and cannot be disabled.", "code": 400 } }),
            Retry::With(NoEffort),
        ),
        (
            "vellum-ai/vellum-assistant#32428",
            400,
            json!({ "message": "Reasoning is mandatory for this endpoint and cannot be disabled" }),
            Retry::With(NoEffort),
        ),
        // Ollama
        ("nikserg/skim#41", 400, json!({ "error": "invalid think value: \"none\"" }), Retry::With(NoEffort)),
        // vLLM
        (
            "llm-jp/llm-jp-judge#56",
            400,
            json!({ "object": "error", "message": "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'none'}]", "type": "BadRequestError", "code": 400 }),
            Retry::With(Effort(ReasoningEffort::Low)),
        ),
    ];
    for (report, status, body, expected) in cases {
        reports.same(report, refused(status, &body), expected);
    }
    // Bedrock: a request that offers no tools, with calls in its history
    for (report, words) in [
        (
            "BerriAI/litellm#40735",
            "litellm.UnsupportedParamsError: Bedrock doesn't support tool calling without `tools=` param specified. Pass `tools=` param OR set `litellm.modify_params = True` // `litellm_settings::modify_params: True` to add dummy tool to the request.",
        ),
        (
            "can1357/oh-my-pi#1227",
            "litellm.BadRequestError: BedrockException - {\"message\":\"The toolConfig field must be defined when using toolUse and toolResult content blocks.\"}",
        ),
    ] {
        reports.same(report, refused(400, &message(words)), Retry::With(DeclareTools));
        let p = at(Openai, GATEWAY, "m");
        let history = [Message::user("q"), assistant(&p, "", &[("a", None)], "{}"), result("a")];
        let tools = |learnt: &[Correction], choice| {
            let body = request(&p, &with_tool(), learnt, &history, choice);
            (body["tools"][0]["function"]["name"].clone(), body["tool_choice"].clone())
        };
        reports.same(report, tools(&[DeclareTools], ToolChoice::None), (json!("f"), json!("none")));
        // A server that then refuses the choice gets none, and the tools all the same.
        reports.same(report, tools(&[DeclareTools, NoToolChoice], ToolChoice::None), (json!("f"), Value::Null));
    }
}

#[test]
fn the_name_of_the_limit() {
    let mut reports = Reports::default();
    let p = |base_url: &str, model: &str| ProviderConfig { max_output_tokens: Some(7), ..at(Openai, base_url, model) };
    let name = |p: &ProviderConfig, learnt: &[Correction]| {
        let body = sent(p, learnt, &[Message::user("q")]);
        ["max_tokens", "max_completion_tokens"].into_iter().filter(|name| body.get(*name).is_some()).collect::<Vec<_>>()
    };
    let azure = p("https://a.openai.azure.com/openai/v1", "gpt-5.1");
    reports.same("anomalyco/opencode#37964", name(&azure, &[]), vec!["max_completion_tokens"]);
    reports.same(
        "carlrobertoh/ProxyAI#927",
        name(&p("https://a.openai.azure.com/openai/v1", "o3"), &[]),
        vec!["max_completion_tokens"],
    );
    reports.same(
        "Arize-ai/phoenix#7144",
        name(&p("https://a.openai.azure.com/openai/v1", "gpt-4o"), &[]),
        vec!["max_tokens"],
    );
    reports.same("caozhiyuan/copilot-api#164", refused(400, &json!({ "error": { "message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "code": "invalid_request_body" } })), Retry::With(OtherLimitName));
    // vLLM and TensorRT-LLM of 2024
    let extra = |quote: char| json!({ "object": "error", "message": format!("[{{{quote}type{quote}: {quote}extra_forbidden{quote}, {quote}loc{quote}: ({quote}body{quote}, {quote}max_completion_tokens{quote}), {quote}msg{quote}: {quote}Extra inputs are not permitted{quote}, {quote}input{quote}: 800}}]"), "type": "BadRequestError", "param": null, "code": 400 });
    reports.same("voideditor/void#128", refused(400, &extra('\'')), Retry::With(OtherLimitName));
    reports.same("1Panel-dev/MaxKB#2912", refused(400, &extra('‘')), Retry::With(OtherLimitName));
    reports.same("voideditor/void#128", name(&p(GATEWAY, "gpt-5"), &[OtherLimitName]), vec!["max_tokens"]);
    // The limit is the user's: it stays, and the words of the server say what is wrong.
    for (report, kind, body, words) in [
        (
            "RayBytes/ChatMock#103",
            OpenaiResponses,
            json!({ "detail": "Unsupported parameter: max_output_tokens" }),
            "max_output_tokens",
        ),
        (
            "adolfousier/opencrabs#1059",
            Openai,
            json!({ "status": 400, "error": "BAD REQUEST", "message": "payload validation: max_completion_tokens is limited to 16384 for qwen3.5-397b-a17b" }),
            "limited to 16384",
        ),
        (
            "charmbracelet/catwalk#41",
            Openai,
            message(
                "max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.",
            ),
            "at most 16384",
        ),
        (
            "databricks/databricks-sdk-go#1183",
            Openai,
            json!({ "error_code": "BAD_REQUEST", "message": "Bad request: rpc error: code = InvalidArgument desc = max_tokens (10000) cannot exceed 8192. Please reduce the length of max output tokens generated." }),
            "cannot exceed 8192",
        ),
    ] {
        let error = classify(&at(kind, GATEWAY, "m"), 400, &body.to_string());
        let declared =
            error.slug == Slug::ProviderError && error.retry == Retry::Fatal && error.message.contains(words);
        reports.holds(report, declared, &format!("{error:?}"));
    }
}

#[test]
fn thoughts_that_must_come_back() {
    let mut reports = Reports::default();
    // Xiaomi's MiMo, and a relay of it: the words are in `param`.
    let body = json!({ "error": { "code": "400", "message": "Param Incorrect", "param": "The reasoning_content in the thinking mode must be passed back to the API.", "type": "" } });
    reports.same("suyiiyii/AutoGLM-GUI#396", refused(400, &body), Retry::With(SendThoughts));
    let mimo = at(Openai, GATEWAY, "mimo-v2.5-pro");
    let back = sent(&mimo, &[SendThoughts], &[assistant(&mimo, "hm", &[("a", None)], "{}"), result("a")]);
    reports.same("bytedance/deer-flow#2990", back["messages"][0]["reasoning_content"].clone(), json!("hm"));
    // DeepSeek in the Messages format
    let deepseek = at(Anthropic, "https://api.deepseek.com/anthropic/v1", "deepseek-v4-pro");
    let words = "The `content[].thinking` in the thinking mode must be passed back to the API.";
    let error = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": words } });
    reports.same(
        "NousResearch/hermes-agent#22313",
        classify(&deepseek, 400, &error.to_string()).retry,
        Retry::With(SendThoughts),
    );
    for (report, from) in [
        ("NousResearch/hermes-agent#16748", &deepseek),
        // A reply without thoughts has a block, too.
        ("leookun/cursor-byok#276", &at(Openai, "", "gpt-5.4")),
    ] {
        let history = [Message::user("q"), assistant(from, "hm", &[("a", None)], "{}"), result("a")];
        let blocks = sent(&deepseek, &[SendThoughts], &history)["messages"][1]["content"].clone();
        let is_thought =
            blocks[0]["type"] == "thinking" && blocks[0]["thinking"].as_str().is_some_and(|text| !text.is_empty());
        let own = from != &deepseek || blocks[0]["thinking"] == "hm";
        reports.holds(report, is_thought && own && blocks[1]["type"] == "tool_use", &blocks.to_string());
    }
    // Gemini behind Cloudflare's gateway: the signature of a call comes back with it.
    let cloudflare = at(Openai, "https://gateway.ai.cloudflare.com/v1/a/b/compat", "google-ai-studio/gemini-3.5-flash");
    let extra = json!({ "google": { "thought_signature": "abc" } });
    let call = json!({ "index": 0, "id": "a", "extra_content": extra, "function": { "name": "f", "arguments": "{}" } });
    let opaque = decode(Openai, &stream(&[chunk(json!({ "tool_calls": [call] })), end("tool_calls")])).unwrap().opaque;
    let Message::Assistant(said) = assistant(&cloudflare, "", &[("a", None)], "{}") else { panic!() };
    let back = sent(&cloudflare, &[], &[Message::Assistant(AssistantMessage { opaque, ..said }), result("a")]);
    reports.same("sipeed/picoclaw#3230", back["messages"][0]["tool_calls"][0]["extra_content"].clone(), extra);
    // What is missing is not to be left out.
    let missing = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:update_todo_list`, position 2.";
    for (report, body) in [
        (
            "securo-finance/securo#884",
            json!([{ "error": { "code": 400, "message": missing, "status": "INVALID_ARGUMENT" } }]),
        ),
        (
            "JohnnyZ93/oai-compatible-copilot#49",
            json!({ "error": { "message": "Provider API error: Unable to submit request because function call default_api:manage_todo_list in the 3. content block is missing a thought_signature.", "type": "gemini_error" } }),
        ),
    ] {
        let retry = refused(400, &body);
        reports.holds(report, retry != Retry::With(NoOpaque), &format!("{retry:?}"));
    }
}

#[test]
fn thoughts_between_tags() {
    let mut reports = Reports::default();
    let cases: [(&str, &str, &str, &str); 8] = [
        // The template opens the thoughts; DeepSeek V4, Qwen3 and GLM close them inside a line.
        (
            "sgl-project/sglang#36285",
            "Let me reconcile the evidence... Let's write the answer.</think>The root cause is a race.",
            "Let me reconcile the evidence... Let's write the answer.",
            "The root cause is a race.",
        ),
        (
            "nbramia/LifeOS#568",
            "internal reasoning\n</think>{\"sources\":[\"calendar\"],\"reasoning\":\"ok\"}",
            "internal reasoning\n",
            "{\"sources\":[\"calendar\"],\"reasoning\":\"ok\"}",
        ),
        (
            "QwenLM/qwen-code#6033",
            "Reading the file first.\n</think>\n\nIt has 12 lines.",
            "Reading the file first.\n",
            "It has 12 lines.",
        ),
        // Mistral's tokens
        ("waybarrios/vllm-mlx#599", "[THINK]17 times 23[/THINK]391", "17 times 23", "391"),
        ("waybarrios/vllm-mlx#599", "17 times 23\n[/THINK]\n391", "17 times 23\n", "391"),
        // Gemma 4: the tokens around its thoughts
        ("ollama/ollama#18288", "1. WHERE - line 90\n\n<channel|>\n", "1. WHERE - line 90\n\n", ""),
        ("QwenLM/qwen-code#10791", "<thinking>I will look.</thinking>\n\nDone.", "I will look.", "Done."),
        // Nothing is lost where the tag is never closed.
        ("openclaw/openclaw#46205", "<think>Hello", "Hello", ""),
    ];
    for (report, text, thoughts, answer) in cases {
        let expected = Ok((thoughts.to_owned(), answer.to_owned()));
        let pieces: Vec<char> = text.chars().collect();
        for size in [1, 4, pieces.len()] {
            let mut events: Vec<Value> = pieces
                .chunks(size)
                .map(|piece| chunk(json!({ "content": piece.iter().collect::<String>() })))
                .collect();
            events.push(end("stop"));
            let got = texts(Openai, &events);
            if size == pieces.len() || got != expected {
                reports.same(report, got, expected);
                break;
            }
        }
    }
    // Not a tag: what is written about one.
    for text in [
        "Use `a</think>b` to end it.",
        "It ends with \"x</think>\", as is usual.",
        "```\nfoo.</think>Bar\n```\n",
        "Say [THINK] or [/THINK].",
        "It wrote <p>foo</think></p> there.",
    ] {
        assert_eq!(
            texts(Openai, &[chunk(json!({ "content": text })), end("stop")]),
            Ok((String::new(), text.to_owned()))
        );
    }
}

#[test]
fn ids_that_fit() {
    let mut reports = Reports::default();
    let long = "a".repeat(70);
    let other = at(Openai, "http://localhost:8000/v1", "kimi-k2");
    // OpenAI Responses: 64 characters
    let body = json!({ "error": { "message": "Invalid 'input[2].call_id': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.", "type": "invalid_request_error", "param": "input[2].call_id", "code": "string_above_max_length" } });
    reports.same("experientiallabs/experiential#801", refused(400, &body), Retry::With(PlainIds));
    let openai = at(OpenaiResponses, "", "gpt-6-astra");
    let body = sent(&openai, &[], &[Message::user("q"), assistant(&other, "", &[(&long, None)], "{}"), result(&long)]);
    let (id, of_result) = (body["input"][1]["call_id"].clone(), body["input"][2]["call_id"].clone());
    reports.holds(
        "experientiallabs/experiential#801",
        id == of_result && id.as_str().is_some_and(|id| id.len() <= 64),
        &body.to_string(),
    );
    // Only `call_id`; an `id` would have to begin with `fc`.
    reports.same("nodetool-ai/nodetool#4252", body["input"][1].get("id").cloned(), None);
    // OpenRouter has the words of Anthropic in `raw`.
    let raw = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.5.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"}}"#;
    let body = json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": { "raw": raw, "provider_name": "Google" } } });
    reports.same("tailcallhq/forgecode#1142", refused(400, &body), Retry::With(PlainIds));
    let body = json!({ "error": "Internal server error", "details": "400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.92.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'\"}}" });
    reports.same("BlockRunAI/ClawRouter#17", refused(400, &body), Retry::With(PlainIds));
    // Fireworks' and Kimi's ids at Anthropic
    let claude = at(Anthropic, "", "claude-sonnet-5");
    let kimi = [
        Message::user("q"),
        assistant(&other, "", &[("functions.search:0", None)], "{}"),
        result("functions.search:0"),
    ];
    let body = sent(&claude, &[], &kimi);
    let id = body["messages"][1]["content"][0]["id"].as_str().unwrap_or_default().to_owned();
    let is_safe = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    reports.holds("AnswerDotAI/fastllm#42", is_safe && body["messages"][2]["content"][0]["tool_use_id"] == id, &id);
    // Mistral behind OpenRouter, and its template behind a server that says 500
    let mistral = "Tool call id was exec1774786568428215 but must be a-z, A-Z, 0-9, with a length of 9.";
    let raw =
        json!({ "object": "error", "message": mistral, "type": "invalid_function_call", "code": "3280" }).to_string();
    let body = json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": { "raw": raw } } });
    reports.same("openclaw/openclaw#57672", refused(400, &body), Retry::With(NineCharacterIds));
    let router = at(Openrouter, "", "mistralai/mistral-small-2603");
    let body = sent(&router, &[], &kimi);
    reports.same("openclaw/openclaw#57672", body["messages"][2]["tool_call_id"].as_str().map(str::len), Some(9));
    reports.same("jundot/omlx#1997", refused(500, &json!({ "detail": mistral })), Retry::With(NineCharacterIds));
    // Fireworks repeats the id in each chunk.
    let piece = |arguments: &str| {
        chunk(
            json!({ "tool_calls": [{ "index": 0, "id": "chatcmpl-tool-aa62", "type": "function", "function": { "name": "f", "arguments": arguments } }] }),
        )
    };
    let reply = decode(Openai, &stream(&[piece(""), piece("{\"a\":"), piece("1}"), end("tool_calls")])).unwrap();
    let ids: Vec<&str> = reply.tool_calls.iter().map(|call| call.id.as_str()).collect();
    reports.same("SillyTavern/SillyTavern#5948", ids, vec!["chatcmpl-tool-aa62"]);
}

#[test]
fn too_long() {
    let mut reports = Reports::default();
    let cases = [
        (
            "earendil-works/pi#6262",
            400,
            message("Prompt has 256468 tokens, but the configured context size is 256000 tokens"),
        ),
        ("anomalyco/opencode#27519", 400, message("tokens in request more than max tokens allowed")),
        // Bedrock Mantle
        (
            "strands-agents/harness-sdk#3722",
            400,
            json!({ "error": { "message": "prompt tokens (1200008) exceed model maximum (1050000) for openai.gpt-5.6-terra", "code": "validation_error" } }),
        ),
        (
            "strands-agents/harness-sdk#3969",
            400,
            json!({ "message": "ValidationException: Mantle streaming error for requestId x: \"This model's maximum context length is 202752 tokens. However, you requested 65536 output tokens and your prompt contains at least 137217 input tokens\"" }),
        ),
        ("strands-agents/harness-sdk#3969", 400, json!({ "message": "too many total text bytes" })),
        (
            "strands-agents/harness-sdk#1663",
            400,
            json!({ "message": "The model returned the following errors: prompt is too long: 903884 tokens > 200000 maximum" }),
        ),
        // SiliconFlow
        (
            "leookun/cursor-byok#129",
            400,
            json!({ "code": 20015, "message": "number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.", "data": null }),
        ),
        // Salesforce
        (
            "forcedotcom/Einstein-GPT-for-Developers#228",
            400,
            message("Request input tokens exceed model token limit. Reduce the input size."),
        ),
        (
            "earendil-works/pi#4563",
            503,
            message(
                "litellm.ServiceUnavailableError: litellm.MidStreamFallbackError: litellm.APIConnectionError: APIConnectionError: OpenAIException - Requested token count exceeds the model's maximum context length of 131072 tokens.",
            ),
        ),
        (
            "earendil-works/pi#2626",
            400,
            json!({ "error": "prompt too long; exceeded max context length by 100918 tokens" }),
        ),
        (
            "google-gemini/gemini-cli#11916",
            400,
            json!([{ "error": { "code": 400, "message": "The input token count (218152) exceeds the maximum number of tokens allowed (65536).", "errors": [{ "domain": "global", "reason": "badRequest" }], "status": "INVALID_ARGUMENT" } }]),
        ),
        (
            "stackblitz/bolt.new#7414",
            400,
            message(
                "input length and max_tokens exceed context limit: 90402 + 116650 > 204648, decrease input length or max_tokens and try again",
            ),
        ),
        (
            "proxysoul/Empryo#52",
            400,
            message(
                "You passed 202753 input tokens and requested 0 output tokens. However, the model's context length is only 202752 tokens, resulting in a maximum input length of 202752 tokens.",
            ),
        ),
        (
            "docker/docker-agent#2819",
            413,
            json!({ "error": { "type": "request_too_large", "message": "Request exceeds the maximum size" } }),
        ),
    ];
    for (report, status, body) in cases {
        let error = classify(&at(Openai, GATEWAY, "m"), status, &body.to_string());
        reports.same(report, (error.slug, error.retry), (Slug::ContextGuard, Retry::Fatal));
    }
    for (status, body) in [
        // Azure
        (
            429,
            message(
                "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current OpenAI S0 pricing tier.",
            ),
        ),
        (429, message("This request would exceed your organization's rate limit of 40,000 input tokens per minute.")),
        (400, message("max_tokens (10000) cannot exceed 8192.")),
        (400, message("The number of tokens in 'stop' exceeds the limit of 4 sequences.")),
    ] {
        assert_ne!(classify(&at(Openai, GATEWAY, "m"), status, &body.to_string()).slug, Slug::ContextGuard, "{body}");
    }
}

#[test]
fn the_order_of_messages() {
    let mut reports = Reports::default();
    let cases = [
        (
            "QwenLM/Qwen#956",
            400,
            json!({ "detail": "Invalid request: Incorrect role system." }),
            Retry::With(OneSystemMessage),
        ),
        (
            "anthropics/claude-code#73821",
            400,
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "messages.67: role 'system' must precede an 'assistant' message or end the array" } }),
            Retry::With(OneSystemMessage),
        ),
        // DeepSeek
        (
            "anthropics/claude-code#63454",
            400,
            message(
                "Failed to deserialize the JSON body into the target type: messages[1].role: unknown variant system, expected user or assistant at line 1",
            ),
            Retry::With(NoSystemMessage),
        ),
        (
            "NousResearch/hermes-agent#20913",
            400,
            json!({ "object": "error", "message": "System message must be at the beginning.", "type": "BadRequestError", "code": 400 }),
            Retry::With(OneSystemMessage),
        ),
        (
            "avante-corp/avante.nvim#2695",
            400,
            json!({ "object": "error", "message": "Unexpected role 'user' after role 'tool'", "type": "invalid_request_message_order", "param": null, "code": "3230" }),
            Retry::With(AlternateRoles),
        ),
    ];
    for (report, status, body, expected) in cases {
        reports.same(report, refused(status, &body), expected);
    }
    let p = at(Openai, "", "m");
    let two = |id: &str| assistant(&p, "", &[(id, None), ("b", None)], "{}");
    let history =
        [Message::user("q"), two("a"), result("a"), result("b"), Message::system("notice"), Message::user("go on")];
    // Anthropic: the results of a reply begin the next message, one after the other.
    let body = sent(&at(Anthropic, "", "claude-sonnet-5"), &[], &history);
    let kinds: Vec<String> = body["messages"][2]["content"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|block| block["type"].as_str().unwrap_or_default().to_owned())
        .collect();
    reports.same(
        "V1ki/dsh-plugin-subscriptions#22",
        kinds,
        ["tool_result", "tool_result", "text", "text"].map(str::to_owned).to_vec(),
    );
    reports.same("vercel/ai#2047", body["messages"].as_array().map(Vec::len), Some(3));
    // Gemini: as many responses as calls in the next content, and a call only after one of the user.
    let again = [two("c"), result("c"), result("b")];
    let long: Vec<Message> = history.iter().cloned().chain(again).collect();
    let body = sent(&at(Gemini, "", "gemini-3-pro"), &[], &long);
    let contents = body["contents"].as_array().cloned().unwrap_or_default();
    let count = |content: &Value, name: &str| {
        content["parts"].as_array().into_iter().flatten().filter(|part| part.get(name).is_some()).count()
    };
    let pairs = contents.windows(2).filter(|pair| count(&pair[0], "functionCall") > 0);
    reports.holds(
        "microsoft/vscode#299295",
        pairs.clone().count() == 2
            && pairs.clone().all(|pair| count(&pair[0], "functionCall") == count(&pair[1], "functionResponse")),
        &body.to_string(),
    );
    reports.holds(
        "google-gemini/gemini-cli#26486",
        contents.windows(2).all(|pair| count(&pair[1], "functionCall") == 0 || pair[0]["role"] == "user"),
        &body.to_string(),
    );
}

#[test]
fn a_bad_sample_is_asked_for_again() {
    let mut reports = Reports::default();
    let again = |error: &ModelError| error.retry == Retry::Yes;
    let cases = [
        (
            "ollama/ollama#17638",
            500,
            json!({ "error": "error parsing tool call: raw='{\"input\":\"*** Begin Patch\"}]', err=" }),
        ),
        (
            "can1357/oh-my-pi#3899",
            500,
            json!({ "error": { "code": 500, "message": "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 557: syntax error while parsing value - invalid string: missing closing quote; last read: '\"uv run python -c'", "type": "server_error" } }),
        ),
        // Bedrock, 424 of its own and 400 of a gateway
        (
            "strands-agents/harness-sdk#649",
            424,
            json!({ "message": "Model produced invalid sequence as part of ToolUse. Please refer to the model tool use troubleshooting guide." }),
        ),
        (
            "strands-agents/harness-sdk#649",
            400,
            message(
                "An error occurred (ModelErrorException) when calling the Converse operation: Model produced invalid sequence as part of ToolUse. ",
            ),
        ),
        (
            "vercel/ai#6916",
            400,
            json!({ "error": { "message": "litellm.BadRequestError: GroqException - {\"error\":{\"message\":\"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.\",\"type\":\"invalid_request_error\",\"code\":\"tool_use_failed\",\"failed_generation\":\"\"}}", "type": null, "code": "400" } }),
        ),
    ];
    for (report, status, body) in cases {
        let error = classify(&at(Openai, GATEWAY, "m"), status, &body.to_string());
        reports.holds(report, again(&error), &format!("{error:?}"));
    }
    let text = chunk(json!({ "content": "I will" }));
    let cases = [
        (
            "vercel/ai#6916",
            Openai,
            vec![
                text.clone(),
                json!({ "error": { "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.", "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": "<f>" } }),
            ],
        ),
        (
            "aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#911",
            Openai,
            vec![
                text.clone(),
                json!({ "error": { "message": "An error occurred (modelStreamErrorException) when calling the ConverseStream operation: Model produced invalid sequence as part of ToolUse. Please refer to the model tool use troubleshooting guide.", "type": "invalid_request_error" } }),
            ],
        ),
        (
            "pydantic/pydantic-ai#3300",
            Gemini,
            vec![
                json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL", "index": 0 }], "usageMetadata": { "promptTokenCount": 2595 } }),
            ],
        ),
        // Gateways pass the reasons of Gemini and Bedrock on.
        ("Wei-Shaw/sub2api#7098", Openai, vec![text.clone(), end("MALFORMED_FUNCTION_CALL")]),
        ("NousResearch/hermes-agent#83882", Openai, vec![end("malformed_function_call")]),
        ("anomalyco/opencode#46193", Openai, vec![text.clone(), end("malformed_tool_use")]),
        ("anomalyco/opencode#46193", Openai, vec![text, end("malformed_model_output")]),
        ("anomalyco/opencode#46193", Anthropic, claude(&[], "malformed_tool_use")),
    ];
    for (report, kind, events) in cases {
        let got = decode(kind, &stream(&events));
        reports.holds(report, got.as_ref().is_err_and(again), &format!("{got:?}"));
    }
}

#[test]
fn waits_that_are_asked_for() {
    let mut reports = Reports::default();
    let cases = [
        (
            "router-for-me/CLIProxyAPI#1666",
            json!({ "error": { "type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "free", "resets_at": 1_795_000_100, "resets_in_seconds": 100 } }),
            Some(100_000),
        ),
        (
            "justrach/codegraff2#90",
            json!({ "error": { "error_type": "usage_limit_reached", "plan_type": "plus", "resets_at": "2026-11-18T11:07:22Z" } }),
            Some(42_000),
        ),
        (
            "earendil-works/pi#2851",
            message("You have exhausted your capacity on this model. Your quota will reset after 12h34m16s."),
            Some(45_256_000),
        ),
        (
            "NikkeTryHard/zerogravity#19",
            json!({ "error": { "code": 429, "message": "You have exhausted your gemini-3-pro-high quota. Please try again later.", "status": "RESOURCE_EXHAUSTED", "details": [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "metadata": { "quotaResetDelay": "2.463586755s" } }, { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.463586755s" }] } }),
            Some(2_464),
        ),
        (
            "NikkeTryHard/zerogravity#19",
            json!({ "error": { "code": 429, "message": "Please try again later.", "details": [{ "metadata": { "quotaResetDelay": "2.463586755s" } }] } }),
            Some(2_464),
        ),
        (
            "builderz-labs/marketing-dashboard#11",
            json!({ "error": { "code": "rate_limit_exceeded", "message": "output_tokens rate limit exceeded — retry after 2s", "type": "rate_limit_exceeded" } }),
            Some(2_000),
        ),
        // A relay of Gemini: its body is a text in another one; the wait in it is that of letterstory/lettertrace#34.
        (
            "gke-labs/gemini-for-kubernetes-development#1215",
            json!({ "error": { "message": "{\"error\":{\"code\":429,\"message\":\"Quota exceeded\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"38s\"}]}}", "code": 429, "status": "Too Many Requests" } }),
            Some(38_000),
        ),
    ];
    for (report, body, expected) in cases {
        reports.same(report, classify(&at(Openai, GATEWAY, "m"), 429, &body.to_string()).retry_after_ms, expected);
    }
    // In the stream, the status is next to the error.
    let event = json!({ "type": "error", "status_code": 429, "error": { "type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus", "resets_at": 1_795_009_568, "resets_in_seconds": 9568 }, "headers": { "X-Codex-Primary-Window-Minutes": "300" } });
    let error = decode(OpenaiResponses, &stream(&[event])).unwrap_err();
    reports.same(
        "raine/claude-code-proxy#139",
        (error.slug, error.retry_after_ms),
        (Slug::RateLimited, Some(9_568_000)),
    );
    // A month is not waited for.
    let body = json!({ "type": "error", "error": { "type": "rate_limit_error", "message": "This request would exceed your account's monthly spend limit. Please try again later." } });
    let error = classify(&at(Anthropic, "", "claude-sonnet-5"), 429, &body.to_string());
    reports.same("kdlbs/kandev#3811", (error.slug, error.retry), (Slug::QuotaError, Retry::Fatal));
}

#[test]
fn arguments_begun_twice() {
    let mut reports = Reports::default();
    let piece = |function: Value| chunk(json!({ "tool_calls": [{ "index": 0, "id": "a", "function": function }] }));
    let first = || piece(json!({ "name": "f", "arguments": null }));
    let more =
        |arguments: &str| chunk(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": arguments } }] }));
    let boston = r#"{"location": "Boston"}"#;
    let expected = Ok(vec![format!("f {boston}")]);
    reports.same("ogx-ai/ogx#5462", calls(Openai, &[first(), more(boston), end("tool_calls")]), expected.clone());
    reports.same(
        "ogx-ai/ogx#5462",
        calls(Openai, &[piece(json!({ "name": "f", "arguments": "{}" })), more(boston), end("tool_calls")]),
        expected.clone(),
    );
    // The whole arguments again instead of the next piece
    reports.same(
        "mudler/cogito#66",
        calls(Openai, &[first(), more(boston), more(boston), end("tool_calls")]),
        expected,
    );
    let mut validators = Validators::new(pattern);
    validators.define(0, &json!({ "type": "object" }));
    let read = |text: &str| {
        validators.check("f", 0, text).map(|read| read.value).map_err(|outcome| match outcome {
            ToolOutcome::Rejected { slug, .. } => Some(slug),
            _ => None,
        })
    };
    reports.same("mudler/cogito#66", read(r#"{"a":1}{"a":1}"#), Ok(json!({ "a": 1 })));
    // Two calls in one, or one that grew: which cannot be told, so nothing runs and the model is told.
    let malformed = || Err(Some(Slug::MalformedToolCall));
    reports.same(
        "NousResearch/hermes-agent#26053",
        read(r#"{"entity": "X", "relationship": "works_at"}{"entity": "X", "relationship": "ceo_of"}"#),
        malformed(),
    );
    reports.same("decolua/9router#1573", read(r#"{"command":"cat /home"}{"command":"cat /home/wxsys"}"#), malformed());
    // Messages: `{}` at the start of a block is no part of the arguments, and what lost its start stays broken.
    let start = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "O4kbyHTo9", "name": "f", "input": {} } });
    let delta = |json: &str| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": json } });
    let whole = claude(&[start.clone(), delta("{\"code"), delta("\": \"uptime\"}")], "tool_use");
    reports.same("vllm-project/vllm#34887", calls(Anthropic, &whole), Ok(vec![r#"f {"code": "uptime"}"#.to_owned()]));
    let broken = claude(&[start.clone(), delta("code"), delta("\": \"uptime\"}")], "tool_use");
    let arguments = calls(Anthropic, &broken).unwrap()[0][2..].to_owned();
    reports.same("vllm-project/vllm#34887", read(&arguments), malformed());
    // The same in the other formats: a placeholder, then the arguments.
    let placeholder = claude(&[start, delta("{}"), delta(boston)], "tool_use");
    reports.same(
        "ogx-ai/ogx#5462, Messages",
        calls(Anthropic, &placeholder).map(|calls| read(&calls[0][2..])),
        Ok(Ok(json!({ "location": "Boston" }))),
    );
    let delta =
        |text: &str| json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "delta": text });
    let item = json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "function_call", "call_id": "a", "name": "f", "arguments": "{}" } });
    reports.same(
        "ogx-ai/ogx#5462, Responses",
        calls(OpenaiResponses, &responses(&[item, delta(boston)])).map(|calls| read(&calls[0][2..])),
        Ok(Ok(json!({ "location": "Boston" }))),
    );
}

#[test]
fn addresses_with_a_query() {
    let mut reports = Reports::default();
    let url = |kind, base_url: &str| {
        let p = at(kind, base_url, "m");
        server(&p).map(|_| request_head(&p, None).url)
    };
    let version = "http://myvllm:8000/v1?api-version=2025-01-01-preview";
    reports.same(
        "Security-Onion-Solutions/securityonion#15841",
        url(OpenaiResponses, version),
        Ok("http://myvllm:8000/v1/responses?api-version=2025-01-01-preview".to_owned()),
    );
    reports.same(
        "Security-Onion-Solutions/securityonion#15841",
        url(Openai, version),
        Ok("http://myvllm:8000/v1/chat/completions?api-version=2025-01-01-preview".to_owned()),
    );
    let azure = "https://a.openai.azure.com/openai/deployments/d";
    reports.same(
        "jakobdylanc/llmcord#110",
        url(Openai, &format!("{azure}?api-version=2025-01-01-preview")),
        Ok(format!("{azure}/chat/completions?api-version=2025-01-01-preview")),
    );
    reports.same(
        "simonw/llm#178",
        url(Openai, &format!("{azure}/?api-version=2025-01-01-preview")),
        Ok(format!("{azure}/chat/completions?api-version=2025-01-01-preview")),
    );
    // A query that may hold a key is refused before anything is sent.
    for (report, kind, base_url) in [
        ("ddutchie/cairn#106", Openai, "https://gateway.example/v1?tenant=a"),
        ("coder/xum#3938", Anthropic, "https://proxy.example/anthropic/v1?token=x"),
        ("coder/xum#3938", Anthropic, "https://proxy.example/anthropic/v1#x"),
    ] {
        let refused = url(kind, base_url);
        reports.holds(report, refused.as_ref().is_err_and(|fault| fault.contains("query")), &format!("{refused:?}"));
    }
    // The advice after 404: none of these has `/v1`.
    for (report, base_url) in [
        ("mxyhi/token_proxy#313", "https://ark.cn-beijing.volces.com/api/v3"),
        ("Paritok-official/paritok-4b-v1#6", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("fsnow/cst#742", "https://api.perplexity.ai"),
        ("jakobdylanc/llmcord#110", "https://a.openai.azure.com/openai/deployments/d?api-version=2025-01-01-preview"),
    ] {
        let said = classify(&at(Openai, base_url, "m"), 404, "").message;
        reports.holds(report, !said.contains("instead"), &said);
    }
}

#[test]
fn opaque_thoughts_that_are_refused() {
    let mut reports = Reports::default();
    let cases = [
        (
            "openai/codex#3239",
            400,
            json!({ "error": { "message": "The encrypted content for item rs_68bbb6866b78819d95a31224f799dc3d0252e016e8922fc9 could not be verified.", "type": "invalid_request_error", "param": null, "code": null } }),
        ),
        (
            "openai/codex#8100",
            400,
            json!({ "error": { "message": "litellm.BadRequestError: OpenAIException - {\n  \"error\": {\n    \"message\": \"The encrypted content gAAA...OA== could not be verified.\",\n    \"type\": \"invalid_request_error\",\n    \"code\": \"invalid_encrypted_content\"\n  }\n}. Received Model Group=gpt-5.1-codex-max", "type": null, "param": null, "code": "400" } }),
        ),
        (
            "Wei-Shaw/sub2api#2863",
            400,
            json!({ "error": { "code": "invalid_encrypted_content", "message": "The encrypted content - ** could not be verified. Reason: Encrypted content could not be decrypted or parsed.", "param": null, "type": "invalid_request_error" } }),
        ),
        (
            "continuedev/continue#9628",
            400,
            json!({ "message": "Item 'rs_05fcf8a672f793b100696ca4732bb08197ad3765d5cfa9c927' of type 'reasoning' was provided without its required following item.", "type": "invalid_request_error", "param": "input", "code": null }),
        ),
        (
            "router-for-me/CLIProxyAPI#2381",
            400,
            json!({ "error": { "message": "Item with id 'rs_037db69c59ceb65f0169c774068f0c81918788deadface5709' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", "type": "invalid_request_error", "param": "input", "code": null } }),
        ),
        (
            "anomalyco/opencode#4832",
            400,
            json!({ "error": { "message": "Corrupted thought signature.", "type": "api_error", "upstreamStatus": 400, "upstreamStatusText": "Bad Request", "upstreamResponse": { "error": { "code": 400, "message": "Corrupted thought signature.", "status": "INVALID_ARGUMENT" } } } }),
        ),
    ];
    for (report, status, body) in cases {
        reports.same(report, refused(status, &body), Retry::With(NoOpaque));
    }
    // In the stream: as an event of its own, flat, and in a response that failed.
    let words = "The encrypted content for item rs_0a18 could not be verified. Reason: Encrypted content could not be decrypted or parsed.";
    for (report, event) in [
        (
            "smallmain/vscode-unify-chat-provider#178",
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": words, "code": "invalid_encrypted_content" } }),
        ),
        (
            "smallmain/vscode-unify-chat-provider#178",
            json!({ "type": "error", "message": words, "code": "invalid_encrypted_content", "param": null }),
        ),
        (
            "smallmain/vscode-unify-chat-provider#178",
            json!({ "type": "error", "message": words, "code": null, "param": null }),
        ),
        (
            "smallmain/vscode-unify-chat-provider#178",
            json!({ "type": "response.failed", "response": { "status": "failed", "error": { "code": "invalid_encrypted_content", "message": words } } }),
        ),
    ] {
        let error = decode(OpenaiResponses, &stream(&[event])).unwrap_err();
        reports.same(report, error.retry, Retry::With(NoOpaque));
    }
}

#[test]
fn one_odd_field() {
    let mut reports = Reports::default();
    let answer = || Ok((String::new(), "36".to_owned()));
    let cases = [
        ("anomalyco/opencode#28427", Openai, vec![chunk(json!({ "role": "", "content": "36" })), end("stop")]),
        // Vercel's v0: the last chunk has no choices.
        (
            "vercel/ai#7417",
            Openai,
            vec![
                chunk(json!({ "content": "36" })),
                end("stop"),
                json!({ "id": "x", "object": "chat.completion.chunk", "usage": { "prompt_tokens": 1, "completion_tokens": 2 } }),
            ],
        ),
        ("symfony/ai#1610", Gemini, vec![gemini(json!([{ "text": "36" }])), gemini_end("STOP")]),
        (
            "0xPlaygrounds/rig#688",
            Gemini,
            vec![
                gemini(json!([{ "text": "36" }])),
                json!({ "candidates": [{ "content": { "role": "model" }, "finishReason": "STOP", "index": 0 }], "responseId": "foobar" }),
            ],
        ),
        (
            "BerriAI/litellm#29167",
            Gemini,
            vec![
                gemini(json!([{ "text": "36" }])),
                json!({ "candidates": [{ "groundingMetadata": { "webSearchQueries": [] } }] }),
                gemini_end("STOP"),
            ],
        ),
        (
            "looplj/axonhub#645",
            Gemini,
            vec![json!({ "candidates": [], "responseId": "" }), gemini(json!([{ "text": "36" }])), gemini_end("STOP")],
        ),
        (
            "justlovemaki/AIClient2API#157",
            Gemini,
            vec![gemini(json!([{ "thoughtSignature": "CiIB", "text": "36" }])), gemini_end("STOP")],
        ),
        // A block's kind in `delta`
        (
            "routatic/proxy#9",
            Anthropic,
            claude(
                &[
                    json!({ "type": "content_block_start", "index": 0, "delta": { "type": "text", "text": "" } }),
                    json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "36" } }),
                ],
                "end_turn",
            ),
        ),
        (
            "CherryHQ/cherry-studio#20940",
            OpenaiResponses,
            responses(&[
                json!({ "type": "response.reasoning_summary_part.added", "item_id": "0c9f", "part": null }),
                json!({ "type": "response.output_text.delta", "item_id": "5a1e8f1c-uuid", "delta": "36" }),
            ]),
        ),
        // The same in the other formats: a value of an unexpected type is read as missing.
        (
            "vercel/ai#7417, Gemini",
            Gemini,
            vec![
                json!({ "usageMetadata": "", "modelVersion": 3, "responseId": 7, "promptFeedback": [], "candidates": [{ "index": "0", "finishMessage": false, "content": { "parts": [{ "text": "36", "thought": "false", "thoughtSignature": false }] } }] }),
                json!({ "usageMetadata": { "promptTokenCount": "12" }, "candidates": [{ "content": "", "finishReason": "STOP" }] }),
            ],
        ),
        (
            "vercel/ai#7417, Gemini",
            Gemini,
            vec![
                json!({ "candidates": { "content": { "parts": { "text": "36" } } } }),
                json!({ "candidates": [{ "index": -1, "finishReason": false }] }),
                json!({ "candidates": [null, { "finishReason": "STOP" }], "error": {} }),
            ],
        ),
        (
            "vercel/ai#7417, Messages",
            Anthropic,
            vec![
                json!({ "type": "message_start", "message": { "id": 5, "model": null, "content": null, "usage": "" }, "error": null }),
                json!({ "type": "content_block_start", "index": "0", "content_block": { "type": "text", "text": null }, "usage": [] }),
                json!({ "type": "content_block_delta", "index": "0", "delta": { "type": "text_delta", "text": "36" }, "message": "", "error": "" }),
                json!({ "type": "content_block_stop", "index": -1 }),
                json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": "5", "output_tokens_details": 0 }, "content_block": "" }),
                json!({ "type": "message_stop" }),
            ],
        ),
    ];
    for (report, kind, events) in cases {
        reports.same(report, texts(kind, &events), answer());
    }
    // A call whose block is in `delta`, or whose pieces have an index that is a text
    let begun = json!({ "type": "content_block_start", "index": 1, "delta": { "type": "tool_use", "id": "t", "name": "f", "input": {} } });
    let piece = json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "{\"a\":1}" } });
    reports.same(
        "routatic/proxy#9",
        calls(Anthropic, &claude(&[begun, piece], "tool_use")),
        Ok(vec![r#"f {"a":1}"#.to_owned()]),
    );
    // A candidate without content says why.
    let reply = decode(
        Gemini,
        &stream(&[gemini(json!([{ "text": "3" }])), json!({ "candidates": [{ "finishReason": "SAFETY" }] })]),
    )
    .map(|reply| reply.finish);
    reports.same(
        "langchain-ai/langchainjs#10742",
        reply.map_err(|error| error.message),
        Ok(FinishReason::ContentFilter),
    );
    let blocked = json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" }, "usageMetadata": { "promptTokenCount": 4199 } });
    let error = decode(Gemini, &stream(&[blocked]));
    reports.holds(
        "enricoros/big-AGI#871",
        error.as_ref().is_err_and(|error| error.message.contains("PROHIBITED_CONTENT")),
        &format!("{error:?}"),
    );
}

#[test]
fn errors_inside_a_stream() {
    let mut reports = Reports::default();
    let overloaded = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let begun = claude(
        &[json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "Part" } })],
        "end_turn",
    )[..2]
        .to_vec();
    let cases = [
        (
            "farzaa/clicky#132",
            Anthropic,
            format!("event: error\ndata: {overloaded}\n\n"),
            (Slug::ProviderError, Retry::Yes),
            "Overloaded",
        ),
        (
            "router-for-me/CLIProxyAPI#4980",
            Anthropic,
            format!("{}event: error\ndata: {overloaded}\n\n", stream(&begun)),
            (Slug::ProviderError, Retry::Yes),
            "Overloaded",
        ),
        (
            "caidaoli/ccLoad#69",
            Anthropic,
            stream(&[
                json!({ "type": "ping" }),
                json!({ "type": "error", "error": { "type": "rate_limit_error", "message": "Concurrency limit exceeded for account, please retry later" } }),
            ]),
            (Slug::RateLimited, Retry::Yes),
            "Concurrency limit",
        ),
        (
            "diegosouzapw/OmniRoute#8210",
            Openrouter,
            stream(&[
                json!({ "id": "gen-1", "object": "chat.completion.chunk", "choices": [], "error": { "code": 502, "message": "Worker local total request limit reached (33/32)", "metadata": { "error_type": "provider_unavailable" } } }),
            ]),
            (Slug::ProviderError, Retry::Yes),
            "33/32",
        ),
        (
            "tombii/better-ccflare#449",
            Openai,
            stream(&[
                json!({ "error": { "code": "1305", "message": "The service may be temporarily overloaded, please try again later" } }),
            ]),
            (Slug::ProviderError, Retry::Yes),
            "overloaded",
        ),
        (
            "earendil-works/pi#1458",
            OpenaiResponses,
            stream(&[
                json!({ "type": "response.failed", "response": { "status": "failed", "error": { "code": "rate_limit_exceeded", "message": "Requests to the Responses Operation have exceeded token rate limit of your tier" } } }),
            ]),
            (Slug::RateLimited, Retry::Yes),
            "token rate limit",
        ),
        (
            "langchain-ai/langchain#39178",
            OpenaiResponses,
            stream(&[json!({ "type": "response.failed", "response": { "status": "failed" } })]),
            (Slug::ProviderError, Retry::Yes),
            "failed",
        ),
        (
            "vinhnx/VTCode#731",
            OpenaiResponses,
            stream(&[
                json!({ "type": "response.failed", "response": { "error": { "code": "rate_limit_exceeded", "message": "slow down" } } }),
            ]),
            (Slug::RateLimited, Retry::Yes),
            "slow down",
        ),
        (
            "unslothai/unsloth#9390",
            Openai,
            stream(&[
                chunk(json!({ "content": "Hi" })),
                json!({ "error": { "code": 400, "message": "request (2358 tokens) exceeds the available context size (2048 tokens), try increasing it", "type": "exceed_context_size_error" } }),
            ]),
            (Slug::ContextGuard, Retry::Fatal),
            "2358 tokens",
        ),
        (
            "llm-d/llm-d-inference-sim#596",
            Openai,
            stream(&[
                json!({ "error": { "message": "This model's maximum context length is 1024 tokens. However, you requested 1029 tokens (1028 in the messages, 1 in the completion).", "type": "BadRequestError", "param": null, "code": 400 } }),
            ]),
            (Slug::ContextGuard, Retry::Fatal),
            "1029",
        ),
        (
            "justrach/codegraff#748",
            Openai,
            stream(&[json!({ "error": { "type": "invalid_request_error", "message": "Unknown model" } })]),
            (Slug::ProviderError, Retry::Fatal),
            "Unknown model",
        ),
        (
            "infiniflow/ragflow#19498",
            Openai,
            stream(&[json!({ "code": 102, "message": "The dataset is not owned by you", "data": false })]),
            (Slug::ProviderError, Retry::Yes),
            "not owned",
        ),
    ];
    for (report, kind, stream, expected, words) in cases {
        match decode(kind, &stream) {
            Ok(reply) => reports.holds(report, false, &format!("{reply:?}")),
            Err(error) => reports.holds(
                report,
                (error.slug, error.retry) == expected && error.message.contains(words),
                &format!("{error:?}"),
            ),
        }
    }
}

#[test]
fn thoughts_among_the_parts() {
    let mut reports = Reports::default();
    let expected = || Ok(("Hm. So.".to_owned(), "It is 36.".to_owned()));
    let text = || chunk(json!({ "content": "It is 36." }));
    let list = |content: Value| chunk(json!({ "content": content }));
    let field = |thoughts: Value| chunk(json!({ "reasoning_content": thoughts }));
    let cases = [
        (
            "agentjido/req_llm#742",
            vec![
                list(json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm. " }] }])),
                list(json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "So." }] }])),
                text(),
            ],
        ),
        (
            "symfony/ai#2422",
            vec![list(
                json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm. So." }], "closed": true }, { "type": "text", "text": "It is 36." }]),
            )],
        ),
        // A part of another kind costs no text.
        (
            "vercel/ai#17779",
            vec![list(
                json!([{ "type": "thinking", "thinking": "Hm. So." }, { "type": "reference", "reference_ids": [1] }, { "type": "text", "text": "It is 36." }]),
            )],
        ),
        (
            "promptfoo/promptfoo#6544",
            vec![list(
                json!([{ "type": "reasoning", "reasoning": "Hm. So." }, { "type": "citation", "text": 5 }, { "type": "text", "text": "It is 36." }]),
            )],
        ),
        // The parts are in the field of the thoughts.
        (
            "openclaw/openclaw#67203",
            vec![
                field(json!([{ "type": "thinking", "content": "Hm. " }, { "type": "thinking", "content": "So." }])),
                text(),
            ],
        ),
        ("openclaw/openclaw#67203", vec![field(json!({ "type": "thinking", "content": "Hm. So." })), text()]),
        (
            "openclaw/openclaw#67203",
            vec![field(json!([])), field(json!([{ "type": "text", "text": "Hm. So." }])), text()],
        ),
    ];
    for (report, mut events) in cases {
        events.push(end("stop"));
        reports.same(report, texts(Openai, &events), expected());
    }
    let whole = json!({ "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm. So." }] }, { "type": "text", "text": "It is 36." }] } }] });
    reports.same(
        "prism-php/prism#862",
        decode(Openai, &whole.to_string()).map(|reply| (reply.reasoning, reply.content)).map_err(|error| error.message),
        expected(),
    );
}

#[test]
fn calls_come_out_whole() {
    let mut reports = Reports::default();
    let of = |pieces: &[Value]| {
        let mut events: Vec<Value> = pieces.iter().map(|piece| chunk(json!({ "tool_calls": [piece] }))).collect();
        events.push(end("tool_calls"));
        calls(Openai, &events)
    };
    let two = || Ok(vec![r#"f {"q":"Emma"}"#.to_owned(), r#"f {"q":"Woolf"}"#.to_owned()]);
    let whole = |id: Value, arguments: &str| json!({ "index": 0, "id": id, "function": { "name": "f", "arguments": arguments } });
    let (emma, woolf) = (r#"{"q":"Emma"}"#, r#"{"q":"Woolf"}"#);
    // Ollama behind LiteLLM, Bedrock, Dynamo, relays of Responses and of Gemini: index 0 for all
    reports.same("huggingface/smolagents#1958", of(&[whole(Value::Null, emma), whole(Value::Null, woolf)]), two());
    reports.same("langchain-ai/langchain#35281", of(&[whole(json!("a"), emma), whole(json!("b"), woolf)]), two());
    let begin = |id: &str| json!({ "index": 0, "id": id, "function": { "name": "f", "arguments": "" } });
    let more = |arguments: &str| json!({ "index": 0, "function": { "arguments": arguments } });
    reports.same(
        "mcowger/plexus#691",
        of(&[begin("a"), more(emma), begin("b"), more("{\"q\":"), more("\"Woolf\"}")]),
        two(),
    );
    reports.same(
        "ai-dynamo/dynamo#4723",
        calls(
            Openai,
            &[
                chunk(json!({ "tool_calls": [whole(json!("a"), emma)] })),
                chunk(json!({ "content": "\n", "tool_calls": null })),
                chunk(json!({ "tool_calls": [whole(json!("b"), woolf)] })),
                end("tool_calls"),
            ],
        ),
        two(),
    );
    // Pieces of two calls in turn
    let turn = |index: u32, function: Value| json!({ "index": index, "function": function });
    reports.same(
        "QwenLM/Qwen-Agent#943",
        of(&[
            turn(0, json!({ "name": "f", "arguments": "" })),
            turn(1, json!({ "name": "f", "arguments": null })),
            turn(0, json!({ "arguments": "{\"q\":" })),
            turn(1, json!({ "arguments": "{\"q\":\"Woolf" })),
            turn(0, json!({ "name": null, "arguments": "\"Emma\"}" })),
            turn(1, json!({ "arguments": "\"}" })),
        ]),
        two(),
    );
    // NVIDIA NIM: the whole name in each piece
    let named =
        |arguments: &str| json!({ "index": 0, "id": "a", "function": { "name": "read_file", "arguments": arguments } });
    reports.same(
        "NousResearch/hermes-agent#11984",
        of(&[named(""), named("{\"p\""), named(":1}")]),
        Ok(vec![r#"read_file {"p":1}"#.to_owned()]),
    );
    reports.same(
        "maximhq/bifrost#1829",
        of(&[
            turn(0, json!({ "name": "search", "arguments": "" })),
            turn(0, json!({ "name": "search" })),
            turn(0, json!({ "name": "search", "arguments": "{}" })),
        ]),
        Ok(vec!["search {}".to_owned()]),
    );
    // Copilot: the text in one choice, the calls in the next
    let choices = json!({ "choices": [{ "finish_reason": "tool_calls", "message": { "content": "I will look." } }, { "finish_reason": "tool_calls", "message": { "content": null, "tool_calls": [{ "id": "a", "type": "function", "function": { "name": "f", "arguments": emma } }] } }, { "finish_reason": "tool_calls", "message": { "tool_calls": [{ "id": "b", "type": "function", "function": { "name": "f", "arguments": woolf } }] } }] });
    let reply = decode(Openai, &choices.to_string())
        .map(|reply| (reply.content, reply.tool_calls.len()))
        .map_err(|error| error.message);
    reports.same("zeroclaw-labs/zeroclaw#2136", reply, Ok(("I will look.".to_owned(), 2)));
    // Gemini: a chunk for each call
    let call = |q: &str| gemini(json!([{ "functionCall": { "name": "f", "args": { "q": q } } }]));
    reports.same("intrafind/ihub-apps#1722", calls(Gemini, &[call("Emma"), call("Woolf"), gemini_end("STOP")]), two());
}

/// A second set, collected after what the first one showed was mended.
#[test]
fn the_second_set() {
    let mut reports = Reports::default();
    for (report, status, body, expected) in [
        // xAI
        (
            "NousResearch/hermes-agent#23435",
            400,
            json!({ "code": "Client specified an invalid argument", "error": "Model grok-4-0709 does not support parameter reasoningEffort." }),
            Retry::With(NoEffort),
        ),
        (
            "musistudio/claude-code-router#1215",
            400,
            json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": { "raw": "Reasoning is mandatory for this endpoint and cannot be disabled." } } }),
            Retry::With(NoEffort),
        ),
        (
            "endolith/open-interpreter#215",
            400,
            json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": { "raw": "{\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"invalid_request_error\"}}", "provider_name": "DeepSeek" } } }),
            Retry::With(SendThoughts),
        ),
        (
            "JohnnyZ93/oai-compatible-copilot#171",
            400,
            message("thinking is enabled but reasoning_content is missing in assistant tool call message at index 3"),
            Retry::With(SendThoughts),
        ),
        // NVIDIA NIM
        (
            "NVIDIA/GenerativeAIExamples#113",
            500,
            json!({ "type": "about:blank", "title": "Internal Server Error", "status": 500, "detail": "chat messages must alternate roles between 'user' and 'assistant'.  Message may have a leading 'system' role message" }),
            Retry::With(AlternateRoles),
        ),
        // Relays of Claude
        (
            "lbjlaq/Antigravity-Manager#498",
            400,
            json!({ "error": { "code": 400, "message": "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: Invalid `signature` in `thinking` block\"},\"request_id\":\"req_vrtx_011\"}", "status": "INVALID_ARGUMENT" } }),
            Retry::With(NoOpaque),
        ),
        (
            "chenhg5/cc-connect#897",
            400,
            json!({ "error": { "type": "upstream_error", "message": "data:{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: Invalid signature in thinking block (Service: BedrockRuntime, Status Code: 400)\"}}" } }),
            Retry::With(NoOpaque),
        ),
        // vLLM: the model wrote no JSON although a call was demanded.
        (
            "kubernetes-sigs/inference-perf#695",
            400,
            json!({ "error": { "message": "1 validation error for list[function-wrap[__log_extra_fields__()]]\n  Invalid JSON: EOF while parsing an object at line 1508 column 3 [type=json_invalid, input_value='[', input_type=str]", "type": "BadRequestError", "param": null, "code": 400 } }),
            Retry::Yes,
        ),
    ] {
        reports.same(report, refused(status, &body), expected);
    }
    for (report, body, expected) in [
        (
            "SamSaffron/term-llm#97",
            json!({ "error": { "message": "ChatGPT usage limit reached (pro plan). Resets in 10m 11s" } }),
            Some(611_000),
        ),
        ("diegosouzapw/OmniRoute#858", message("Your quota will reset after 27h41m36s"), Some(99_696_000)),
        (
            "LionSR/TeXRA#9865",
            json!({ "error": { "code": "1316", "message": "5-hour limit reached. Resets at 2026-11-18T11:07:22Z" } }),
            Some(42_000),
        ),
        // Without a zone, the time is not known; the words of the server have it.
        (
            "dirge-code/dirge#818",
            json!({ "error": { "code": "1308", "message": "已达到 5\n小时的使用上限。您的限额将在 2026-08-25 07:41:44 重置。" } }),
            None,
        ),
        ("continuedev/continue#9800", json!("Tokens per minute limit exceeded - too many tokens processed."), None),
    ] {
        let error = classify(&at(Openai, GATEWAY, "m"), 429, &body.to_string());
        reports.same(report, (error.slug, error.retry_after_ms), (Slug::RateLimited, expected));
    }
    let too_long = classify(
        &at(Openai, GATEWAY, "m"),
        400,
        &message("Query or prefix prompt is too long, you can reduce the prefix prompt").to_string(),
    );
    reports.same("langgenius/dify#4452", too_long.slug, Slug::ContextGuard);
    // What the model wrote is no JSON: the history has it as a text in an object.
    let p = at(Openai, "http://localhost:8000/v1", "kimi-k2.6");
    let body = sent(&p, &[], &[assistant(&p, "", &[("a", None)], "{\"path\": \"C:\\e\"}"), result("a")]);
    let back = body["messages"][0]["tool_calls"][0]["function"]["arguments"].as_str().unwrap_or_default().to_owned();
    reports.holds(
        "huggingface/physics-intern#14",
        serde_json::from_str::<Value>(&back).is_ok_and(|value| value.is_object()),
        &back,
    );
    let failed = [chunk(json!({ "content": "Hi" })), end("error")];
    reports.holds(
        "tenstorrent/tt-inference-server#3273",
        decode(Openai, &stream(&failed)).is_err_and(|error| error.retry == Retry::Yes),
        "no error",
    );
    let failed = json!({ "type": "response.failed", "sequence_number": 0, "response": { "status": "failed", "error": { "message": "Internal error during generation" } } });
    reports.holds(
        "modelship-ai/modelship#187",
        decode(OpenaiResponses, &stream(&[failed]))
            .is_err_and(|error| error.retry == Retry::Yes && error.message.contains("during generation")),
        "no error",
    );
    // Moonshot's other field
    let thoughts = [
        chunk(json!({ "reasoning": "Hm.", "reasoning_details": [{ "type": "reasoning.text", "text": "Hm." }] })),
        chunk(json!({ "content": "36" })),
        end("stop"),
    ];
    reports.same("charmbracelet/fantasy#195", texts(Openai, &thoughts), Ok(("Hm.".to_owned(), "36".to_owned())));
    let call =
        || chunk(json!({ "tool_calls": [{ "index": 0, "id": "", "function": { "name": "f", "arguments": "{}" } }] }));
    reports.same(
        "spiceai/spiceai#4810, lmstudio-ai/lmstudio-bug-tracker#830",
        calls(Openai, &[call(), end("stop")]),
        Ok(vec!["f {}".to_owned()]),
    );
    // A reply without its end is no reply.
    reports.holds(
        "earendil-works/pi#6225",
        decode(Openai, &stream(&[call()])).is_err_and(|error| error.slug == Slug::StreamCut),
        "no error",
    );
}

/// A third one, after that.
#[test]
fn the_third_set() {
    let mut reports = Reports::default();
    // GitHub Copilot
    let body = json!({ "error": { "message": "prompt token count of 93854 exceeds the limit of 90000", "param": "", "code": "", "type": "" } });
    let error = classify(&at(Openai, GATEWAY, "m"), 400, &body.to_string());
    reports.same("jjleng/copilot-more#35", error.slug, Slug::ContextGuard);
    for (report, status, body, expected) in [
        (
            "microsoft/semantic-kernel#10277",
            400,
            json!({ "message": "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again." }),
            Retry::With(AlternateRoles),
        ),
        (
            "huggingface/text-generation-inference#3198",
            422,
            json!({ "error": "Template error: syntax error: Conversation roles must alternate user/assistant/user/assistant/... (in <string>:15)", "error_type": "template_error" }),
            Retry::With(AlternateRoles),
        ),
        (
            "HeyPuter/puter#1251",
            400,
            json!({ "success": false, "error": { "delegate": "openai-completion", "message": "Error 400 from delegate `openai-completion`: 400 Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "code": "error_400_from_delegate", "$": "heyputer:api/APIError", "status": 400 } }),
            Retry::With(OtherLimitName),
        ),
        (
            "decolua/9router#846",
            400,
            json!({ "error": { "message": "[openai/gpt-5.4] [400]: {\n  \"error\": {\n    \"message\": \"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.\",\n    \"code\": \"unsupported_parameter\"\n  }\n} (reset after 30s)" } }),
            Retry::With(OtherLimitName),
        ),
    ] {
        reports.same(report, refused(status, &body), expected);
    }
    for (report, text, thoughts, answer) in [
        // Kimi-VL
        ("keinsaasforever/better-chatbot#107", "◁think▷Hm.◁/think▷36", "Hm.", "36"),
        (
            "tonyd2wild/DeepSeek-v4-Flash-Vision-Exp-DSpark-1M-NVFP4-KV-2x-DGX-Spark#16",
            "1.  The user asks for 17 times 23.\n3.  Provide the answer briefly.</think>391",
            "1.  The user asks for 17 times 23.\n3.  Provide the answer briefly.",
            "391",
        ),
    ] {
        reports.same(
            report,
            texts(Openai, &[chunk(json!({ "content": text })), end("stop")]),
            Ok((thoughts.to_owned(), answer.to_owned())),
        );
    }
    // Arguments only in the last event, or only in the first
    let added = json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "" } });
    let done = json!({ "type": "response.function_call_arguments.done", "output_index": 0, "item_id": "fc_1", "arguments": "{\"id\":1}" });
    let whole = || Ok(vec![r#"f {"id":1}"#.to_owned()]);
    reports.same("Wei-Shaw/sub2api#6629", calls(OpenaiResponses, &responses(&[added, done])), whole());
    let start = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "t", "name": "f", "input": { "id": 1 } } });
    let stop = json!({ "type": "content_block_stop", "index": 0 });
    reports.same("Yeachan-Heo/gajae-code#1895", calls(Anthropic, &claude(&[start, stop], "tool_use")), whole());
}
