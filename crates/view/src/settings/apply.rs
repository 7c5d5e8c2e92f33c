//! Converts between texts and the configuration: one arm per field, in both directions.

use std::ops::RangeInclusive;

use serde_json::Value;

use turnwise_engine::{
    CounterConfig, DemoMode, PermissionRule, Permissions, Price, ProviderConfig, ProviderKind, ReportFormat, RunConfig,
    SynthesisConfig, SynthesisFallback, SynthesisRole, user_info,
};
use turnwise_llm::address::{split_version, with_scheme};

use super::super::provider::provider_card;
use super::{ConfigField, FieldError, FieldInput, SettingsRow};

/// Returns the text of a field of a configuration.
pub(super) fn text(config: &RunConfig, field: ConfigField) -> String {
    let counter = config.counter.clone().unwrap_or_default();
    let synthesis = config.synthesis.clone().unwrap_or_else(|| SynthesisConfig::preset(config.preset));
    let provider = config.providers.first().cloned().unwrap_or_default();
    match field {
        ConfigField::Provider => match (provider.kind, provider.demo) {
            (ProviderKind::Demo, Some(DemoMode::Endless)) => "demo-endless".to_owned(),
            (ProviderKind::Demo, Some(DemoMode::Chaos)) => "demo-chaos".to_owned(),
            (kind, _) => kind.as_str().to_owned(),
        },
        ConfigField::BaseUrl => provider.base_url,
        ConfigField::Model => provider.model,
        ConfigField::MaxOutputTokens => optional(provider.max_output_tokens),
        ConfigField::Preset => config.preset.as_str().to_owned(),
        ConfigField::MaxTurns => config.max_turns.to_string(),
        ConfigField::MaxAttempts => config.max_attempts.to_string(),
        ConfigField::Temperature => optional(config.temperature),
        ConfigField::System => config.system.clone(),
        ConfigField::Seed => optional(Some(config.seed).filter(|seed| *seed != 0)),
        ConfigField::FileChanges => {
            let asks = config.permissions.as_ref().is_some_and(|rules| rules.workspace == Some(PermissionRule::Ask));
            if asks { "ask" } else { "allow" }.to_owned()
        }
        ConfigField::Counter => switch(config.counter.is_some()),
        ConfigField::ModerateAt => counter.moderate_at.to_string(),
        ConfigField::UrgentAt => counter.urgent_at.to_string(),
        ConfigField::TemplateNormal => counter.templates.normal,
        ConfigField::TemplateModerate => counter.templates.moderate,
        ConfigField::TemplateUrgent => counter.templates.urgent,
        ConfigField::Synthesis => switch(config.synthesis.is_some()),
        ConfigField::SynthesisRole => match synthesis.role {
            SynthesisRole::User => "user".to_owned(),
            SynthesisRole::System => "system".to_owned(),
        },
        ConfigField::SynthesisNumbered => switch(synthesis.numbered),
        ConfigField::SynthesisAttempts => synthesis.attempts.to_string(),
        ConfigField::SynthesisOnError => match synthesis.on_error {
            SynthesisFallback::Message => "message".to_owned(),
            SynthesisFallback::AggregatedText => "aggregated_text".to_owned(),
        },
        ConfigField::SynthesisPrompt => synthesis.prompt.unwrap_or_default(),
        ConfigField::ReportFormat => config.report.format.as_str().to_owned(),
        ConfigField::ReportSchema => config.report.schema.as_ref().map(ToString::to_string).unwrap_or_default(),
        ConfigField::WallTime => config.limits.wall_ms.map(seconds).unwrap_or_default(),
        ConfigField::Tokens => optional(config.limits.tokens),
        ConfigField::Cost => optional(config.limits.cost),
        ConfigField::ContextTokens => optional(config.limits.context_tokens),
        ConfigField::PriceInput => optional(provider.price.map(|price| price.input)),
        ConfigField::PriceOutput => optional(provider.price.map(|price| price.output)),
        ConfigField::PriceCached => optional(provider.price.map(|price| price.cached)),
        ConfigField::ToolTimeout => seconds(config.limits.tool_timeout_ms),
        ConfigField::ParallelTools => config.limits.parallel_tools.to_string(),
        ConfigField::ToolCallsPerTurn => config.limits.tool_calls_per_turn.to_string(),
        ConfigField::MaxResultChars => config.limits.max_result_chars.to_string(),
        ConfigField::HeadersTimeout => seconds(config.limits.headers_ms),
        ConfigField::FirstTokenTimeout => seconds(config.limits.first_token_ms),
        ConfigField::RequestTimeout => seconds(config.limits.request_ms),
        ConfigField::IdleTimeout => seconds(config.limits.idle_ms),
        ConfigField::RetryBase => seconds(config.retry.base_ms),
        ConfigField::RetryCap => seconds(config.retry.cap_ms),
        ConfigField::RateLimitWait => seconds(config.retry.rate_limit_ms),
        ConfigField::RetryAfterCap => seconds(config.retry.retry_after_cap_ms),
        // Of the user, not of a configuration.
        ConfigField::SearchService
        | ConfigField::SearchAddress
        | ConfigField::Relay
        | ConfigField::HostsAllowed
        | ConfigField::HostsDenied => String::new(),
    }
}

