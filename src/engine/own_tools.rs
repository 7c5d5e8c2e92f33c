//! The tools that the engine handles itself: `progress_report`, `batch`, `final_report` (SEMANTICS 7). The shell has
//! checked their arguments; what they mean is decided here.

use serde_json::{Value, json};

use super::batch::{self, InnerCall};
use super::calls::{OpenCall, Place, State};
use super::caps::MAX_CALLS;
use super::failure::Slug;
use super::report;
use super::result::Answer;
use super::run::{Phase, Run};
use super::success::CallKind;
use super::*;

impl Run {
    /// Its arguments are in order: the user sees it, the model reads `ok`.
    pub(super) fn progress(&mut self, index: usize, place: Place) {
        let args = self.with_record(place, |r| r.args.clone()).unwrap_or_default();
        let text = |key: &str| args.get(key).and_then(Value::as_str).map(str::to_owned);
        self.record(RecordKind::Progress { status: text("status").unwrap_or_default(), detail: text("detail") });
        self.answer(index, Answer { content: "ok".into(), slug: None, error: None });
    }

    /// Its arguments are in order: its calls come right behind it.
    pub(super) fn expand(&mut self, index: usize, place: Place) {
        let args = self.with_record(place, |r| r.args.clone()).unwrap_or_default();
        let (attempt, outer) = match &self.phase {
            Phase::Tools(calls) => (calls.attempt, calls.open.get(index).map(|c| c.call.id.clone())),
            _ => return,
        };
        let Some(outer) = outer else { return };
        let asked = batch::inner_calls(&args);
        let before = match &self.phase {
            Phase::Tools(calls) => calls.open.iter().filter(|c| c.place.inner.is_some()).count(),
            _ => 0,
        };
        if before + asked.len() > MAX_CALLS {
            return self.answer(index, too_many(asked.len(), "calls"));
        }
        let mut inner = Vec::new();
        for (i, InnerCall { name, arguments }) in asked.into_iter().enumerate() {
            let id = self.unique_id("", &format!("{outer}_{i}"));
            let record = self.new_record(attempt, id.clone(), &name, &arguments);
            self.with_record(place, |r| r.calls.push(record));
            let place = Place { inner: Some(i), ..place };
            inner.push(OpenCall::new(ToolCall { id, name, arguments }, place));
        }
        if let Some(open) = self.open_call(index) {
            open.state = State::Expanded;
        }
        if let Phase::Tools(calls) = &mut self.phase {
            calls.open.splice(index + 1..index + 1, inner);
        }
        self.refuse_calls();
    }

    pub(super) fn report_checked(&mut self, index: usize, place: Place, outcome: ToolOutcome) {
        self.report_attempts += 1;
        let args = self.with_record(place, |r| r.args.clone()).unwrap_or_default();
        let answer = match self.judge_report("the report was refused", &args, outcome) {
            Ok(accepted) => {
                if let Phase::Tools(calls) = &mut self.phase {
                    calls.report = Some(accepted);
                }
                self.with_record(place, |r| r.is_final = true);
                Answer { content: "accepted".into(), slug: None, error: None }
            }
            Err(refused) => refused,
        };
        self.answer(index, answer);
    }

    /// Whether arguments are a report, after the shell held them against the schema; `Err` is the answer that says why
    /// they are none, beginning with `refused`.
    pub(super) fn judge_report(
        &self,
        refused: &str,
        args: &Value,
        checked: ToolOutcome,
    ) -> Result<report::Report, Answer> {
        let refused = |slug, fault: String| Answer::refused(slug, format!("{refused}: {fault}"));
        match checked {
            ToolOutcome::Executed { .. } => {
                report::judge(&self.config.report, args).map_err(|(slug, fault)| refused(slug, fault))
            }
            ToolOutcome::Rejected { slug: Slug::InvalidArguments, path, message } => {
                Err(refused(report::schema_slug(path.as_deref()), message))
            }
            other => Err(Answer::of(other)),
        }
    }

    /// A batch is answered when its calls are: an array, in order.
    pub(super) fn close_batches(&mut self) {
        let Phase::Tools(calls) = &self.phase else { return };
        let mut ready = Vec::new();
        for (index, batch) in
            calls.open.iter().enumerate().filter(|(_, c)| c.state == State::Expanded && c.kind == CallKind::Batch)
        {
            let mut inner = calls.open.iter().filter(|c| c.place.call == batch.place.call && c.place.inner.is_some());
            if inner.all(|c| c.state == State::Answered) {
                ready.push((index, batch.place));
            }
        }
        for (index, place) in ready {
            let results = self.with_record(place, |r| {
                let one = |c: &CallRecord| match &c.error {
                    None => json!({ "name": c.name, "result": c.result }),
                    Some(_) => json!({ "name": c.name, "error": c.result }),
                };
                Value::Array(r.calls.iter().map(one).collect()).to_string()
            });
            let content = results.unwrap_or_default();
            self.answer(index, Answer { content, slug: None, error: None });
        }
    }
}

/// The answer to a call that asks for more than is recorded of one reply.
pub(super) fn too_many(asked: usize, what: &str) -> Answer {
    Answer::refused(Slug::ToolLimit, format!("not run: {asked} {what} in one reply; at most {MAX_CALLS} are accepted"))
}
