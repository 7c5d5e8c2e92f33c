//! A run as the user sees it, as data. PURE -> content, engine, files, llm, protocol, record.
//!
//! Owns every text, level, tick and number of the run page, so that components only draw. A view is built from a
//! [`RunSource`]: a live run or a document from disk. Deliberately absent: streamed text that is not yet a reply (it goes
//! directly from the shell to the screen), and the DOM.

pub mod action;
pub mod address;
pub mod attempt;
pub mod branch;
pub mod built_in;
pub mod call;
pub mod compare;
pub mod ending;
pub mod export;
pub mod formats;
pub mod insight;
pub mod lane;
mod lines;
pub mod log;
pub mod markup;
pub mod meter;
pub mod models;
pub mod note;
pub mod palette;
pub mod panel;
mod parting;
pub mod permit;
pub mod picture;
pub mod plan;
pub mod preview;
pub mod probe;
pub mod provider;
pub mod quotation;
pub mod rail;
pub mod replay;
pub mod report;
pub mod search;
pub mod services;
pub mod settings;
pub mod signin;
pub mod skills;
pub mod slug;
pub mod source;
pub mod tasks;
pub mod turn;
pub mod version;
pub mod work;
pub mod written;

pub use attempt::{FailedAttempt, PartialView, ReplyCut};
pub use call::{CallState, CallView};
pub use ending::EndingView;
pub use lane::{LaneState, LaneTime, LaneView};
pub use meter::{Meter, Tick, TickKind, TickState};
pub use panel::{PanelPhase, PanelView};
pub use preview::FilePreview;
pub use rail::RailView;
pub use report::ReportView;
pub use slug::SlugView;
pub use source::{Branches, Children, RunSource, SegmentSpan, SourceOrigin};
pub use turn::{Activity, CounterLine, TurnKind, TurnView, WaitView};
pub use work::WorkView;

use crate::picture::PictureView;
use turnwise_engine::{Parent, Run};

/// The whole run page. Live pages update [`TurnView`]s one by one instead: an update then costs only the bytes of its turn.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewModel {
    pub head: HeadView,
    pub turns: Vec<TurnView>,
    pub segments: Vec<SegmentView>,
    pub panel: PanelView,
}

/// The top of a run: its task and its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadView {
    pub task: String,
    pub pictures: Vec<PictureView>,
    /// Model, preset, features that are switched off: short phrases.
    pub facts: Vec<String>,
}

/// The end of a segment, shown after its last turn.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentView {
    /// Index into the turns after which the segment ended; `None`: before the first turn.
    pub after: Option<usize>,
    pub ending: EndingView,
    /// The report, only if no turn shows it.
    pub report: Option<ReportView>,
    /// Turns granted after it, if the run continued.
    pub granted: Option<u32>,
}

impl SegmentView {
    /// Returns what its card shows of the report: the ending gives the cause of a failure itself.
    #[must_use]
    pub fn shown_report(&self) -> Option<ReportView> {
        match &self.ending.cause {
            Some(cause) => self.report.as_ref()?.after(cause),
            None => self.report.clone(),
        }
    }
}

impl From<&Run> for ViewModel {
    fn from(run: &Run) -> Self {
        ViewModel::from(&RunSource::from(run))
    }
}

impl From<&RunSource<'_>> for ViewModel {
    fn from(source: &RunSource<'_>) -> Self {
        let (spans, branches) = (source.spans(), source.branches.list());
        ViewModel {
            head: HeadView::from(source),
            turns: (0..source.turns.len())
                .filter_map(|index| TurnView::among(source, &spans, &branches, index))
                .collect(),
            segments: segments(source),
            panel: PanelView::from(source),
        }
    }
}

impl From<&RunSource<'_>> for HeadView {
    fn from(source: &RunSource<'_>) -> Self {
        let config = source.config;
        if let Some(from) = source.imported {
            let model = config.providers.first().map(|provider| provider.model.clone());
            let facts = [Some(from.to_string()), model.filter(|model| !model.is_empty())];
            let facts = facts.into_iter().flatten().collect();
            return HeadView {
                task: source::task_title(source.input).to_owned(),
                pictures: PictureView::list(source.images),
                facts,
            };
        }
        let mut facts = provider::facts(config);
        facts.push(config.preset.as_str().to_owned());
        if source::forces_report(config) {
            facts.push(format!("report: {}", config.report.format.as_str()));
        }
        if config.counter.is_none() {
            facts.push("turn counter off".to_owned());
        }
        if config.synthesis.is_none() && !source::forces_report(config) {
            facts.push("synthesis off".to_owned());
        }
        if let Some(Parent { run_id, turn }) = source.parent {
            facts.push(format!("branch of {run_id} before turn {turn}"));
            facts.extend(branch::changes(source));
        }
        HeadView {
            task: source::task_title(source.input).to_owned(),
            pictures: PictureView::list(source.images),
            facts,
        }
    }
}

/// Returns one entry per ended segment, in order.
#[must_use]
pub fn segments(source: &RunSource<'_>) -> Vec<SegmentView> {
    let spans = source.spans();
    let ended = source.segments.iter().enumerate();
    ended
        .filter_map(|(index, ending)| {
            let span = spans.get(index);
            let next_max = spans.get(index + 1).map(|next| next.max_turns);
            let mut view = EndingView::for_segment(source, index)?;
            // The turn right above shows it.
            let last = source.turns_of(index).last().and_then(|turn| turn.attempts.last());
            if last.is_some_and(|attempt| attempt.error == ending.error) {
                view.error = None;
            }
            Some(SegmentView {
                after: span.and_then(|span| span.end.checked_sub(1)),
                ending: view,
                report: ReportView::for_ending(source.config, ending),
                granted: next_max.map(|max| max.saturating_sub(ending.total_turns)),
            })
        })
        .collect()
}
