//! The start page's example tasks, run natively with the demo model over the documentation: what a first-time visitor sees.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::support::demo_world::respond;
use crate::support::sources::{files, text};
use turnwise_engine::*;
use turnwise_files::{FileInfo, Files};
use turnwise_llm::Decoder;
use turnwise_record::trajectory::{Recorder, Trajectory};
use turnwise_tools::{run as run_tool, safe_set, search::FileIndex};
use turnwise_view::tasks::{EXAMPLES, ExampleTask};

/// The documentation as a workspace.
struct Docs {
    infos: BTreeMap<String, FileInfo>,
    contents: BTreeMap<String, Vec<u8>>,
}

impl Docs {
    fn load() -> Self {
        let contents: BTreeMap<String, Vec<u8>> =
            files("docs", ".md").into_iter().map(|path| (path.clone(), text(&path).into_bytes())).collect();
        let info = |bytes: &Vec<u8>| FileInfo { version: 1, size: bytes.len() as u64 };
        Docs { infos: contents.iter().map(|(path, bytes)| (path.clone(), info(bytes))).collect(), contents }
    }
}

impl Files for Docs {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        &self.infos
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.contents.get(path).cloned().ok_or_else(|| "gone".into())
    }

    fn write(&mut self, path: String, content: Vec<u8>) {
        self.infos.insert(path.clone(), FileInfo { version: 2, size: content.len() as u64 });
        self.contents.insert(path, content);
    }
}

/// Polls a future once; nothing here ever waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a tool waited for nothing"),
    }
}

fn play(example: &ExampleTask) -> Trajectory {
    let mut config = RunConfig { tools: safe_set(), seed: 7, ..RunConfig::default() };
    example.apply(&mut config);
    play_task(config, example.text)
}

fn play_task(config: RunConfig, input: &str) -> Trajectory {
    let task = Task { run_id: "run_20260101_000000_000000".into(), input: input.into(), ..Task::default() };
    let (mut recorder, first) = Recorder::start(config, task);
    let mut world = World { docs: Docs::load(), index: FileIndex::default(), sent: BTreeMap::new() };
    let mut effects = VecDeque::from(first);
    while let Some(effect) = effects.pop_front() {
        if let Some(event) = world.perform(effect, &recorder.run) {
            effects.extend(recorder.handle(Millis(0), event));
        }
    }
    recorder.document()
}

/// The engine's environment: the demo model and the tools.
struct World {
    docs: Docs,
    index: FileIndex,
    /// The history of the run (0) and of each sub-agent.
    sent: BTreeMap<u32, Vec<Message>>,
}

impl World {
    fn perform(&mut self, effect: Effect, run: &Run) -> Option<Event> {
        match effect {
            Effect::CallModel(call) => {
                let child = run.children().iter().find(|child| child.id == call.request.child());
                let config = child.and_then(ChildRun::run).unwrap_or(run).config().clone();
                Some(self.ask(call, &config))
            }
            Effect::RunTool(call) if call.run == RunMode::Check => {
                let outcome = ToolOutcome::executed(String::new(), None);
                Some(Event::ToolFinished { call: call.call, outcome })
            }
            Effect::RunTool(call) => {
                let args = serde_json::from_str(&call.arguments).unwrap();
                let at = EpochMillis(1_795_300_145_678);
                let outcome = match now(run_tool(&call.name, &args, &mut self.docs, &mut self.index, at)) {
                    Ok(content) => ToolOutcome::executed(content, None),
                    Err(message) => ToolOutcome::Failed { message },
                };
                Some(Event::ToolFinished { call: call.call, outcome })
            }
            _ => None,
        }
    }

    fn ask(&mut self, call: ModelCall, config: &RunConfig) -> Event {
        let sent = self.sent.entry(call.request.child()).or_default();
        sent.extend(call.append.clone());
        let messages: Vec<Message> = sent.iter().chain(&call.tail).cloned().collect();
        let mode = config.providers[0].demo.unwrap_or_default();
        let mut decoder = Decoder::new(&ProviderConfig { kind: ProviderKind::Demo, ..ProviderConfig::default() });
        for chunk in respond(mode, config.seed, &messages, &call.declared(config), call.tools) {
            let _ = decoder.push(chunk.text.as_bytes());
        }
        let reply = decoder.finish().0.unwrap();
        Event::ModelReplied { request: call.request, reply, raw: None, first_token_ms: None }
    }
}

fn ending(run: &Trajectory) -> String {
    let reason = run.termination_reason.map(|reason| reason.to_string()).unwrap_or_default();
    format!("{reason} after {} turns", run.total_turns)
}

#[test]
fn the_first_example_is_answered_from_the_rule_book_and_names_it() {
    let run = play(&EXAMPLES[0]);
    let tool_turns = run.turns.iter().filter(|turn| !turn.tool_calls.is_empty()).count();
    assert!(tool_turns >= 3, "{tool_turns} tool turns");
    let answer = run.output.as_deref().unwrap();
    let best = answer.lines().find(|line| line.starts_with("> ")).unwrap();
    assert!(best.contains("reaches its turn limit") && best.contains("conclusion"), "{answer}");
    assert!(answer.lines().next().unwrap().contains("docs/semantics.md"), "{answer}");
    assert!(ending(&run).starts_with("llm_complete"), "{}", ending(&run));
}

#[test]
fn the_second_example_reaches_its_limit_and_is_synthesized() {
    let run = play(&EXAMPLES[1]);
    assert_eq!(ending(&run), "max_turns_synthesized after 8 turns");
    assert!(run.output.unwrap().contains("docs/"));
}

#[test]
fn the_third_example_is_calculated() {
    let run = play(&EXAMPLES[2]);
    let answer = run.output.as_deref().unwrap();
    assert!(answer.contains("1.28") && answer.contains("1.38"), "{answer}");
    assert!(run.turns.iter().flat_map(|turn| &turn.tool_calls).all(|call| call.error.is_none()));
}

#[test]
fn parallel_readers_report_what_each_file_says() {
    let mut tools = safe_set();
    tools.extend(turnwise_tools::builtin("spawn_subagents"));
    let config = RunConfig { tools, seed: 7, ..RunConfig::default() };
    let run = play_task(config, "Let readers work in parallel: what does each file say about turns and limits?");
    assert_eq!(ending(&run), "llm_complete after 3 turns");
    assert_eq!(run.children.len(), 5, "{:?}", run.output);
    for child in &run.children {
        assert_eq!(child.outcome, Some(Outcome::Success), "{}", child.input);
        let path = child.input.strip_prefix("Read ").unwrap().split(' ').next().unwrap();
        assert!(run.output.as_deref().unwrap().contains(path), "{:?}", run.output);
    }
    let requests = run.children.iter().map(|child| child.requests).sum::<u32>() + 3;
    assert_eq!(run.requests, requests);
}
