//! The charts of an insight, each with a sentence that says what it shows and with all its figures.

use super::words::{moment, reason_words, whole_moment};
use super::{AgainstLimit, Bin, Insight, Point, PointScope, SlugCount};
use turnwise_content::format::{counted, dollars, duration, one_line, sentence_case, thousands};
use turnwise_engine::{Outcome, Slug};

/// The maximum number of separate bars; all others share one.
const BARS: usize = 10;

/// One chart as data.
#[derive(Clone, Debug, PartialEq)]
pub struct InsightChart {
    /// Used for tests, element ids and clicks.
    pub id: ChartId,
    pub title: String,
    /// A sentence that says what it shows: the text alternative for those who cannot see it.
    pub summary: String,
    pub form: Form,
    pub unit: Unit,
    /// The headers of the table of figures: first for the mark, then for its value.
    pub columns: [String; 2],
    pub marks: Vec<ChartMark>,
    /// The meaning of each colour, if the chart needs it.
    pub legend: Vec<(ColourRole, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChartId {
    Reasons,
    Limit,
    Retries,
    ToolFailures,
    Tokens,
    Cost,
    Time,
}

/// Bars are horizontal, with their names next to them; columns are vertical, on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Bars,
    Columns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Count,
    Tokens,
    Dollars,
    Milliseconds,
}

/// The meaning of a colour; the drawing code chooses the colour itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourRole {
    /// It went well.
    Good,
    /// It needs attention.
    Warn,
    Bad,
    Synthesis,
    /// Neither good nor bad.
    Plain,
    /// The same, lighter.
    Soft,
}

/// A bar or a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartMark {
    /// Shown on the axis; may be left out if there is no room.
    pub label: String,
    /// Shown in the table and in tooltips.
    pub name: String,
    /// The value as text: `12 runs, 30 %`.
    pub words: String,
    /// Stacked, the first at the axis.
    pub parts: Vec<(ColourRole, f64)>,
    /// The value to filter by when it is clicked.
    pub key: Option<String>,
}

impl ChartMark {
    #[must_use]
    pub fn value(&self) -> f64 {
        self.parts.iter().map(|(_, value)| value).sum()
    }
}

/// Below this number of runs there are no charts.
const CHARTED: u32 = 5;

/// Returns the charts of these runs, without those that would be empty.
#[must_use]
pub fn charts(insight: &Insight) -> Vec<InsightChart> {
    let charts = [
        reasons(insight),
        limit(&insight.limit, insight.runs),
        slugs(ChartId::Retries, "Failed requests by cause", "No request failed.", "request", &insight.retries),
        slugs(
            ChartId::ToolFailures,
            "Failed tool calls by cause",
            "No tool call failed.",
            "call",
            &insight.tool_failures,
        ),
        tokens(insight),
        cost(insight),
        time(insight),
    ];
    let shown = |chart: &InsightChart| {
        // A few runs are read one by one.
        if insight.runs < CHARTED {
            return false;
        }
        let kept = matches!(chart.id, ChartId::Reasons | ChartId::Limit | ChartId::Retries | ChartId::Tokens);
        kept || !chart.marks.is_empty()
    };
    charts.into_iter().filter(shown).collect()
}

fn reasons(insight: &Insight) -> InsightChart {
    let marks: Vec<ChartMark> = insight
        .reasons
        .iter()
        .map(|reason| {
            let text = reason_words(reason.reason);
            let code = reason.reason.map(|reason| reason.to_string());
            let name = code.as_ref().map_or_else(|| text.clone(), |code| format!("{text} ({code})"));
            let parts = vec![(role(reason.outcome), f64::from(reason.count))];
            ChartMark { label: text, name, words: share(reason.count, insight.runs), parts, key: code }
        })
        .collect();
    let most = marks.first().map(|mark| format!(" Most often: {}, {}.", mark.label, mark.words)).unwrap_or_default();
    let kinds = counted(insight.reasons.len() as u64, "reason");
    InsightChart {
        id: ChartId::Reasons,
        title: "How runs ended".to_owned(),
        summary: format!("{} ended for {kinds}.{most}", counted(u64::from(insight.runs), "run")),
        form: Form::Bars,
        unit: Unit::Count,
        columns: ["Ended".to_owned(), "Runs".to_owned()],
        marks,
        legend: outcome_legend(insight.reasons.iter().map(|reason| role(reason.outcome))),
    }
}

