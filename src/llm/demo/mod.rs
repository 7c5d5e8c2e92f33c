//! The demo model: scripted, not an AI. It shows what an agent does without a key and without a network.
//!
//! It reads the conversation as any model would, calls the tools it is offered over several turns, and puts its answer
//! together from what they answered: it finds words and quotes lines, it understands nothing. What it sends is wire
//! bytes for the real decoder. PURE: same arguments, same bytes. It runs in the worker, since a page that talks to a real
//! model should not load a script.
//! Deliberately absent: knowledge of where tool results come from; it sees what every model sees.

mod answer;
mod evidence;
mod given;
mod minimal;
mod moves;
mod report;
mod scene;
mod scripted;
mod share;
mod sums;
mod units;
mod wire;
mod words;

use crate::engine::{DemoMode, Message, ToolChoice, ToolSpec};

pub use scripted::{DemoChunk, DemoRequest, Scripted};

use moves::Move;
use scene::Scene;
use wire::Random;

/// What the demo model calls itself, wherever it is named.
pub const NAME: &str = "Demo: scripted, not an AI";

/// What a request comes to. A pure function of it.
#[must_use]
pub fn script(request: &DemoRequest) -> Scripted {
    let DemoRequest { mode, seed, messages, tools, choice } = request;
    Scripted::Stream { chunks: respond(*mode, *seed, messages, tools, *choice) }
}

/// The response to one request, as OpenAI stream bytes for the real decoder. A pure function of its arguments.
#[must_use]
pub fn respond(
    mode: DemoMode,
    seed: u64,
    messages: &[Message],
    tools: &[ToolSpec],
    choice: ToolChoice,
) -> Vec<DemoChunk> {
    let scene = Scene::read(messages, choice);
    let mut random = Random::new(seed, messages.len(), scene.task);
    let mut next = match (choice, mode) {
        (ToolChoice::None, _) => Move::say(answer::synthesis(&scene, mode)),
        (ToolChoice::Report, _) => Move::say(answer::synthesis(&scene, mode)),
        (ToolChoice::Auto, DemoMode::Normal) => moves::normal(&scene, tools, &mut random),
        (ToolChoice::Auto, DemoMode::Endless) => moves::endless(&scene, tools, &mut random),
    };
    if choice != ToolChoice::None && next.calls.is_empty() {
        next = report::instead_of_text(next, tools);
    }
    wire::stream(&next, messages, &mut random)
}
