//! The axes of a chart: their ranges, and round numbers and dates as ticks.

use super::chart::{Chart, ChartKind, Position};
use super::{dates, number};

/// The vertical axis.
#[derive(Debug)]
pub(super) struct Values {
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<(f64, String)>,
}

/// The horizontal axis.
#[derive(Debug)]
pub(super) enum Positions {
    /// Labels, each with a band of its own.
    Bands(Vec<String>),
    /// Numbers or days.
    Numbers { at: Vec<f64>, from: f64, to: f64, dates: bool },
}

impl Values {
    pub fn of(chart: &Chart) -> Self {
        let all = chart.series.iter().flat_map(|series| series.values.iter().flatten().copied());
        let (mut low, mut high) =
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        // Bars and areas start at zero; the axis of lines and points that are far from zero starts near them.
        let from_zero = matches!(chart.chart, ChartKind::Bar | ChartKind::Area);
        if from_zero || (low > 0.0 && low < high * 0.6) || (high < 0.0 && high > low * 0.6) {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if low == high {
            let around = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
            (low, high) = (low - if low == 0.0 { 0.0 } else { around }, high + around);
        }
        let ticks = round(low, high, 5);
        low = ticks.first().copied().unwrap_or(low).min(low);
        high = ticks.last().copied().unwrap_or(high).max(high);
        Values { low, high, ticks: labelled(&ticks) }
    }
}

impl Positions {
    pub fn of(chart: &Chart) -> Self {
        let labels = || Positions::Bands(chart.x.iter().map(Position::text).collect());
        if chart.chart == ChartKind::Bar {
            return labels();
        }
        let numbers: Option<Vec<f64>> = chart
            .x
            .iter()
            .map(|x| match x {
                Position::Number(value) => Some(*value),
                Position::Text(_) => None,
            })
            .collect();
        let days = || -> Option<Vec<f64>> { chart.x.iter().map(|x| dates::read(&x.text())).collect() };
        let (at, dates) = match numbers {
            Some(at) => (at, false),
            None => match days() {
                Some(at) => (at, true),
                None => return labels(),
            },
        };
        let (mut from, mut to) =
            at.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), value| (from.min(*value), to.max(*value)));
        if from == to {
            (from, to) = (from - 1.0, to + 1.0);
        } else if chart.chart == ChartKind::Point {
            // A point at the edge is seen whole.
            let margin = (to - from) * 0.03;
            (from, to) = (from - margin, to + margin);
        }
        Positions::Numbers { at, from, to, dates }
    }
}

/// Round numbers from `from` to `to`, each with its label.
pub(super) fn ticks(from: f64, to: f64, most: usize, dates: bool) -> Vec<(f64, String)> {
    if dates {
        return dates::ticks(from, to, most);
    }
    let mut ticks = labelled(&round(from, to, most));
    ticks.retain(|(at, _)| *at >= from && *at <= to);
    ticks
}

/// Returns about `most` round numbers that cover the range.
fn round(low: f64, high: f64, most: usize) -> Vec<f64> {
    let rough = (high - low) / (most.max(2) - 1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= rough * 0.999);
    let step = step.filter(|step| *step > 0.0 && step.is_finite()).unwrap_or(1.0);
    let first = (low / step + 1e-9).floor();
    let count = ((high / step - 1e-9).ceil() - first).clamp(1.0, 50.0) as usize;
    (0..=count).map(|n| (first + n as f64) * step).collect()
}

/// Labels numbers alike: the same unit and the same decimals.
fn labelled(ticks: &[f64]) -> Vec<(f64, String)> {
    let most = ticks.iter().fold(0.0_f64, |most, tick| most.max(tick.abs()));
    let (unit, name) = match most {
        most if most >= 1e15 => return ticks.iter().map(|tick| (*tick, format!("{tick:e}"))).collect(),
        most if most >= 1e12 => (1e12, " tn"),
        most if most >= 1e9 => (1e9, " bn"),
        most if most >= 1e6 => (1e6, " M"),
        _ => (1.0, ""),
    };
    let step = ticks.windows(2).next().map_or(1.0, |pair| match pair {
        [one, two] => (two - one).abs() / unit,
        _ => 1.0,
    });
    // 2.5 needs one more decimal than 2.
    let mut decimals = 0_usize;
    while decimals < 9
        && (step * 10_f64.powi(decimals as i32)).fract().min(1.0 - (step * 10_f64.powi(decimals as i32)).fract()) > 1e-6
    {
        decimals += 1;
    }
    let label = |tick: f64| match number::fixed(tick / unit, decimals) {
        zero if zero == "0" => zero,
        text => {
            let text = if decimals > 0 { format!("{:.decimals$}", tick / unit) } else { text };
            format!("{}{name}", number::separated(&text))
        }
    };
    ticks.iter().map(|tick| (*tick, label(*tick))).collect()
}
