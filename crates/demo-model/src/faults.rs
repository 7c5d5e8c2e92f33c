//! Chaos mode: which request gets which fault, and how the fault looks on the wire. The choice depends only on the seed
//! and the number of the request, and never stops a run: the last attempt of a turn gets a normal response. Every message
//! of a server is labelled as scripted.

use serde_json::{Value, json};

use turnwise_engine::retry::Rng;
use turnwise_engine::{DemoMode, Message, RequestId, ToolChoice};

use super::chat::{Chat, is_removed};
use super::wire::{self, BodyEnd, DemoChunk, DemoReply, DemoRequest, Scripted};

use FaultEffect::{Body, Error, Other, Stream, Wait};

/// The time that a server takes to refuse a request.
const REFUSAL_MS: u32 = 150;
/// Bytes of the huge line.
const HUGE: usize = 256 * 1024;
/// The number of pieces of a slow reply, and the pause before each: about three seconds in total.
const DRIPS: usize = 60;
const DRIP_MS: u32 = 50;

/// The body of a gateway's answer.
const WEB_PAGE: &str = "<!doctype html><html><head><title>Scripted fault: a web page.</title></head></html>";
/// Faults that fail no attempt.
const HARMLESS: [DemoFault; 4] =
    [DemoFault::DuplicateCallIds, DemoFault::WrongContentType, DemoFault::SlowDrip, DemoFault::HugeLine];

macro_rules! faults {
    ($($name:ident $(if $fits:expr)? => $effect:expr;)*) => {
        /// A way in which a model server or its model can fail, or at least behave oddly.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DemoFault { $($name,)* }

        impl DemoFault {
            /// All faults.
            pub const ALL: &'static [DemoFault] = &[$(DemoFault::$name,)*];

            /// Whether the reply has something that the fault can spoil, and the run survives it.
            fn fits(self, chat: &Chat<'_>, reply: &DemoReply) -> bool {
                let fits: fn(&Chat<'_>, &DemoReply) -> bool = match self {
                    $($(DemoFault::$name => $fits,)?)*
                    _ => |_, _| true,
                };
                let is_last_attempt = chat.request.attempt >= chat.request.attempts;
                fits(chat, reply) && (!is_last_attempt || HARMLESS.contains(&self))
            }

            fn effect(self) -> FaultEffect {
                match self { $(DemoFault::$name => $effect,)* }
            }
        }
    };
}

