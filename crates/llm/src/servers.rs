//! What is known of the services and servers that serve models: a row for each.
//!
//! Sources are documents, issues and packages of November 2026; nothing here was tried on a real service. Short names: pi, rig, litellm,
//! pydantic-ai and `ai` (the AI SDK) are packages that call these services; `op` measured CORS with curl on 2026-07-30.

use turnwise_engine::{ProviderConfig, ProviderKind};

use super::address::{self, AddressSpace};
use super::call_ids::IdRule;
use super::families::{REASONING_CONTENT, Thoughts};
use super::providers::{WireFormat, wire};

/// What is known of a server; `None`: the family of the model decides.
#[derive(Debug)]
pub struct ServerRow {
    pub title: &'static str,
    /// Without a port; one that begins with `.` or `-` is the end of a host.
    pub hosts: &'static [&'static str],
    /// Its usual port, where it is on this machine or in this network.
    pub port: Option<u16>,
    /// `Chat` stands for both formats of OpenAI.
    format: WireFormat,
    pub auth: Auth,
    pub browser: Browser,
    /// Whether it serves models that call tools.
    pub tools: bool,
    pub forcing: Forcing,
    /// The word that demands a call of any tool.
    pub(super) required: &'static str,
    /// Whether a call may be demanded of a model that thinks.
    pub forces_thinking: bool,
    /// Whether a user message may have pictures beside its text; if not, the model reads a note in their place.
    pub images: bool,
    /// Whether a user message may have PDFs; if not, likewise.
    pub pdfs: bool,
    /// Whether attachments are `image_url` and `document_url` with a text, not with an object.
    pub(super) plain_urls: bool,
    pub(super) ids: Option<IdRule>,
    pub(super) thoughts: Option<Thoughts>,
    pub(super) needs_thoughts: Option<bool>,
    /// Whether a system message may follow others.
    pub system_midway: bool,
    pub(super) user_after_tool: Option<bool>,
    /// Whether two user messages in a row are sent as one.
    pub merges_user_messages: bool,
    pub(super) asks_for_usage: bool,
    pub(super) cap: Cap,
    /// Whether the text beside calls is `""` where there is none, not `null`.
    pub(super) empty_beside_calls: bool,
    pub(super) effort: EffortField,
    /// Whether a temperature and `top_p` may be set.
    pub(super) samples: bool,
}

/// The header that has the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// `authorization: Bearer …`
    Bearer,
    /// The key alone, in a header of this name.
    Header(&'static str),
}

/// Whether a page may read the replies of a service (CORS), and the date of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Browser {
    Yes(&'static str),
    /// With a header that Turnwise sends.
    Header(&'static str),
    /// If whoever runs the server allows it.
    Setting(&'static str),
    No(&'static str),
    Unknown,
}

/// How a call of a tool may be demanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forcing {
    /// By the name of a tool, too; and `none` is respected.
    ByName,
    /// By a word. Only the tools that may be called are offered.
    ByWord,
}

/// The name of the limit on the tokens of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cap {
    /// `max_completion_tokens` for OpenAI's models from o1 and GPT-5 on.
    ByModel,
    MaxTokens,
    MaxCompletion,
}

/// Where the reasoning effort is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EffortField {
    /// `reasoning_effort`
    Word,
    /// `reasoning.effort`
    Object,
    /// Nowhere: the field is refused.
    No,
}

impl Browser {
    /// The date of the source, year and month at least.
    #[must_use]
    pub fn date(self) -> Option<&'static str> {
        match self {
            Browser::Yes(date) | Browser::Header(date) | Browser::Setting(date) | Browser::No(date) => Some(date),
            Browser::Unknown => None,
        }
    }
}

/// A server of which nothing is known but that it speaks Chat Completions: it is sent the least.
const FLOOR: ServerRow = ServerRow {
    title: "any other server",
    hosts: &[],
    port: None,
    format: WireFormat::Chat,
    auth: Auth::Bearer,
    browser: Browser::Unknown,
    tools: true,
    forcing: Forcing::ByWord,
    required: "required",
    forces_thinking: true,
    images: true,
    pdfs: false,
    plain_urls: false,
    ids: None,
    thoughts: None,
    needs_thoughts: None,
    // The templates of Qwen 3.5 and later, and others, refuse a second one (vllm#41114, Qwen3.8#244).
    system_midway: false,
    user_after_tool: None,
    // The chat templates of many open models want alternating roles.
    merges_user_messages: true,
    asks_for_usage: true,
    cap: Cap::ByModel,
    // `null` is refused by Cloudflare (zeroclaw#9493); nobody refuses an empty text.
    empty_beside_calls: true,
    effort: EffortField::Word,
    samples: true,
};

