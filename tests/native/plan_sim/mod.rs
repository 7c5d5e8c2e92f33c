//! Random plans of up to 200 steps, with random failures and orders of completion, against the rules of plans.md.
//!
//! 2,000 plans by default; `TURNWISE_CASES` sets another number. A failure prints the seed and the size, which together
//! determine the whole plan and everything that happened to it.

mod naive;
use crate::support::plan as plans;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use naive::{Done, Ended};
use proptest::prelude::*;
use serde_json::Value;
use turnwise_engine::retry::Rng;
use turnwise_engine::*;
use turnwise_record::plan::*;

fn cases() -> u32 {
    std::env::var("TURNWISE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

/// Mostly small sizes, occasionally as large as plans get.
fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 1..12_u64, 3 => 12..60_u64, 1 => 60..=200_u64]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_plan_keeps_the_rules(seed in any::<u64>(), size in sizes()) {
        let mut rng = Rng::new(seed);
        let plan = world::plan(&mut rng, size);
        let failures = [0, 5, 30, 90][rng.up_to(3) as usize];
        let interfere = rng.up_to(3) == 0;
        let first = Sim::new(&plan, options(seed, &mut rng), seed, failures, interfere).play(seed);
        let again = Sim::new(&plan, first.options.clone(), seed, failures, interfere).play(seed);
        prop_assert_eq!(&first.document, &again.document, "the same seed gives the same document");
        if interfere {
            return Ok(());
        }
        // The order of completion changes nothing that matters.
        let other = Sim::new(&plan, first.options.clone(), seed, failures, false).play(!seed);
        prop_assert_eq!(facts(&first.document), facts(&other.document));
        run_from(&plan, &first, seed, failures, &mut rng);
    }
}

fn options(seed: u64, rng: &mut Rng) -> PlanOptions {
    PlanOptions { parallel: 1 + rng.up_to(5) as usize, base: RunConfig { seed, ..plans::base() }, ..plans::options() }
}

/// The status, the blockers and the context of each step.
fn facts(document: &PlanDocument) -> Vec<Value> {
    let fact = |s: &document::StepRecord| serde_json::json!([s.order, s.status, s.blocked_by, s.context]);
    document.steps.iter().map(fact).collect()
}

/// Reruns the plan from one of its steps: exactly that step and those that build on it are run, with the same results.
fn run_from(plan: &Value, first: &Played, seed: u64, failures: u64, rng: &mut Rng) {
    let orders: Vec<u32> = first.document.steps.iter().map(|step| step.order).collect();
    let from = orders[rng.up_to(orders.len() as u64 - 1) as usize];
    let after = Box::new(first.document.clone());
    let options = PlanOptions { after: Some(after), from: Some(from), ..first.options.clone() };
    let sim = Sim::new(plan, options, seed, failures, false);
    let expected = naive::run_again(plan, BTreeSet::from([u64::from(from)]));
    let kept: BTreeSet<u64> = sim.ended.keys().copied().filter(|order| !sim.told.contains(order)).collect();
    let all: BTreeSet<u64> = orders.iter().map(|order| u64::from(*order)).collect();
    assert_eq!(kept, &all - &expected, "from {from}");
    let played = sim.play(seed);
    assert_eq!(facts(&played.document), facts(&first.document));
}

/// A random world: it ends steps in any order, repeats itself, and lets the user interfere.
struct Sim<'a> {
    plan: &'a Value,
    run: PlanRun,
    options: PlanOptions,
    seed: u64,
    failures: u64,
    interfere: bool,
    asked: bool,
    at: u64,
    running: BTreeMap<u32, (RunConfig, Task)>,
    /// The test's own record of which step ended how.
    ended: Ended,
    /// Steps whose end was reported in this run.
    told: BTreeSet<u64>,
    bound: u32,
    left: u32,
    requests: u32,
    finished: bool,
}

struct Played {
    document: PlanDocument,
    options: PlanOptions,
}

impl<'a> Sim<'a> {
    fn new(plan: &'a Value, options: PlanOptions, seed: u64, failures: u64, interfere: bool) -> Self {
        let (run, effects) = PlanRun::start(plans::plan(plan), options.clone());
        let mut sim = Sim {
            plan,
            run,
            options,
            seed,
            failures,
            interfere,
            asked: false,
            at: 0,
            running: BTreeMap::new(),
            ended: Ended::new(),
            told: BTreeSet::new(),
            bound: 0,
            left: u32::MAX,
            requests: 0,
            finished: false,
        };
        sim.take(effects);
        sim
    }