fn limit(used: &AgainstLimit, runs: u32) -> InsightChart {
    let last = used.bins.len().saturating_sub(1);
    let mark = |(at, bin): (usize, &Bin)| {
        let (label, name) = match at {
            at if at == last => ("limit".to_owned(), "the whole limit".to_owned()),
            at => (format!("{}%", at * 10), format!("{} to {} % of the limit", at * 10, at * 10 + 9)),
        };
        let parts =
            [(ColourRole::Good, bin.success), (ColourRole::Synthesis, bin.partial), (ColourRole::Bad, bin.failed)];
        let parts: Vec<(ColourRole, f64)> = parts
            .into_iter()
            .chain([(ColourRole::Soft, bin.other)])
            .filter(|(_, count)| *count > 0)
            .map(|(role, count)| (role, f64::from(count)))
            .collect();
        let each = [(bin.success, "success"), (bin.partial, "partial"), (bin.failed, "failed"), (bin.other, "other")];
        let each: Vec<String> =
            each.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
        let all = bin.success + bin.partial + bin.failed + bin.other;
        let text = match each.len() {
            0 => "no run".to_owned(),
            1 => {
                format!("{} ({})", counted(u64::from(all), "run"), each.join(", ").split_once(' ').map_or("", |p| p.1))
            }
            _ => format!("{} ({})", counted(u64::from(all), "run"), each.join(", ")),
        };
        ChartMark { label, name, words: text, parts, key: None }
    };
    let marks: Vec<ChartMark> = used.bins.iter().enumerate().map(mark).collect();
    let roles: Vec<ColourRole> = marks.iter().flat_map(|mark| mark.parts.iter().map(|(role, _)| *role)).collect();
    InsightChart {
        id: ChartId::Limit,
        title: "Share of the turn limit used".to_owned(),
        summary: format!(
            "{} of {} used all their turns ({}).",
            thousands(u64::from(used.reached)),
            counted(u64::from(runs), "run"),
            percent(used.reached, runs)
        ),
        form: Form::Columns,
        unit: Unit::Count,
        columns: ["Turns used".to_owned(), "Runs".to_owned()],
        marks,
        legend: outcome_legend(roles.into_iter()),
    }
}

fn slugs(id: ChartId, title: &str, none: &str, noun: &str, counts: &[SlugCount]) -> InsightChart {
    let all: u64 = counts.iter().map(|slug| u64::from(slug.count)).sum();
    let mark = |slug: &SlugCount| {
        let label = cause(&slug.slug);
        let name = if label == slug.slug { label.clone() } else { format!("{label} ({})", slug.slug) };
        let text = format!("{} in {}", counted(u64::from(slug.count), noun), counted(u64::from(slug.runs), "run"));
        ChartMark { label, name, words: text, parts: vec![(ColourRole::Warn, f64::from(slug.count))], key: None }
    };
    let mut marks: Vec<ChartMark> = counts.iter().take(BARS).map(mark).collect();
    let rest = counts.get(BARS..).unwrap_or_default();
    if !rest.is_empty() {
        let count: u64 = rest.iter().map(|slug| u64::from(slug.count)).sum();
        marks.push(ChartMark {
            label: format!("{} more", rest.len()),
            name: rest.iter().map(|slug| cause(&slug.slug)).collect::<Vec<_>>().join(", "),
            words: counted(count, noun),
            parts: vec![(ColourRole::Soft, count as f64)],
            key: None,
        });
    }
    let summary = match marks.first() {
        Some(first) => format!("{} failed. Most often: {}, {}.", counted(all, noun), first.label, first.words),
        None => none.to_owned(),
    };
    InsightChart {
        id,
        title: title.to_owned(),
        summary,
        form: Form::Bars,
        unit: Unit::Count,
        columns: ["Cause".to_owned(), "Failed".to_owned()],
        marks,
        legend: Vec::new(),
    }
}

/// Returns why an attempt or a call failed, for people; a code that this version does not know stays.
fn cause(slug: &str) -> String {
    Slug::parse(slug).map_or_else(|| slug.to_owned(), |slug| sentence_case(slug.because()))
}

fn tokens(insight: &Insight) -> InsightChart {
    let mark = |point: &Point| {
        let each = |tokens: u64| tokens as f64 / f64::from(point.runs.max(1));
        let text = format!("{} in, {} out", whole(each(point.tokens_in)), whole(each(point.tokens_out)));
        mark_at(
            insight,
            point,
            text,
            vec![(ColourRole::Plain, each(point.tokens_in)), (ColourRole::Soft, each(point.tokens_out))],
        )
    };
    let median = format!("Half of the runs used {} tokens or fewer", whole(insight.tokens.median));
    InsightChart {
        id: ChartId::Tokens,
        title: "Tokens per run".to_owned(),
        summary: format!("{median}; one in twenty more than {}.", whole(insight.tokens.p95)),
        form: Form::Columns,
        unit: Unit::Tokens,
        columns: [axis(insight.step), per_run(insight.step, "Tokens")],
        marks: insight.series.iter().map(mark).collect(),
        legend: vec![(ColourRole::Plain, "input".to_owned()), (ColourRole::Soft, "output".to_owned())],
    }
}