/// A server that takes all of a format.
const ALL: ServerRow = ServerRow {
    forcing: Forcing::ByName,
    pdfs: true,
    system_midway: true,
    merges_user_messages: false,
    empty_beside_calls: false,
    ..FLOOR
};

/// Refuses fields that it does not know: `reasoning_content` on a message is an error.
const REFUSES_THOUGHTS: ServerRow = ServerRow { thoughts: Some(Thoughts::Never), needs_thoughts: Some(false), ..FLOOR };

/// Takes `reasoning_content` back and does not demand it.
const TAKES_THOUGHTS: ServerRow =
    ServerRow { thoughts: Some(Thoughts::Field(REASONING_CONTENT)), needs_thoughts: Some(false), ..FLOOR };

/// A program on the user's machine, of which pi and pydantic-ai say that all of them know `max_tokens`.
const LOCAL: ServerRow = ServerRow { cap: Cap::MaxTokens, ..FLOOR };

macro_rules! servers {
    ($($name:ident = $row:expr;)*) => {
        /// A service, or a program that serves models.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ServerName { $($name,)* }

        impl ServerName {
            pub const ALL: &'static [ServerName] = &[$(ServerName::$name,)*];

            #[must_use]
            pub fn row(self) -> &'static ServerRow {
                match self { $(ServerName::$name => const { &$row },)* }
            }
        }
    };
}

