//! Chaos mode: decides which request gets which fault. The choice depends only on the seed and the number of the
//! request, and never stops a run: the last attempt of a turn gets a normal response.

use crate::engine::{Message, RequestId, ToolChoice};

use super::moves::Move;
use super::random::Random;
use super::scene::Scene;
use super::scripted::DemoRequest;

/// A way in which a model server or its model can fail, or at least behave oddly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    Status408,
    Status409,
    Status429,
    /// With `Retry-After`.
    Status429Seconds,
    /// With `retry-after-ms`.
    Status429Millis,
    Status500,
    Status503,
    Status529,
    /// Status 400: the conversation is too long.
    ContextOverflow,
    /// A gateway's web page, status 502.
    GatewayPage,
    /// A web page with status 200.
    WebPage,
    NetworkFailure,
    CutBeforeFirstByte,
    CutInText,
    CutInArguments,
    CutBeforeEndMarker,
    ErrorInStream,
    /// An error in the body of a response with status 200.
    ErrorWithStatus200,
    /// Status 200 without a body.
    EmptyAnswer,
    /// Neither a stream nor JSON.
    Garbage,
    WrongContentType,
    SilentServer,
    SilentStream,
    SlowDrip,
    HugeLine,
    MalformedArguments,
    UnknownTool,
    DuplicateCallIds,
    EmptyReply,
    ReasoningOnly,
    CutByLength,
}

/// Coprime to the number of faults.
const STRIDE: usize = 7;

impl Fault {
    /// All faults.
    pub const ALL: &'static [Fault] = &[
        Fault::Status408,
        Fault::Status409,
        Fault::Status429,
        Fault::Status429Seconds,
        Fault::Status429Millis,
        Fault::Status500,
        Fault::Status503,
        Fault::Status529,
        Fault::ContextOverflow,
        Fault::GatewayPage,
        Fault::WebPage,
        Fault::NetworkFailure,
        Fault::CutBeforeFirstByte,
        Fault::CutInText,
        Fault::CutInArguments,
        Fault::CutBeforeEndMarker,
        Fault::ErrorInStream,
        Fault::ErrorWithStatus200,
        Fault::EmptyAnswer,
        Fault::Garbage,
        Fault::WrongContentType,
        Fault::SilentServer,
        Fault::SilentStream,
        Fault::SlowDrip,
        Fault::HugeLine,
        Fault::MalformedArguments,
        Fault::UnknownTool,
        Fault::DuplicateCallIds,
        Fault::EmptyReply,
        Fault::ReasoningOnly,
        Fault::CutByLength,
    ];

    /// Whether the run can survive the fault here, and the reply has something that the fault can spoil.
    fn fits(self, request: &DemoRequest, scene: &Scene<'_>, next: &Move) -> bool {
        let last = request.attempt >= request.attempts;
        let all_tools = matches!(request.choice, ToolChoice::Auto | ToolChoice::Asked);
        let calls = !next.calls.is_empty();
        // Some faults cost a turn.
        let turns_left = !all_tools || !scene.is_urgent();
        match self {
            Fault::WrongContentType | Fault::SlowDrip | Fault::HugeLine => true,
            Fault::DuplicateCallIds => all_tools && may_repeat(next),
            _ if last => false,
            Fault::ContextOverflow => all_tools && request.attempt == 1 && has_long_result(&request.messages),
            Fault::WebPage => survives_a_fatal_error(request),
            Fault::CutInText => !next.text.is_empty(),
            Fault::CutInArguments => calls,
            Fault::MalformedArguments => calls && turns_left,
            Fault::UnknownTool => calls && all_tools && turns_left,
            Fault::CutByLength => !calls && !next.text.is_empty() && turns_left,
            _ => true,
        }
    }
}

/// The fault that this request gets, if any.
pub(super) fn fault(request: &DemoRequest, scene: &Scene<'_>, next: &Move) -> Option<Fault> {
    let child = request.request.child();
    let number = request.request.0.saturating_sub(RequestId::numbered(child, 0).0);
    let seed = request.seed ^ (u64::from(child) << 32);
    let often = match (number, request.attempt) {
        (1, _) => 4, // the first request of a run always gets a fault
        (_, 1) => 3,
        _ => 2,
    };
    if Random::new(seed, number as usize, "whether").between(0, 4) >= often {
        return None;
    }
    // A run goes through the faults in an order that depends on its seed, so that it shows many of them. It advances in
    // strides: if a fault does not fit, the next one is used, and the following request must not get that one again.
    let order = order(seed);
    let start = (number as usize).saturating_mul(STRIDE) % order.len().max(1);
    let (before, from) = order.split_at_checked(start)?;
    from.iter().chain(before).copied().find(|fault| fault.fits(request, scene, next))
}

fn order(seed: u64) -> Vec<Fault> {
    let mut random = Random::new(seed, 0, "order");
    let mut left = Fault::ALL.to_vec();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let most = u32::try_from(left.len()).unwrap_or(u32::MAX);
        order.push(left.swap_remove(random.between(0, most) as usize));
    }
    order
}

/// Whether making these calls twice at once is harmless.
fn may_repeat(next: &Move) -> bool {
    const HARMLESS: [&str; 5] = ["list_files", "search_files", "read_file", "calculate", "now"];
    match next.calls.as_slice() {
        [] => false,
        [(name, _)] => HARMLESS.contains(&name.as_str()),
        _ => true,
    }
}

/// Whether there is a result that the context guard can remove.
fn has_long_result(messages: &[Message]) -> bool {
    messages.iter().any(|message| {
        matches!(message, Message::Tool(tool) if tool.content.len() > 300 && !tool.content.starts_with("[Result of "))
    })
}

/// Whether the run can go on after a fatal error: a web page in place of a response is never retried. A sub-agent that
/// ends on it is reported as failed, and a synthesis whose first attempt was cut still has that text.
fn survives_a_fatal_error(request: &DemoRequest) -> bool {
    let was_cut = matches!(request.messages.last(), Some(Message::User { content, .. }) if content.contains("cut off by its length"));
    request.request.child() > 0 || (request.choice == ToolChoice::None && was_cut)
}