// A fault that does not fit is replaced by the next one. Those that seldom fit are next to each other, the rarest first:
// thus each of them gets its turns.
faults! {
    CutByLength if |it, reply| can_lose_turn(it) && !reply.text.is_empty() && reply.calls.is_empty() => FaultEffect::Reply(|reply| {
        halve(&mut reply.text);
        reply.is_cut = true;
    });
    // A web page with status 200 is never retried.
    WebPage if |it, _| survives_the_end(it.request) => Body(200, "text/html", WEB_PAGE);
    ContextOverflow if |it, _| has_tools(it) && it.request.attempt == 1 && has_long_result(it.request) =>
        Error(400, "context_length_exceeded", "the maximum context length is exceeded");
    UnknownTool if |it, reply| can_lose_turn(it) && !reply.calls.is_empty() && has_tools(it) =>
        FaultEffect::Reply(|reply| reply.calls.iter_mut().take(1).for_each(|call| call.name.push_str("_plus")));
    MalformedArguments if |it, reply| can_lose_turn(it) && !reply.calls.is_empty() =>
        FaultEffect::Reply(|reply| reply.calls.iter_mut().take(1).for_each(|call| halve(&mut call.arguments)));
    DuplicateCallIds if |it, reply| has_tools(it) && reply.calls.len() > 1 =>
        FaultEffect::Reply(|reply| reply.calls.iter_mut().for_each(|call| call.number = 0));
    CutInArguments if |_, reply| !reply.calls.is_empty() => Stream(|chunks| cut(chunks, "\"arguments\":\""));
    CutInText if |_, reply| !reply.text.is_empty() => Stream(|chunks| cut(chunks, "\"content\":\""));
    CutBeforeEndMarker => Stream(without_end);
    CutBeforeFirstByte => Stream(|_| Vec::new());
    EmptyReply => FaultEffect::Reply(|reply| *reply = DemoReply::default());
    ReasoningOnly => FaultEffect::Reply(|reply| *reply = DemoReply { reasoning: std::mem::take(&mut reply.reasoning), ..DemoReply::default() });
    Status408 => Error(408, "request_timeout", "the request took too long");
    Status409 => Error(409, "conflict", "the model is being loaded");
    Status429 => Error(429, "rate_limit_exceeded", "too many requests");
    Status429Seconds => Wait("retry-after", "1");
    Status429Millis => Wait("retry-after-ms", "350");
    Status500 => Error(500, "server_error", "the server made an error");
    Status503 => Error(503, "service_unavailable", "the server is starting");
    Status529 => Error(529, "overloaded_error", "the server is overloaded");
    ErrorWithStatus200 => Error(200, "server_error", "the server is overloaded, and its status does not say so");
    GatewayPage => Body(502, "text/html", WEB_PAGE);
    EmptyAnswer => Body(200, "application/json", "");
    Garbage => Body(200, "text/event-stream", "%PDF-1.7 Scripted fault: this is no stream.");
    NetworkFailure => Other(|_| Scripted::NoAnswer { after_ms: REFUSAL_MS, message: label("the connection was refused") });
    SilentServer => Other(|_| Scripted::Silence);
    SilentStream => Other(|chunks| {
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        Scripted::Answer { status: 200, headers, chunks: first_half(chunks), end: BodyEnd::Silent }
    });
    ErrorInStream => Stream(|chunks| {
        let error = error("overloaded_error", "the server gave up halfway");
        first_half(chunks).into_iter().chain([chunk(20, format!("data: {error}\n\n"))]).collect()
    });
    WrongContentType => Other(|chunks| Scripted::answer(200, "application/octet-stream", chunks));
    SlowDrip => Stream(|chunks| {
        let text: Vec<char> = chunks.iter().flat_map(|chunk| chunk.text.chars()).collect();
        let pieces = text.chunks(text.len().div_ceil(DRIPS).max(1));
        pieces.map(|piece| chunk(DRIP_MS, piece.iter().collect())).collect()
    });
    HugeLine => Stream(|chunks| {
        let padding = json!({ "choices": [], "padding": "x".repeat(HUGE) });
        std::iter::once(chunk(5, format!("data: {padding}\n\n"))).chain(chunks).collect()
    });
}

/// What a fault does to a response.
enum FaultEffect {
    /// An error with this status, type and message.
    Error(u16, &'static str, &'static str),
    /// Too many requests, with a header that says how long to wait.
    Wait(&'static str, &'static str),
    /// This status, content type and body in place of the reply.
    Body(u16, &'static str, &'static str),
    /// Another reply.
    Reply(fn(&mut DemoReply)),
    /// Other chunks of the stream.
    Stream(fn(Vec<DemoChunk>) -> Vec<DemoChunk>),
    /// Another response.
    Other(fn(Vec<DemoChunk>) -> Scripted),
}

/// The response in which a reply gets the fault.
pub(super) fn play(fault: DemoFault, mut reply: DemoReply, messages: &[Message], rng: &mut Rng) -> Scripted {
    let body = |status: u16, content_type: &str, text: String| {
        let chunks = if text.is_empty() { Vec::new() } else { vec![chunk(REFUSAL_MS, text)] };
        Scripted::answer(status, content_type, chunks)
    };
    match fault.effect() {
        Error(status, kind, message) => body(status, "application/json", error(kind, message).to_string()),
        Wait(header, value) => {
            let error = error("rate_limit_exceeded", "too many requests, and this is when to come back");
            let mut answer = body(429, "application/json", error.to_string());
            if let Scripted::Answer { headers, .. } = &mut answer {
                headers.push((header.to_owned(), value.to_owned()));
            }
            answer
        }
        Body(status, content_type, text) => body(status, content_type, text.to_owned()),
        FaultEffect::Reply(change) => {
            change(&mut reply);
            Scripted::stream(wire::chunks(&reply, messages, rng))
        }
        Stream(change) => Scripted::stream(change(wire::chunks(&reply, messages, rng))),
        Other(response) => response(wire::chunks(&reply, messages, rng)),
    }
}

