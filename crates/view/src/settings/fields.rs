//! The table of settings: one row per field, with its name, its input and its meaning.

use crate::services::SEARCH_CHOICES;

/// One field of the run's configuration that can be set individually.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigField {
    Provider,
    BaseUrl,
    Model,
    MaxOutputTokens,
    Preset,
    MaxTurns,
    MaxAttempts,
    Temperature,
    System,
    FileChanges,
    Seed,
    Counter,
    ModerateAt,
    UrgentAt,
    TemplateNormal,
    TemplateModerate,
    TemplateUrgent,
    Synthesis,
    SynthesisRole,
    SynthesisNumbered,
    SynthesisAttempts,
    SynthesisOnError,
    SynthesisPrompt,
    ReportFormat,
    ReportSchema,
    WallTime,
    Tokens,
    Cost,
    ContextTokens,
    PriceInput,
    PriceOutput,
    PriceCached,
    ToolTimeout,
    ParallelTools,
    ToolCallsPerTurn,
    MaxResultChars,
    HeadersTimeout,
    FirstTokenTimeout,
    RequestTimeout,
    IdleTimeout,
    RetryBase,
    RetryCap,
    RateLimitWait,
    RetryAfterCap,
    SearchService,
    SearchAddress,
    Relay,
    HostsAllowed,
    HostsDenied,
}

/// The group of a field in the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Model,
    Run,
    Counter,
    Synthesis,
    Report,
    Tools,
    Limits,
    Prices,
    Deadlines,
    Retries,
    Search,
    Pages,
}

/// A tab of the dialog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SettingsTab {
    #[default]
    Model,
    Run,
    Tools,
    Web,
    Services,
    Skills,
    Limits,
    Appearance,
    Storage,
}

