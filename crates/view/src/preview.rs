//! The preview of a run: its limits, and the meaning of the meter's ticks.

use turnwise_engine::{CounterLevel, RunConfig, setup};

use super::meter::{self, Meter, Tick, TickKind, TickState};
use super::provider;
use super::source::forces_report;
use turnwise_content::format::counted;

#[derive(Clone, Debug, PartialEq)]
pub struct FilePreview {
    pub max_turns: u32,
    pub meter: Meter,
    pub note: String,
    /// The meaning of each kind of tick.
    pub legend: Vec<(TickKind, String)>,
    pub model: String,
    pub calls: String,
    pub tools: String,
}

impl From<&RunConfig> for FilePreview {
    fn from(config: &RunConfig) -> Self {
        let max = config.max_turns;
        let synthesis = Tick { kind: TickKind::Synthesis, state: TickState::Ahead };
        let ticks = meter::ahead(config, 0, max).chain(config.synthesis.as_ref().map(|_| synthesis)).collect();
        let attempts = config.synthesis.as_ref().map_or(0, |synthesis| synthesis.attempts);
        let calls = u64::from(max) * u64::from(config.max_attempts) + u64::from(attempts) + subagents(config);
        FilePreview {
            max_turns: max,
            meter: Meter { ticks, label: format!("{} at most", counted(u64::from(max), "turn")) },
            note: note(config),
            legend: legend(config),
            model: config.providers.iter().map(short).collect::<Vec<_>>().join(", "),
            calls: format!("at most {}", turnwise_content::format::thousands(calls)),
            tools: format!("{} offered", config.tools.len()),
        }
    }
}

/// Returns the maximum number of calls by sub-agents, if the run can have any.
fn subagents(config: &RunConfig) -> u64 {
    let most = u64::from(config.limits.children) * u64::from(setup::most_child_requests(config));
    if config.spawns() { most } else { 0 }
}

fn short(config: &turnwise_engine::ProviderConfig) -> String {
    match config.kind {
        turnwise_engine::ProviderKind::Demo => "Demo (no AI)".to_owned(),
        _ if config.model.is_empty() => provider::name(config),
        _ => config.model.clone(),
    }
}

fn note(config: &RunConfig) -> String {
    let limit = format!("Up to {} per run.", counted(u64::from(config.max_turns), "turn"));
    if forces_report(config) { format!("{limit} It succeeds only with an accepted report.") } else { limit }
}

/// Returns the meaning of each kind of tick of a run.
pub fn legend(config: &RunConfig) -> Vec<(TickKind, String)> {
    let mut legend = Vec::new();
    if let Some(counter) = &config.counter {
        legend.push((TickKind::Turn(CounterLevel::Normal), "plenty of turns left".to_owned()));
        legend.push((TickKind::Turn(CounterLevel::Moderate), format!("{} left: told to hurry", counter.moderate_at)));
        legend.push((TickKind::Turn(CounterLevel::Urgent), format!("{} left: told to finish", counter.urgent_at)));
    }
    if forces_report(config) {
        let level = meter::level(config.counter.as_ref(), config.max_turns, config.max_turns);
        legend.push((TickKind::Report(level), "the last turn asks for the report".to_owned()));
    }
    if config.synthesis.is_some() {
        legend.push((TickKind::Synthesis, "synthesis: the answer at the limit".to_owned()));
    }
    legend
}