/// The fault that this request gets, if any. A run goes through all faults, in an order that depends on its seed.
pub(super) fn choose(chat: &Chat<'_>, reply: &DemoReply) -> Option<DemoFault> {
    let request = chat.request;
    let child = request.request.child();
    let number = u64::from(request.request.0.saturating_sub(RequestId::numbered(child, 0).0));
    let seed = request.seed ^ (u64::from(child) << 32);
    let quarters = match (number, request.attempt) {
        (1, _) => 4, // the first request of a run always gets a fault
        (_, 1) => 3,
        _ => 2,
    };
    if request.mode != DemoMode::Chaos || Rng::new(seed ^ (number << 48)).up_to(3) >= quarters {
        return None;
    }
    let (mut rng, count) = (Rng::new(seed), DemoFault::ALL.len() as u64);
    // The number of faults is prime, so every stride reaches all of them.
    let (first, stride) = (rng.up_to(count - 1), 2 + rng.up_to(count - 3));
    let place = (first + number * stride) % count;
    let from_place = DemoFault::ALL.iter().cycle().skip(place as usize).take(DemoFault::ALL.len()).copied();
    from_place.into_iter().find(|fault| fault.fits(chat, reply))
}

fn has_tools(chat: &Chat<'_>) -> bool {
    matches!(chat.request.choice, ToolChoice::Auto | ToolChoice::Asked)
}

fn can_lose_turn(chat: &Chat<'_>) -> bool {
    !has_tools(chat) || !chat.is_urgent()
}

/// Whether there is a result that the context guard can remove.
fn has_long_result(request: &DemoRequest) -> bool {
    let is_long = |text: &str| text.len() > 300 && !is_removed(text);
    request.messages.iter().any(|message| matches!(message, Message::Tool(tool) if is_long(&tool.content)))
}

/// Whether the run can go on after a fatal error: a sub-agent that ends on it is reported as failed, and a conclusion
/// whose first attempt was cut still has that text.
fn survives_the_end(request: &DemoRequest) -> bool {
    let is_cut = |text: &str| text.contains("cut off by its length");
    let was_cut = matches!(request.messages.last(), Some(Message::User { content, .. }) if is_cut(content));
    request.request.child() > 0 || (request.choice == ToolChoice::None && was_cut)
}

fn label(message: &str) -> String {
    format!("Scripted fault: {message}.")
}

fn error(kind: &str, message: &str) -> Value {
    json!({ "error": { "message": label(message), "type": kind } })
}

fn chunk(after_ms: u32, text: String) -> DemoChunk {
    DemoChunk { after_ms, text }
}

fn halve(text: &mut String) {
    text.truncate(text.floor_char_boundary(text.len() / 2));
}

/// The chunks up to the last one in which a piece of text follows `start`; that one is broken off inside.
fn cut(mut chunks: Vec<DemoChunk>, start: &str) -> Vec<DemoChunk> {
    let place = chunks.iter().rposition(|chunk| chunk.text.contains(start));
    chunks.truncate(place.map_or(0, |place| place + 1));
    chunks.iter_mut().next_back().into_iter().for_each(|last| halve(&mut last.text));
    chunks
}

fn without_end(mut chunks: Vec<DemoChunk>) -> Vec<DemoChunk> {
    chunks.retain(|chunk| chunk.text.contains("\"finish_reason\":null"));
    chunks
}

fn first_half(chunks: Vec<DemoChunk>) -> Vec<DemoChunk> {
    let mut chunks = without_end(chunks);
    chunks.truncate(chunks.len().div_ceil(2));
    chunks
}
