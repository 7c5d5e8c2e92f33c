//! OpenTelemetry spans as OTLP/JSON, with the names of the GenAI semantic conventions, revision 1.41.0: the last one in the
//! common repository (`model/gen-ai`), where their status is still "development". Attributes that the conventions do not
//! name start with `turnwise.`.
//!
//! A run is an `invoke_agent` span that contains a `chat` span per attempt and an `execute_tool` span per call. A
//! sub-agent is a child of the call that started it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::otlp_attributes::{Attributes, span_id, trace_id};
use super::{object, openai, pretty, value};
use crate::trajectory::Trajectory;
use turnwise_engine::{
    AttemptRecord, CallRecord, EpochMillis, Event, FinishReason, Outcome, ProviderKind, Reply, RequestId, TurnRecord,
};

const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";
const INTERNAL: u32 = 1;
const CLIENT: u32 = 3;
const ERROR: u32 = 2;

/// Writes one `ExportTraceServiceRequest`.
#[must_use]
pub fn write(document: &Trajectory) -> String {
    let resource = Attributes::default().text("service.name", "turnwise");
    let resource = resource.text("service.version", &document.engine_version);
    let mut spans = Spans { trace: trace_id(&document.run_id), replies: replies(document), list: Vec::new() };
    spans.run(document, None);
    pretty(&json!({
        "resourceSpans": [{
            "resource": { "attributes": Value::from(resource) },
            "scopeSpans": [{
                "scope": { "name": "turnwise", "version": document.engine_version },
                "spans": spans.list,
                "schemaUrl": SCHEMA,
            }],
            "schemaUrl": SCHEMA,
        }],
    }))
}

/// The replies in the events, which hold response ids, models and finish reasons.
fn replies(document: &Trajectory) -> BTreeMap<RequestId, &Reply> {
    let events = document.events.iter().filter_map(|recorded| match &recorded.event {
        Event::ModelReplied { request, reply, .. } => Some((*request, reply)),
        _ => None,
    });
    events.collect()
}

struct Spans<'a> {
    trace: String,
    replies: BTreeMap<RequestId, &'a Reply>,
    list: Vec<Value>,
}

/// One span before it is written.
struct TraceSpan<'a> {
    id: String,
    parent: Option<&'a str>,
    name: String,
    kind: u32,
    /// Milliseconds since 1970.
    start: u64,
    end: u64,
    attributes: Attributes,
    /// The reason it failed.
    error: Option<&'a str>,
}

