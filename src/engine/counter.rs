//! The turn counter: the line that tells the model its budget (SEMANTICS 3).

use super::config::CounterConfig;
use super::record::CounterLevel;

/// The level of a turn, by what remains after it.
#[must_use]
pub fn level(config: &CounterConfig, turn: u32, max_turns: u32) -> CounterLevel {
    match max_turns.saturating_sub(turn) {
        left if left <= config.urgent_at => CounterLevel::Urgent,
        left if left <= config.moderate_at => CounterLevel::Moderate,
        _ => CounterLevel::Normal,
    }
}

/// The counter line of a turn, without the newline before it, and its level.
#[must_use]
pub fn line(config: &CounterConfig, turn: u32, max_turns: u32) -> (CounterLevel, String) {
    let level = level(config, turn, max_turns);
    let template = match level {
        CounterLevel::Urgent => &config.templates.urgent,
        CounterLevel::Moderate => &config.templates.moderate,
        CounterLevel::Normal | CounterLevel::Off => &config.templates.normal,
    };
    let text = template
        .replace("{turn}", &turn.to_string())
        .replace("{max}", &max_turns.to_string())
        .replace("{remaining}", &max_turns.saturating_sub(turn).to_string());
    (level, text)
}
