//! The wire form of each fault. Every server message is labelled as scripted.

use serde_json::{Value, json};

use crate::engine::Message;

use super::chaos::Fault;
use super::moves::Move;
use super::random::Random;
use super::scripted::{BodyEnd, DemoChunk, Scripted};
use super::wire;

/// The time that a server takes to refuse a request.
const REFUSAL_MS: u32 = 150;

/// Bytes of the huge line.
const HUGE: usize = 256 * 1024;

/// The number of pieces of a slow reply, and the pause before each: about three seconds in total.
const DRIPS: usize = 60;
const DRIP_MS: u32 = 50;

/// The response in which this reply gets this fault.
pub(super) fn play(fault: Fault, mut next: Move, messages: &[Message], random: &mut Random) -> Scripted {
    let mut reply = |next: &Move| wire::stream(next, messages, random);
    match fault {
        Fault::Status408 => refusal(408, &error("request_timeout", "the request took too long")),
        Fault::Status409 => refusal(409, &error("conflict", "the model is being loaded")),
        Fault::Status429 => refusal(429, &error("rate_limit_exceeded", "too many requests")),
        Fault::Status429Seconds => wait("retry-after", "1"),
        Fault::Status429Millis => wait("retry-after-ms", "350"),
        Fault::Status500 => refusal(500, &error("server_error", "the server made an error")),
        Fault::Status503 => refusal(503, &error("service_unavailable", "the server is starting")),
        Fault::Status529 => refusal(529, &error("overloaded_error", "the server is overloaded")),
        Fault::ContextOverflow => {
            refusal(400, &error("context_length_exceeded", "the maximum context length is exceeded"))
        }
        Fault::GatewayPage => page(502),
        Fault::WebPage => page(200),
        Fault::NetworkFailure => {
            Scripted::NoAnswer { after_ms: REFUSAL_MS, message: said("the connection was refused") }
        }
        Fault::CutBeforeFirstByte => Scripted::stream(Vec::new()),
        Fault::CutInText => Scripted::stream(cut(reply(&next), "\"content\":\"")),
        Fault::CutInArguments => Scripted::stream(cut(reply(&next), "\"arguments\":\"")),
        Fault::CutBeforeEndMarker => Scripted::stream(before_the_end(reply(&next))),
        Fault::ErrorInStream => {
            let mut chunks = first_half(reply(&next));
            chunks.push(chunk(20, format!("data: {}\n\n", error("overloaded_error", "the server gave up halfway"))));
            Scripted::stream(chunks)
        }
        Fault::ErrorWithStatus200 => {
            let message = said("the server is overloaded, and its status does not say so");
            let body = json!({ "error": { "message": message, "type": "server_error", "code": 503 } });
            refusal(200, &body)
        }
        Fault::EmptyAnswer => Scripted::answer(200, "application/json", Vec::new()),
        Fault::Garbage => Scripted::stream(vec![chunk(REFUSAL_MS, format!("%PDF-1.7 {}", said("this is no stream")))]),
        Fault::WrongContentType => Scripted::answer(200, "application/octet-stream", reply(&next)),
        Fault::SilentServer => Scripted::Silence,
        Fault::SilentStream => {
            let mut answer = Scripted::stream(first_half(reply(&next)));
            if let Scripted::Answer { end, .. } = &mut answer {
                *end = BodyEnd::Silent;
            }
            answer
        }
        Fault::SlowDrip => Scripted::stream(drips(&reply(&next))),
        Fault::HugeLine => {
            let mut chunks = reply(&next);
            let padding = json!({ "choices": [], "padding": "x".repeat(HUGE) });
            chunks.insert(1.min(chunks.len()), chunk(5, format!("data: {padding}\n\n")));
            Scripted::stream(chunks)
        }
        Fault::MalformedArguments => {
            next.broken_arguments = true;
            Scripted::stream(reply(&next))
        }
        Fault::UnknownTool => {
            if let Some((name, _)) = next.calls.first_mut() {
                name.push_str("_plus");
            }
            Scripted::stream(reply(&next))
        }
        Fault::DuplicateCallIds => {
            if let [only] = next.calls.as_slice() {
                next.calls.push(only.clone());
            }
            next.same_ids = true;
            Scripted::stream(reply(&next))
        }
        Fault::EmptyReply => Scripted::stream(reply(&Move::default())),
        Fault::ReasoningOnly => Scripted::stream(reply(&Move { reasoning: next.reasoning, ..Move::default() })),
        Fault::CutByLength => {
            let half = next.text.floor_char_boundary(next.text.len() / 2);
            next.text.truncate(half);
            next.cut = true;
            Scripted::stream(reply(&next))
        }
    }
}

fn said(what: &str) -> String {
    format!("Scripted fault: {what}.")
}

fn error(kind: &str, what: &str) -> Value {
    json!({ "error": { "message": said(what), "type": kind } })
}

fn refusal(status: u16, body: &Value) -> Scripted {
    Scripted::answer(status, "application/json", vec![chunk(REFUSAL_MS, body.to_string())])
}

/// A response that reports too many requests, and how long to wait.
fn wait(name: &str, value: &str) -> Scripted {
    let mut answer = refusal(429, &error("rate_limit_exceeded", "too many requests, and this is when to come back"));
    if let Scripted::Answer { headers, .. } = &mut answer {
        headers.push((name.to_owned(), value.to_owned()));
    }
    answer
}

fn page(status: u16) -> Scripted {
    let text = "<!doctype html><html><head><title>Scripted fault: a web page</title></head><body><h1>Bad Gateway</h1></body></html>";
    Scripted::answer(status, "text/html; charset=utf-8", vec![chunk(REFUSAL_MS, text.to_owned())])
}

fn chunk(after_ms: u32, text: String) -> DemoChunk {
    DemoChunk { after_ms, text }
}

/// The chunks up to the middle one of those that contain `what`; the last one is broken off inside.
fn cut(mut chunks: Vec<DemoChunk>, what: &str) -> Vec<DemoChunk> {
    let empty = format!("{what}\"");
    let holding =
        |(at, chunk): (usize, &DemoChunk)| (chunk.text.contains(what) && !chunk.text.contains(&empty)).then_some(at);
    let places: Vec<usize> = chunks.iter().enumerate().filter_map(holding).collect();
    let at = places.get(places.len() / 2).copied().unwrap_or(0);
    chunks.truncate(at + 1);
    if let Some(last) = chunks.last_mut() {
        let half = last.text.floor_char_boundary(last.text.len() / 2);
        last.text.truncate(half);
    }
    chunks
}

/// Everything before the end marker.
fn before_the_end(mut chunks: Vec<DemoChunk>) -> Vec<DemoChunk> {
    let end = chunks.iter().position(|chunk| chunk.text.contains("\"finish_reason\":\""));
    chunks.truncate(end.unwrap_or(0));
    chunks
}

fn first_half(chunks: Vec<DemoChunk>) -> Vec<DemoChunk> {
    let mut chunks = before_the_end(chunks);
    chunks.truncate(chunks.len().div_ceil(2));
    chunks
}

/// The same bytes in many small pieces, split at arbitrary positions.
fn drips(chunks: &[DemoChunk]) -> Vec<DemoChunk> {
    let text: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let size = text.len().div_ceil(DRIPS).max(1);
    let (mut pieces, mut rest) = (Vec::new(), text.as_str());
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(rest.ceil_char_boundary(size));
        pieces.push(chunk(DRIP_MS, piece.to_owned()));
        rest = tail;
    }
    pieces
}