// In the order of the documentation.
servers! {
    // Both of its interfaces. CORS: op. `max_tokens` is refused from o1 and GPT-5 on.
    Openai = ServerRow {
        title: "OpenAI",
        hosts: &["api.openai.com"],
        browser: Browser::Yes("2026-07"),
        cap: Cap::MaxCompletion,
        thoughts: Some(Thoughts::Never),
        needs_thoughts: Some(false),
        ..ALL
    };
    // Header: ai, rig. Chat takes no files: pydantic-ai. CORS: lobehub#2487.
    Azure = ServerRow {
        title: "Azure OpenAI, Microsoft Foundry",
        hosts: &[".openai.azure.com", ".services.ai.azure.com"],
        auth: Auth::Header("api-key"),
        browser: Browser::No("2024"),
        ..FLOOR
    };
    // open-pencil#436. What its format takes is in `anthropic`.
    Anthropic = ServerRow {
        title: "Anthropic",
        hosts: &["api.anthropic.com"],
        format: WireFormat::Messages,
        auth: Auth::Header("x-api-key"),
        browser: Browser::Header("2026-07"),
        system_midway: false,
        ..ALL
    };
    // op. What its format takes is in `gemini`.
    Gemini = ServerRow {
        title: "Google Gemini",
        hosts: &["generativelanguage.googleapis.com"],
        format: WireFormat::Gemini,
        auth: Auth::Header("x-goog-api-key"),
        browser: Browser::Yes("2026-07"),
        system_midway: false,
        ..ALL
    };
    // The same host, so the same CORS.
    GeminiCompatible = ServerRow {
        title: "Google Gemini, interface of OpenAI",
        hosts: &["generativelanguage.googleapis.com"],
        browser: Browser::Yes("2026-07"),
        ..FLOOR
    };
    // Its key is a token of OAuth.
    Vertex = ServerRow {
        title: "Google Vertex AI",
        hosts: &["-aiplatform.googleapis.com"],
        format: WireFormat::Gemini,
        browser: Browser::No("2026-11"),
        system_midway: false,
        ..ALL
    };
    // op. It keeps thoughts in `reasoning_details` and knows what the server behind it wants; `max_tokens` only.
    Openrouter = ServerRow {
        title: "OpenRouter",
        hosts: &["openrouter.ai"],
        browser: Browser::Yes("2026-07"),
        thoughts: Some(Thoughts::Never),
        needs_thoughts: Some(false),
        cap: Cap::MaxTokens,
        effort: EffortField::Object,
        ..ALL
    };
    // Order: code 3230 (zed#37021). Ids: code 3280. `stream_options` was refused once (anon-kode#53), and usage comes unasked (rig, ai). An
    // unknown field is refused (crush#1590, eca#231). Addresses of attachments are texts (ai). CORS: gptel#1203; a preflight with extra
    // headers fails (infio-copilot#146).
    Mistral = ServerRow {
        title: "Mistral",
        hosts: &["api.mistral.ai", "codestral.mistral.ai"],
        browser: Browser::Yes("2026-11"),
        forcing: Forcing::ByName,
        pdfs: true,
        plain_urls: true,
        ids: Some(IdRule::Nine),
        user_after_tool: Some(false),
        asks_for_usage: false,
        cap: Cap::MaxTokens,
        ..REFUSES_THOUGHTS
    };
    // Thoughts: continue#9720, zed#55321; those of another model may be blank (litellm, pydantic-ai). It thinks by default, and then takes
    // no demand. `max_completion_tokens` is ignored (pydantic-ai). CORS: op.
    Deepseek = ServerRow {
        title: "DeepSeek",
        hosts: &["api.deepseek.com"],
        browser: Browser::Yes("2026-07"),
        forcing: Forcing::ByName,
        forces_thinking: false,
        thoughts: Some(Thoughts::Field(REASONING_CONTENT)),
        needs_thoughts: Some(true),
        cap: Cap::MaxTokens,
        ..FLOOR
    };
    // Thoughts: opencode#16318, pi#4178: an empty text does not do. A system message between others: pi. A demand: ai; by name the sources
    // disagree (rig, octopus#251). Sampling is fixed (litellm, ai). CORS: obsidian-copilot#388.
    Moonshot = ServerRow {
        title: "Moonshot (Kimi)",
        hosts: &["api.moonshot.ai", "api.moonshot.cn"],
        browser: Browser::No("2026-11"),
        forces_thinking: false,
        thoughts: Some(Thoughts::Field(REASONING_CONTENT)),
        needs_thoughts: Some(true),
        system_midway: true,
        cap: Cap::MaxTokens,
        samples: false,
        ..FLOOR
    };
    // pydantic-ai. CORS: the preflight has had no headers since September (zai-org/feedback#590); it worked in July (op).
    Zai = ServerRow {
        title: "Z.ai (GLM)",
        hosts: &["api.z.ai", "open.bigmodel.cn"],
        browser: Browser::No("2026-09"),
        cap: Cap::MaxTokens,
        ..TAKES_THOUGHTS
    };
    // Thoughts: ai. No demand while a model thinks: eino#994. CORS: the data of Lobe Chat.
    Qwen = ServerRow {
        title: "Qwen (DashScope)",
        hosts: &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"],
        browser: Browser::No("2026-09"),
        forcing: Forcing::ByName,
        forces_thinking: false,
        ..TAKES_THOUGHTS
    };
    // CORS: op, for the first.
    Minimax = ServerRow {
        title: "MiniMax",
        hosts: &["api.minimax.io", "api.minimaxi.com"],
        browser: Browser::Yes("2026-07"),
        thoughts: Some(Thoughts::Tags),
        ..FLOOR
    };
    // freellmapi#1070. CORS: op.
    Groq = ServerRow {
        title: "Groq",
        hosts: &["api.groq.com"],
        browser: Browser::Yes("2026-07"),
        ..REFUSES_THOUGHTS
    };
    Xai = ServerRow { title: "xAI", hosts: &["api.x.ai"], ..FLOOR };
    // kilocode#10375.
    Cerebras = ServerRow { title: "Cerebras", hosts: &["api.cerebras.ai"], ..REFUSES_THOUGHTS };
    // pi.
    Together = ServerRow { title: "Together", hosts: &["api.together.ai", "api.together.xyz"], cap: Cap::MaxTokens, ..FLOOR };
    // litellm.
    Fireworks = ServerRow { title: "Fireworks", hosts: &["api.fireworks.ai"], required: "any", ..FLOOR };
    // lobehub#12845.
    Sambanova = ServerRow {
        title: "SambaNova",
        hosts: &["api.sambanova.ai"],
        browser: Browser::Yes("2026-11"),
        cap: Cap::MaxTokens,
        ..FLOOR
    };
    // rig.
    Perplexity = ServerRow {
        title: "Perplexity",
        hosts: &["api.perplexity.ai"],
        tools: false,
        asks_for_usage: false,
        ..REFUSES_THOUGHTS
    };
    Cohere = ServerRow { title: "Cohere", hosts: &["api.cohere.ai"], ..FLOOR };
    // pi. CORS: llama.ui#202, obsidian-llm-wiki#17.
    Nvidia = ServerRow {
        title: "NVIDIA NIM",
        hosts: &["integrate.api.nvidia.com"],
        browser: Browser::No("2026-11"),
        cap: Cap::MaxTokens,
        effort: EffortField::No,
        ..FLOOR
    };
    GithubModels = ServerRow { title: "GitHub Models", hosts: &["models.github.ai"], ..FLOOR };
    HuggingFace = ServerRow { title: "Hugging Face", hosts: &["router.huggingface.co"], ..FLOOR };
    // zeroclaw#9493. A conversation whose texts are texts in one message and lists in another is refused (opencode#30381), and beside
    // calls they have to be texts. The limit: pi, for the gateway.
    Cloudflare = ServerRow {
        title: "Cloudflare Workers AI, AI Gateway",
        hosts: &["api.cloudflare.com", "gateway.ai.cloudflare.com"],
        images: false,
        cap: Cap::MaxTokens,
        ..FLOOR
    };
    // pi. CORS: the data of Lobe Chat.
    Vercel = ServerRow {
        title: "Vercel AI Gateway",
        hosts: &["ai-gateway.vercel.sh"],
        browser: Browser::No("2026-09"),
        effort: EffortField::Object,
        ..FLOOR
    };
    Bedrock = ServerRow { title: "Amazon Bedrock", hosts: &[".api.aws"], ..FLOOR };
    // It ignores a tool choice (litellm).
    Ollama = ServerRow {
        title: "Ollama",
        port: Some(11434),
        browser: Browser::Setting("2026-11"),
        system_midway: true,
        merges_user_messages: false,
        ..LOCAL
    };
    // A choice by name is refused: "Invalid tool_choice type: 'object'".
    Lmstudio = ServerRow { title: "LM Studio", port: Some(1234), browser: Browser::Setting("2026-11"), ..LOCAL };
    // A choice by name was `auto` (llama.cpp#26849). CORS: llama.cpp#25655.
    Llamacpp = ServerRow { title: "llama.cpp", port: Some(8080), browser: Browser::Setting("2026-11"), ..LOCAL };
    // sglang#1373 has the CORS of both.
    Vllm = ServerRow { title: "vLLM", port: Some(8000), browser: Browser::Yes("2026-11"), cap: Cap::ByModel, ..LOCAL };
    Sglang = ServerRow { title: "SGLang", browser: Browser::Yes("2026-11"), cap: Cap::ByModel, ..LOCAL };
    // It serves OpenAI's models, too.
    Litellm = ServerRow { title: "LiteLLM proxy", ..FLOOR };
    Jan = ServerRow { title: "Jan", port: Some(1337), ..LOCAL };
    // No server: the format is that of requests and responses inside the page.
    PromptApi = ServerRow { title: "Chrome's built-in model", merges_user_messages: false, ..LOCAL };
    Page = ServerRow { title: "the page itself", cap: Cap::MaxTokens, ..ALL };
    Other = FLOOR;
}