/// Parses one text into the configuration, or says what is wrong with it.
pub(super) fn apply(config: &mut RunConfig, row: &SettingsRow, text: &str) -> Result<(), String> {
    let text = if matches!(row.input, FieldInput::Lines) { text } else { text.trim() };
    match row.field {
        ConfigField::Provider => provider(config, kind(text), |provider, (kind, demo)| {
            provider.kind = kind;
            provider.demo = demo;
        }),
        ConfigField::BaseUrl => provider(config, address(text)?, |provider, value| provider.base_url = value),
        ConfigField::Model => provider(config, text.to_owned(), |provider, value| provider.model = value),
        ConfigField::MaxOutputTokens => {
            provider(config, optional_small(row, text)?, |provider, value| provider.max_output_tokens = value);
        }
        ConfigField::Preset => {}
        ConfigField::MaxTurns => config.max_turns = small(row, text)?,
        ConfigField::MaxAttempts => config.max_attempts = small(row, text)?,
        ConfigField::Temperature => config.temperature = optional_decimal(row, text)?,
        ConfigField::System => config.system = text.to_owned(),
        ConfigField::Seed => config.seed = if text.is_empty() { 0 } else { whole(row, text)? },
        ConfigField::FileChanges => {
            let rules = Permissions { workspace: Some(PermissionRule::Ask), ..Permissions::default() };
            config.permissions = (text == "ask").then_some(rules);
        }
        ConfigField::Counter => config.counter = (text == "on").then(CounterConfig::default),
        ConfigField::ModerateAt => counter(config, small(row, text)?, |counter, value| counter.moderate_at = value),
        ConfigField::UrgentAt => counter(config, small(row, text)?, |counter, value| counter.urgent_at = value),
        ConfigField::TemplateNormal => counter(config, one(text)?, |counter, value| counter.templates.normal = value),
        ConfigField::TemplateModerate => {
            counter(config, one(text)?, |counter, value| counter.templates.moderate = value);
        }
        ConfigField::TemplateUrgent => counter(config, one(text)?, |counter, value| counter.templates.urgent = value),
        ConfigField::ReportFormat => config.report.format = format(text),
        ConfigField::ReportSchema => config.report.schema = schema(text)?,
        ConfigField::WallTime => {
            config.limits.wall_ms = if text.is_empty() { None } else { Some(millis(row, text)?) };
        }
        ConfigField::Tokens => config.limits.tokens = optional_whole(row, text)?,
        ConfigField::Cost => config.limits.cost = optional_decimal(row, text)?,
        // The known value for the model applies, unless the user sets another one.
        ConfigField::ContextTokens => {
            config.limits.context_tokens = optional_whole(row, text)?.or(config.limits.context_tokens);
        }
        // Cached input costs the same as other input, unless the user sets another price.
        ConfigField::PriceInput => price(config, optional_decimal(row, text)?, |price, value| {
            (price.input, price.cached) = (value, value);
        }),
        ConfigField::PriceOutput => price(config, optional_decimal(row, text)?, |price, value| price.output = value),
        ConfigField::PriceCached => price(config, optional_decimal(row, text)?, |price, value| price.cached = value),
        ConfigField::Synthesis => {
            config.synthesis = (text == "on").then(|| SynthesisConfig::preset(config.preset));
        }
        ConfigField::SynthesisRole => {
            let role = if text == "system" { SynthesisRole::System } else { SynthesisRole::User };
            synthesis(config, role, |synthesis, value| synthesis.role = value);
        }
        ConfigField::SynthesisNumbered => {
            synthesis(config, text == "on", |synthesis, value| synthesis.numbered = value);
        }
        ConfigField::SynthesisAttempts => {
            synthesis(config, small(row, text)?, |synthesis, value| synthesis.attempts = value);
        }
        ConfigField::SynthesisOnError => {
            let aggregated = text == "aggregated_text";
            let fallback = if aggregated { SynthesisFallback::AggregatedText } else { SynthesisFallback::Message };
            synthesis(config, fallback, |synthesis, value| synthesis.on_error = value);
        }
        ConfigField::SynthesisPrompt => {
            let prompt = Some(text.to_owned()).filter(|prompt| !prompt.trim().is_empty());
            synthesis(config, prompt, |synthesis, value| synthesis.prompt = value);
        }
        ConfigField::ToolTimeout => config.limits.tool_timeout_ms = millis(row, text)?,
        ConfigField::ParallelTools => config.limits.parallel_tools = small(row, text)?,
        ConfigField::ToolCallsPerTurn => config.limits.tool_calls_per_turn = small(row, text)?,
        ConfigField::MaxResultChars => {
            config.limits.max_result_chars = usize::try_from(whole(row, text)?).unwrap_or(usize::MAX);
        }
        ConfigField::HeadersTimeout => config.limits.headers_ms = millis(row, text)?,
        ConfigField::FirstTokenTimeout => config.limits.first_token_ms = millis(row, text)?,
        ConfigField::RequestTimeout => config.limits.request_ms = millis(row, text)?,
        ConfigField::IdleTimeout => config.limits.idle_ms = millis(row, text)?,
        ConfigField::RetryBase => config.retry.base_ms = millis(row, text)?,
        ConfigField::RetryCap => config.retry.cap_ms = millis(row, text)?,
        ConfigField::RateLimitWait => config.retry.rate_limit_ms = millis(row, text)?,
        ConfigField::RetryAfterCap => config.retry.retry_after_cap_ms = millis(row, text)?,
        ConfigField::SearchService => {}
        ConfigField::SearchAddress | ConfigField::Relay => drop(address(text)?),
        ConfigField::HostsAllowed => hosts(config, text, PermissionRule::Allow)?,
        ConfigField::HostsDenied => hosts(config, text, PermissionRule::Deny)?,
    }
    Ok(())
}