/// How a value is entered. Bounds are inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldInput {
    /// A whole number.
    Whole {
        min: u64,
        max: u64,
    },
    /// A whole number, or nothing.
    OptionalWhole {
        min: u64,
        max: u64,
    },
    /// A decimal number, or nothing.
    OptionalDecimal {
        min: f64,
        max: f64,
    },
    /// Seconds with decimals, stored as milliseconds.
    Seconds {
        min: f64,
        max: f64,
    },
    /// The same, or nothing.
    OptionalSeconds {
        min: f64,
        max: f64,
    },
    Line,
    /// Several lines.
    Lines,
    /// `on` or `off`.
    Switch,
    /// One of the demos or of the cards (`view/provider.rs`).
    Provider,
    /// One of `(value, words)`.
    Choice(&'static [(&'static str, &'static str)]),
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettingsRow {
    pub field: ConfigField,
    /// Its name in storage and in the page.
    pub key: &'static str,
    pub group: Group,
    pub label: &'static str,
    pub help: &'static str,
    pub input: FieldInput,
}

const fn row(
    field: ConfigField,
    key: &'static str,
    group: Group,
    label: &'static str,
    help: &'static str,
    input: FieldInput,
) -> SettingsRow {
    SettingsRow { field, key, group, label, help, input }
}

const PRESETS: FieldInput =
    FieldInput::Choice(&[("research", "Research"), ("orchestrator", "Orchestrator"), ("strict", "Strict")]);
const FORMATS: FieldInput = FieldInput::Choice(&[
    ("text", "Plain text"),
    ("markdown", "Markdown"),
    ("json", "JSON, with a schema if you like"),
    ("slack", "Slack Block Kit messages"),
]);
const PRICE: FieldInput = FieldInput::OptionalDecimal { min: 0.0, max: 1e6 };
const MANY: FieldInput = FieldInput::OptionalWhole { min: 1, max: 1_000_000_000 };
const CHANGES: FieldInput = FieldInput::Choice(&[("allow", "Write without asking"), ("ask", "Ask before each change")]);
const ROLES: FieldInput = FieldInput::Choice(&[("user", "User message"), ("system", "System message")]);
const FALLBACKS: FieldInput = FieldInput::Choice(&[
    ("message", "A sentence that names the error"),
    ("aggregated_text", "The model's text so far"),
]);
const WAIT: FieldInput = FieldInput::Seconds { min: 0.0, max: 3_600.0 };
const DEADLINE: FieldInput = FieldInput::Seconds { min: 0.1, max: 3_600.0 };

/// Every field, in the order of the dialog.
#[rustfmt::skip]
pub const ROWS: &[SettingsRow] = &[
    row(ConfigField::Provider, "provider", Group::Model, "Provider", "", FieldInput::Provider),
    row(ConfigField::BaseUrl, "base_url", Group::Model, "Base URL", "Up to and including the version, as in /v1.", FieldInput::Line),
    row(ConfigField::Model, "model", Group::Model, "Model", "As the server names it.", FieldInput::Line),
    row(ConfigField::MaxOutputTokens, "max_output_tokens", Group::Model, "Max output tokens", "Per request. Leave empty for the server's default.", FieldInput::OptionalWhole { min: 1, max: 10_000_000 }),
    row(ConfigField::Preset, "preset", Group::Run, "Preset", "Sets the turn limit and how a run ends. Strict: only an accepted final report is a success.", PRESETS),
    row(ConfigField::Temperature, "temperature", Group::Run, "Temperature", "Leave empty for the model's default.", FieldInput::OptionalDecimal { min: 0.0, max: 2.0 }),
    row(ConfigField::Seed, "seed", Group::Run, "Seed", "For jitter and ids: same seed, same run. Leave empty for a new one each time.", FieldInput::OptionalWhole { min: 1, max: u64::MAX }),
    row(ConfigField::System, "system", Group::Run, "System text", "Leave empty for the preset's text.", FieldInput::Lines),
    row(ConfigField::Counter, "counter", Group::Counter, "Turn counter", "After every turn with tool calls, tells the model how many turns it has used.", FieldInput::Switch),
    row(ConfigField::ModerateAt, "moderate_at", Group::Counter, "Amber from", "Turns remaining.", FieldInput::Whole { min: 0, max: 1_000 }),
    row(ConfigField::UrgentAt, "urgent_at", Group::Counter, "Red from", "Turns remaining.", FieldInput::Whole { min: 0, max: 1_000 }),
    row(ConfigField::TemplateNormal, "template_normal", Group::Counter, "Line, calm", "May contain {turn}, {max} and {remaining}.", FieldInput::Line),
    row(ConfigField::TemplateModerate, "template_moderate", Group::Counter, "Line, amber", "", FieldInput::Line),
    row(ConfigField::TemplateUrgent, "template_urgent", Group::Counter, "Line, red", "", FieldInput::Line),
    row(ConfigField::Synthesis, "synthesis", Group::Synthesis, "Synthesis at the limit", "One last request without tools asks for a conclusion.", FieldInput::Switch),
    row(ConfigField::SynthesisRole, "synthesis_role", Group::Synthesis, "Asked as", "", ROLES),
    row(ConfigField::SynthesisNumbered, "synthesis_numbered", Group::Synthesis, "Counts as a turn", "It is then turn N+1 and part of the total.", FieldInput::Switch),
    row(ConfigField::SynthesisAttempts, "synthesis_attempts", Group::Synthesis, "Attempts", "LLM requests for it, retries included.", FieldInput::Whole { min: 1, max: 20 }),
    row(ConfigField::SynthesisOnError, "synthesis_on_error", Group::Synthesis, "If it fails, report", "", FALLBACKS),
    row(ConfigField::SynthesisPrompt, "synthesis_prompt", Group::Synthesis, "Prompt", "Leave empty for the preset's text.", FieldInput::Lines),
    row(ConfigField::ReportFormat, "report_format", Group::Report, "Format", "Anything else is refused, and the model is told why.", FORMATS),
    row(ConfigField::ReportSchema, "report_schema", Group::Report, "JSON Schema (2020-12)", "The report must match it. Leave empty to accept any JSON.", FieldInput::Lines),
    row(ConfigField::MaxTurns, "max_turns", Group::Limits, "Max turns", "After the last one a synthesis concludes the run. Strict: the last one asks for the report.", FieldInput::Whole { min: 1, max: 1_000 }),
    row(ConfigField::MaxAttempts, "max_attempts", Group::Limits, "Attempts per turn", "LLM requests for one turn, retries included.", FieldInput::Whole { min: 1, max: 20 }),
    row(ConfigField::WallTime, "wall_time", Group::Limits, "Max total time, seconds", "The run then concludes. Leave empty for no limit.", FieldInput::OptionalSeconds { min: 1.0, max: 86_400.0 }),
    row(ConfigField::Tokens, "tokens", Group::Limits, "Max total tokens", "Input and output; the run then concludes. Leave empty for no limit.", MANY),
    row(ConfigField::Cost, "cost", Group::Limits, "Max total cost, US dollars", "Needs prices: known, or set below. Leave empty for no limit.", FieldInput::OptionalDecimal { min: 0.000_001, max: 1e6 }),
    row(ConfigField::ContextTokens, "context_tokens", Group::Limits, "Context window, tokens", "When it is full, the oldest tool results are removed. Leave empty for the model's, if known.", MANY),
    row(ConfigField::PriceInput, "price_input", Group::Prices, "Price of input", "US dollars per million tokens. Leave empty for the list price, if known.", PRICE),
    row(ConfigField::PriceOutput, "price_output", Group::Prices, "Price of output", "US dollars per million tokens.", PRICE),
    row(ConfigField::PriceCached, "price_cached", Group::Prices, "Price of cached input", "Leave empty for the price of input.", PRICE),
    row(ConfigField::FileChanges, "file_changes", Group::Tools, "Changes to files", "For the files of a task. Changes to a folder of your disk always ask.", CHANGES),
    row(ConfigField::ToolTimeout, "tool_timeout", Group::Tools, "Tool deadline, seconds", "A tool that does not answer by then is ended.", DEADLINE),
    row(ConfigField::ParallelTools, "parallel_tools", Group::Tools, "Tools at once", "", FieldInput::Whole { min: 1, max: 64 }),
    row(ConfigField::ToolCallsPerTurn, "tool_calls_per_turn", Group::Tools, "Tool calls per turn", "Further calls are answered but not run.", FieldInput::Whole { min: 1, max: 1_000 }),
    row(ConfigField::MaxResultChars, "max_result_chars", Group::Tools, "Result length, characters", "Longer results are cut in the middle; the full text is kept.", FieldInput::Whole { min: 100, max: 10_000_000 }),
    row(ConfigField::SearchService, "search_service", Group::Search, "Search service", "Runs then have search_web. A search asks first, and shows its words.", FieldInput::Choice(SEARCH_CHOICES)),
    row(ConfigField::SearchAddress, "search_address", Group::Search, "Address", "", FieldInput::Line),
    row(ConfigField::Relay, "relay", Group::Pages, "Relay", "An address such as https://ask.example.org/v1/relay. Pages that do not let this one read them are asked for there.", FieldInput::Line),
    row(ConfigField::HostsAllowed, "hosts_allowed", Group::Pages, "Hosts that are read without asking", "One per line: docs.example.org, *.example.org for all below it, or an origin such as http://127.0.0.1:8123.", FieldInput::Lines),
    row(ConfigField::HostsDenied, "hosts_denied", Group::Pages, "Hosts that are never read", "The most exact line decides.", FieldInput::Lines),
    row(ConfigField::HeadersTimeout, "headers_timeout", Group::Deadlines, "Wait for an answer, seconds", "Until the response begins.", DEADLINE),
    row(ConfigField::FirstTokenTimeout, "first_token_timeout", Group::Deadlines, "First token, seconds", "Until the reply begins. A model that thinks in silence needs more.", DEADLINE),
    row(ConfigField::RequestTimeout, "request_timeout", Group::Deadlines, "Whole answer, seconds", "Until the reply is complete.", DEADLINE),
    row(ConfigField::IdleTimeout, "idle_timeout", Group::Deadlines, "Silent stream, seconds", "How long a stream may pause.", DEADLINE),
    row(ConfigField::RetryBase, "retry_base", Group::Retries, "First wait, seconds", "Doubled for each attempt, with jitter.", WAIT),
    row(ConfigField::RetryCap, "retry_cap", Group::Retries, "Longest wait, seconds", "", WAIT),
    row(ConfigField::RateLimitWait, "rate_limit_wait", Group::Retries, "First wait after a rate limit, seconds", "Where the server does not say how long. Doubled for each attempt.", WAIT),
    row(ConfigField::RetryAfterCap, "retry_after_cap", Group::Retries, "Max Retry-After, seconds", "If the server asks for more, the run ends and names the time.", WAIT),
];

impl ConfigField {
    /// Returns its row of the table.
    #[must_use]
    pub fn row(self) -> Option<&'static SettingsRow> {
        ROWS.iter().find(|row| row.field == self)
    }

    #[must_use]
    pub fn of_key(key: &str) -> Option<ConfigField> {
        ROWS.iter().find(|row| row.key == key).map(|row| row.field)
    }

    #[must_use]
    pub fn key(self) -> &'static str {
        self.row().map_or("", |row| row.key)
    }
}

