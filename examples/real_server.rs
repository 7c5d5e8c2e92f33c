//! The engine with a real server that speaks Chat Completions, such as Ollama or llama.cpp, over a blocking HTTP client:
//!
//! `cargo run --example real_server -- http://localhost:11434/v1 qwen3 "What is 17 times 23?"`
//!
//! One thread, one effect at a time: what takes a browser a driver with futures takes a loop here, because the engine is the same.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::VecDeque;
use std::error::Error;
use std::io::Read;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::{Decoder, Encode, HttpRequestHead, RetryHeaders, classify_response, encoder, request_head};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(base_url), Some(model)) = (arguments.next(), arguments.next()) else {
        return Err("write: real_server BASE_URL MODEL [QUESTION]".into());
    };
    let question = arguments.next().unwrap_or_else(|| "What is 17 times 23?".to_owned());
    let provider = ProviderConfig { kind: ProviderKind::Openai, base_url, model, ..ProviderConfig::default() };
    let multiply = ToolSpec {
        name: "multiply".into(),
        description: "Multiplies two numbers.".into(),
        parameters: json!({
            "type": "object",
            "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
            "required": ["a", "b"],
        }),
        may_finish: false,
        side_effect: SideEffect::None,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    };
    let config = RunConfig {
        providers: vec![provider.clone()],
        tools: vec![multiply],
        max_turns: 5,
        ..RunConfig::preset(Preset::Research)
    };
    let task = Task { input: question, started_at: now(), ..Task::default() };

    let began = Instant::now();
    let mut history = Conversation::new(&provider, &config);
    let (mut run, effects) = Run::start(config, task);
    let mut effects = VecDeque::from(effects);
    while let Some(effect) = effects.pop_front() {
        let event = match effect {
            Effect::CallModel(call) => ask(&provider, &history.body(run.config(), &call), &call),
            Effect::RunTool(tool) => Event::ToolFinished { outcome: run_tool(&tool), call: tool.call },
            Effect::Sleep { timer, ms } => {
                std::thread::sleep(Duration::from_millis(ms));
                Event::TimerFired { timer }
            }
            Effect::Record(Record { what: RecordKind::Log { log }, .. }) => {
                eprintln!("turn {}, attempt {}: {}", log.turn, log.attempt, log.message);
                continue;
            }
            Effect::Abort(_)
            | Effect::KeepResult { .. }
            | Effect::AnswerProgram { .. }
            | Effect::Record(_)
            | Effect::Finish => continue,
        };
        let at = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        effects.extend(run.handle(Millis(at), event));
    }
    let ending = run.ending().ok_or("the run has not ended")?;
    println!("{}", ending.output);
    eprintln!("{} after {} requests", ending.termination_reason, run.requests());
    if ending.outcome == Outcome::Success { Ok(()) } else { Err(ending.termination_reason.to_string().into()) }
}

/// The conversation as the provider reads it: bytes that only grow.
struct Conversation {
    base: Option<BaseId>,
    writer: Box<dyn Encode>,
    bytes: Vec<u8>,
    provider: ProviderConfig,
}

impl Conversation {
    fn new(provider: &ProviderConfig, config: &RunConfig) -> Self {
        let writer = encoder(provider, config, &[]);
        Conversation { base: None, writer, bytes: Vec::new(), provider: provider.clone() }
    }

    /// The body of a request: the history, grown by what the call appends, and what is for this request only.
    fn body(&mut self, config: &RunConfig, call: &ModelCall) -> Vec<u8> {
        if self.base != Some(call.base) {
            (self.base, self.writer) = (Some(call.base), encoder(&self.provider, config, &call.learnt));
            self.bytes.clear();
            self.writer.start(&mut self.bytes);
        }
        for message in &call.append {
            self.writer.message(message, &mut self.bytes);
        }
        let (mut body, mut writer) = (self.bytes.clone(), self.writer.fork());
        writer.mark(&mut body);
        for message in &call.tail {
            writer.message(message, &mut body);
        }
        writer.end(&call.declared(config), call.tools, &mut body);
        body
    }
}

fn ask(provider: &ProviderConfig, body: &[u8], call: &ModelCall) -> Event {
    let request = call.request;
    match send(provider, body) {
        Ok((Ok(reply), raw)) => Event::ModelReplied { request, reply, raw: Some(raw), first_token_ms: None },
        Ok((Err(error), raw)) => Event::ModelFailed { request, error, raw: Some(raw) },
        Err(cause) => {
            let message = format!("No answer from the server: {cause}");
            let error =
                ModelError { slug: Slug::NetworkError, message, status: None, retry_after_ms: None, retry: Retry::Yes };
            Event::ModelFailed { request, error, raw: None }
        }
    }
}

fn send(provider: &ProviderConfig, body: &[u8]) -> Result<(Result<Reply, ModelError>, RawResponse), Box<dyn Error>> {
    let head = request_head(provider, std::env::var("API_KEY").ok().as_deref());
    let (status, mut reader) = post(&head, body)?;
    if status >= 300 {
        let mut text = String::new();
        reader.read_to_string(&mut text)?;
        let error = classify_response(provider, status, &RetryHeaders::default(), "application/json", &text, now());
        return Ok((Err(error), RawResponse { text, truncated: false }));
    }
    let (mut decoder, mut chunk) = (Decoder::new(provider), [0; 16 * 1024]);
    loop {
        match reader.read(&mut chunk)? {
            0 => return Ok(decoder.finish()),
            n => decoder.push(chunk.get(..n).unwrap_or_default()),
        };
    }
}

/// Sends a request and returns the status of the response and a reader of its body.
#[cfg(not(target_arch = "wasm32"))]
fn post(head: &HttpRequestHead, body: &[u8]) -> Result<(u16, impl Read + use<>), Box<dyn Error>> {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut request = agent.post(&head.url);
    for (name, value) in &head.headers {
        request = request.header(name, value);
    }
    let response = request.send(body)?;
    Ok((response.status().as_u16(), response.into_body().into_reader()))
}

/// `wasm-pack test` compiles the examples too, for a target without sockets and therefore without the HTTP client.
#[cfg(target_arch = "wasm32")]
fn post(_: &HttpRequestHead, _: &[u8]) -> Result<(u16, std::io::Empty), Box<dyn Error>> {
    Err("there are no sockets here".into())
}

fn run_tool(tool: &RunTool) -> ToolOutcome {
    let arguments: Result<Value, _> = serde_json::from_str(&tool.arguments);
    let number = |name: &str| arguments.as_ref().ok().and_then(|value| value.get(name)?.as_f64());
    match (number("a"), number("b")) {
        (Some(a), Some(b)) => ToolOutcome::executed((a * b).to_string(), None),
        _ => {
            let message = "a and b must be numbers".to_owned();
            ToolOutcome::Rejected { slug: Slug::InvalidArguments, path: None, message }
        }
    }
}

fn now() -> EpochMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    EpochMillis(u64::try_from(since.as_millis()).unwrap_or_default())
}
