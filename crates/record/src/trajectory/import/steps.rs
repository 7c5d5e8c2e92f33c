//! Converts the steps of an ATIF file to turns.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::file::{
    AtifContent, AtifPart, AtifSource, AtifStep, AtifToolCall, Observation, ObservationResult, extra_field,
};
use turnwise_engine::{
    AssistantMessage, CallId, CallRecord, EpochMillis, Image, Message, ToolCall as Asked, ToolMessage, TurnRecord, time,
};

/// The data read from the steps.
#[derive(Debug, Default)]
pub struct ImportedSteps {
    pub system: String,
    pub input: String,
    pub images: Vec<Image>,
    pub history: Vec<Message>,
    pub turns: Vec<TurnRecord>,
    /// The quoted messages since the last turn.
    asides: Vec<String>,
    /// Ids of calls so far, with the number of occurrences.
    ids: BTreeMap<String, u32>,
    /// Run ids of the embedded sub-agents, by their ids in the file.
    known: BTreeMap<String, String>,
    started: EpochMillis,
    own: bool,
}

impl ImportedSteps {
    pub fn read(
        steps: Vec<AtifStep>,
        started: EpochMillis,
        known: BTreeMap<String, String>,
        own: bool,
    ) -> ImportedSteps {
        let mut read = ImportedSteps { started, known, own, ..ImportedSteps::default() };
        steps.into_iter().for_each(|step| read.take(step));
        if !read.asides.is_empty() {
            // Messages that follow the last agent step.
            let content = std::mem::take(&mut read.asides).join("\n\n");
            read.push(TurnRecord { content, ..TurnRecord::default() });
        }
        read
    }

    fn take(&mut self, step: AtifStep) {
        if step.is_copied_context == Some(true) {
            return self.carry(&step);
        }
        match (step.source, &step.observation) {
            (AtifSource::Agent, _) => self.turn(step),
            (AtifSource::System, None) if self.turns.is_empty() => append(&mut self.system, &step.message.text()),
            (AtifSource::User, None) if self.turns.is_empty() => {
                let (text, images) = with_images(&step.message);
                append(&mut self.input, &text);
                self.images.extend(images);
            }
            (source, None) => self.asides.extend(aside(source, &step.message)),
            (source, Some(_)) => {
                self.asides.extend(aside(source, &step.message));
                self.turn(AtifStep { message: AtifContent::Text(String::new()), ..step });
            }
        }
    }

    fn turn(&mut self, step: AtifStep) {
        let at = step.timestamp.as_deref().and_then(time::parse).unwrap_or(self.started);
        let said = step.message.text();
        let content = self.asides.drain(..).chain((!said.is_empty()).then_some(said)).collect::<Vec<_>>().join("\n\n");
        let extra = step.extra.filter(|_| self.own).unwrap_or_default();
        let calls = step.tool_calls.unwrap_or_default();
        let since = at.0.saturating_sub(self.started.0);
        let tool_calls = self.calls(calls, step.observation, since);
        self.push(TurnRecord {
            turn: extra_field(&extra, "turn").unwrap_or_default(),
            content,
            reasoning: step.reasoning_content.unwrap_or_default(),
            tool_calls,
            attempts: extra_field(&extra, "attempts").unwrap_or_default(),
            counter_level: extra_field(&extra, "counter_level").unwrap_or_default(),
            is_final: extra_field(&extra, "final").unwrap_or_default(),
            synthesis: extra_field(&extra, "synthesis").unwrap_or_default(),
            started_at: time::rfc3339(at),
        });
    }

    fn push(&mut self, mut turn: TurnRecord) {
        if turn.turn == 0 {
            turn.turn = self.turns.last().map_or(1, |last| last.turn.saturating_add(1));
        }
        if turn.started_at.is_empty() {
            turn.started_at = self.turns.last().map_or_else(|| time::rfc3339(self.started), |t| t.started_at.clone());
        }
        self.turns.push(turn);
    }

    /// Returns the calls with their results. A result that names no call belongs to the only call, or is kept separately.
    fn calls(&mut self, calls: Vec<AtifToolCall>, observation: Option<Observation>, since: u64) -> Vec<CallRecord> {
        let mut results = observation.map(|observation| observation.results).unwrap_or_default();
        let alone = calls.len() == 1 && results.len() == 1;
        let mut records = Vec::new();
        for call in calls {
            let place = results
                .iter()
                .position(|result| result.source_call_id.as_ref().map_or(alone, |id| *id == call.tool_call_id));
            let result = place.map(|place| results.remove(place));
            let record = self.call(call, result, since);
            records.push(record);
        }
        for result in results {
            let call = AtifToolCall {
                tool_call_id: "observation".to_owned(),
                function_name: "observation".to_owned(),
                arguments: Value::Object(Map::new()),
                extra: None,
            };
            records.push(self.call(call, Some(result), since));
        }
        records
    }

