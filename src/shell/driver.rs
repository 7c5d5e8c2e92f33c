//! The driver: dispatches every effect of the engine to the module that performs it.

use super::session::Session;
use super::{fetch, record, timer, tool};
use crate::engine::{Abort, Effect};

/// Performs the effects of one step. Observers are notified once all of them have been started.
pub(super) fn perform(session: &Session, effects: Vec<Effect>) {
    let mut records = Vec::new();
    for effect in effects {
        match effect {
            Effect::CallModel(call) => fetch::call(session, &call),
            Effect::RunTool(call) => tool::run(session, call),
            Effect::Sleep { timer, ms } => timer::sleep(session, timer, ms),
            Effect::Abort(Abort::Request(request)) => fetch::abort(session, request),
            Effect::Abort(Abort::Tool(call)) => tool::abort(session, &call),
            Effect::Abort(Abort::Timer(timer)) => timer::cancel(session, timer),
            Effect::KeepResult { handle, content } => record::keep_result(session, &handle, &content),
            Effect::Record(record) => records.push(record),
            Effect::Finish => session.finish(),
        }
    }
    record::publish(session, &records);
}
