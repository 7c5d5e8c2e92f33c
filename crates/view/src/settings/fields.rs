//! The table of settings: one row per field, with its name, its input and its meaning.

/// One field of the run's configuration that can be set individually.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
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
}

/// A tab of the dialog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    #[default]
    Model,
    Run,
    Tools,
    Limits,
    Appearance,
    Storage,
}

/// How a value is entered. Bounds are inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
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
pub struct Row {
    pub field: Field,
    /// Its name in storage and in the page.
    pub key: &'static str,
    pub group: Group,
    pub label: &'static str,
    pub help: &'static str,
    pub input: Input,
}

const fn row(
    field: Field,
    key: &'static str,
    group: Group,
    label: &'static str,
    help: &'static str,
    input: Input,
) -> Row {
    Row { field, key, group, label, help, input }
}

const PRESETS: Input =
    Input::Choice(&[("research", "Research"), ("orchestrator", "Orchestrator"), ("strict", "Strict")]);
const FORMATS: Input = Input::Choice(&[
    ("text", "Plain text"),
    ("markdown", "Markdown"),
    ("json", "JSON, with a schema if you like"),
    ("slack", "Slack Block Kit messages"),
]);
const PRICE: Input = Input::OptionalDecimal { min: 0.0, max: 1e6 };
const MANY: Input = Input::OptionalWhole { min: 1, max: 1_000_000_000 };
const CHANGES: Input = Input::Choice(&[("allow", "Write without asking"), ("ask", "Ask before each change")]);
const ROLES: Input = Input::Choice(&[("user", "User message"), ("system", "System message")]);
const FALLBACKS: Input =
    Input::Choice(&[("message", "A sentence that names the error"), ("aggregated_text", "The model's text so far")]);
const WAIT: Input = Input::Seconds { min: 0.0, max: 3_600.0 };
const DEADLINE: Input = Input::Seconds { min: 0.1, max: 3_600.0 };