/// Returns the errors of values that are valid individually but contradict each other.
pub(super) fn contradictions(config: &RunConfig) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(counter) = config.counter.as_ref().filter(|counter| counter.moderate_at < counter.urgent_at) {
        let message = format!("Amber must begin no later than red, which begins at {}.", counter.urgent_at);
        errors.push(FieldError { field: ConfigField::ModerateAt, message });
    }
    if config.limits.cost.is_some() && config.providers.iter().any(|provider| provider.price.is_none()) {
        let message = "A cost limit needs a price for input and for output.".to_owned();
        errors.push(FieldError { field: ConfigField::Cost, message });
    }
    if config.retry.cap_ms < config.retry.base_ms {
        let message = "The longest wait is shorter than the first.".to_owned();
        errors.push(FieldError { field: ConfigField::RetryCap, message });
    }
    errors
}

fn provider<T>(config: &mut RunConfig, value: T, set: impl FnOnce(&mut ProviderConfig, T)) {
    if let Some(provider) = config.providers.first_mut() {
        set(provider, value);
    }
}

fn price(config: &mut RunConfig, value: Option<f64>, set: impl FnOnce(&mut Price, f64)) {
    if let Some(value) = value {
        provider(config, value, |provider, value| set(provider.price.get_or_insert_default(), value));
    }
}

fn format(text: &str) -> ReportFormat {
    let formats = [ReportFormat::Markdown, ReportFormat::Json, ReportFormat::Slack];
    formats.into_iter().find(|format| format.as_str() == text).unwrap_or_default()
}

/// Parses a schema, which is an object or a boolean.
fn schema(text: &str) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(text) {
        Ok(schema @ (Value::Object(_) | Value::Bool(_))) => Ok(Some(schema)),
        Ok(_) => Err("A JSON Schema is an object.".to_owned()),
        Err(error) => Err(format!("No JSON: {error}.")),
    }
}

fn kind(text: &str) -> (ProviderKind, Option<DemoMode>) {
    match text {
        "demo-endless" => (ProviderKind::Demo, Some(DemoMode::Endless)),
        "demo-chaos" => (ProviderKind::Demo, Some(DemoMode::Chaos)),
        _ => match provider_card(text) {
            Some(card) => (card.kind, None),
            None => (ProviderKind::Demo, Some(DemoMode::Normal)),
        },
    }
}

fn counter<T>(config: &mut RunConfig, value: T, set: impl FnOnce(&mut CounterConfig, T)) {
    if let Some(counter) = config.counter.as_mut() {
        set(counter, value);
    }
}

fn synthesis<T>(config: &mut RunConfig, value: T, set: impl FnOnce(&mut SynthesisConfig, T)) {
    if let Some(synthesis) = config.synthesis.as_mut() {
        set(synthesis, value);
    }
}

/// The paths that requests add to a base URL.
const ADDED: &[&str] = &["/chat/completions", "/responses", "/messages"];

/// Sets the rule for these hosts, separated by spaces, commas or lines.
fn hosts(config: &mut RunConfig, text: &str, rule: PermissionRule) -> Result<(), String> {
    let separates = |c: char| c.is_whitespace() || c == ',';
    for name in text.split(separates).filter(|name| !name.is_empty()) {
        let host = host_name(name).ok_or_else(|| {
            format!("{name} is no host: write docs.example.org, *.example.org or an origin such as https://docs.example.org.")
        })?;
        let own = || Permissions { workspace: Some(PermissionRule::Allow), ..Permissions::default() };
        config.permissions.get_or_insert_with(own).hosts.insert(host, rule);
    }
    Ok(())
}

