//! The simulators, a function for each service: what it refuses, as documents and reports say, in its own words. They are written from
//! those, never from the rows of the product.

use serde_json::{Value, json};
use turnwise_engine::ProviderKind;
use turnwise_engine::ReasoningEffort::{self, High, Low, Medium, Minimal, None as Off};
use turnwise_llm::ServerName;

use super::chat::{self, Verdict, extra, rule, unsupported, well_formed};
use super::formats::{self, Claude, Thinks};
use super::replies::{PLAIN, Style, Thoughts, Usage};
use super::{Refusal, said};

/// A simulated service with one of its models.
#[derive(Clone, Copy)]
pub struct Service {
    pub kind: ProviderKind,
    pub base_url: &'static str,
    pub model: &'static str,
    /// The efforts that the model has, as the run names them.
    pub efforts: &'static [ReasoningEffort],
    pub accepts: fn(&Value) -> Verdict,
    pub style: Style,
    /// How it refuses a conversation that is too long; nothing: it says nothing about it.
    pub overflow: Option<(u16, &'static str)>,
    pub no_money: (u16, &'static str),
    pub too_many: (u16, &'static str),
    pub tools: bool,
    /// Whether it takes pictures beside texts.
    pub images: bool,
}

const OVERFLOW: (u16, &str) = (
    400,
    r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
);
const TOO_MANY: (u16, &str) = (
    429,
    r#"{"error":{"message":"Rate limit reached. Please try again in 1.5s.","type":"requests","code":"rate_limit_exceeded"}}"#,
);

const CHAT: Service = Service {
    kind: ProviderKind::Openai,
    base_url: "",
    model: "",
    efforts: &[],
    accepts: well_formed,
    style: PLAIN,
    overflow: Some(OVERFLOW),
    no_money: (
        429,
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
    ),
    too_many: TOO_MANY,
    tools: true,
    images: true,
};

const REASONING_CONTENT: Style = Style { thoughts: Thoughts::Field("reasoning_content"), ..PLAIN };
const REASONING: Style = Style { thoughts: Thoughts::Field("reasoning"), ..PLAIN };
const ALL_EFFORTS: &[ReasoningEffort] = &[Off, Minimal, Low, Medium, High];
const LOW_TO_HIGH: &[ReasoningEffort] = &[Low, Medium, High];
const GPT_OSS: &[&str] = &["low", "medium", "high"];

/// The simulators of a row. A row without one does not compile.
pub fn services(name: ServerName) -> Vec<Service> {
    match name {
        ServerName::Openai => vec![
            Service { model: "gpt-5.4-mini", efforts: &[Off], accepts: openai, ..CHAT },
            Service { model: "gpt-5.6", efforts: &[Off], accepts: openai_thinking, ..CHAT },
            Service {
                kind: ProviderKind::OpenaiResponses,
                model: "gpt-5.4",
                efforts: &[Off, Low, Medium, High],
                accepts: formats::responses,
                ..CHAT
            },
        ],
        ServerName::Azure => vec![Service {
            base_url: "https://me.openai.azure.com/openai/v1",
            model: "gpt-5.4",
            efforts: &[Off],
            accepts: azure,
            // go-openai#451
            style: Style {
                first: "data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\n",
                ..PLAIN
            },
            // w23
            too_many: (
                429,
                r#"{"error":{"code":"429","message":"Requests have exceeded call rate limit. Please retry after 33 seconds."}}"#,
            ),
            ..CHAT
        }],
        ServerName::Anthropic => vec![
            claude("claude-sonnet-5", |r| {
                formats::anthropic(r, Claude { samples: false, forced: true, can_stop_thinking: true, budget: false })
            }),
            claude("claude-opus-5-5", |r| {
                formats::anthropic(r, Claude { samples: false, forced: false, can_stop_thinking: false, budget: false })
            }),
            claude("claude-sonnet-4-5", |r| {
                formats::anthropic(r, Claude { samples: true, forced: true, can_stop_thinking: true, budget: true })
            }),
        ],
        ServerName::Gemini => vec![
            google("", "gemini-3.1-pro", |r| {
                formats::gemini(r, Thinks { levels: &["low", "medium", "high"], least: 0 })
            }),
            google("", "gemini-3.5-flash", |r| {
                formats::gemini(r, Thinks { levels: &["minimal", "low", "medium", "high"], least: 0 })
            }),
            google("", "gemini-2.5-pro", |r| formats::gemini(r, Thinks { levels: &[], least: 128 })),
        ],
        ServerName::GeminiCompatible => vec![Service {
            base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
            model: "gemini-3-flash",
            accepts: gemini_compatible,
            style: Style { id: |n| format!("function-call-{n}"), signature: "abc", ..PLAIN },
            overflow: Some((
                400,
                r#"[{"error":{"code":400,"message":"The input token count (9000) exceeds the maximum number of tokens allowed (8192).","status":"INVALID_ARGUMENT"}}]"#,
            )),
            too_many: (
                429,
                r#"[{"error":{"code":429,"message":"Please retry in 1.5s.","status":"RESOURCE_EXHAUSTED"}}]"#,
            ),
            ..CHAT
        }],
        ServerName::Vertex => vec![google(
            "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google",
            "gemini-3.1-pro",
            |r| formats::gemini(r, Thinks { levels: &["low", "medium", "high"], least: 0 }),
        )],
        ServerName::Openrouter => vec![Service {
            kind: ProviderKind::Openrouter,
            model: "deepseek/deepseek-v4",
            efforts: LOW_TO_HIGH,
            accepts: openrouter,
            style: Style { thoughts: Thoughts::Details, first: ": OPENROUTER PROCESSING\n\n", ..PLAIN },
            no_money: (
                402,
                r#"{"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens."}}"#,
            ),
            // w24
            too_many: (
                429,
                r#"{"error":{"code":429,"message":"Rate limit exceeded","metadata":{"headers":{"X-RateLimit-Reset":"2"}}}}"#,
            ),
            ..CHAT
        }],
        ServerName::Mistral => vec![Service {
            base_url: "https://api.mistral.ai/v1",
            model: "mistral-small-latest",
            efforts: &[Off, High],
            accepts: mistral,
            style: Style {
                thoughts: Thoughts::Parts,
                usage: Usage::Unasked("num_cached_tokens"),
                id: |n| format!("aB3dE6g{n:02}"),
                ..PLAIN
            },
            overflow: Some((
                400,
                r#"{"object":"error","message":"Prompt contains 9000 tokens, too large for model with 8192 maximum context length","type":"invalid_request_error","code":"3051"}"#,
            )),
            too_many: (
                429,
                r#"{"object":"error","message":"Rate limit exceeded","type":"rate_limited","code":"1300"}"#,
            ),
            ..CHAT
        }],
        ServerName::Deepseek => vec![Service {
            base_url: "https://api.deepseek.com",
            model: "deepseek-v4-pro",
            efforts: &[High],
            accepts: deepseek,
            style: Style { usage: Usage::Unasked("prompt_cache_hit_tokens"), ..REASONING_CONTENT },
            // aider#4851
            no_money: (
                402,
                r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
            ),
            ..CHAT
        }],
        ServerName::Moonshot => vec![
            Service { model: "kimi-k2.6", accepts: |r| moonshot(r, false), ..kimi() },
            Service { model: "kimi-k3", efforts: &[Low, High], accepts: |r| moonshot(r, true), ..kimi() },
        ],
        ServerName::Zai => vec![Service {
            base_url: "https://api.z.ai/api/paas/v4",
            model: "glm-5.2",
            efforts: LOW_TO_HIGH,
            style: REASONING_CONTENT,
            overflow: Some((400, r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#)),
            no_money: (
                429,
                r#"{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}"#,
            ),
            too_many: (
                429,
                r#"{"error":{"code":"1302","message":"High concurrency usage of this API, please reduce concurrency."}}"#,
            ),
            ..CHAT
        }],
        ServerName::Qwen => vec![Service {
            base_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
            model: "qwen3-235b-a22b",
            accepts: qwen,
            style: REASONING_CONTENT,
            overflow: Some((
                400,
                r#"{"error":{"code":"invalid_parameter_error","message":"Range of input length should be [1, 8192]"}}"#,
            )),
            no_money: (
                400,
                r#"{"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}}"#,
            ),
            ..CHAT
        }],
        ServerName::Minimax => vec![Service {
            base_url: "https://api.minimax.io/v1",
            model: "MiniMax-M2",
            style: Style { thoughts: Thoughts::Tags, ..PLAIN },
            overflow: Some((
                200,
                r#"{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit"}}"#,
            )),
            no_money: (200, r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#),
            ..CHAT
        }],
        ServerName::Groq => vec![
            Service {
                model: "openai/gpt-oss-120b",
                efforts: LOW_TO_HIGH,
                accepts: |r| groq(r, GPT_OSS),
                ..groq_service()
            },
            Service { model: "moonshotai/kimi-k2-instruct", accepts: |r| groq(r, &[]), ..groq_service() },
        ],
        ServerName::Xai => vec![Service {
            base_url: "https://api.x.ai/v1",
            model: "grok-4.5",
            efforts: LOW_TO_HIGH,
            accepts: |r| well_formed(r).and_then(|()| chat::efforts(r, GPT_OSS)),
            style: REASONING_CONTENT,
            overflow: Some((
                400,
                r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 8192 but the request contains 9000 tokens."}"#,
            )),
            no_money: (
                403,
                r#"{"code":"The caller does not have permission to execute the specified operation","error":"Your newly created team doesn't have any credits yet."}"#,
            ),
            too_many: (429, r#"{"code":"Some resource has been exhausted","error":"Too many requests for team."}"#),
            ..CHAT
        }],
        ServerName::Cerebras => vec![Service {
            base_url: "https://api.cerebras.ai/v1",
            model: "gpt-oss-120b",
            efforts: LOW_TO_HIGH,
            accepts: cerebras,
            style: REASONING,
            overflow: Some((
                400,
                r#"{"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192","type":"invalid_request_error","code":"context_length_exceeded"}"#,
            )),
            ..CHAT
        }],
        ServerName::Together => vec![Service {
            base_url: "https://api.together.ai/v1",
            model: "openai/gpt-oss-120b",
            efforts: LOW_TO_HIGH,
            accepts: |r| {
                well_formed(r)?;
                chat::efforts(r, GPT_OSS)?;
                chat::no_field(r, "max_completion_tokens", || unsupported("max_completion_tokens"))
            },
            style: REASONING,
            ..CHAT
        }],
        ServerName::Fireworks => vec![Service {
            base_url: "https://api.fireworks.ai/inference/v1",
            model: "accounts/fireworks/models/gpt-oss-120b",
            efforts: LOW_TO_HIGH,
            accepts: |r| {
                well_formed(r)?;
                rule(r["tool_choice"] != "required", || {
                    (400, said("Extra inputs are not permitted, field: 'tool_choice'"))
                })
            },
            style: REASONING_CONTENT,
            ..CHAT
        }],
        ServerName::Sambanova => vec![Service {
            base_url: "https://api.sambanova.ai/v1",
            model: "Meta-Llama-3.3-70B-Instruct",
            accepts: |r| {
                well_formed(r)?;
                chat::plain_texts_are_strings(r)?;
                chat::no_field(r, "max_completion_tokens", || unsupported("max_completion_tokens"))
            },
            ..CHAT
        }],
        ServerName::Perplexity => vec![Service {
            base_url: "https://api.perplexity.ai",
            model: "sonar-pro",
            accepts: perplexity,
            tools: false,
            ..CHAT
        }],
        ServerName::Cohere => {
            vec![Service { base_url: "https://api.cohere.ai/compatibility/v1", model: "command-a", ..CHAT }]
        }
        ServerName::Nvidia => vec![
            Service { model: "meta/llama-3.3-70b-instruct", efforts: ALL_EFFORTS, accepts: nvidia, ..nim() },
            // The rules of Mistral apply to its models.
            Service {
                model: "mistralai/mistral-medium-3",
                accepts: |r| {
                    nvidia(r)?;
                    chat::ids_of_nine(r)?;
                    chat::mistral_order(r)
                },
                ..nim()
            },
        ],
        ServerName::GithubModels => vec![Service {
            base_url: "https://models.github.ai/inference",
            model: "openai/gpt-4.1",
            overflow: Some((
                413,
                r#"{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4.1 model. Max size: 8000 tokens."}}"#,
            )),
            ..CHAT
        }],
        ServerName::HuggingFace => vec![Service {
            base_url: "https://router.huggingface.co/v1",
            model: "Qwen/Qwen3.6-27B:fastest",
            accepts: |r| well_formed(r).and_then(|()| chat::one_system_first(r)),
            overflow: Some((
                422,
                r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 0 `max_new_tokens`"}"#,
            )),
            ..CHAT
        }],
        ServerName::Cloudflare => vec![Service {
            base_url: "https://api.cloudflare.com/client/v4/accounts/1/ai/v1",
            model: "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
            accepts: cloudflare,
            no_money: (402, r#"{"errors":[{"message":"payment required","code":402}],"success":false}"#),
            too_many: (429, r#"{"errors":[{"message":"too many requests","code":3040}],"success":false}"#),
            images: false,
            ..CHAT
        }],
        ServerName::Vercel => vec![Service {
            base_url: "https://ai-gateway.vercel.sh/v1",
            model: "openai/gpt-5.4",
            efforts: &[Off],
            style: REASONING,
            ..CHAT
        }],
        ServerName::Bedrock => vec![Service {
            base_url: "https://bedrock-mantle.us-east-1.api.aws/v1",
            model: "openai.gpt-oss-120b",
            efforts: LOW_TO_HIGH,
            // w08
            style: Style { index: -1, ..PLAIN },
            overflow: Some((400, r#"{"message":"Input is too long for requested model."}"#)),
            too_many: (429, r#"{"message":"ThrottlingException: Too many tokens, please wait before trying again."}"#),
            ..CHAT
        }],
        ServerName::Ollama => vec![Service {
            kind: ProviderKind::Ollama,
            model: "qwen3",
            efforts: &[Off, Low, Medium, High],
            accepts: ollama,
            style: REASONING,
            // It cuts silently (TradingAgents#169).
            overflow: None,
            ..CHAT
        }],
        ServerName::Lmstudio => vec![Service {
            kind: ProviderKind::Lmstudio,
            model: "qwen/qwen3-8b",
            accepts: |r| {
                local(r)?;
                let words = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required";
                rule(!r["tool_choice"].is_object(), || (400, json!({ "error": words }).to_string()))
            },
            overflow: Some((
                400,
                r#"{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens."}"#,
            )),
            ..CHAT
        }],
        ServerName::Llamacpp => vec![
            Service { kind: ProviderKind::Llamacpp, model: "", accepts: llamacpp, ..llama() },
            Service {
                kind: ProviderKind::Llamacpp,
                model: "Devstral-Small-2",
                accepts: |r| {
                    llamacpp(r)?;
                    chat::ids_of_nine(r)?;
                    chat::mistral_order(r)
                },
                ..llama()
            },
        ],
        ServerName::Vllm => vec![
            Service {
                base_url: "http://localhost:8000/v1",
                model: "Qwen/Qwen3.6-27B",
                accepts: vllm,
                style: Style { id: |n| format!("chatcmpl-tool-{n:032}"), ..REASONING },
                // The error itself, at the top.
                overflow: Some((
                    400,
                    r#"{"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.","type":"BadRequestError","code":400}"#,
                )),
                too_many: (
                    503,
                    r#"{"object":"error","message":"The server is overloaded.","type":"ServiceUnavailable","code":503}"#,
                ),
                ..CHAT
            },
            Service {
                base_url: "http://localhost:8000/v1",
                model: "moonshotai/Kimi-K2-Thinking",
                accepts: |r| {
                    vllm(r)?;
                    chat::thoughts_on_calls(r, false, |at| (400, said(&missing_thoughts(at))))
                },
                style: Style { id: |n| format!("functions.f:{n}"), ..REASONING_CONTENT },
                ..CHAT
            },
        ],
        ServerName::Sglang => vec![Service {
            base_url: "http://gpu.local:30000/v1",
            model: "Qwen/Qwen3.6-27B",
            accepts: vllm,
            style: REASONING_CONTENT,
            ..CHAT
        }],
        ServerName::Litellm => vec![Service {
            base_url: "https://litellm.example.org/v1",
            model: "gpt-5.4",
            efforts: &[Off],
            accepts: |r| well_formed(r).and_then(|()| cap_of_new_models(r)),
            // w34: ids may have signatures.
            style: Style { id: |n| format!("call_{n}__thought__{}", "x/+=".repeat(60)), ..PLAIN },
            overflow: Some((
                400,
                r#"{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: This model's maximum context length is 8192 tokens.","type":null,"code":"400"}}"#,
            )),
            too_many: (
                429,
                r#"{"error":{"message":"litellm.RateLimitError: RateLimitError: please try again in 1.5s.","type":"throttling_error","code":"429"}}"#,
            ),
            ..CHAT
        }],
        ServerName::Jan => {
            vec![Service { base_url: "http://localhost:1337/v1", model: "jan-v1-4b", accepts: llamacpp, ..llama() }]
        }
        ServerName::PromptApi => vec![Service {
            kind: ProviderKind::PromptApi,
            accepts: |r| well_formed(r).and_then(|()| chat::one_system_first(r)),
            ..CHAT
        }],
        ServerName::Page => vec![Service { kind: ProviderKind::Custom, ..CHAT }],
        ServerName::Other => {
            vec![Service { base_url: "https://models.example.org/v1", model: "m", accepts: strictest, ..CHAT }]
        }
    }
}

fn claude(model: &'static str, accepts: fn(&Value) -> Verdict) -> Service {
    Service {
        kind: ProviderKind::Anthropic,
        model,
        efforts: ALL_EFFORTS,
        accepts,
        overflow: Some((
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 8192 maximum"}}"#,
        )),
        no_money: (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
        ),
        too_many: (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit."}}"#,
        ),
        ..CHAT
    }
}

fn google(base_url: &'static str, model: &'static str, accepts: fn(&Value) -> Verdict) -> Service {
    Service {
        kind: ProviderKind::Gemini,
        base_url,
        model,
        efforts: ALL_EFFORTS,
        accepts,
        overflow: Some((
            400,
            r#"{"error":{"code":400,"message":"The input token count (9000) exceeds the maximum number of tokens allowed (8192).","status":"INVALID_ARGUMENT"}}"#,
        )),
        no_money: (402, r#"{"error":{"code":402,"message":"Payment required.","status":"FAILED_PRECONDITION"}}"#),
        too_many: (
            429,
            r#"{"error":{"code":429,"message":"Resource has been exhausted.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"2s"}]}}"#,
        ),
        ..CHAT
    }
}

fn kimi() -> Service {
    Service {
        base_url: "https://api.moonshot.ai/v1",
        // w03: ids of its own form.
        style: Style { usage: Usage::InChoice, id: |n| format!("functions.f:{n}"), ..REASONING_CONTENT },
        overflow: Some((
            400,
            r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)","type":"invalid_request_error"}}"#,
        )),
        no_money: (
            403,
            r#"{"error":{"message":"Your account is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}"#,
        ),
        too_many: (
            429,
            r#"{"error":{"message":"Your account reached organization TPM rate limit, current: 1410, limit: 100","type":"rate_limit_reached_error"}}"#,
        ),
        ..CHAT
    }
}

fn groq_service() -> Service {
    Service {
        base_url: "https://api.groq.com/openai/v1",
        style: Style { usage: Usage::XGroq, ..REASONING },
        overflow: Some((
            400,
            r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages"}}"#,
        )),
        ..CHAT
    }
}

fn nim() -> Service {
    Service { base_url: "https://integrate.api.nvidia.com/v1", ..CHAT }
}

fn llama() -> Service {
    Service {
        style: REASONING_CONTENT,
        overflow: Some((
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
        )),
        ..CHAT
    }
}

/// OpenAI's newer models, wherever they are served.
fn cap_of_new_models(r: &Value) -> Verdict {
    chat::no_field(r, "max_tokens", || {
        (
            400,
            said(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            ),
        )
    })
}

/// `gpt-5.4`: no effort but `none` together with tools.
fn openai(r: &Value) -> Verdict {
    well_formed(r)?;
    cap_of_new_models(r)?;
    chat::ids_of_at_most_40(r)?;
    chat::no_message_field(r, "reasoning_content", |_| {
        (400, said("Unrecognized request argument supplied: reasoning_content"))
    })?;
    chat::efforts(r, &["none", "low", "medium", "high", "xhigh"])?;
    let effort = r["reasoning_effort"].as_str().unwrap_or("none");
    tools_without_effort(r, effort)?;
    let samples = r.get("temperature").is_some() || r.get("top_p").is_some();
    rule(!samples || effort == "none", || unsupported("temperature"))
}

/// `gpt-5.6` thinks unless it is told not to.
fn openai_thinking(r: &Value) -> Verdict {
    openai(r)?;
    tools_without_effort(r, r["reasoning_effort"].as_str().unwrap_or("medium"))
}

fn tools_without_effort(r: &Value, effort: &str) -> Verdict {
    rule(r.get("tools").is_none() || effort == "none", || {
        // litellm#34569
        let words = "Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
        (
            400,
            json!({ "error": { "message": words, "type": "invalid_request_error", "param": "reasoning_effort" } })
                .to_string(),
        )
    })
}

fn azure(r: &Value) -> Verdict {
    openai(r)?;
    chat::no_files(r)
}

fn openrouter(r: &Value) -> Verdict {
    well_formed(r)?;
    chat::no_field(r, "max_completion_tokens", || unsupported("max_completion_tokens"))?;
    chat::no_field(r, "reasoning_effort", || unsupported("reasoning_effort"))?;
    rule(r["reasoning"]["effort"] != "none", || {
        (400, said("Reasoning is mandatory for this endpoint and cannot be disabled."))
    })
}

/// w04: the calls that it made have their signature.
fn gemini_compatible(r: &Value) -> Verdict {
    well_formed(r)?;
    let calls = chat::messages(r).iter().filter_map(|message| message["tool_calls"].get(0));
    let own = |call: &&Value| call["id"].as_str().is_some_and(|id| id.starts_with("function-call-"));
    let signed = |call: &Value| call.pointer("/extra_content/google/thought_signature").is_some_and(|s| s == "abc");
    rule(calls.filter(own).all(signed), || {
        let words = "Function call is missing a thought_signature in functionCall parts.";
        (400, json!([{ "error": { "code": 400, "message": words, "status": "INVALID_ARGUMENT" } }]).to_string())
    })
}

fn mistral(r: &Value) -> Verdict {
    well_formed(r)?;
    for name in ["max_completion_tokens", "seed", "stream_options"] {
        chat::no_field(r, name, || extra(&["body", name]))?;
    }
    chat::no_message_field(r, "reasoning_content", |_| extra(&["body", "messages", "assistant", "reasoning_content"]))?;
    chat::efforts(r, &["none", "high"])?;
    chat::ids_of_nine(r)?;
    chat::mistral_order(r)?;
    let parts = chat::messages(r).iter().filter_map(|message| message["content"].as_array()).flatten();
    let known = |part: &Value| {
        let kind = part["type"].as_str().unwrap_or_default();
        matches!(kind, "text" | "image_url") || (kind == "document_url" && part[kind].is_string())
    };
    rule(parts.into_iter().all(known), || extra(&["body", "messages", "user", "content"]))
}

fn deepseek(r: &Value) -> Verdict {
    well_formed(r)?;
    chat::thoughts_on_calls(r, true, |_| {
        (400, said("The `reasoning_content` in the thinking mode must be passed back to the API."))
    })?;
    chat::no_message_field(r, "reasoning_details", |_| unsupported("reasoning_details"))?;
    chat::no_files(r)?;
    chat::no_forced_choice(r, "Thinking mode does not support this tool_choice")?;
    chat::efforts(r, &["high", "max"])
}

fn missing_thoughts(at: usize) -> String {
    format!("thinking is enabled but reasoning_content is missing in assistant tool call message at index {at}")
}

fn moonshot(r: &Value, is_k3: bool) -> Verdict {
    well_formed(r)?;
    chat::thoughts_on_calls(r, false, |at| (400, said(&missing_thoughts(at))))?;
    chat::no_files(r)?;
    let fixed = r["temperature"].as_f64().or(r["top_p"].as_f64()).is_none_or(|n| n == 1.0);
    rule(fixed, || (400, said("invalid temperature: only 1 is allowed for this model")))?;
    if is_k3 {
        return chat::efforts(r, &["low", "high", "max"]);
    }
    rule(r["tool_choice"] != "required", || {
        (400, said("tool_choice 'required' is not supported while thinking is enabled"))
    })?;
    chat::efforts(r, &[])
}

fn qwen(r: &Value) -> Verdict {
    well_formed(r)?;
    chat::one_system_first(r)?;
    chat::no_files(r)?;
    // eino#994
    let words = "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode";
    chat::no_forced_choice(r, words)
}

fn groq(r: &Value, efforts: &[&str]) -> Verdict {
    well_formed(r)?;
    // freellmapi#1070
    chat::no_message_field(r, "reasoning_content", |at| {
        let place = format!("'messages.{at}'");
        (
            400,
            said(&format!(
                "{place} : for 'role:assistant' the following must be satisfied[({place} : property 'reasoning_content' is unsupported)]"
            )),
        )
    })?;
    chat::efforts(r, efforts)?;
    rule(r.get("tool_choice").is_none_or(|choice| !choice.is_null()), || (400, said("tool_choice is null")))
}

fn cerebras(r: &Value) -> Verdict {
    well_formed(r)?;
    // kilocode#10375
    chat::no_message_field(r, "reasoning_content", |at| {
        let words = format!(
            "messages.{at}.assistant.reasoning_content: property 'messages.{at}.assistant.reasoning_content' is unsupported"
        );
        (400, json!({ "message": words, "type": "invalid_request_error", "code": "wrong_api_format" }).to_string())
    })?;
    rule(r["parallel_tool_calls"] != false, || unsupported("parallel_tool_calls"))?;
    chat::efforts(r, GPT_OSS)
}

fn perplexity(r: &Value) -> Verdict {
    well_formed(r)?;
    chat::no_field(r, "tools", || unsupported("tools"))?;
    chat::no_field(r, "stream_options", || unsupported("stream_options"))?;
    chat::plain_texts_are_strings(r)?;
    chat::alternating(r, 400, "After the (optional) system message(s), user and assistant roles should be alternating.")
}

fn nvidia(r: &Value) -> Verdict {
    well_formed(r)?;
    chat::no_field(r, "max_completion_tokens", || unsupported("max_completion_tokens"))?;
    chat::no_field(r, "reasoning_effort", || unsupported("reasoning_effort"))
}

fn cloudflare(r: &Value) -> Verdict {
    well_formed(r)?;
    let refuse = |words: &str| -> Refusal {
        (400, json!({ "errors": [{ "message": words, "code": 5006 }], "success": false }).to_string())
    };
    // zeroclaw#9493
    let null = chat::messages(r).iter().any(|message| message["content"].is_null());
    rule(!null, || {
        refuse(
            "AiError: Bad input: Error: oneOf at '/' not met: Type mismatch of '/messages/1/content', 'string' not in 'null'",
        )
    })?;
    // opencode#30381
    let lists = chat::messages(r).iter().filter(|message| message["content"].is_array()).count();
    rule(lists == 0 || lists == chat::messages(r).len(), || {
        refuse(
            "AiError: Bad input: Error: oneOf at '/' not met: Type mismatch of '/messages/0/content', 'array' not in 'string'",
        )
    })
}

fn local(r: &Value) -> Verdict {
    well_formed(r)?;
    chat::no_files(r)
}

fn ollama(r: &Value) -> Verdict {
    local(r)?;
    // hermes#80265
    let tail = chat::messages(r).iter().rev().take_while(|message| message["role"] == "assistant").count();
    rule(tail < 2, || (400, said("Cannot have 2 or more assistant messages at the end of the list")))
}

fn llamacpp(r: &Value) -> Verdict {
    local(r)?;
    chat::one_system_first(r)?;
    let last = chat::messages(r).last().is_some_and(|message| message["role"] == "assistant");
    rule(!last, || (400, said("Assistant response prefill is incompatible with enable_thinking.")))?;
    // llama.cpp#17040
    let both = |message: &Value| {
        message.get("tool_calls").is_some()
            && ["content", "reasoning_content"]
                .iter()
                .all(|name| message[*name].as_str().is_some_and(|text| !text.is_empty()))
    };
    rule(!chat::messages(r).iter().any(both), || {
        (500, said("Cannot pass both content and thinking in an assistant message with tool calls"))
    })?;
    chat::alternating(
        r,
        500,
        "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
    )
}

fn vllm(r: &Value) -> Verdict {
    local(r)?;
    chat::one_system_first(r)
}

/// A server that refuses whatever another one refuses.
fn strictest(r: &Value) -> Verdict {
    llamacpp(r)?;
    chat::ids_of_at_most_40(r)?;
    chat::plain_texts_are_strings(r)?;
    rule(!r["tool_choice"].is_object(), || unsupported("tool_choice"))?;
    let null = chat::messages(r).iter().any(|message| message["content"].is_null());
    rule(!null, || (400, said("messages.1.content: expected string, received null")))?;
    chat::no_message_field(r, "reasoning_content", |_| unsupported("reasoning_content"))?;
    chat::no_field(r, "max_completion_tokens", || unsupported("max_completion_tokens"))
}
