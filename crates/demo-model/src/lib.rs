//! The demo model: scripted, not an AI. It shows what an agent does without a key and without a network.
//!
//! It reads the conversation as any model would, calls the offered tools over several turns, and assembles its answer
//! from their results: it finds words and quotes lines, but understands nothing. Its output is wire bytes for the real
//! decoder. PURE: same arguments, same bytes. It runs in the worker, because a page that talks to a real model should
//! not load a script.
//! Deliberately absent: knowledge of where tool results come from; it sees what every model sees.

mod answer;
mod arguments;
mod calculations;
mod chat;
mod faults;
mod programs;
mod quotes;
mod steps;
mod text;
mod wire;

use turnwise_engine::retry::Rng;
use turnwise_engine::{ToolChoice, own_tools};

pub use faults::DemoFault;
pub use wire::{BodyEnd, DemoChunk, DemoRequest, NAME, Scripted};

use chat::Chat;
use wire::DemoReply;

/// The response to a request. A pure function of the request.
#[must_use]
pub fn script(request: &DemoRequest) -> Scripted {
    let (chat, reply) = reply(request);
    // The same seed and the same length of the conversation give the same numbers.
    let mut rng = Rng::new(request.seed.wrapping_add((request.messages.len() as u64) << 40));
    match faults::choose(&chat, &reply) {
        Some(fault) => faults::play(fault, reply, &request.messages, &mut rng),
        None => Scripted::stream(wire::chunks(&reply, &request.messages, &mut rng)),
    }
}

/// The fault that a request in chaos mode gets, if any.
#[must_use]
pub fn fault(request: &DemoRequest) -> Option<DemoFault> {
    let (chat, reply) = reply(request);
    faults::choose(&chat, &reply)
}

fn reply(request: &DemoRequest) -> (Chat<'_>, DemoReply) {
    let chat = Chat::read(request);
    let reply = match request.choice {
        ToolChoice::None | ToolChoice::Report => DemoReply::answer(answer::conclusion(&chat)),
        ToolChoice::Auto | ToolChoice::Asked => steps::next(&chat),
    };
    let is_text = reply.calls.is_empty() && request.choice != ToolChoice::None;
    let report = request.tools.iter().find(|tool| is_text && tool.name == own_tools::REPORT);
    let report = report.map(|tool| (tool.name.clone(), arguments::sample(&tool.parameters, &reply.text)));
    let reply = DemoReply::calls(String::new(), report.into_iter().collect()).unwrap_or(reply);
    (chat, reply)
}