impl Group {
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Group::Model => "Model",
            Group::Run => "Run",
            Group::Counter => "Turn counter",
            Group::Synthesis => "Synthesis",
            Group::Report => "Final report",
            Group::Tools => "Tool calls",
            Group::Limits => "Limits",
            Group::Prices => "Prices",
            Group::Deadlines => "Deadlines of a request",
            Group::Retries => "Retries",
            Group::Search => "Search the web",
            Group::Pages => "Read pages",
        }
    }

    #[must_use]
    pub fn tab(self) -> SettingsTab {
        match self {
            Group::Model => SettingsTab::Model,
            Group::Run | Group::Counter | Group::Synthesis | Group::Report => SettingsTab::Run,
            Group::Tools => SettingsTab::Tools,
            Group::Search | Group::Pages => SettingsTab::Web,
            Group::Limits | Group::Prices | Group::Deadlines | Group::Retries => SettingsTab::Limits,
        }
    }
}

impl SettingsTab {
    pub const ALL: [SettingsTab; 9] = [
        SettingsTab::Model,
        SettingsTab::Run,
        SettingsTab::Tools,
        SettingsTab::Web,
        SettingsTab::Services,
        SettingsTab::Skills,
        SettingsTab::Limits,
        SettingsTab::Appearance,
        SettingsTab::Storage,
    ];

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            SettingsTab::Model => "Model",
            SettingsTab::Run => "Run",
            SettingsTab::Tools => "Tools",
            SettingsTab::Web => "Web",
            SettingsTab::Services => "Services",
            SettingsTab::Skills => "Skills",
            SettingsTab::Limits => "Limits",
            SettingsTab::Appearance => "Appearance",
            SettingsTab::Storage => "Storage",
        }
    }
}
