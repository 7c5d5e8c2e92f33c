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
    workers: Vec<State>,
    queue: VecDeque<Ticket>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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
pub enum Input {
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
pub enum Action {
    Spawn(WorkerId),
    Post(WorkerId, Ticket),
    Terminate(WorkerId),
    End(Ticket, End),
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
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
        Pool { workers: vec![State::Absent; max.max(1)], queue: VecDeque::new() }
    }

    /// Handles any input; unknown workers and tickets have no effect.
    #[must_use]
    pub fn handle(&mut self, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        match input {
            Input::Submit(ticket) => self.queue.push_back(ticket),
            Input::Ready(id) => {
                if self.state(id) == State::Starting {
                    self.set(id, State::Idle);
                }
            }
            Input::Answered(id, ticket) => {
                if self.state(id) == State::Busy(ticket) {
                    self.set(id, State::Idle);
                    actions.push(Action::End(ticket, End::Answered));
                }
            }
            Input::Lost(id, why) => self.lost(id, why, &mut actions),
            Input::Deadline(id) => {
                if let State::Busy(ticket) = self.state(id) {
                    self.set(id, State::Absent);
                    actions.extend([Action::Terminate(id), Action::End(ticket, End::TimedOut)]);
                }
            }
            Input::Abort(ticket) => self.abort(ticket, &mut actions),
            Input::Close => self.close(&mut actions),
        }
        self.assign(&mut actions);
        actions
    }

    /// Assigns waiting calls to idle workers, and starts new workers for the remaining calls.
    fn assign(&mut self, actions: &mut Vec<Action>) {
        while !self.queue.is_empty() {
            let Some(id) = self.lowest(State::Idle) else { break };
            let Some(ticket) = self.queue.pop_front() else { break };
            self.set(id, State::Busy(ticket));
            actions.push(Action::Post(id, ticket));
        }
        let mut starting = self.workers.iter().filter(|state| **state == State::Starting).count();
        while starting < self.queue.len() {
            let Some(id) = self.lowest(State::Absent) else { break };
            self.set(id, State::Starting);
            actions.push(Action::Spawn(id));
            starting += 1;
        }
    }

    fn lost(&mut self, id: WorkerId, why: String, actions: &mut Vec<Action>) {
        let state = self.state(id);
        if state == State::Absent {
            return;
        }
        self.set(id, State::Absent);
        actions.push(Action::Terminate(id));
        match state {
            State::Busy(ticket) => actions.push(Action::End(ticket, End::Crashed(why))),
            // If no worker can be started, retrying for the same calls would never end.
            State::Starting if self.workers.iter().all(|state| *state == State::Absent) => {
                actions.extend(self.queue.drain(..).map(|ticket| Action::End(ticket, End::NoWorker(why.clone()))));
            }
            // One worker fewer is starting for the same calls: end one call rather than starting workers again and again.
            State::Starting => {
                if let Some(ticket) = self.queue.pop_front() {
                    actions.push(Action::End(ticket, End::NoWorker(why)));
                }
            }
            State::Idle | State::Absent => {}
        }
    }

    fn abort(&mut self, ticket: Ticket, actions: &mut Vec<Action>) {
        if let Some(at) = self.queue.iter().position(|queued| *queued == ticket) {
            self.queue.remove(at);
            actions.push(Action::End(ticket, End::Aborted));
        } else if let Some(id) = self.lowest(State::Busy(ticket)) {
            self.set(id, State::Absent);
            actions.extend([Action::Terminate(id), Action::End(ticket, End::Aborted)]);
        }
    }

    fn close(&mut self, actions: &mut Vec<Action>) {
        for (index, state) in self.workers.iter_mut().enumerate() {
            if *state != State::Absent {
                actions.push(Action::Terminate(WorkerId(index)));
            }
            if let State::Busy(ticket) = *state {
                actions.push(Action::End(ticket, End::Aborted));
            }
            *state = State::Absent;
        }
        actions.extend(self.queue.drain(..).map(|ticket| Action::End(ticket, End::Aborted)));
    }

    fn state(&self, id: WorkerId) -> State {
        self.workers.get(id.0).copied().unwrap_or(State::Absent)
    }

    fn set(&mut self, id: WorkerId, state: State) {
        if let Some(slot) = self.workers.get_mut(id.0) {
            *slot = state;
        }
    }

    fn lowest(&self, state: State) -> Option<WorkerId> {
        self.workers.iter().position(|at| *at == state).map(WorkerId)
    }
}