/// A host, all hosts below one, or an origin, as the engine compares them.
fn host_name(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, rest) = text.split_once("://").map_or((None, text.as_str()), |(scheme, rest)| (Some(scheme), rest));
    let rest = if scheme.is_some() { rest.trim_end_matches('/') } else { rest };
    let (below, name) = rest.strip_prefix("*.").map_or((false, rest), |name| (true, name));
    let (host, port) = name.rsplit_once(':').map_or((name, None), |(host, port)| (host, Some(port)));
    let is_name = !host.is_empty()
        && host
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)));
    let port = match port.map(str::parse::<u16>) {
        None => None,
        Some(Ok(port)) => Some(port),
        Some(Err(_)) => return None,
    };
    let own = match scheme {
        Some("http") => Some(80),
        Some("https") | None => Some(443),
        Some(_) => return None,
    };
    if !is_name || (below && (port.is_some() || scheme.is_some())) {
        return None;
    }
    let port = port.filter(|port| Some(*port) != own).map(|port| format!(":{port}")).unwrap_or_default();
    let scheme = scheme.map(|scheme| format!("{scheme}://")).unwrap_or_default();
    Some(format!("{scheme}{}{host}{port}", if below { "*." } else { "" }))
}

pub(super) fn address(text: &str) -> Result<String, String> {
    let text = with_scheme(text.trim_end_matches('/'));
    let (whole, text) = (text.as_ref(), split_version(&text).0);
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest {
        None if text.is_empty() => Ok(String::new()),
        None => Err("It must start with https:// or http://.".to_owned()),
        Some(rest) if rest.is_empty() || rest.starts_with('/') => Err("The host is missing.".to_owned()),
        Some(_) if let Some(path) = ADDED.iter().find(|path| text.ends_with(**path)) => {
            Err(format!("Leave {path} out: it is added for each request."))
        }
        Some(_) if user_info(text).is_some() => {
            Err("Leave the user name and the password out: enter a key instead.".to_owned())
        }
        Some(_) if text.contains(['?', '#']) => {
            Err("Leave out what follows the question mark: a base URL has no query but Azure's ?api-version=…."
                .to_owned())
        }
        Some(_) if text.contains(char::is_whitespace) => Err("An address has no spaces.".to_owned()),
        Some(_) => Ok(whole.to_owned()),
    }
}

fn one(text: &str) -> Result<String, String> {
    if text.is_empty() {
        Err("To remove the counter, switch it off instead of leaving this empty.".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

fn whole(row: &SettingsRow, text: &str) -> Result<u64, String> {
    let (min, max) = match row.input {
        FieldInput::Whole { min, max } | FieldInput::OptionalWhole { min, max } => (min, max),
        _ => (0, u64::MAX),
    };
    let range = if max == u64::MAX { format!("{min} or more") } else { format!("{min} to {max}") };
    text.parse().ok().filter(|value| (min..=max).contains(value)).ok_or(format!("A whole number, {range}."))
}

fn small(row: &SettingsRow, text: &str) -> Result<u32, String> {
    whole(row, text).map(|value| u32::try_from(value).unwrap_or(u32::MAX))
}

fn optional_whole(row: &SettingsRow, text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() { Ok(None) } else { whole(row, text).map(Some) }
}

fn optional_small(row: &SettingsRow, text: &str) -> Result<Option<u32>, String> {
    if text.is_empty() { Ok(None) } else { small(row, text).map(Some) }
}

fn decimal(text: &str, range: &RangeInclusive<f64>) -> Result<f64, String> {
    let wrong = || format!("A number, {} to {}.", range.start(), range.end());
    text.parse().ok().filter(|value| range.contains(value)).ok_or_else(wrong)
}

fn optional_decimal(row: &SettingsRow, text: &str) -> Result<Option<f64>, String> {
    let range = match row.input {
        FieldInput::OptionalDecimal { min, max } => min..=max,
        _ => f64::MIN..=f64::MAX,
    };
    if text.is_empty() { Ok(None) } else { decimal(text, &range).map(Some) }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // The range is checked and positive.
fn millis(row: &SettingsRow, text: &str) -> Result<u64, String> {
    let range = match row.input {
        FieldInput::Seconds { min, max } | FieldInput::OptionalSeconds { min, max } => min..=max,
        _ => 0.0..=3_600.0,
    };
    decimal(text, &range).map(|seconds| (seconds * 1_000.0).round() as u64)
}

#[allow(clippy::cast_precision_loss)] // Times are hours at most.
fn seconds(ms: u64) -> String {
    (ms as f64 / 1_000.0).to_string()
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn switch(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}
