//! The options of an agent as the page sends them: already checked, with the keys of the recorded configuration.

use serde::Deserialize;
use serde_json::Value;

use turnwise_engine::{AskedTool, Preset, ProviderConfig, RunConfig, SubagentKind};

/// The options of an agent.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentOptions {
    /// The differences from the preset's configuration (`TrajectoryConfig`). `null` switches `counter` or `synthesis` off.
    #[cfg_attr(feature = "types", ts(type = "Record<string, unknown>"))]
    config: Value,
    /// Names of built-in tools. Default: the safe set.
    #[serde(default)]
    tools: Option<Vec<String>>,
    /// One entry for each of the configuration's providers, in the same order.
    #[serde(default)]
    pub access: Vec<AccessOptions>,
    #[serde(default)]
    pub worker_url: Option<String>,
}

/// A model that is queried outside a run.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct ProviderOptions {
    #[cfg_attr(feature = "types", ts(type = "Record<string, unknown>"))]
    pub config: ProviderConfig,
    pub access: AccessOptions,
}

/// A provider's credentials.
// Deliberately without `Debug` of its values.
#[derive(Default, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase")]
pub struct AccessOptions {
    pub api_key: Option<String>,
    #[cfg_attr(feature = "types", ts(optional = nullable))]
    pub headers: Vec<(String, String)>,
    /// The page calls the model itself.
    #[cfg_attr(feature = "types", ts(optional = nullable))]
    pub in_page: bool,
}

impl AgentOptions {
    /// Returns the whole configuration; `seed` is for options without one.
    ///
    /// # Errors
    /// The fault, for developers: the page checks options before it sends them.
    pub fn config(&self, seed: u64) -> Result<RunConfig, String> {
        let wrong = |error: serde_json::Error| format!("options: {error}");
        let named = self.config.get("preset").and_then(Value::as_str);
        let preset = Preset::ALL.iter().find(|preset| Some(preset.as_str()) == named).copied().unwrap_or_default();
        let preset = RunConfig { seed, ..RunConfig::preset(preset) };
        // By way of text: that code is already there to read records; deserializing from values would add 10 KB.
        let mut whole = serde_json::to_string(&preset).and_then(|text| serde_json::from_str(&text)).map_err(wrong)?;
        lay_over(&mut whole, &self.config);
        let mut config: RunConfig = serde_json::from_str(&whole.to_string()).map_err(wrong)?;
        config.tools = match &self.tools {
            None => turnwise_tools::safe_set(),
            Some(names) => {
                let mut specs = Vec::new();
                for (at, name) in names.iter().enumerate() {
                    let known = turnwise_tools::builtin(name)
                        .ok_or_else(|| format!("options.tools: there is no tool {name}"))?;
                    if !names.iter().take(at).any(|earlier| earlier == name) {
                        specs.push(known);
                    }
                }
                specs
            }
        };
        Ok(config)
    }
}

/// Returns what a configuration asks for and cannot have, for developers. Prices from the table of models are already in it.
#[must_use]
pub fn contradiction(config: &RunConfig) -> Option<String> {
    let unpriced = config.providers.iter().find(|provider| provider.price.is_none());
    if let (Some(_), Some(provider)) = (config.limits.cost, unpriced) {
        let ProviderConfig { kind, model, .. } = provider;
        let named = format!("{} {model}", kind.as_str());
        let named = named.trim_end();
        return Some(format!(
            "a budget in US dollars (limits.cost, budget.usd) needs the price of every model, and that of {named} is not known: \
             give it with the model, price: {{ input, output }} in US dollars per million tokens"
        ));
    }
    let config = config.clone().normalized();
    let has = |name: &str| config.tools.iter().any(|tool| tool.name == name);
    let known = || match config.tools.as_slice() {
        [] => "it has none".to_owned(),
        tools => format!("it has {}", tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")),
    };
    if let Some(AskedTool::Tool(name)) = &config.tool_choice
        && !has(name)
    {
        return Some(format!("toolChoice names the tool {name:?}, which this agent does not have; {}", known()));
    }
    let unknown = |kind: &SubagentKind| {
        let name = &kind.name;
        let tool = kind.tools.iter().find(|tool| !has(tool)).map(|tool| {
            format!("the sub-agent {name:?} names the tool {tool:?}, which this agent does not have; {}", known())
        });
        let skills: Vec<&str> = config.skills.iter().map(|skill| skill.name.as_str()).collect();
        tool.or_else(|| {
            let skill = kind.skills.iter().find(|skill| !skills.contains(&skill.as_str()))?;
            let has = if skills.is_empty() { "none".to_owned() } else { skills.join(", ") };
            Some(format!(
                "the sub-agent {name:?} names the skill {skill:?}, which this agent does not have; it has {has}"
            ))
        })
    };
    config.agents.iter().find_map(unknown)
}

/// Merges objects key by key and replaces everything else.
fn lay_over(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                lay_over(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => below.clone_from(above),
    }
}

impl std::fmt::Debug for AccessOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccessOptions(..)")
    }
}
