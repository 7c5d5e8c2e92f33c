//! The viewer shows what happened: every request hashes to what was recorded, every difference adds up, every step is
//! the state that the engine had.
//!
//! 1,000 random runs by default; `TURNWISE_CASES` sets another number.

use crate::support::chaos_world;
use crate::support::demo_world;
mod viewer;
mod world;

use std::collections::BTreeMap;

use crate::support::*;
use turnwise_engine::history::request_hash;
use turnwise_engine::retry::Rng;
use turnwise_engine::*;
use turnwise_record::trajectory::replay::fold;
use turnwise_record::trajectory::{Trajectory, replay};
use turnwise_view::replay::{Op, Replay, StateAt, StepKind, verify};

fn cases() -> u64 {
    std::env::var("TURNWISE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

/// Documents of scripted runs, and of the demo model with its faults.
fn known() -> Vec<Trajectory> {
    let mut all = vec![eventful().document(), play(config(Preset::Orchestrator), vec![text("ok")]).document()];
    all.push(play(config(Preset::Research), vec![Step::Cancel]).document());
    all.push(play_open(config(Preset::Research), vec![calls("", &[("a", "search", "{}")])]).document());
    let chaos = |seed| {
        let mut of = RunConfig { tools: demo_world::builtin(), seed, ..RunConfig::preset(Preset::Research) };
        of.providers = vec![ProviderConfig { demo: Some(DemoMode::Chaos), ..ProviderConfig::default() }];
        chaos_world::play(of, "How do cache rules work?").run
    };
    all.extend((0..12).map(chaos));
    all
}

/// A run with a retry, parallel calls, a notice, a synthesis, a grant and a failed segment.
pub(crate) fn eventful() -> Played {
    play(
        RunConfig { max_turns: 2, temperature: Some(0.7), ..config(Preset::Research) },
        vec![
            Step::Fail(ModelError { status: Some(503), ..error(Slug::ProviderError, Retry::Yes) }),
            Step::Timer(None),
            calls("looking", &[("a", "search", "{\"n\": 1.0}"), ("", "bash", "{"), ("a", "read", "{}")]),
            executed("read", "y"),
            Step::Tool("search", ToolOutcome::TimedOut { after_ms: 30_000 }),
            Step::Reply(Reply { content: "half".into(), finish: FinishReason::Length, ..Reply::default() }),
            text("so far"),
            Step::Grant(1),
            text(""),
            Step::Fail(error(Slug::AuthError, Retry::Fatal)),
        ],
    )
}

#[test]
fn known_runs_are_shown_as_they_were() {
    known().iter().for_each(|document| check(document, Steps::Each));
}

#[test]
fn random_runs_are_shown_as_they_were() {
    let (mut requests, mut children, mut rebuilt) = (0, 0, 0);
    for seed in 0..cases() {
        let document = world::run(seed);
        check(&document, if seed % 20 == 0 { Steps::Each } else { Steps::None });
        let replay = Replay::from_document(&document);
        requests += replay.requests().len();
        children += document.children.len();
        let views = (0..replay.requests().len()).filter_map(|at| replay.request_view(at));
        rebuilt += views.filter(|view| view.rebuilt).count();
    }
    assert!(cases() < 1_000 || (requests > 4_000 && children > 80 && rebuilt > 20), "{requests} {children} {rebuilt}");
}

/// The steps to check. Each check replays the engine from the beginning, so that checking all is quadratic in the run's length.
#[derive(Clone, Copy, PartialEq)]
enum Steps {
    Each,
    None,
}

fn check(document: &Trajectory, steps: Steps) {
    let text = serde_json::to_string(document).unwrap();
    let document = Trajectory::parse(&text).unwrap();
    let again = replay(&document).unwrap_or_else(|mismatch| panic!("{mismatch:?}"));
    assert_eq!(serde_json::to_string(&again.document()).unwrap(), text, "not byte for byte");

    let replay = Replay::from_document(&document);
    assert_eq!(replay.steps().len(), document.events.len() + 1);
    assert_eq!(replay.requests().len(), document.requests as usize);
    assert_eq!(replay.steps()[0].kind, StepKind::Start);
    check_requests(&document, &replay);
    if steps == Steps::Each {
        assert!(verify::verdict(&document).exact);
        check_steps(&document, &replay);
    }
}

/// Checks that what is shown of a request hashes to what the record says, and follows from the previous request by its
/// difference.
fn check_requests(document: &Trajectory, replay: &Replay) {
    let recorded = hashes(document);
    for (index, sent) in replay.requests().iter().enumerate() {
        let shown: Vec<&Message> = replay.messages(index).collect();
        let (frozen, tail) = shown.split_at(replay.frozen(index));
        let tail: Vec<Message> = tail.iter().map(|message| (*message).clone()).collect();
        let config = replay.config(index).unwrap();
        let hash = request_hash(config, frozen.iter().copied(), &config.providers[sent.provider], &tail, sent.tools);
        assert_eq!(hash, sent.hash, "request {index}");
        assert_eq!(recorded.get(&sent.id), Some(&sent.hash), "request {index}");

        let previous: Vec<&Message> = sent.previous.map(|at| replay.messages(at).collect()).unwrap_or_default();
        let rebuilt = replay.operations(index).into_iter().filter_map(|op| match op {
            Op::Same { before } => Some(previous[before]),
            Op::Added { now } | Op::Changed { now, .. } => Some(shown[now]),
            Op::Removed { .. } => None,
        });
        assert_eq!(rebuilt.collect::<Vec<_>>(), shown, "request {index}");

        for (at, message) in shown.iter().enumerate() {
            let view = replay.whole_message(index, at).unwrap();
            let content = match message {
                Message::System { content } | Message::User { content, .. } => content,
                Message::Assistant(said) => &said.content,
                Message::Tool(answer) => &answer.content,
            };
            assert_eq!((&view.content(), view.more, view.once), (content, 0, at >= frozen.len()));
        }
    }
}

fn hashes(document: &Trajectory) -> BTreeMap<RequestId, String> {
    let turns = document.turns.iter().chain(document.children.iter().flat_map(|child| &child.turns));
    turns.flat_map(|turn| &turn.attempts).map(|attempt| (attempt.request, attempt.request_hash.clone())).collect()
}

/// Checks that after each step everything is as the engine has it after those events.
fn check_steps(document: &Trajectory, replay: &Replay) {
    for step in 0..replay.steps().len() {
        let run = fold(document, &document.events[..step]).run;
        let state = replay.state(step).unwrap();
        assert_eq!(turns(&document.turns, &state, None), run.turns(), "step {step}");
        assert_eq!((state.run.status, state.run.segments), (run.status(), run.segments().len()), "step {step}");
        assert_eq!(state.children.len(), run.child_runs().count(), "step {step}");
        for (at, child) in run.child_runs().enumerate() {
            let became = document.children.iter().find(|became| became.run_id == child.task().run_id).unwrap();
            assert_eq!(became.run_id, document.children[at].run_id, "in the order they began");
            assert_eq!(turns(&became.turns, &state, Some(at)), child.turns(), "step {step}");
        }
    }
}

fn turns(became: &[TurnRecord], state: &StateAt, child: Option<usize>) -> Vec<TurnRecord> {
    let standing = child.map_or(&state.run, |at| &state.children[at]);
    let mut turns = became[..standing.turns].to_vec();
    if let Some(partial) = &standing.partial {
        *turns.last_mut().unwrap() = (**partial).clone();
    }
    turns
}

#[test]
fn a_tampered_record_names_its_first_difference() {
    let mut rng = Rng::new(7);
    let (mut texts, mut hashes, mut events) = (0, 0, 0);
    for seed in 0..cases() {
        let mut document = world::run(seed);
        let turn = rng.up_to(document.turns.len() as u64 - 1) as usize;
        let number = document.turns[turn].turn;
        let path = match rng.up_to(2) {
            0 => {
                document.turns[turn].content.push('!');
                texts += 1;
                format!("/turns/{turn}/content")
            }
            1 => {
                let last = document.turns[turn].attempts.len() - 1;
                document.turns[turn].attempts[last].request_hash.replace_range(0..1, "x");
                hashes += 1;
                format!("/turns/{turn}/attempts/{last}/request_hash")
            }
            _ => {
                // A reply that became the turn's text, now with another text.
                let said = document.turns[turn].content.clone();
                let reply = document.events.iter_mut().find_map(|event| match &mut event.event {
                    Event::ModelReplied { request, reply, .. } if request.child() == 0 && reply.content == said => {
                        Some(reply)
                    }
                    _ => None,
                });
                // With further attempts, their requests would differ first.
                let Some(reply) = reply.filter(|_| !said.is_empty() && document.turns[turn].attempts.len() == 1) else {
                    continue;
                };
                if document.turns.iter().filter(|other| other.content == said).count() > 1 {
                    continue;
                }
                // The same length as before, so that estimates of tokens stay the same.
                reply.content = said.replace("Thought", "Dreamed");
                events += 1;
                format!("/turns/{turn}/content")
            }
        };
        let verdict = verify::verdict(&document);
        let difference = verdict.difference.unwrap_or_else(|| panic!("seed {seed}: {path} went unnoticed"));
        assert_eq!((difference.path, difference.turn), (path, Some(number)), "seed {seed}: {}", verdict.words);
        assert_ne!(difference.expected, difference.actual);
    }
    assert!(cases() < 1_000 || (texts > 200 && hashes > 200 && events > 50), "{texts} {hashes} {events}");
}