/// Every field, in the order of the dialog.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row(Field::Provider, "provider", Group::Model, "Provider", "", Input::Provider),
    row(Field::BaseUrl, "base_url", Group::Model, "Base URL", "Up to and including the version, as in /v1.", Input::Line),
    row(Field::Model, "model", Group::Model, "Model", "As the server names it.", Input::Line),
    row(Field::MaxOutputTokens, "max_output_tokens", Group::Model, "Max output tokens", "Per request. Leave empty for the server's default.", Input::OptionalWhole { min: 1, max: 10_000_000 }),
    row(Field::Preset, "preset", Group::Run, "Preset", "Sets the turn limit and how a run ends. Strict: only an accepted final report is a success.", PRESETS),
    row(Field::Temperature, "temperature", Group::Run, "Temperature", "Leave empty for the model's default.", Input::OptionalDecimal { min: 0.0, max: 2.0 }),
    row(Field::Seed, "seed", Group::Run, "Seed", "For jitter and ids: same seed, same run. Leave empty for a new one each time.", Input::OptionalWhole { min: 1, max: u64::MAX }),
    row(Field::System, "system", Group::Run, "System text", "Leave empty for the preset's text.", Input::Lines),
    row(Field::Counter, "counter", Group::Counter, "Turn counter", "After every turn with tool calls, tells the model how many turns it has used.", Input::Switch),
    row(Field::ModerateAt, "moderate_at", Group::Counter, "Amber from", "Turns remaining.", Input::Whole { min: 0, max: 1_000 }),
    row(Field::UrgentAt, "urgent_at", Group::Counter, "Red from", "Turns remaining.", Input::Whole { min: 0, max: 1_000 }),
    row(Field::TemplateNormal, "template_normal", Group::Counter, "Line, calm", "May contain {turn}, {max} and {remaining}.", Input::Line),
    row(Field::TemplateModerate, "template_moderate", Group::Counter, "Line, amber", "", Input::Line),
    row(Field::TemplateUrgent, "template_urgent", Group::Counter, "Line, red", "", Input::Line),
    row(Field::Synthesis, "synthesis", Group::Synthesis, "Synthesis at the limit", "One last request without tools asks for a conclusion.", Input::Switch),
    row(Field::SynthesisRole, "synthesis_role", Group::Synthesis, "Asked as", "", ROLES),
    row(Field::SynthesisNumbered, "synthesis_numbered", Group::Synthesis, "Counts as a turn", "It is then turn N+1 and part of the total.", Input::Switch),
    row(Field::SynthesisAttempts, "synthesis_attempts", Group::Synthesis, "Attempts", "LLM requests for it, retries included.", Input::Whole { min: 1, max: 20 }),
    row(Field::SynthesisOnError, "synthesis_on_error", Group::Synthesis, "If it fails, report", "", FALLBACKS),
    row(Field::SynthesisPrompt, "synthesis_prompt", Group::Synthesis, "Prompt", "Leave empty for the preset's text.", Input::Lines),
    row(Field::ReportFormat, "report_format", Group::Report, "Format", "Anything else is refused, and the model is told why.", FORMATS),
    row(Field::ReportSchema, "report_schema", Group::Report, "JSON Schema (2020-12)", "The report must match it. Leave empty to accept any JSON.", Input::Lines),
    row(Field::MaxTurns, "max_turns", Group::Limits, "Max turns", "After the last one a synthesis concludes the run. Strict: the last one asks for the report.", Input::Whole { min: 1, max: 1_000 }),
    row(Field::MaxAttempts, "max_attempts", Group::Limits, "Attempts per turn", "LLM requests for one turn, retries included.", Input::Whole { min: 1, max: 20 }),
    row(Field::WallTime, "wall_time", Group::Limits, "Max total time, seconds", "The run then concludes. Leave empty for no limit.", Input::OptionalSeconds { min: 1.0, max: 86_400.0 }),
    row(Field::Tokens, "tokens", Group::Limits, "Max total tokens", "Input and output; the run then concludes. Leave empty for no limit.", MANY),
    row(Field::Cost, "cost", Group::Limits, "Max total cost, US dollars", "Needs prices: known, or set below. Leave empty for no limit.", Input::OptionalDecimal { min: 0.000_001, max: 1e6 }),
    row(Field::ContextTokens, "context_tokens", Group::Limits, "Context window, tokens", "When it is full, the oldest tool results are removed. Leave empty for the model's, if known.", MANY),
    row(Field::PriceInput, "price_input", Group::Prices, "Price of input", "US dollars per million tokens. Leave empty for the list price, if known.", PRICE),
    row(Field::PriceOutput, "price_output", Group::Prices, "Price of output", "US dollars per million tokens.", PRICE),
    row(Field::PriceCached, "price_cached", Group::Prices, "Price of cached input", "Leave empty for the price of input.", PRICE),
    row(Field::FileChanges, "file_changes", Group::Tools, "Changes to files", "For the files of a task. Changes to a folder of your disk always ask.", CHANGES),
    row(Field::ToolTimeout, "tool_timeout", Group::Tools, "Tool deadline, seconds", "A tool that does not answer by then is ended.", DEADLINE),
    row(Field::ParallelTools, "parallel_tools", Group::Tools, "Tools at once", "", Input::Whole { min: 1, max: 64 }),
    row(Field::ToolCallsPerTurn, "tool_calls_per_turn", Group::Tools, "Tool calls per turn", "Further calls are answered but not run.", Input::Whole { min: 1, max: 1_000 }),
    row(Field::MaxResultChars, "max_result_chars", Group::Tools, "Result length, characters", "Longer results are cut in the middle; the full text is kept.", Input::Whole { min: 100, max: 10_000_000 }),
    row(Field::HeadersTimeout, "headers_timeout", Group::Deadlines, "Wait for an answer, seconds", "Until the response begins.", DEADLINE),
    row(Field::FirstTokenTimeout, "first_token_timeout", Group::Deadlines, "First token, seconds", "Until the reply begins. A model that thinks in silence needs more.", DEADLINE),
    row(Field::RequestTimeout, "request_timeout", Group::Deadlines, "Whole answer, seconds", "Until the reply is complete.", DEADLINE),
    row(Field::IdleTimeout, "idle_timeout", Group::Deadlines, "Silent stream, seconds", "How long a stream may pause.", DEADLINE),
    row(Field::RetryBase, "retry_base", Group::Retries, "First wait, seconds", "Doubled for each attempt, with jitter.", WAIT),
    row(Field::RetryCap, "retry_cap", Group::Retries, "Longest wait, seconds", "", WAIT),
    row(Field::RateLimitWait, "rate_limit_wait", Group::Retries, "First wait after a rate limit, seconds", "Where the server does not say how long. Doubled for each attempt.", WAIT),
    row(Field::RetryAfterCap, "retry_after_cap", Group::Retries, "Max Retry-After, seconds", "If the server asks for more, the run ends and names the time.", WAIT),
];

impl Field {
    /// Returns its row of the table.
    #[must_use]
    pub fn row(self) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.field == self)
    }

    #[must_use]
    pub fn of_key(key: &str) -> Option<Field> {
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
        }
    }

    #[must_use]
    pub fn tab(self) -> Tab {
        match self {
            Group::Model => Tab::Model,
            Group::Run | Group::Counter | Group::Synthesis | Group::Report => Tab::Run,
            Group::Tools => Tab::Tools,
            Group::Limits | Group::Prices | Group::Deadlines | Group::Retries => Tab::Limits,
        }
    }
}

impl Tab {
    pub const ALL: [Tab; 6] = [Tab::Model, Tab::Run, Tab::Tools, Tab::Limits, Tab::Appearance, Tab::Storage];

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Tab::Model => "Model",
            Tab::Run => "Run",
            Tab::Tools => "Tools",
            Tab::Limits => "Limits",
            Tab::Appearance => "Appearance",
            Tab::Storage => "Storage",
        }
    }
}
