//! A native run of the demo model: its scripted responses go through the functions that judge a real server's
//! responses, and its tool calls through the real checks of arguments.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;
use turnwise_demo_model::{BodyEnd, DemoFault, DemoRequest, Scripted, fault, script};
use turnwise_engine::*;
use turnwise_llm::{Decoder, Online, RetryHeaders, classify_fetch_failure, classify_response, is_stream};
use turnwise_record::trajectory::{Recorder, Trajectory};
use turnwise_tools::arguments::Validators;

use super::demo_world::{docs, run_tool};
use super::pattern::pattern;

/// The fault of a request, and the event that the engine received for it.
pub struct Met {
    pub fault: Option<DemoFault>,
    pub event: Event,
}

pub struct Played {
    pub run: Trajectory,
    pub met: Vec<Met>,
}

struct World {
    at: u64,
    told: BTreeMap<u32, Vec<Message>>,
    files: BTreeMap<String, String>,
    /// Results that were removed from the conversation.
    kept: BTreeMap<String, String>,
    met: Vec<Met>,
}

/// Plays a run to its end; time passes only during waits.
pub fn play(config: RunConfig, input: &str) -> Played {
    let task = Task { run_id: "run_20260101_000000_000000".into(), input: input.into(), ..Task::default() };
    let (mut recorder, first) = Recorder::start(config, task);
    let mut world = World { at: 0, told: BTreeMap::new(), files: docs(), kept: BTreeMap::new(), met: Vec::new() };
    let mut effects = VecDeque::from(first);
    while let Some(effect) = effects.pop_front() {
        if let Some(event) = world.perform(effect, &recorder.run) {
            effects.extend(recorder.handle(Millis(world.at), event));
        }
    }
    Played { run: recorder.document(), met: world.met }
}

impl World {
    fn perform(&mut self, effect: Effect, run: &Run) -> Option<Event> {
        match effect {
            Effect::CallModel(call) => {
                let child = run.children().iter().find(|child| child.id == call.request.child());
                let config = child.and_then(ChildRun::run).unwrap_or(run).config().clone();
                Some(self.ask(call, &config))
            }
            Effect::RunTool(call) => {
                let spec = run.config().tools.iter().find(|spec| spec.name == call.name).unwrap();
                let outcome = self.call(&call, &spec.parameters);
                Some(Event::ToolFinished { call: call.call, outcome })
            }
            Effect::Sleep { timer, ms } => {
                self.at += ms;
                Some(Event::TimerFired { timer })
            }
            Effect::KeepResult { handle, content } => {
                self.kept.insert(handle.0, content);
                None
            }
            _ => None,
        }
    }

    fn call(&mut self, call: &RunTool, schema: &Value) -> ToolOutcome {
        let mut validators = Validators::new(pattern);
        validators.define(0, schema);
        let args = match validators.check(&call.name, 0, &call.arguments) {
            Ok(args) => args,
            Err(refused) => return refused,
        };
        if call.run == RunMode::Check {
            return ToolOutcome::executed(String::new(), args.if_repaired());
        }
        if call.name == "read_result" {
            let content = self.kept[args.value["handle"].as_str().unwrap()].clone();
            return ToolOutcome::executed(content, None);
        }
        match run_tool(&call.name, &args.value, &mut self.files) {
            Ok(content) => ToolOutcome::executed(content, args.if_repaired()),
            Err(message) => ToolOutcome::Failed { message },
        }
    }

    fn ask(&mut self, call: ModelCall, config: &RunConfig) -> Event {
        let told = self.told.entry(call.request.child()).or_default();
        // A new base contains everything from the beginning.
        if call.append.iter().any(|message| matches!(message, Message::System { .. })) {
            told.clear();
        }
        told.extend(call.append.clone());
        let request = DemoRequest {
            mode: DemoMode::Chaos,
            seed: config.seed,
            request: call.request,
            attempt: call.attempt,
            attempts: if call.tools == ToolChoice::None { config.synthesis_attempts() } else { config.max_attempts },
            messages: told.iter().chain(&call.tail).cloned().collect(),
            tools: call.declared(config).into_owned(),
            choice: call.tools,
        };
        let scripted = script(&request);
        if config.seed.is_multiple_of(10) {
            assert_eq!(script(&request), scripted, "the same request, the same bytes");
        }
        let event = judge(scripted, call.request, &config.providers[0]);
        let met = Met { fault: fault(&request), event: event.clone() };
        self.met.push(met);
        event
    }
}

/// Turns a response into an event, as the shell does.
fn judge(scripted: Scripted, request: RequestId, provider: &ProviderConfig) -> Event {
    let failed = |error, raw| Event::ModelFailed { request, error, raw };
    let late = || ModelError {
        slug: Slug::Timeout,
        message: "late".into(),
        status: None,
        retry_after_ms: None,
        retry: Retry::Yes,
    };
    match scripted {
        Scripted::NoAnswer { message, .. } => failed(classify_fetch_failure(provider, &message, Online::Yes), None),
        Scripted::Silence => failed(late(), None),
        Scripted::Answer { status, headers, chunks, end } => {
            let header = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
            let content_type = header("content-type").unwrap();
            if !is_stream(status, &content_type) {
                let body: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
                let retry = RetryHeaders {
                    retry_after: header("retry-after"),
                    retry_after_ms: header("retry-after-ms"),
                    should_retry: None,
                };
                let now = EpochMillis(1_795_300_145_678);
                return failed(classify_response(provider, status, &retry, &content_type, &body, now), None);
            }
            let mut decoder = Decoder::new(&ProviderConfig { kind: ProviderKind::Demo, ..ProviderConfig::default() });
            for chunk in chunks {
                assert!(chunk.after_ms <= 300, "a pause of {} ms", chunk.after_ms);
                let _ = decoder.push(chunk.text.as_bytes());
            }
            if end == BodyEnd::Silent {
                assert!(!decoder.is_done());
                return failed(late(), Some(decoder.finish().1));
            }
            match decoder.finish() {
                (Ok(reply), raw) => Event::ModelReplied { request, reply, raw: Some(raw), first_token_ms: None },
                (Err(error), raw) => failed(error, Some(raw)),
            }
        }
    }
}
