//! Decides which worker runs which call. PURE: a state machine; `driver` starts and ends the real workers.
//!
//! Invariants: every submitted ticket ends exactly once; a worker runs one call at a time; at most `max` workers; a call
//! goes to the idle worker with the lowest index, whose caches are warmest; a lost worker ends only the call it was
//! running. Input about a ticket or worker that no longer exists has no effect.

use std::collections::VecDeque;

use turnwise_protocol::tool_worker::Ticket;

/// The pool of one host.
#[derive(Debug)]
pub struct Pool {
    workers: Vec<WorkerState>,
    queue: VecDeque<Ticket>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkerState {
    /// Not started yet, or ended; started again on demand.
    Absent,
    Starting,
    Idle,
    Busy(Ticket),
}

/// Index of a worker in its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub usize);

/// An event that the pool reacts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolEvent {
    Submit(Ticket),
    Ready(WorkerId),
    Answered(WorkerId, Ticket),
    /// The worker crashed, or did not start.
    Lost(WorkerId, String),
    /// The call that the worker was running has reached its deadline.
    Deadline(WorkerId),
    /// The caller no longer waits for the call.
    Abort(Ticket),
    /// All calls and workers end.
    Close,
}

/// An action for the driver, which carries out all actions in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolAction {
    Spawn(WorkerId),
    Post(WorkerId, Ticket),
    Terminate(WorkerId),
    End(Ticket, CallEnd),
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallEnd {
    Answered,
    TimedOut,
    /// Its worker crashed.
    Crashed(String),
    /// No worker could be started.
    NoWorker(String),
    Aborted,
}

impl Pool {
    /// Creates a pool of up to `max` workers (at least one) without starting any.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Pool { workers: vec![WorkerState::Absent; max.max(1)], queue: VecDeque::new() }
    }

    /// Handles any input; unknown workers and tickets have no effect.
    #[must_use]
    pub fn handle(&mut self, input: PoolEvent) -> Vec<PoolAction> {
        let mut actions = Vec::new();
        match input {
            PoolEvent::Submit(ticket) => self.queue.push_back(ticket),
            PoolEvent::Ready(id) => {
                if self.state(id) == WorkerState::Starting {
                    self.set(id, WorkerState::Idle);
                }
            }
            PoolEvent::Answered(id, ticket) => {
                if self.state(id) == WorkerState::Busy(ticket) {
                    self.set(id, WorkerState::Idle);
                    actions.push(PoolAction::End(ticket, CallEnd::Answered));
                }
            }
            PoolEvent::Lost(id, why) => self.lost(id, why, &mut actions),
            PoolEvent::Deadline(id) => {
                if let WorkerState::Busy(ticket) = self.state(id) {
                    self.set(id, WorkerState::Absent);
                    actions.extend([PoolAction::Terminate(id), PoolAction::End(ticket, CallEnd::TimedOut)]);
                }
            }
            PoolEvent::Abort(ticket) => self.abort(ticket, &mut actions),
            PoolEvent::Close => self.close(&mut actions),
        }
        self.assign(&mut actions);
        actions
    }

    /// Assigns waiting calls to idle workers, and starts new workers for the remaining calls.
    fn assign(&mut self, actions: &mut Vec<PoolAction>) {
        while !self.queue.is_empty() {
            let Some(id) = self.lowest(WorkerState::Idle) else { break };
            let Some(ticket) = self.queue.pop_front() else { break };
            self.set(id, WorkerState::Busy(ticket));
            actions.push(PoolAction::Post(id, ticket));
        }
        let mut starting = self.workers.iter().filter(|state| **state == WorkerState::Starting).count();
        while starting < self.queue.len() {
            let Some(id) = self.lowest(WorkerState::Absent) else { break };
            self.set(id, WorkerState::Starting);
            actions.push(PoolAction::Spawn(id));
            starting += 1;
        }
    }

    fn lost(&mut self, id: WorkerId, why: String, actions: &mut Vec<PoolAction>) {
        let state = self.state(id);
        if state == WorkerState::Absent {
            return;
        }
        self.set(id, WorkerState::Absent);
        actions.push(PoolAction::Terminate(id));
        match state {
            WorkerState::Busy(ticket) => actions.push(PoolAction::End(ticket, CallEnd::Crashed(why))),
            // If no worker can be started, retrying for the same calls would never end.
            WorkerState::Starting if self.workers.iter().all(|state| *state == WorkerState::Absent) => {
                actions
                    .extend(self.queue.drain(..).map(|ticket| PoolAction::End(ticket, CallEnd::NoWorker(why.clone()))));
            }
            // One worker fewer is starting for the same calls: end one call rather than starting workers again and again.
            WorkerState::Starting => {
                if let Some(ticket) = self.queue.pop_front() {
                    actions.push(PoolAction::End(ticket, CallEnd::NoWorker(why)));
                }
            }
            WorkerState::Idle | WorkerState::Absent => {}
        }
    }

    fn abort(&mut self, ticket: Ticket, actions: &mut Vec<PoolAction>) {
        if let Some(at) = self.queue.iter().position(|queued| *queued == ticket) {
            self.queue.remove(at);
            actions.push(PoolAction::End(ticket, CallEnd::Aborted));
        } else if let Some(id) = self.lowest(WorkerState::Busy(ticket)) {
            self.set(id, WorkerState::Absent);
            actions.extend([PoolAction::Terminate(id), PoolAction::End(ticket, CallEnd::Aborted)]);
        }
    }

    fn close(&mut self, actions: &mut Vec<PoolAction>) {
        for (index, state) in self.workers.iter_mut().enumerate() {
            if *state != WorkerState::Absent {
                actions.push(PoolAction::Terminate(WorkerId(index)));
            }
            if let WorkerState::Busy(ticket) = *state {
                actions.push(PoolAction::End(ticket, CallEnd::Aborted));
            }
            *state = WorkerState::Absent;
        }
        actions.extend(self.queue.drain(..).map(|ticket| PoolAction::End(ticket, CallEnd::Aborted)));
    }

    fn state(&self, id: WorkerId) -> WorkerState {
        self.workers.get(id.0).copied().unwrap_or(WorkerState::Absent)
    }

    fn set(&mut self, id: WorkerId, state: WorkerState) {
        if let Some(slot) = self.workers.get_mut(id.0) {
            *slot = state;
        }
    }

    fn lowest(&self, state: WorkerState) -> Option<WorkerId> {
        self.workers.iter().position(|at| *at == state).map(WorkerId)
    }
}
