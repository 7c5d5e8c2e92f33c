//! The configuration of a step's run, from the plan's base, its agent and the step itself (plans.md#agents).

use super::model::{AgentSpec, Plan, PlanStep};
use turnwise_engine::retry::Rng;
use turnwise_engine::{Effect, Run, RunConfig, Task, inherited_counter};

/// Below 2^53, so that JSON keeps it exact.
const MAX_SEED: u64 = (1 << 53) - 1;

pub(super) fn config(base: &RunConfig, agent: Option<&AgentSpec>, step: &PlanStep) -> RunConfig {
    let mut config = base.clone();
    if let Some(system) = agent.and_then(|agent| agent.system.clone()) {
        config.system = system;
    }
    if let Some(max_turns) = agent.and_then(|agent| agent.max_turns) {
        config.max_turns = max_turns;
    }
    config.counter = inherited_counter(config.counter.as_ref(), agent.and_then(|agent| agent.counter));
    let of_agent = agent.and_then(|agent| agent.tools.as_deref());
    let only = if step.tools.is_empty() { of_agent } else { Some(step.tools.as_slice()) };
    if let Some(only) = only {
        config.tools.retain(|tool| only.contains(&tool.name));
    }
    config.seed = seed(base.seed, step.order);
    config
}

/// The seed of a step's run: the same plan seed and order give the same seed.
fn seed(base: u64, order: u32) -> u64 {
    let mut rng = Rng::new(base ^ u64::from(order).wrapping_mul(0xD1B5_4A32_D192_ED03));
    rng.up_to(MAX_SEED)
}

/// The maximum number of LLM requests of each step, which depends on its agent alone. The engine reports it in the
/// first record of a run.
pub(super) fn bounds<'a>(plan: &'a Plan, base: &'a RunConfig) -> impl FnMut(&PlanStep) -> u32 + 'a {
    let mut known: Vec<(String, u32)> = Vec::new();
    move |step| {
        if let Some((_, bound)) = known.iter().find(|(agent, _)| *agent == step.agent) {
            return *bound;
        }
        let (_, effects) = Run::start(config(base, plan.agents.get(&step.agent), step), Task::default());
        let first = effects.iter().find_map(|effect| match effect {
            Effect::Record(record) => Some(record.calls_left),
            _ => None,
        });
        known.push((step.agent.clone(), first.unwrap_or_default()));
        first.unwrap_or_default()
    }
}
