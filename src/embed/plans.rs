//! Plans: reads them, runs them, and reports their events.

use std::rc::Rc;

use serde_json::Value;
use wasm_bindgen_futures::spawn_local;

use super::agents::{HostedAgent, Segment};
use super::outbox::AskError;
use crate::shell::{PlanNotice, PlanSession, PlanStart, StartError};
use crate::worker::records;
use turnwise_protocol::tool_worker::DocumentTask;
use turnwise_protocol::{AskId, EventStep, Listening, PlanOwnEvent};
use turnwise_record::plan::{Plan, PlanDocument, PlanFault, PlanRecord, PlanRecordKind, fault};

/// The page's options for running a plan.
pub(super) struct Wish {
    pub(super) parallel: Option<usize>,
    pub(super) from: Option<u32>,
    /// The text of an earlier run's record.
    pub(super) after: Option<String>,
    pub(super) how: Listening,
}

impl HostedAgent {
    pub(super) fn run_plan(self: &Rc<Self>, id: AskId, plan: &Value, wish: Wish) {
        let plan = match readable(self, plan, &wish) {
            Ok(plan) => plan,
            Err(refusal) => return self.outbox.refused(id, &refusal),
        };
        let Wish { parallel, from, after, how } = wish;
        let start = PlanStart { parallel, after: None, from };
        let Some(text) = after else { return self.begin_plan(id, plan, start, how) };
        let (agent, before) = (Rc::clone(self), self.asked_to_end.get());
        spawn_local(async move {
            match earlier(&agent, text).await {
                Ok(after) => {
                    agent.begin_plan(id, plan, PlanStart { after: Some(Box::new(after)), ..start }, how);
                    agent.end_as_asked(before);
                }
                Err(error) => agent.outbox.refused(id, &AskError::Wrong(format!("options.after: {error}"))),
            }
        });
    }

    fn begin_plan(self: &Rc<Self>, id: AskId, plan: Plan, start: PlanStart, how: Listening) {
        if self.session.is_running() {
            return self.outbox.refused(id, &StartError::Busy.into());
        }
        self.permit(how.approve);
        let segment = Segment { id, listens: how.listens };
        let (place, hearing) = (Rc::clone(self), Rc::clone(self));
        let ready = move |session: &PlanSession| drop(place.plan.replace(Some(session.clone())));
        let started = PlanSession::start(&self.session, plan, start, ready, move |notice| {
            hearing.hear_plan(segment, notice);
        });
        if let Err(refused) = started {
            self.outbox.refused(id, &refused.into());
        }
    }

    fn hear_plan(&self, segment: Segment, notice: PlanNotice<'_>) {
        match notice {
            PlanNotice::Plan(record) => {
                if segment.listens {
                    self.outbox.event(segment.id, &PlanOwnEvent::from_record(record));
                }
                if is_last(record) {
                    let session = self.plan.take();
                    if let Some(session) = session {
                        self.outbox.done(segment.id, &session.document());
                    }
                    self.rest();
                }
            }
            PlanNotice::Step { order, calls_left, notice } => {
                self.tell(segment, notice, calls_left, Some(EventStep { order, calls_left }));
            }
        }
    }
}

/// Returns the plan, or every fault in it.
fn readable(agent: &HostedAgent, plan: &Value, wish: &Wish) -> Result<Plan, AskError> {
    let plan = PlanSession::read(&agent.session, plan).map_err(|faults| AskError::Wrong(refusal(&faults)))?;
    if let Some(order) = wish.from.filter(|order| plan.step(*order).is_none()) {
        let message = format!("options.from: got {order}; expected the order of a step in the plan");
        return Err(AskError::Wrong(message));
    }
    if let Some(fault) = agent.session.contradiction() {
        return Err(AskError::Wrong(format!("options: {fault}")));
    }
    if agent.session.is_running() { Err(StartError::Busy.into()) } else { Ok(plan) }
}

fn refusal(faults: &[PlanFault]) -> String {
    match faults {
        [one] => one.to_string(),
        all => format!("the plan has {} faults:\n{}", all.len(), fault::listed(all)),
    }
}

async fn earlier(agent: &HostedAgent, text: String) -> Result<PlanDocument, String> {
    records::ask(agent.session.worker_url(), DocumentTask::Session, text.clone()).await?;
    PlanDocument::parse(&text).map_err(|error| error.to_string())
}

fn is_last(record: &PlanRecord) -> bool {
    matches!(record.what, PlanRecordKind::PlanFinished { .. })
}
