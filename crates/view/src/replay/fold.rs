//! The fold: runs the engine again, event by event, and keeps the requests that it sends.

use std::collections::BTreeMap;
use std::sync::Arc;

use turnwise_engine::{Effect, Event, Message, Millis, ModelCall, RequestId, Run, RunConfig, ToolChoice};
use turnwise_record::trajectory::{RecordedEvent, Trajectory};

use super::change::{LineStates, StateAt};
use super::marks::{MarkedMessage, Marker};
use super::step::{Moment, ReplayStep};

/// A run that can be stepped through.
#[derive(Debug)]
pub struct Replay {
    pub(super) steps: Vec<ReplayStep>,
    pub(super) requests: Vec<SentRequest>,
    /// The run itself first, then its sub-agents in the order they began.
    pub(super) lines: Vec<WorkLine>,
}

/// One line of work: the run itself, or a sub-agent.
#[derive(Debug)]
pub(super) struct WorkLine {
    pub config: RunConfig,
    /// `Sub-agent 2, reader`; `None`: the run itself.
    pub name: Option<String>,
    /// Its frozen messages; a new list each time the context guard shortened messages that had been sent.
    pub bases: Vec<Vec<Arc<MarkedMessage>>>,
    pub changes: LineStates,
    /// Its last request so far.
    pub last: Option<usize>,
    marker: Marker,
}

/// One request as it was sent: a position in the messages of its line, and the messages for this request only.
#[derive(Debug)]
pub struct SentRequest {
    pub id: RequestId,
    pub turn: u32,
    pub attempt: u32,
    /// Index into the providers of its line.
    pub provider: usize,
    pub tools: ToolChoice,
    /// Whether the tool that reads left-out messages is offered.
    pub earlier: bool,
    /// The engine's hash of the request, in hex.
    pub hash: String,
    /// The step that sent it.
    pub step: usize,
    pub at_ms: u64,
    /// The request before it in the same line of work.
    pub previous: Option<usize>,
    pub(super) line: usize,
    pub(super) base: usize,
    /// The number of messages of its base that were sent.
    pub(super) frozen: usize,
    pub(super) tail: Vec<Arc<MarkedMessage>>,
}

impl Replay {
    /// Replays a document's events. Like the engine, it accepts any events: those that do not apply have no effect.
    #[must_use]
    pub fn from_document(document: &Trajectory) -> Self {
        let (config, task) = document.origin();
        let (run, effects) = Run::start(config, task);
        let mut fold = Fold {
            replay: Replay { steps: Vec::new(), requests: Vec::new(), lines: Vec::new() },
            run,
            by_child: BTreeMap::new(),
        };
        fold.line(0);
        let first = Moment::start(&fold.run);
        fold.take(first, 0, Millis(0), effects);
        for RecordedEvent { seq, at_ms, event } in &document.events {
            fold.step(*seq, *at_ms, event);
        }
        fold.settle()
    }

    /// Returns the start, followed by one entry per event.
    #[must_use]
    pub fn steps(&self) -> &[ReplayStep] {
        &self.steps
    }

    /// Returns every request, including those of sub-agents, in the order they were sent.
    #[must_use]
    pub fn requests(&self) -> &[SentRequest] {
        &self.requests
    }

    /// Returns the state of everything after a step.
    #[must_use]
    pub fn state(&self, step: usize) -> Option<StateAt> {
        let mut standings = self.lines.iter().map_while(|line| line.changes.at(step).cloned());
        let run = standings.next()?;
        Some(StateAt { step, run, children: standings.collect() })
    }

    /// Returns the messages of a request: the history, then the messages for this request only.
    pub fn messages(&self, request: usize) -> impl Iterator<Item = &Message> {
        self.marked(request).map(|marked| &marked.message)
    }

    /// Returns how many messages of a request are from the history.
    #[must_use]
    pub fn frozen(&self, request: usize) -> usize {
        self.requests.get(request).map_or(0, |sent| sent.frozen)
    }

    /// Returns the configuration of a request's line.
    #[must_use]
    pub fn config(&self, request: usize) -> Option<&RunConfig> {
        self.line_of(request).map(|line| &line.config)
    }

    pub(super) fn line_of(&self, request: usize) -> Option<&WorkLine> {
        self.lines.get(self.requests.get(request)?.line)
    }

    pub(super) fn marked(&self, request: usize) -> impl Iterator<Item = &Arc<MarkedMessage>> {
        let sent = self.requests.get(request);
        let base = sent.and_then(|sent| self.lines.get(sent.line)?.bases.get(sent.base)?.get(..sent.frozen));
        base.unwrap_or_default().iter().chain(sent.map(|sent| sent.tail.as_slice()).unwrap_or_default())
    }
}

struct Fold {
    replay: Replay,
    run: Run,
    by_child: BTreeMap<u32, usize>,
}