    fn play(mut self, world: u64) -> Played {
        let mut rng = Rng::new(world);
        let reload_at = rng.up_to(2 * self.run.plan().steps.len() as u64);
        let close_at = rng.up_to(2 * self.run.plan().steps.len() as u64);
        for round in 0..10_000 {
            if self.finished {
                return self.played();
            }
            if round == close_at {
                self.close_page(&mut rng);
                continue;
            }
            let event = self.event(&mut rng);
            self.at += rng.up_to(3_000);
            let copy = (round == reload_at).then(|| serde_json::to_string(&self.run).expect("serializes"));
            let effects = self.run.handle(Millis(self.at), event.clone());
            if let Some(text) = copy {
                let mut copy: PlanRun = serde_json::from_str(&text).expect("reads back");
                assert_eq!(copy.handle(Millis(self.at), event), effects, "a reloaded plan run behaves differently");
                assert_eq!(copy, self.run);
                self.run = copy;
            }
            self.take(effects);
        }
        panic!("the plan did not end");
    }

    /// Closes the page and resumes the plan from what was stored: of a step in progress nothing, a part of its run, or its
    /// end without what followed from it.
    fn close_page(&mut self, rng: &mut Rng) {
        let text = serde_json::to_string(&self.run.without_runs()).expect("serializes");
        let ended = self.run.document(|_| None).steps.into_iter();
        let mut runs: Vec<(u32, StepRun)> = ended.filter_map(|step| Some((step.order, step.run?))).collect();
        let mut resumed = BTreeSet::new();
        let mut again = BTreeSet::new();
        for order in self.running.keys().copied().collect::<Vec<_>>() {
            let (config, task) = &self.running[&order];
            let outcome = world::outcome(self.seed, order, self.failures);
            let output = format!("result of {order}");
            let mut run = world::ended(config, task, outcome, &output, 1);
            match rng.up_to(2) {
                0 => drop(again.insert(order)),
                1 => {
                    resumed.insert(order);
                    run.outcome = None;
                    runs.push((order, StepRun::from_document(&run)));
                    continue;
                }
                _ => {
                    let status = if outcome == Outcome::Failed { "failed" } else { "completed" };
                    self.ended.insert(u64::from(order), Done { status, output });
                    self.requests += 1;
                    runs.push((order, StepRun::from_document(&run)));
                }
            }
            self.running.remove(&order);
        }
        let stored: PlanRun = serde_json::from_str(&text).expect("reads back");
        self.run = stored.restored(runs);
        again.iter().for_each(|order| assert!(self.run.starts_again(*order), "step {order}"));
        // The requests of a step that starts again can all follow once more.
        (self.left, self.bound) = (u32::MAX, self.bound.saturating_mul(2));
        let effects = self.run.handle(Millis(self.at), PlanEvent::Resumed);
        let asked: BTreeSet<u32> = effects
            .iter()
            .filter_map(|effect| match effect {
                PlanEffect::ResumeStep { order } => Some(*order),
                _ => None,
            })
            .collect();
        assert_eq!(asked, resumed, "exactly the steps with a part of a run resume it");
        self.take(effects);
        let restarted = |order: &u32| self.asked || self.running.contains_key(order);
        assert!(again.iter().all(restarted), "a step without a stored run starts again");
    }

    fn event(&mut self, rng: &mut Rng) -> PlanEvent {
        let orders: Vec<u32> = self.running.keys().copied().collect();
        assert!(!orders.is_empty(), "nothing is running, and the plan has not ended");
        let order = orders[rng.up_to(orders.len() as u64 - 1) as usize];
        match rng.up_to(19) {
            0 if self.interfere => {
                self.asked = true;
                return if rng.up_to(1) == 0 { PlanEvent::StopRequested } else { PlanEvent::Cancelled };
            }
            1 | 2 => return PlanEvent::StepProgress { order, calls_left: rng.up_to(60) as u32 },
            // An event about a step that is not running: not any more, or not yet.
            3 => {
                let other = self.run.statuses().map(|(order, _)| order).find(|order| !orders.contains(order));
                let (config, task) = (plans::base(), Task::default());
                let run = Box::new(world::ended(&config, &task, Outcome::Success, "nobody asked", 1));
                return PlanEvent::StepEnded { order: other.unwrap_or(100_000), run };
            }
            _ => {}
        }
        let (config, task) = self.running.remove(&order).expect("it is running");
        let outcome = match rng.up_to(9) {
            0 if self.asked => Outcome::Cancelled,
            _ => world::outcome(self.seed, order, self.failures),
        };
        let output = format!("result of {order}");
        let status = match outcome {
            Outcome::Success | Outcome::Partial => "completed",
            Outcome::Failed => "failed",
            Outcome::Cancelled => "cancelled",
        };
        self.ended.insert(u64::from(order), Done { status, output: output.clone() });
        let requests = 1 + rng.up_to(1) as u32;
        self.requests += requests;
        let run = Box::new(world::ended(&config, &task, outcome, &output, requests));
        PlanEvent::StepEnded { order, run }
    }

