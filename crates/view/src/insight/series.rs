//! Runs over time: one point per run while there are few, otherwise one per time interval.

use serde::{Deserialize, Serialize};

use turnwise_engine::Outcome;
use turnwise_record::trajectory::RunSummary;

/// The maximum number of points: more cannot be told apart on a narrow page.
const MOST: usize = 60;
const MINUTE: u64 = 60_000;

/// The scope of one point: a run or a time interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightStep"))]
#[serde(rename_all = "snake_case")]
pub enum PointScope {
    Run,
    Minute,
    TenMinutes,
    Hour,
    SixHours,
    Day,
    Week,
    FourWeeks,
    Year,
}

impl PointScope {
    /// Time intervals, the shortest first.
    const TIMES: [PointScope; 8] = [
        PointScope::Minute,
        PointScope::TenMinutes,
        PointScope::Hour,
        PointScope::SixHours,
        PointScope::Day,
        PointScope::Week,
        PointScope::FourWeeks,
        PointScope::Year,
    ];

    /// The length in milliseconds; 0 for a run.
    #[must_use]
    pub fn ms(self) -> u64 {
        match self {
            PointScope::Run => 0,
            PointScope::Minute => MINUTE,
            PointScope::TenMinutes => 10 * MINUTE,
            PointScope::Hour => 60 * MINUTE,
            PointScope::SixHours => 360 * MINUTE,
            PointScope::Day => 1_440 * MINUTE,
            PointScope::Week => 7 * 1_440 * MINUTE,
            PointScope::FourWeeks => 28 * 1_440 * MINUTE,
            PointScope::Year => 365 * 1_440 * MINUTE,
        }
    }
}

/// One run, or the runs that began in a time interval. Values are sums; divide by `runs` for the mean per run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightPoint"))]
pub struct Point {
    /// Start of the run or of the interval, in milliseconds since 1970; intervals are aligned to UTC.
    pub at_ms: u64,
    pub runs: u32,
    /// Only for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    pub success: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// US dollars of the runs whose prices are known; `null`: no price is known.
    pub cost: Option<f64>,
    /// The total for the runs that have ended; `ended` is the number of these runs.
    pub duration_ms: u64,
    pub ended: u32,
}

impl Point {
    fn take(&mut self, run: &RunSummary) {
        self.runs += 1;
        self.success += u32::from(run.outcome == Some(Outcome::Success));
        self.tokens_in = self.tokens_in.saturating_add(run.tokens.input.0);
        self.tokens_out = self.tokens_out.saturating_add(run.tokens.output.0);
        if let Some(cost) = run.cost {
            self.cost = Some(self.cost.unwrap_or(0.0) + cost);
        }
        if let Some(ms) = run.duration_ms {
            self.duration_ms = self.duration_ms.saturating_add(ms);
            self.ended += 1;
        }
    }
}

/// Returns the runs in the order in which they began; empty time intervals are included.
pub(super) fn series(runs: &[&RunSummary]) -> (PointScope, Vec<Point>) {
    let mut runs = runs.to_vec();
    runs.sort_by(|a, b| (a.started_ms, &a.run_id).cmp(&(b.started_ms, &b.run_id)));
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return (PointScope::Run, Vec::new()) };
    if runs.len() <= MOST {
        let one = |run: &&RunSummary| {
            let mut point = Point {
                at_ms: run.started_ms,
                run_id: Some(run.run_id.clone()),
                title: Some(run.title.clone()),
                outcome: run.outcome,
                ..Point::default()
            };
            point.take(run);
            point
        };
        return (PointScope::Run, runs.iter().map(one).collect());
    }
    let (from, to) = (first.started_ms, last.started_ms);
    let fits = |step: &PointScope| (to / step.ms() - from / step.ms()) < MOST as u64;
    let step = PointScope::TIMES.into_iter().find(fits).unwrap_or(PointScope::Year);
    let start = from / step.ms();
    // A wrong clock may be centuries off: runs that do not fit then share the last point.
    let most = (to / step.ms() - start).min(MOST as u64 * 4);
    let mut points: Vec<Point> =
        (0..=most).map(|at| Point { at_ms: (start + at) * step.ms(), ..Point::default() }).collect();
    for run in runs {
        let at = usize::try_from((run.started_ms / step.ms() - start).min(most)).unwrap_or_default();
        if let Some(point) = points.get_mut(at) {
            point.take(run);
        }
    }
    (step, points)
}
