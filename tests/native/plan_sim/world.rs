//! Random plans, and the outcomes of their steps.

use serde_json::{Value, json};
use turnwise_engine::retry::Rng;
use turnwise_engine::*;
use turnwise_record::trajectory::Trajectory;

use crate::support::plan as plans;

/// A plan of up to `size` steps, with gaps between their orders, listed in any order.
pub fn plan(rng: &mut Rng, size: u64) -> Value {
    let mut steps: Vec<Value> = Vec::new();
    let mut orders: Vec<u64> = Vec::new();
    let synthesis = 1 + rng.up_to(9);
    let density = rng.up_to(4);
    for _ in 0..size {
        let order = orders.last().copied().unwrap_or_default() + 1 + rng.up_to(2);
        let pick = |rng: &mut Rng| orders.get(rng.up_to(orders.len().max(1) as u64 - 1) as usize).copied();
        let needed = rng.up_to(density);
        let dependencies: Vec<u64> = (0..needed).filter_map(|_| pick(rng)).collect();
        let agent = if rng.up_to(synthesis) == 0 {
            ["Writer", "Judge"][rng.up_to(1) as usize]
        } else {
            ["A", "B"][rng.up_to(1) as usize]
        };
        let tools = if rng.up_to(2) == 0 { json!(["analyze"]) } else { json!([]) };
        let step = json!({ "order": order, "agent": agent, "action": format!("do {order}"), "dependencies": dependencies, "tools": tools });
        orders.push(order);
        steps.insert(rng.up_to(steps.len() as u64) as usize, step);
    }
    json!({
        "agents": {
            "A": { "kind": "gather", "max_turns": 1 + rng.up_to(5) },
            "B": { "kind": "gather", "tools": ["get_stock_info", "analyze"], "system": "You are B." },
            "Writer": { "kind": "synthesis" },
            "Judge": { "kind": "synthesis", "max_turns": 2 },
        },
        "steps": steps,
    })
}

/// The outcome of a step, determined by the seed and its order alone, not by when it is run.
pub fn outcome(seed: u64, order: u32, failures: u64) -> Outcome {
    let mut rng = Rng::new(seed ^ (u64::from(order) << 20));
    match (rng.up_to(99) < failures, rng.up_to(3)) {
        (true, _) => Outcome::Failed,
        (false, 0) => Outcome::Partial,
        (false, _) => Outcome::Success,
    }
}

/// A trajectory with this outcome: the parts that matter here, and the rest of a real one.
pub fn ended(config: &RunConfig, task: &Task, outcome: Outcome, output: &str, requests: u32) -> Trajectory {
    thread_local! {
        static REAL: Trajectory = {
            let task = Task { run_id: "run_20261121_220000_abcdef".into(), ..Task::default() };
            let mut real = plans::ended(&plans::base(), &task, Outcome::Success, "x");
            (real.tools, real.turns, real.segments, real.events) = (vec![], vec![], vec![], vec![]);
            real
        };
    }
    let mut run = REAL.with(Clone::clone);
    run.outcome = Some(outcome);
    run.output = Some(output.to_owned());
    run.run_id.clone_from(&task.run_id);
    run.session_id.clone_from(&task.session_id);
    run.input.clone_from(&task.input);
    run.config.seed = config.seed;
    run.requests = requests;
    run
}