    fn take(&mut self, effects: Vec<PlanEffect>) {
        for effect in effects {
            assert!(!self.finished, "an effect after the end: {effect:?}");
            match effect {
                PlanEffect::StartStep { order, config, task } => self.check_start(order, *config, task),
                PlanEffect::StopStep { order } | PlanEffect::CancelStep { order } => {
                    assert!(self.asked && self.running.contains_key(&order), "step {order}");
                }
                PlanEffect::ResumeStep { order } => assert!(self.running.contains_key(&order), "step {order}"),
                PlanEffect::Record(record) => self.check_record(record),
                PlanEffect::Finish => self.finished = true,
            }
        }
        assert!(self.running.len() <= self.options.parallel, "{} at once", self.running.len());
        assert!(self.run.calls_left() <= self.left);
    }

    fn check_start(&mut self, order: u32, config: RunConfig, task: Task) {
        assert!(!self.asked, "step {order} was started after the user stopped the plan");
        let step = naive::find(self.plan, u64::from(order));
        for needed in naive::needs(self.plan, step) {
            assert!(self.ended.contains_key(&needed), "step {order} was started before {needed} had ended");
        }
        let context = naive::context(self.plan, step, &self.ended).expect("a step that is not blocked");
        let action = step["action"].as_str().unwrap();
        if context.as_object().unwrap().is_empty() {
            assert_eq!(task.input, action);
        } else {
            let (before, after) = task.input.split_once("\n\n").unwrap();
            assert_eq!((before, serde_json::from_str::<Value>(after).unwrap()), (action, context));
        }
        let agent = &self.plan["agents"][step["agent"].as_str().unwrap()];
        let only = [&step["tools"], &agent["tools"]].into_iter().find(|t| t.as_array().is_some_and(|t| !t.is_empty()));
        let offered = |name: &str| only.is_none_or(|only| only.as_array().unwrap().iter().any(|tool| tool == name));
        for tool in &self.options.base.tools {
            assert_eq!(config.tools.iter().any(|t| t.name == tool.name), offered(&tool.name), "{}", tool.name);
        }
        assert!(self.running.insert(order, (config, task)).is_none() && !self.told.contains(&u64::from(order)));
    }

    fn check_record(&mut self, record: PlanRecord) {
        assert!(record.calls_left <= self.left, "the bound grew from {} to {}", self.left, record.calls_left);
        self.left = record.calls_left;
        match record.what {
            PlanRecordKind::PlanStarted { kept, .. } => {
                self.bound = record.calls_left;
                let kept: Vec<(u64, Done)> = self
                    .run
                    .document(|_| None)
                    .steps
                    .into_iter()
                    .filter(|s| kept.contains(&s.order))
                    .map(kept_step)
                    .collect();
                self.ended.extend(kept);
            }
            PlanRecordKind::StepFinished { status, blocked_by, .. } => {
                let order = u64::from(record.step.unwrap());
                assert!(self.told.insert(order), "step {order} ended twice");
                let step = naive::find(self.plan, order);
                match status {
                    StepStatus::Blocked => {
                        let by: Vec<u64> = blocked_by.iter().map(|by| u64::from(*by)).collect();
                        assert_eq!(naive::context(self.plan, step, &self.ended), Err(by), "step {order}");
                    }
                    StepStatus::Cancelled if !self.ended.contains_key(&order) => assert!(self.asked),
                    _ => assert_eq!(self.ended[&order].status, status.as_str()),
                }
                self.ended.entry(order).or_insert(Done { status: status.as_str(), output: String::new() });
            }
            PlanRecordKind::PlanFinished { .. } => assert_eq!(record.calls_left, 0),
            _ => {}
        }
    }

    fn played(self) -> Played {
        let document = self.run.document(|_| None);
        assert_eq!(self.ended.len(), document.steps.len(), "each step ends");
        for step in &document.steps {
            let status = self.ended[&u64::from(step.order)].status;
            assert_eq!(step.status.as_str(), status, "step {}", step.order);
            let ran = matches!(status, "completed" | "failed");
            assert!(step.run.is_some() == ran || status == "cancelled", "step {}", step.order);
        }
        assert!(self.requests <= self.bound, "{} requests, the bound was {}", self.requests, self.bound);
        if document.steps.len() < 5 {
            let text = serde_json::to_string(&document).expect("serializes");
            assert_eq!(PlanDocument::parse(&text).expect("reads back"), document);
            plans::validate_session(&document);
        }
        Played { document, options: self.options }
    }
}

fn kept_step(step: document::StepRecord) -> (u64, Done) {
    let output = step.run.and_then(|run| run.output).unwrap_or_default();
    (u64::from(step.order), Done { status: step.status.as_str(), output })
}
