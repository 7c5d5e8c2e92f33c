//! What a model takes of a run's settings, and what is sent instead of what it does not take.
//!
//! The table is `models/families.csv`, made by `.ci/families.mjs`; nothing in it was tried on a real service. Its columns: the beginning of
//! a name, the hosts where that holds (empty: everywhere), whether Messages and Gemini take the effort as a word, the efforts, how the
//! model is told not to think, and when it takes a temperature, a forced tool call, and tools in Chat Completions.

use turnwise_engine::{AskedTool, Correction, ProviderConfig, ProviderKind, ReasoningEffort, RunConfig};

use super::endpoint;
use super::options::Options;
use super::providers::{WireFormat, wire};

const TABLE: &str = include_str!("models/families.csv");

/// A row of the table.
#[derive(Clone, Debug)]
struct ModelLimits {
    in_words: bool,
    /// In order, `none` apart; `None`: not known.
    efforts: Option<Vec<ReasoningEffort>>,
    off: Off,
    sampling: When,
    forced: When,
    chat_tools: When,
}

/// How a model is told not to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Off {
    Unknown,
    /// By the effort `none`.
    Effort,
    /// By `thinking` of this type.
    Type(&'static str),
    /// By this number of tokens.
    Tokens(u32),
    /// It always thinks.
    Never,
}

/// When a model takes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    /// Unless it is told to think.
    NotThinking,
    /// Only if it is told not to think.
    ToldNot,
    Never,
}

/// The settings of a run as one model takes them.
#[derive(Clone, Debug)]
pub(super) struct ModelSettings {
    /// What it is told; `None`: nothing.
    pub effort: Option<ReasoningEffort>,
    /// Whether the effort is a word in formats that know numbers of tokens too.
    pub in_words: bool,
    pub off: Off,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    /// Whether it can be made to call a tool.
    pub forces: bool,
}