impl ServerName {
    /// The server of a provider: by its kind, else by the host of its base URL or, on this machine or network, by the port.
    #[must_use]
    pub fn of(p: &ProviderConfig) -> ServerName {
        let of_kind = match p.kind {
            ProviderKind::Openai | ProviderKind::OpenaiResponses => ServerName::Other,
            ProviderKind::Anthropic => ServerName::Anthropic,
            ProviderKind::Gemini => ServerName::Gemini,
            ProviderKind::Openrouter => return ServerName::Openrouter,
            ProviderKind::Ollama => return ServerName::Ollama,
            ProviderKind::Lmstudio => return ServerName::Lmstudio,
            ProviderKind::Llamacpp => return ServerName::Llamacpp,
            ProviderKind::PromptApi => return ServerName::PromptApi,
            ProviderKind::Demo | ProviderKind::Custom => return ServerName::Page,
        };
        let is_there = |name: &&ServerName| name.row().format == of_kind.row().format && name.row().is_at(p);
        ServerName::ALL.iter().find(is_there).copied().unwrap_or(of_kind)
    }
}

impl ServerRow {
    /// What is known of the provider's server. A kind may also be at an address of which nothing is known: a proxy.
    pub(super) fn of(p: &ProviderConfig) -> &'static ServerRow {
        ServerName::of(p).row()
    }

    /// Whether this is the server's own address.
    pub(super) fn is_at(&self, p: &ProviderConfig) -> bool {
        let given = p.base_url.trim();
        let url = if given.is_empty() { wire(p.kind).base_url } else { given };
        let name = address::host(url).split(':').next().unwrap_or_default().to_ascii_lowercase();
        let is_host = |host: &&str| if host.starts_with(['.', '-']) { name.ends_with(*host) } else { name == **host };
        let is_port = || self.port.is_some() && self.port == address::port(url);
        self.hosts.iter().any(is_host) || (is_port() && address::space(url) != AddressSpace::Public)
    }

    /// Whether a page may call the provider's address.
    pub(super) fn browser_of(p: &ProviderConfig) -> Browser {
        let row = ServerRow::of(p);
        if row.is_at(p) { row.browser } else { Browser::Unknown }
    }
}
