//! Drives a whole run against simulated services: the engine's effects, the real writers and readers, no network.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;
use turnwise_engine::*;
use turnwise_llm::{Decoder, Encode, RetryHeaders, classify_response, encoder};
use turnwise_record::trajectory::{Recorder, Trajectory, replay};

use super::replies::{Says, reply};
use super::services::Service;

/// A failure of a service that is not about the request.
#[derive(Clone, Copy)]
pub struct Failure {
    pub status: u16,
    pub body: &'static str,
    /// The requests that meet it, from 0.
    pub at: fn(usize) -> bool,
    /// Only requests of at least so many bytes.
    pub bytes: usize,
}

/// What the model says: the index of the sub-agent, how many replies it has given.
pub type Model = fn(u32, usize) -> Says;

pub struct Played {
    pub document: Trajectory,
    /// What the services said of requests that they refused.
    pub refusals: Vec<String>,
}

impl Played {
    /// The attempts of the run and its sub-agents.
    pub fn attempts(&self) -> Vec<&AttemptRecord> {
        let runs = std::iter::once(&self.document).chain(&self.document.children);
        runs.flat_map(|run| &run.turns).flat_map(|turn| &turn.attempts).collect()
    }

    pub fn corrections(&self) -> usize {
        self.attempts().iter().filter(|attempt| attempt.correction.is_some()).count()
    }
}

/// The frozen history of a run or a sub-agent.
#[derive(Default)]
struct Told {
    base: Option<BaseId>,
    messages: Vec<Message>,
    /// The bytes that each provider has seen, of this base.
    seen: BTreeMap<usize, Vec<u8>>,
}

struct World<'a> {
    services: &'a [Service],
    failure: Option<Failure>,
    model: Model,
    result: &'a str,
    told: BTreeMap<u32, Told>,
    said: BTreeMap<u32, usize>,
    requests: usize,
    refusals: Vec<String>,
    at: u64,
}

/// Plays a run to its end; `services`: one for each provider.
pub fn play(
    config: RunConfig,
    task: Task,
    services: &[Service],
    failure: Option<Failure>,
    result: &str,
    model: Model,
) -> Played {
    let most = config.clone().normalized().most_requests();
    let (mut recorder, first) = Recorder::start(config, task);
    let (told, said) = (BTreeMap::new(), BTreeMap::new());
    let mut world = World { services, failure, model, result, told, said, requests: 0, refusals: Vec::new(), at: 0 };
    let mut effects = VecDeque::from(first);
    while let Some(effect) = effects.pop_front() {
        let event = match effect {
            Effect::CallModel(call) => {
                let child = recorder.run.children().iter().find(|child| child.id == call.request.child());
                let config = child.and_then(ChildRun::run).unwrap_or(&recorder.run).config().clone();
                world.ask(call, &config)
            }
            Effect::RunTool(call) => {
                let (content, images) = (world.result.to_owned(), Vec::new());
                let outcome = ToolOutcome::Executed { content, images, repaired_args: None, structured_content: None };
                Event::ToolFinished { call: call.call, outcome }
            }
            Effect::Sleep { timer, ms } => {
                world.at += ms;
                Event::TimerFired { timer }
            }
            _ => continue,
        };
        effects.extend(recorder.handle(Millis(world.at), event));
    }
    let document = recorder.document();
    assert!(document.outcome.is_some(), "the run has not ended");
    assert!(world.requests <= most as usize, "{} requests, the bound is {most}", world.requests);
    let again = replay(&document).unwrap_or_else(|mismatch| panic!("{mismatch:?}")).document();
    assert!(again == document, "it replays differently");
    Played { document, refusals: world.refusals }
}

impl World<'_> {
    /// Sends a request as the shell does, and returns what came of it.
    fn ask(&mut self, call: ModelCall, config: &RunConfig) -> Event {
        let (p, request) = (&config.providers[call.provider], call.request);
        let told = self.told.entry(request.child()).or_default();
        if told.base.replace(call.base) != Some(call.base) {
            told.messages.clear();
            told.seen.clear();
        }
        let tools = call.declared(config);
        told.messages.extend(call.append.clone());
        let mut writer = encoder(p, config, &call.learnt);
        let frozen = write(&mut *writer, &told.messages);
        let seen = told.seen.insert(call.provider, frozen.clone()).unwrap_or_default();
        assert!(frozen.starts_with(&seen), "what was sent before is no prefix of what is sent next");
        let body = close(&*writer, frozen, &call.tail, &tools, call.tools);
        let n = self.requests;
        self.requests += 1;
        let service = &self.services[call.provider];
        let met = self.failure.filter(|failure| (failure.at)(n) && body.len() >= failure.bytes);
        let sent: Value = serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{error}"));
        let refused = match met {
            Some(failure) => Some((failure.status, failure.body.to_owned())),
            None => (service.accepts)(&sent).err().inspect(|(_, words)| self.refusals.push(words.clone())),
        };
        let (status, body) = refused.unwrap_or_else(|| {
            let said = self.said.entry(request.child()).or_default();
            let mut says = (self.model)(request.child(), *said);
            if sent.get("tools").is_none() || call.tools == ToolChoice::None {
                says = Says { text: "It is 12.".into(), calls: Vec::new() };
            }
            *said += 1;
            (200, reply(p.kind, service.style, &sent, &says, n))
        });
        if status != 200 {
            let (headers, now) = (RetryHeaders::default(), EpochMillis(1_795_000_000_000));
            let error = classify_response(p, status, &headers, "application/json", &body, now);
            return Event::ModelFailed { request, error, raw: None };
        }
        let mut decoder = Decoder::new(p);
        let _ = decoder.push(body.as_bytes());
        match decoder.finish().0 {
            Ok(reply) => Event::ModelReplied { request, reply, raw: None, first_token_ms: None },
            Err(error) => Event::ModelFailed { request, error, raw: None },
        }
    }
}

/// The frozen part of a request.
pub fn write(writer: &mut dyn Encode, messages: &[Message]) -> Vec<u8> {
    let mut bytes = Vec::new();
    writer.start(&mut bytes);
    messages.iter().for_each(|message| writer.message(message, &mut bytes));
    bytes
}

/// The whole request.
pub fn close(
    writer: &dyn Encode,
    mut bytes: Vec<u8>,
    tail: &[Message],
    tools: &[ToolSpec],
    choice: ToolChoice,
) -> Vec<u8> {
    let mut rest = writer.fork();
    rest.mark(&mut bytes);
    tail.iter().for_each(|message| rest.message(message, &mut bytes));
    rest.end(tools, choice, &mut bytes);
    bytes
}
