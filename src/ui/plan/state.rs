//! A plan on the screen, as signals: one slot a step, and where the records come from.

use std::sync::Arc;

use leptos::prelude::*;

use crate::engine::EpochMillis;
use crate::plan::{Plan, PlanDocument, PlanTraceRecord, StepRecord};
use crate::shell::PlanSession;
use crate::trajectory::{ParseError, Trajectory};
use crate::view::plan::{ContextView, Graph, PlanHead, PlanPanelView, StepSource, StepView, Told};
use crate::view::{Origin, Source};

use super::super::slots::Behind;
use super::super::state::{Local, Page};

/// One plan run; a cheap copy.
#[derive(Clone, Debug)]
pub struct PlanPage {
    pub plan: Arc<Plan>,
    pub head: PlanHead,
    pub wide: Arc<Graph>,
    pub narrow: Arc<Graph>,
    pub steps: Arc<[StepSlot]>,
    pub panel: ArcRwSignal<PlanPanelView>,
    /// The step whose detail is shown.
    pub selected: ArcRwSignal<Option<u32>>,
    pub record: Record,
    pub started_at: u64,
}

/// Where the records of the steps are.
#[derive(Clone, Debug)]
pub enum Record {
    Live(Local<PlanSession>),
    /// A document, kept letter by letter.
    Document {
        name: String,
        text: Arc<str>,
        document: Arc<PlanDocument>,
    },
}

/// One step on the screen.
#[derive(Clone, Debug)]
pub struct StepSlot {
    pub order: u32,
    pub view: ArcRwSignal<StepView>,
    pub context: ArcRwSignal<ContextView>,
    /// Its run, where it ended before.
    pub recorded: Option<Arc<Trajectory>>,
    /// Its transcript; made when it runs, or when it is looked at.
    pub page: ArcRwSignal<Option<Page>>,
}

impl PlanPage {
    pub fn live(session: &PlanSession) -> Self {
        let record = Record::Live(Local::new(session.clone()));
        session.with_run(|run| {
            let records = run.plan().steps.iter().filter_map(|step| run.step_record(step.order));
            // What was kept was read before: a run that is none is shown without its turns.
            let records = records.map(|record| (trajectory(&record).ok().flatten(), record)).collect::<Vec<_>>();
            let told = Told {
                started_at: run.options().started_at,
                calls_left: run.calls_left(),
                ending: run.ending(),
                origin: Origin::Session,
            };
            PlanPage::new(run.plan(), &records, run.traces(), &told, record)
        })
    }

    /// # Errors
    /// Which run in it is none.
    pub fn document(name: &str, text: String, document: PlanDocument) -> Result<Self, String> {
        let document = Arc::new(document);
        let told = Told {
            started_at: document.started_ms,
            calls_left: 0,
            ending: document.ending.as_ref(),
            origin: Origin::Document,
        };
        let mut records = Vec::new();
        for record in &document.steps {
            let run = trajectory(record).map_err(|e| format!("The run of step {} is damaged: {e}", record.order))?;
            records.push((run, record.clone()));
        }
        let record = Record::Document { name: name.to_owned(), text: text.into(), document: Arc::clone(&document) };
        Ok(PlanPage::new(&document.plan, &records, &document.traces, &told, record))
    }

    fn new(
        plan: &Plan,
        records: &[(Option<Arc<Trajectory>>, StepRecord)],
        traces: &[PlanTraceRecord],
        told: &Told<'_>,
        record: Record,
    ) -> Self {
        let slot = |(run, record): &(Option<Arc<Trajectory>>, StepRecord)| {
            let source = StepSource::recorded(plan, record, run.as_deref(), traces);
            StepSlot {
                order: record.order,
                view: ArcRwSignal::new(StepView::from(&source)),
                context: ArcRwSignal::new(ContextView::from(&source)),
                recorded: run.clone(),
                page: ArcRwSignal::new(None),
            }
        };
        let steps: Arc<[StepSlot]> = records.iter().map(slot).collect();
        let views: Vec<StepView> = steps.iter().map(|slot| slot.view.get_untracked()).collect();
        let EpochMillis(started_at) = told.started_at;
        PlanPage {
            head: PlanHead::of(plan),
            wide: Arc::new(Graph::wide(plan)),
            narrow: Arc::new(Graph::narrow(plan)),
            plan: Arc::new(plan.clone()),
            panel: ArcRwSignal::new(PlanPanelView::of(&views, told)),
            selected: ArcRwSignal::new(None),
            steps,
            record,
            started_at,
        }
    }

    pub fn slot(&self, order: u32) -> Option<&StepSlot> {
        self.steps.iter().find(|slot| slot.order == order)
    }

    /// Shows a step, or puts it away.
    pub fn select(&self, order: Option<u32>) {
        if let Some(order) = order {
            self.make_transcript(order);
        }
        self.selected.set(order);
    }

    /// The transcript of a run that is only recorded: long ones cost something, so nothing is made before it is wanted.
    fn make_transcript(&self, order: u32) {
        let Some(slot) = self.slot(order) else { return };
        if slot.page.with_untracked(Option::is_some) {
            return;
        }
        let Some(run) = &slot.recorded else { return };
        let behind = Behind::Document(Arc::clone(run));
        slot.page.set(Some(Page::new(0, &Source::from(run.as_ref()), behind)));
    }
}

/// The run of a record, without its events: the record has them.
fn trajectory(record: &StepRecord) -> Result<Option<Arc<Trajectory>>, ParseError> {
    let Some(run) = &record.run else { return Ok(None) };
    let run = run.trajectory()?;
    Ok(Some(Arc::new(Trajectory { events: Vec::new(), ..run })))
}