fn cost(insight: &Insight) -> InsightChart {
    let mark = |point: &Point| {
        let each = point.cost.map(|cost| cost / f64::from(point.runs.max(1)));
        let text = each.map_or_else(|| "unknown".to_owned(), dollars);
        mark_at(insight, point, text, each.map(|cost| (ColourRole::Plain, cost)).into_iter().collect())
    };
    let known = insight.cost.known > 0 && insight.cost.total > 0.0;
    let unknown = insight.runs.saturating_sub(insight.cost.known);
    let rest = if unknown > 0 {
        format!(" The price is unknown for {}.", counted(u64::from(unknown), "run"))
    } else {
        String::new()
    };
    InsightChart {
        id: ChartId::Cost,
        title: "Cost per run".to_owned(),
        summary: format!(
            "{} in all. Half of the runs cost {} or less, one in twenty more than {}.{rest}",
            dollars(insight.cost.total),
            dollars(insight.cost.median),
            dollars(insight.cost.p95)
        ),
        form: Form::Columns,
        unit: Unit::Dollars,
        columns: [axis(insight.step), per_run(insight.step, "Cost")],
        marks: if known { insight.series.iter().map(mark).collect() } else { Vec::new() },
        legend: Vec::new(),
    }
}

fn time(insight: &Insight) -> InsightChart {
    let mark = |point: &Point| {
        let each = point.duration_ms as f64 / f64::from(point.ended.max(1));
        let text = if point.ended > 0 { duration(round(each)) } else { "not ended".to_owned() };
        mark_at(insight, point, text, vec![(ColourRole::Plain, each)])
    };
    InsightChart {
        id: ChartId::Time,
        title: "Time per run".to_owned(),
        summary: format!(
            "Half of the runs took {} or less, one in twenty more than {}.",
            duration(round(insight.duration_ms.median)),
            duration(round(insight.duration_ms.p95))
        ),
        form: Form::Columns,
        unit: Unit::Milliseconds,
        columns: [axis(insight.step), per_run(insight.step, "Time")],
        marks: if insight.duration_ms.known > 0 { insight.series.iter().map(mark).collect() } else { Vec::new() },
        legend: Vec::new(),
    }
}

fn mark_at(insight: &Insight, point: &Point, text: String, parts: Vec<(ColourRole, f64)>) -> ChartMark {
    let step = insight.step;
    let ends = (insight.series.first().map(|point| point.at_ms), insight.series.last().map(|point| point.at_ms));
    let days = matches!(ends, (Some(first), Some(last)) if last.saturating_sub(first) > 86_400_000);
    let at = whole_moment(point.at_ms);
    let name = match (&point.title, step) {
        (Some(title), PointScope::Run) => format!("{at}: {}", one_line(title, 60)),
        _ => format!("{at}, {}", counted(u64::from(point.runs), "run")),
    };
    ChartMark { label: moment(point.at_ms, step, days), name, words: text, parts, key: None }
}

fn axis(step: PointScope) -> String {
    if step == PointScope::Run { "Run".to_owned() } else { "Began".to_owned() }
}

fn per_run(step: PointScope, what: &str) -> String {
    if step == PointScope::Run { what.to_owned() } else { format!("{what}, mean per run") }
}

fn role(outcome: Option<Outcome>) -> ColourRole {
    match outcome {
        Some(Outcome::Success) => ColourRole::Good,
        Some(Outcome::Partial) => ColourRole::Synthesis,
        Some(Outcome::Failed) => ColourRole::Bad,
        Some(Outcome::Cancelled) | None => ColourRole::Soft,
    }
}

/// Returns the names of the outcome colours that occur.
fn outcome_legend(roles: impl Iterator<Item = ColourRole>) -> Vec<(ColourRole, String)> {
    let roles: Vec<ColourRole> = roles.collect();
    let all = [
        (ColourRole::Good, "success"),
        (ColourRole::Synthesis, "partial"),
        (ColourRole::Bad, "failed"),
        (ColourRole::Soft, "cancelled or open"),
    ];
    all.into_iter().filter(|(role, _)| roles.contains(role)).map(|(role, name)| (role, name.to_owned())).collect()
}

fn share(count: u32, total: u32) -> String {
    format!("{}, {}", counted(u64::from(count), "run"), percent(count, total))
}

fn percent(count: u32, total: u32) -> String {
    format!("{:.0} %", (f64::from(count) * 100.0 / f64::from(total.max(1))).round())
}

fn whole(value: f64) -> String {
    thousands(round(value))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sums of non-negative integers
fn round(value: f64) -> u64 {
    value.round().max(0.0) as u64
}