impl Spans<'_> {
    fn push(&mut self, span: TraceSpan<'_>) {
        let nanos = |ms: u64| (u128::from(ms) * 1_000_000).to_string();
        let status = match span.error {
            Some(message) => object([("code", ERROR.into()), ("message", message.into())]),
            None => Value::Null,
        };
        self.list.push(object([
            ("traceId", self.trace.as_str().into()),
            ("spanId", span.id.into()),
            ("parentSpanId", span.parent.into()),
            ("name", span.name.into()),
            ("kind", span.kind.into()),
            ("startTimeUnixNano", nanos(span.start).into()),
            ("endTimeUnixNano", nanos(span.end.max(span.start)).into()),
            ("attributes", span.attributes.into()),
            ("status", status),
        ]));
    }

    fn run(&mut self, run: &Trajectory, parent: Option<&str>) {
        let id = span_id(&run.run_id, "run");
        let failed = run.outcome == Some(Outcome::Failed);
        let reason = run.termination_reason.map(|reason| reason.to_string()).unwrap_or_default();
        let mut attributes = Attributes::default()
            .text("gen_ai.operation.name", "invoke_agent")
            .text("gen_ai.provider.name", provider_name(run.provider))
            .text("gen_ai.agent.name", "turnwise")
            .text("gen_ai.agent.version", &run.engine_version)
            .text("gen_ai.agent.id", &run.run_id)
            .text("gen_ai.conversation.id", &run.session_id)
            .text("gen_ai.request.model", &run.model)
            .real("gen_ai.request.temperature", run.config.temperature)
            .real("gen_ai.request.top_p", run.config.top_p)
            .number("gen_ai.usage.input_tokens", run.tokens.input.0)
            .number("gen_ai.usage.output_tokens", run.tokens.output.0)
            .number("gen_ai.usage.cache_read.input_tokens", run.tokens.cached.0)
            .number("gen_ai.usage.reasoning.output_tokens", run.tokens.reasoning.0)
            .structured("gen_ai.system_instructions", &json!([text_part(&run.config.system_text())]))
            .structured("gen_ai.input.messages", &json!([message("user", &[text_part(&run.input)], None)]))
            .structured("gen_ai.tool.definitions", &openai::tools(&run.tools));
        if let Some(output) = &run.output {
            let said = json!([message("assistant", &[text_part(output)], Some("stop"))]);
            attributes = attributes.structured("gen_ai.output.messages", &said);
        }
        attributes = attributes
            .text("turnwise.preset", run.preset.as_str())
            .text("turnwise.termination_reason", &reason)
            .text("turnwise.outcome", word(&value(&run.outcome)))
            .text("turnwise.answer_source", word(&value(&run.answer_source)))
            .number("turnwise.total_turns", run.total_turns.into())
            .number("turnwise.effective_max_turns", run.effective_max_turns.into())
            .number("turnwise.requests", run.requests.into())
            .truth("turnwise.tokens.estimated", run.tokens.estimated);
        if failed {
            attributes = attributes.text("error.type", &reason);
        }
        let start = run.started_ms.0;
        self.push(TraceSpan {
            id: id.clone(),
            parent,
            name: "invoke_agent turnwise".to_owned(),
            kind: INTERNAL,
            start,
            end: start.saturating_add(last_moment(run)),
            attributes,
            error: failed.then(|| run.error.as_deref().unwrap_or("the run failed")),
        });
        for (place, turn) in run.turns.iter().enumerate() {
            turn.attempts.iter().for_each(|attempt| self.chat(run, &id, place, turn, attempt));
            turn.tool_calls.iter().for_each(|call| self.tool(run, &id, turn, call));
        }
        // The sub-agents of an open call, which does not list them yet.
        let named: Vec<&String> = calls(run).flat_map(|call| &call.children).collect();
        let rest = run.children.iter().filter(|child| !named.contains(&&child.run_id));
        rest.for_each(|child| self.run(child, Some(&id)));
    }

    fn chat(&mut self, run: &Trajectory, parent: &str, place: usize, turn: &TurnRecord, attempt: &AttemptRecord) {
        let provider = run.config.providers.get(attempt.provider);
        let model = provider.map(|provider| provider.model.as_str()).unwrap_or_default();
        let kind = provider.map_or(run.provider, |provider| provider.kind);
        let reply = self.replies.get(&attempt.request).copied();
        let mut attributes = Attributes::default()
            .text("gen_ai.operation.name", "chat")
            .text("gen_ai.provider.name", provider_name(kind))
            .text("gen_ai.request.model", model)
            .truth("gen_ai.request.stream", true)
            .text("gen_ai.conversation.id", &run.session_id)
            .real("gen_ai.request.temperature", run.config.temperature)
            .real("gen_ai.request.top_p", run.config.top_p);
        if let Some(most) = provider.and_then(|provider| provider.max_output_tokens) {
            attributes = attributes.number("gen_ai.request.max_tokens", most.into());
        }
        if let Some(reply) = reply {
            let why = finish(reply.finish);
            let said = json!([message("assistant", &parts(reply), Some(why))]);
            attributes = attributes
                .text("gen_ai.response.id", &reply.id)
                .text("gen_ai.response.model", &reply.model)
                .texts("gen_ai.response.finish_reasons", [why])
                .structured("gen_ai.output.messages", &said);
        }
        if let Some(usage) = attempt.usage {
            attributes = attributes
                .number("gen_ai.usage.input_tokens", usage.input.0)
                .number("gen_ai.usage.output_tokens", usage.output.0)
                .number("gen_ai.usage.cache_read.input_tokens", usage.cached.0)
                .number("gen_ai.usage.reasoning.output_tokens", usage.reasoning.0)
                .truth("turnwise.tokens.estimated", usage.estimated);
        }
        let seconds = attempt.first_token_ms.map(|ms| ms as f64 / 1000.0);
        attributes = attributes
            .real("gen_ai.response.time_to_first_chunk", seconds)
            .number("turnwise.turn", turn.turn.into())
            .number("turnwise.attempt", attempt.attempt.into())
            .text("turnwise.counter_level", word(&value(&turn.counter_level)))
            .truth("turnwise.synthesis", turn.synthesis)
            .text("turnwise.request_hash", &attempt.request_hash)
            .texts("turnwise.slugs", attempt.slugs.iter().map(|slug| slug.as_str()));
        let failure = attempt.slugs.first().map(|slug| slug.as_str());
        attributes = attributes.text("error.type", failure.unwrap_or_default());
        let start = run.started_ms.0.saturating_add(attempt.started_ms);
        self.push(TraceSpan {
            id: span_id(&run.run_id, &format!("turn/{place}/attempt/{}", attempt.request.0)),
            parent: Some(parent),
            name: if model.is_empty() { "chat".to_owned() } else { format!("chat {model}") },
            kind: CLIENT,
            start,
            end: start.saturating_add(attempt.duration_ms.unwrap_or(0)),
            attributes,
            error: failure.map(|slug| attempt.error.as_deref().unwrap_or(slug)),
        });
    }

    fn tool(&mut self, run: &Trajectory, parent: &str, turn: &TurnRecord, call: &CallRecord) {
        let id = span_id(&run.run_id, &format!("call/{}", call.id));
        let spec = run.tools.iter().find(|spec| spec.name == call.name);
        let failure = call.slug.map(|slug| slug.as_str());
        let failed = failure.or(call.error.as_ref().map(|_| "_OTHER"));
        let args = match &call.args {
            Value::String(raw) => raw.clone(),
            args => args.to_string(),
        };
        let attributes = Attributes::default()
            .text("gen_ai.operation.name", "execute_tool")
            .text("gen_ai.tool.name", &call.name)
            .text("gen_ai.tool.type", "function")
            .text("gen_ai.tool.description", spec.map(|spec| spec.description.as_str()).unwrap_or_default())
            .text("gen_ai.tool.call.id", &call.id.0)
            .text("gen_ai.tool.call.arguments", &args)
            .text("gen_ai.tool.call.result", call.result.as_deref().unwrap_or_default())
            .number("turnwise.turn", turn.turn.into())
            .number("turnwise.attempt", call.attempt.into())
            .truth("turnwise.final", call.is_final)
            .text("error.type", failed.unwrap_or_default());
        let start = run.started_ms.0.saturating_add(call.started_ms);
        self.push(TraceSpan {
            id: id.clone(),
            parent: Some(parent),
            name: format!("execute_tool {}", call.name),
            kind: INTERNAL,
            start,
            end: start.saturating_add(call.duration_ms.unwrap_or(0)),
            attributes,
            error: failed.map(|slug| call.error.as_deref().unwrap_or(slug)),
        });
        call.calls.iter().for_each(|inner| self.tool(run, &id, turn, inner));
        let below = call.children.iter().filter_map(|id| run.children.iter().find(|child| child.run_id == *id));
        below.for_each(|child| self.run(child, Some(&id)));
    }
}