impl Fold {
    fn step(&mut self, seq: u32, at: Millis, event: &Event) {
        let child = self.run.child_of(event).map_or(0, |child| child.id);
        let mut moment = Moment::before(&self.run, child, event);
        let effects = self.run.handle(at, event.clone());
        moment.after(&self.run, &effects);
        self.take(moment, seq, at, effects);
    }

    fn take(&mut self, moment: Moment, seq: u32, at: Millis, effects: Vec<Effect>) {
        let step = self.replay.steps.len();
        let line = self.line(moment.child);
        let mut touched = vec![0, line];
        for effect in effects {
            match effect {
                Effect::CallModel(call) => {
                    let line = self.line(call.request.child());
                    touched.push(line);
                    self.sent(line, step, at, call);
                }
                Effect::Record(record) => {
                    if let turnwise_engine::RecordKind::Child { child, .. } = record.what {
                        touched.push(self.line(child));
                    }
                }
                _ => {}
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for line in touched {
            let child = self.by_child.iter().find(|(_, at)| **at == line).map_or(0, |(child, _)| *child);
            if let (Some(run), Some(line)) = (child_run(&self.run, child), self.replay.lines.get_mut(line)) {
                line.changes.note(step, run);
            }
        }
        let of_line = self.replay.lines.get(line);
        let request = of_line.and_then(|line| line.last).unwrap_or(0);
        let name = of_line.and_then(|line| line.name.clone());
        let turns = self.run.turns().len();
        self.replay.steps.push(moment.step(seq, at.0, name, request, turns));
    }

    fn sent(&mut self, line: usize, step: usize, at: Millis, call: ModelCall) {
        let child = call.request.child();
        let Some(run) = child_run(&self.run, child) else { return };
        let hash = run.turns().last().and_then(|turn| turn.attempts.last()).map(|attempt| attempt.request_hash.clone());
        let Some(line_at) = self.replay.lines.get_mut(line) else { return };
        let base = line_at.freeze(&call, run);
        let tail = call.tail.into_iter().map(|message| Arc::new(line_at.marker.of_tail(message))).collect();
        let frozen = line_at.bases.last().map_or(0, Vec::len);
        let sent = SentRequest {
            id: call.request,
            turn: call.turn,
            attempt: call.attempt,
            provider: call.provider,
            tools: call.tools,
            earlier: call.earlier,
            hash: hash.unwrap_or_default(),
            step,
            at_ms: at.0,
            previous: line_at.last.replace(self.replay.requests.len()),
            line,
            base,
            frozen,
            tail,
        };
        self.replay.requests.push(sent);
    }

    /// Returns the index of a child's line, and adds the line if it is new.
    fn line(&mut self, child: u32) -> usize {
        if let Some(line) = self.by_child.get(&child) {
            return *line;
        }
        let Some(run) = child_run(&self.run, child) else { return 0 };
        let agent = self.run.children().iter().find(|one| one.id == child).and_then(|one| one.agent.clone());
        let name = (child > 0).then(|| match agent {
            Some(agent) => format!("Sub-agent {child}, {agent}"),
            None => format!("Sub-agent {child}"),
        });
        let line = self.replay.lines.len();
        self.replay.lines.push(WorkLine {
            config: run.config().clone(),
            name,
            bases: Vec::new(),
            changes: LineStates::default(),
            last: None,
            marker: Marker::new(run),
        });
        self.by_child.insert(child, line);
        line
    }

    fn settle(mut self) -> Replay {
        for (child, line) in &self.by_child {
            if let (Some(run), Some(line)) = (child_run(&self.run, *child), self.replay.lines.get_mut(*line)) {
                line.changes.settle(run);
            }
        }
        self.replay
    }
}

impl WorkLine {
    /// Adds the messages that joined the history with a request, and returns the index of its base. Messages that a new base
    /// keeps are shared.
    fn freeze(&mut self, call: &ModelCall, run: &Run) -> usize {
        // The engine numbers bases consecutively from 1.
        let base = call.base.0.saturating_sub(1) as usize;
        if self.bases.len() <= base {
            let old = self.bases.last();
            let share = |(at, message): (usize, &Message)| match old.and_then(|old| old.get(at)) {
                Some(same) if same.message == *message => Arc::clone(same),
                _ => Arc::new(self.marker.of_history(message.clone(), run)),
            };
            let new = call.append.iter().enumerate().map(share).collect();
            self.bases.push(new);
        } else if let Some(messages) = self.bases.last_mut() {
            let mut rest = call.append.iter().peekable();
            while let Some(message) = rest.next() {
                let last_answer = !matches!(rest.peek(), Some(Message::Tool(_)));
                let marked = self.marker.of_history(message.clone(), run);
                messages.push(Arc::new(if last_answer { marked } else { marked.without_lines() }));
            }
        }
        self.bases.len().saturating_sub(1)
    }
}

/// Returns the run itself (0), or the run of a sub-agent that has begun.
fn child_run(run: &Run, child: u32) -> Option<&Run> {
    if child == 0 {
        return Some(run);
    }
    run.children().iter().find(|one| one.id == child).and_then(turnwise_engine::ChildRun::run)
}
