//! The insight page: its figures, its filters and its texts.

use super::chart::{InsightChart, charts};
use super::words;
use super::{Filter, FilterChoice, Insight, InsightFigure};
use turnwise_content::format::{counted, dollars, duration, thousands};
use turnwise_engine::{TerminationReason, Usage};

/// Everything on the page except the drawn charts.
#[derive(Clone, Debug, PartialEq)]
pub struct InsightPage {
    /// `12 of 40 runs`
    pub words: String,
    pub tiles: Vec<Tile>,
    pub charts: Vec<InsightChart>,
    pub models: Vec<Pick>,
    pub presets: Vec<Pick>,
    pub outcomes: Vec<Pick>,
    pub reasons: Vec<Pick>,
    /// A hint, if there is nothing to show.
    pub empty: Option<&'static str>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    pub name: &'static str,
    pub value: String,
    /// The text below the value.
    pub note: String,
}

/// A value that can be filtered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    pub value: String,
    pub words: String,
}

/// The time range of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Range {
    #[default]
    All,
    Day,
    Week,
    Month,
}

impl Range {
    pub const ALL: [Range; 4] = [Range::All, Range::Day, Range::Week, Range::Month];

    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Range::All => "All time",
            Range::Day => "24 hours",
            Range::Week => "7 days",
            Range::Month => "30 days",
        }
    }

    /// Returns the start of the range, in milliseconds since 1970.
    #[must_use]
    pub fn from_ms(self, now: u64) -> Option<u64> {
        let days = match self {
            Range::All => return None,
            Range::Day => 1,
            Range::Week => 7,
            Range::Month => 30,
        };
        Some(now.saturating_sub(days * 86_400_000))
    }
}

impl InsightPage {
    #[must_use]
    pub fn new(insight: &Insight, filter: &Filter) -> Self {
        let all = counted(u64::from(insight.of), "run");
        InsightPage {
            words: match filter.is_empty() {
                true => all,
                false => format!("{} of {all}", thousands(u64::from(insight.runs))),
            },
            tiles: if insight.runs > 0 { tiles(insight) } else { Vec::new() },
            charts: charts(insight),
            models: picks(
                &insight.choices.models,
                |model| if model.is_empty() { "No name".into() } else { model.into() },
            ),
            presets: picks(&insight.choices.presets, str::to_owned),
            outcomes: picks(&insight.choices.outcomes, str::to_owned),
            reasons: picks(&insight.choices.reasons, |reason| {
                reason
                    .parse::<TerminationReason>()
                    .map_or_else(|()| reason.to_owned(), |r| words::reason_words(Some(r)))
            }),
            empty: match (insight.of, insight.runs) {
                (0, _) => Some("Nothing to count yet. Run a task, or drop trajectory files on the page."),
                (_, 0) => Some("No run passes these filters."),
                _ => None,
            },
        }
    }
}

fn picks(choices: &[FilterChoice], name: impl Fn(&str) -> String) -> Vec<Pick> {
    let pick = |FilterChoice { value, count }: &FilterChoice| Pick {
        value: value.clone(),
        words: format!("{} ({count})", name(value)),
    };
    choices.iter().map(pick).collect()
}

fn tiles(insight: &Insight) -> Vec<Tile> {
    let most =
        |figure: InsightFigure, format: &dyn Fn(f64) -> String| format!("one in twenty over {}", format(figure.p95));
    let open = insight.runs.saturating_sub(insight.ended);
    let mut tiles = vec![
        Tile {
            name: "Runs",
            value: thousands(u64::from(insight.runs)),
            note: if open > 0 { format!("{open} not ended") } else { counted(u64::from(insight.requests), "request") },
        },
        Tile {
            name: "Success",
            value: insight
                .success_share
                .map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", (share * 100.0).round())),
            note: format!("{} at the limit", thousands(u64::from(insight.limit.reached))),
        },
        Tile { name: "Turns per run", value: whole(insight.turns.median), note: most(insight.turns, &whole) },
        Tile {
            name: "Tokens per run",
            value: about(insight.usage, &whole(insight.tokens.median)),
            note: most(insight.tokens, &whole),
        },
    ];
    if insight.duration_ms.known > 0 {
        let text = |ms: f64| duration(round(ms));
        tiles.push(Tile {
            name: "Time per run",
            value: text(insight.duration_ms.median),
            note: most(insight.duration_ms, &text),
        });
    }
    if insight.cost.known > 0 && insight.cost.total > 0.0 {
        tiles.push(Tile {
            name: "Total cost",
            value: dollars(insight.cost.total),
            note: format!("{} for a usual run", dollars(insight.cost.median)),
        });
    }
    tiles
}

fn about(usage: Usage, text: &str) -> String {
    if usage.estimated { format!("≈ {text}") } else { text.to_owned() }
}

fn whole(value: f64) -> String {
    thousands(round(value))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sums of non-negative integers
fn round(value: f64) -> u64 {
    value.round().max(0.0) as u64
}