fn calls(run: &Trajectory) -> impl Iterator<Item = &CallRecord> {
    let outer = run.turns.iter().flat_map(|turn| &turn.tool_calls);
    outer.flat_map(|call| std::iter::once(call).chain(&call.calls))
}

/// Milliseconds from the start of the run to its last activity, including sub-agents.
fn last_moment(run: &Trajectory) -> u64 {
    let attempts = run.turns.iter().flat_map(|turn| &turn.attempts);
    let own = attempts.map(|attempt| attempt.started_ms.saturating_add(attempt.duration_ms.unwrap_or(0)));
    let tools = calls(run).map(|call| call.started_ms.saturating_add(call.duration_ms.unwrap_or(0)));
    let below = run.children.iter().map(|child| {
        let EpochMillis(began) = child.started_ms;
        began.saturating_sub(run.started_ms.0).saturating_add(last_moment(child))
    });
    own.chain(tools).chain(below).max().unwrap_or(0)
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "content": text })
}

fn parts(reply: &Reply) -> Vec<Value> {
    let reasoning = (!reply.reasoning.is_empty()).then(|| json!({ "type": "reasoning", "content": reply.reasoning }));
    let text = (!reply.content.is_empty()).then(|| text_part(&reply.content));
    let calls = reply.tool_calls.iter().map(|call| {
        let arguments = serde_json::from_str(&call.arguments).unwrap_or(Value::String(call.arguments.clone()));
        json!({ "type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments })
    });
    reasoning.into_iter().chain(text).chain(calls).collect()
}

fn message(role: &str, parts: &[Value], finish_reason: Option<&str>) -> Value {
    let mut message = json!({ "role": role, "parts": parts });
    if let (Some(reason), Some(fields)) = (finish_reason, message.as_object_mut()) {
        fields.insert("finish_reason".to_owned(), reason.into());
    }
    message
}

/// Returns the conventions' term for the reason, where they define one.
fn finish(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_call",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Refusal => "refusal",
        FinishReason::Paused => "pause",
    }
}

fn provider_name(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::Openai | ProviderKind::OpenaiResponses => "openai",
        ProviderKind::Gemini => "gcp.gemini",
        other => other.as_str(),
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