    fn call(&mut self, call: AtifToolCall, result: Option<ObservationResult>, since: u64) -> CallRecord {
        let extra = call.extra.filter(|_| self.own).unwrap_or_default();
        let (id, repeated) = self.unique(&call.tool_call_id);
        let (content, references) = match result {
            Some(result) => (result.content, result.subagent_trajectory_ref.unwrap_or_default()),
            None => (None, Vec::new()),
        };
        let children = references.iter().filter_map(|reference| self.known.get(reference.trajectory_id.as_ref()?));
        let children: Vec<String> = children.cloned().collect();
        let answered = content.as_ref().map(AtifContent::text).or_else(|| (!children.is_empty()).then(String::new));
        CallRecord {
            id,
            model_id: extra_field(&extra, "model_id").or(repeated.then_some(call.tool_call_id)),
            name: call.function_name,
            args: extra.get("raw_arguments").cloned().unwrap_or(call.arguments),
            result: answered,
            structured_content: extra_field(&extra, "structured_content"),
            calls: extra_field(&extra, "calls").unwrap_or_default(),
            children,
            is_final: extra_field(&extra, "is_final").unwrap_or_default(),
            error: extra_field(&extra, "error"),
            slug: extra_field(&extra, "slug"),
            attempt: extra_field(&extra, "attempt").unwrap_or(1),
            started_ms: extra_field(&extra, "started_ms").unwrap_or(since),
            duration_ms: extra_field(&extra, "duration_ms"),
        }
    }

    /// Ids are unique in a Turnwise run, but not necessarily in a file.
    fn unique(&mut self, id: &str) -> (CallId, bool) {
        let times = self.ids.entry(id.to_owned()).or_default();
        *times += 1;
        match *times {
            1 if !id.is_empty() => (CallId(id.to_owned()), false),
            n => (CallId(format!("{id}_{n}")), true),
        }
    }

    /// Adds a step of an earlier conversation to the history.
    fn carry(&mut self, step: &AtifStep) {
        let content = step.message.text();
        match step.source {
            AtifSource::System => self.history.push(Message::system(content)),
            AtifSource::User => self.history.push(Message::user(content)),
            AtifSource::Agent => {
                let calls = step.tool_calls.as_deref().unwrap_or_default();
                let tool_calls = calls.iter().map(|call| {
                    let id = CallId(call.tool_call_id.clone());
                    Asked::new(id, call.function_name.clone(), call.arguments.to_string())
                });
                let reasoning = step.reasoning_content.clone().unwrap_or_default();
                let tool_calls = tool_calls.collect();
                self.history.push(Message::Assistant(AssistantMessage {
                    content,
                    reasoning,
                    tool_calls,
                    opaque: None,
                    from: None,
                }));
                let results = step.observation.as_ref().map(|seen| seen.results.as_slice()).unwrap_or_default();
                for result in results {
                    let Some(id) = result.source_call_id.clone() else { continue };
                    let name = calls.iter().find(|call| call.tool_call_id == id);
                    let name = name.map(|call| call.function_name.clone()).unwrap_or_default();
                    let (content, images) = result.content.as_ref().map(with_images).unwrap_or_default();
                    let answer = ToolMessage { call_id: CallId(id), name, content, images, is_error: false };
                    self.history.push(Message::Tool(answer));
                }
            }
        }
    }
}

/// The text, and the images embedded in the file; the text names all other images.
fn with_images(message: &AtifContent) -> (String, Vec<Image>) {
    let AtifContent::Parts(parts) = message else { return (message.text(), Vec::new()) };
    let image = |path: &str| Image::from_data_url(path);
    let inside = |part: &&AtifPart| part.source.as_ref().and_then(|s| image(s.path.as_deref()?));
    let images: Vec<Image> = parts.iter().filter_map(|part| inside(&part)).collect();
    let rest = parts.iter().filter(|part| inside(part).is_none());
    (rest.map(AtifPart::as_text).collect::<Vec<_>>().join("\n\n"), images)
}

fn append(to: &mut String, text: &str) {
    if !to.is_empty() {
        to.push_str("\n\n");
    }
    to.push_str(text);
}

/// A message between turns, quoted, with its author.
fn aside(source: AtifSource, message: &AtifContent) -> Option<String> {
    let (who, text) = match source {
        AtifSource::User => ("The user", message.text()),
        AtifSource::System => ("The system", message.text()),
        AtifSource::Agent => ("The agent", message.text()),
    };
    (!text.trim().is_empty()).then(|| format!("**{who}:**\n\n{}", quote(&text)))
}

/// Prefixes every line with `>`.
fn quote(text: &str) -> String {
    text.trim().lines().map(|line| format!("> {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
