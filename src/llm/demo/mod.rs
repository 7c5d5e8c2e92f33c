//! The demo model: scripted, not an AI. It shows what an agent does without a key and without a network.
//!
//! It reads the conversation as any model would, calls the offered tools over several turns, and assembles its answer
//! from their results: it finds words and quotes lines, but understands nothing. Its output is wire bytes for the real
//! decoder. PURE: same arguments, same bytes. It runs in the worker, because a page that talks to a real model should
//! not load a script.
//! Deliberately absent: knowledge of where tool results come from; it sees what every model sees.

mod answer;
mod chaos;
mod evidence;
mod faults;
mod given;
mod minimal;
mod moves;
mod random;
mod report;
mod scene;
mod scripted;
mod share;
mod sums;
mod units;
mod wire;
mod words;

use crate::engine::{DemoMode, Message, ToolChoice, ToolSpec};

pub use chaos::Fault;
pub use scripted::{BodyEnd, DemoChunk, DemoRequest, Scripted};
pub use wire::NAME;

use moves::Move;
use random::Random;
use scene::Scene;

/// The response to a request. A pure function of the request.
#[must_use]
pub fn script(request: &DemoRequest) -> Scripted {
    let (scene, next, mut random) =
        next_move(request.mode, request.seed, &request.messages, &request.tools, request.choice);
    match (request.mode == DemoMode::Chaos).then(|| chaos::fault(request, &scene, &next)).flatten() {
        Some(fault) => faults::play(fault, next, &request.messages, &mut random),
        None => Scripted::stream(wire::stream(&next, &request.messages, &mut random)),
    }
}

/// The fault that a request in chaos mode gets, if any.
#[must_use]
pub fn fault(request: &DemoRequest) -> Option<Fault> {
    let (scene, next, _) = next_move(request.mode, request.seed, &request.messages, &request.tools, request.choice);
    chaos::fault(request, &scene, &next)
}

/// The response to one request without faults, as OpenAI stream bytes for the real decoder. A pure function of its
/// arguments.
#[must_use]
pub fn respond(
    mode: DemoMode,
    seed: u64,
    messages: &[Message],
    tools: &[ToolSpec],
    choice: ToolChoice,
) -> Vec<DemoChunk> {
    let (_, next, mut random) = next_move(mode, seed, messages, tools, choice);
    wire::stream(&next, messages, &mut random)
}

/// The conversation as the model reads it, the reply to it, and the random generator for the reply's bytes.
fn next_move<'a>(
    mode: DemoMode,
    seed: u64,
    messages: &'a [Message],
    tools: &[ToolSpec],
    choice: ToolChoice,
) -> (Scene<'a>, Move, Random) {
    let mut scene = Scene::read(messages, choice);
    if mode == DemoMode::Chaos {
        scene.forget_spoilt_calls(tools);
    }
    let mut random = Random::new(seed, messages.len(), scene.task);
    let mut next = match (choice, mode) {
        (ToolChoice::None | ToolChoice::Report, _) => Move::say(answer::synthesis(&scene, mode)),
        (ToolChoice::Auto | ToolChoice::Asked, DemoMode::Normal | DemoMode::Chaos) => {
            moves::normal(&scene, tools, &mut random)
        }
        (ToolChoice::Auto | ToolChoice::Asked, DemoMode::Endless) => moves::endless(&scene, tools, &mut random),
    };
    if choice != ToolChoice::None && next.calls.is_empty() {
        next = report::instead_of_text(next, tools);
    }
    (scene, next, random)
}