impl ModelSettings {
    pub fn of(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> Self {
        let (format, abilities) = (wire(p.kind).format, ModelLimits::of(p));
        let effort = match config.reasoning {
            // It said so itself.
            Some(effort) if learnt.iter().any(|it| matches!(it, Correction::Effort(_))) => Some(effort),
            Some(effort) => abilities.nearest(effort),
            // OpenRouter knows what the server behind it wants.
            None if format == WireFormat::Chat && p.kind != ProviderKind::Openrouter => {
                let has_tools = !config.tools.is_empty() && !learnt.contains(&Correction::NoEffort);
                (has_tools && abilities.chat_tools == When::ToldNot).then_some(ReasoningEffort::None)
            }
            None => None,
        };
        let thinks = told_by_options(Options::of(p)).or(effort.map(|effort| effort != ReasoningEffort::None));
        let samples = abilities.sampling.holds(thinks);
        ModelSettings {
            effort,
            in_words: abilities.in_words,
            off: abilities.off,
            temperature: config.temperature.filter(|_| samples),
            top_p: config.top_p.filter(|_| samples),
            forces: abilities.forced.holds(thinks),
        }
    }

    /// The run's own tool choice. A model that cannot be made to call a tool chooses itself.
    pub fn choice(&self, config: &RunConfig) -> Option<AskedTool> {
        match config.tool_choice.clone()? {
            AskedTool::Required | AskedTool::Tool(_) if !self.forces => Some(AskedTool::Auto),
            asked => Some(asked),
        }
    }
}

/// What the models of a run do not take of its settings, and what is sent instead: a sentence each. Fields that a provider's options
/// replace are not sent at all, so nothing is said about them.
#[must_use]
pub fn adjustments(config: &RunConfig) -> Vec<String> {
    let mut said = Vec::new();
    for p in &config.providers {
        for sentence in adjusted(p, config) {
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
    }
    said
}

fn adjusted(p: &ProviderConfig, config: &RunConfig) -> Vec<String> {
    let (abilities, settings, options) = (ModelLimits::of(p), ModelSettings::of(p, config, &[]), Options::of(p));
    let (format, model) = (wire(p.kind).format, &p.model);
    let mut said = Vec::new();
    let sets = |names: &[&str]| names.iter().any(|name| options.get(name).is_some());
    let effort_fields: &[&str] = match format {
        WireFormat::Chat => &["reasoning_effort", "reasoning", "thinking"],
        WireFormat::Responses => &["reasoning"],
        WireFormat::Messages => &["thinking", "output_config"],
        WireFormat::Gemini => &["generationConfig"],
    };
    let is_told = |effort| settings.effort == Some(effort);
    if let Some(asked) = config.reasoning.filter(|asked| !is_told(*asked) && !sets(effort_fields)) {
        let (asked, known) = (asked.as_str(), abilities.efforts.unwrap_or_default());
        let known: Vec<&str> = known.iter().map(|effort| effort.as_str()).collect();
        let why = match (asked, known.as_slice()) {
            ("none", _) if abilities.off == Off::Never => "always thinks".to_owned(),
            (_, []) => "takes no reasoning effort".to_owned(),
            (_, known) => format!("takes the reasoning efforts {}", known.join(", ")),
        };
        match settings.effort {
            Some(sent) => said.push(format!("{model} {why}: `{asked}` is sent as `{}`.", sent.as_str())),
            // A model that never thinks does as it is told.
            None if asked == "none" && abilities.off != Off::Never => {}
            None => said.push(format!("{model} {why}: `{asked}` is not sent.")),
        }
    }
    if let (Some(ReasoningEffort::None), Off::Tokens(least @ 1..)) = (settings.effort, settings.off)
        && !sets(effort_fields)
    {
        said.push(format!("{model} always thinks: `none` is sent as {least} tokens."));
    }
    let sampling = [
        ("temperature", "temperature", config.temperature, settings.temperature),
        ("topP", "top_p", config.top_p, settings.top_p),
    ];
    let dropped = sampling
        .iter()
        .filter(|(_, field, asked, sent)| asked.is_some() && sent.is_none() && !sets(&[field, "generationConfig"]));
    let dropped: Vec<&str> = dropped.map(|(name, ..)| *name).collect();
    if !dropped.is_empty() {
        said.push(format!("{model} takes no {}{}: not sent.", dropped.join(" and no "), abilities.sampling.said()));
    }
    let is_forced = matches!(config.tool_choice, Some(AskedTool::Required | AskedTool::Tool(_)));
    if is_forced && !config.tools.is_empty() && !settings.forces {
        said.push(format!("{model} cannot be made to call a tool{}: it chooses itself.", abilities.forced.said()));
    }
    if format == WireFormat::Chat
        && endpoint::is_openai(p)
        && abilities.chat_tools == When::Never
        && !config.tools.is_empty()
    {
        said.push(format!(
            "{model} takes no tools in Chat Completions: use the provider openai-responses (openaiResponses in code)."
        ));
    }
    said
}

impl ModelLimits {
    fn of(p: &ProviderConfig) -> Self {
        let (name, host) = (plain(&p.model), endpoint::host(p));
        let rows = TABLE.lines().filter_map(|line| {
            let (pattern, row) = line.split_once(',')?;
            let (hosts, row) = row.split_once(',')?;
            let is_there = hosts.is_empty() || hosts.split(' ').any(|known| host.contains(known));
            (is_there && belongs(&name, pattern)).then_some((pattern.len(), !hosts.is_empty(), row))
        });
        let (_, is_its_own, row) = rows.max_by_key(|(length, ..)| *length).unwrap_or_default();
        let mut cells = row.split(',');
        let mut cell = || cells.next().unwrap_or_default();
        let mut abilities = ModelLimits {
            in_words: cell() == "yes",
            efforts: efforts(cell()),
            off: Off::read(cell()),
            sampling: When::read(cell()),
            forced: When::read(cell()),
            chat_tools: When::read(cell()),
        };
        abilities.fit(p, is_its_own);
        abilities
    }

    /// What differs between the ways to reach a model. `is_its_own`: the row is about this server.
    fn fit(&mut self, p: &ProviderConfig, is_its_own: bool) {
        let format = wire(p.kind).format;
        self.off = match (format, self.off) {
            // It may be a model that never thinks, which is told nothing.
            (_, Off::Unknown) if self.efforts.as_deref() == Some(&[]) => Off::Unknown,
            (_, Off::Never) => Off::Never,
            (WireFormat::Messages, Off::Type(word)) => Off::Type(word),
            (WireFormat::Messages, _) => Off::Type("disabled"),
            (WireFormat::Gemini, Off::Tokens(tokens)) => Off::Tokens(tokens),
            (WireFormat::Gemini, _) => Off::Tokens(0),
            (WireFormat::Chat, Off::Type(word)) if is_its_own => Off::Type(word),
            (WireFormat::Chat | WireFormat::Responses, _) => Off::Effort,
        };
        let up_to = |most| Some(named_efforts().filter(|effort| *effort <= most).collect());
        match &mut self.efforts {
            Some(known) if known.is_empty() => {}
            // Numbers of tokens, of which `high` is the largest.
            _ if matches!(format, WireFormat::Messages | WireFormat::Gemini) && !self.in_words => {
                self.efforts = up_to(ReasoningEffort::High);
            }
            // OpenRouter translates these for each model.
            Some(known) if p.kind == ProviderKind::Openrouter => {
                let has_max = known.contains(&ReasoningEffort::Max);
                self.efforts = up_to(if has_max { ReasoningEffort::Max } else { ReasoningEffort::Xhigh });
            }
            // @ai-sdk/openai 4.0.118: in Responses only.
            Some(known) if format == WireFormat::Chat && endpoint::is_openai(p) => {
                known.retain(|effort| *effort != ReasoningEffort::Max);
            }
            _ => {}
        }
        if format == WireFormat::Messages {
            // Of any model: while it thinks, the API refuses a temperature, and a forced tool call takes the thought away.
            for when in [&mut self.sampling, &mut self.forced] {
                if *when == When::Always {
                    *when = When::NotThinking;
                }
            }
        }
    }

    /// The effort that it takes instead of another: the next one down, or the lowest. `None`: nothing is said.
    fn nearest(&self, asked: ReasoningEffort) -> Option<ReasoningEffort> {
        let Some(known) = &self.efforts else { return Some(asked) };
        let is_off = asked == ReasoningEffort::None && self.off != Off::Never;
        if is_off {
            // One without efforts and without a way to stop does not think.
            return (self.off != Off::Unknown || !known.is_empty()).then_some(asked);
        }
        known.iter().rev().find(|effort| **effort <= asked).or(known.first()).copied()
    }
}

impl Off {
    fn read(cell: &'static str) -> Self {
        match cell {
            "" => Off::Unknown,
            "none" => Off::Effort,
            "never" => Off::Never,
            other => other.parse().map_or(Off::Type(other), Off::Tokens),
        }
    }
}

impl When {
    fn read(cell: &str) -> Self {
        match cell {
            "off" => When::NotThinking,
            "none" => When::ToldNot,
            "never" => When::Never,
            _ => When::Always,
        }
    }

    /// `thinks`: what the model is told; `None`: nothing.
    fn holds(self, thinks: Option<bool>) -> bool {
        match self {
            When::Always => true,
            When::NotThinking => thinks != Some(true),
            When::ToldNot => thinks == Some(false),
            When::Never => false,
        }
    }

    /// For a sentence about what is not taken.
    fn said(self) -> &'static str {
        match self {
            When::NotThinking | When::ToldNot => " while it thinks",
            When::Always | When::Never => "",
        }
    }
}

/// Whether the fields that the user added tell the model to think.
fn told_by_options(options: Options<'_>) -> Option<bool> {
    let text = |value: Option<&serde_json::Value>, none: &str| Some(value?.as_str()? != none);
    text(options.get("reasoning_effort"), "none")
        .or_else(|| text(options.get("reasoning")?.get("effort"), "none"))
        .or_else(|| options.get("thinking").map(|thinking| text(thinking.get("type"), "disabled").unwrap_or(true)))
}

/// All efforts but `none`.
fn named_efforts() -> impl Iterator<Item = ReasoningEffort> {
    ReasoningEffort::ALL.iter().copied().filter(|effort| *effort != ReasoningEffort::None)
}

/// The efforts of a cell; `-`: there are none.
fn efforts(cell: &str) -> Option<Vec<ReasoningEffort>> {
    let known = named_efforts().filter(|effort| cell.split(' ').any(|word| word == effort.as_str()));
    (!cell.is_empty()).then(|| known.collect())
}

/// Whether a name belongs to a pattern: it begins with it, and a number in it does not go on (`gpt-5-2` is not `gpt-5-2025-08-07`).
fn belongs(name: &str, pattern: &str) -> bool {
    let ends_in = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
    let rest = name.strip_prefix(pattern);
    rest.is_some_and(|rest| !(ends_in(pattern) && rest.starts_with(|c: char| c.is_ascii_digit())))
}

/// A name as the table has it: without its vendor, in lower case, with dashes for dots. Gateways write more before Claude's names.
fn plain(model: &str) -> String {
    let name = model.trim().rsplit('/').next().unwrap_or_default().to_ascii_lowercase().replace('.', "-");
    name.find("claude").and_then(|at| name.get(at..)).unwrap_or(&name).to_owned()
}
