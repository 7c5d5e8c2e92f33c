//! Converts ATIF to a trajectory that can be shown. It has no events, so it cannot be replayed; `imported` marks it.
//!
//! An agent step becomes a turn. User and system messages between turns are quoted at the start of the next turn.
//! Data that our own export put into `extra` is restored.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::file::{AtifSource, AtifStep, File, FinalMetrics, Metrics, extra_field};
use super::steps::ImportedSteps;
use crate::trajectory::Trajectory;
use crate::trajectory::document::{ENGINE_VERSION, FORMAT, Imported, VERSION};
use crate::trajectory::export::atif::AGENT;
use turnwise_engine::*;

/// Converts the file to a document; `place` distinguishes the runs of one file.
pub fn trajectory(file: File, place: u32) -> Trajectory {
    let extra = file.extra.unwrap_or_default();
    let own = file.agent.name == AGENT;
    let said_start = text(&extra, "started_at").as_deref().and_then(time::parse);
    let stamps = || file.steps.iter().filter_map(|step| step.timestamp.as_deref()).filter_map(time::parse);
    let started = said_start.or(stamps().min()).unwrap_or_default();
    let finished = text(&extra, "finished_at").or(stamps().max().map(time::rfc3339));
    let identity = file.trajectory_id.clone().or(file.session_id.clone()).unwrap_or_default();
    let run_id = run_id(&identity, started, place);

    let below = file.subagent_trajectories.unwrap_or_default();
    let names: Vec<String> = below.iter().map(|child| child.trajectory_id.clone().unwrap_or_default()).collect();
    let children: Vec<Trajectory> =
        (1..).zip(below).map(|(n, child)| trajectory(child, place.saturating_mul(100).saturating_add(n))).collect();
    let known = names.into_iter().zip(children.iter().map(|child| child.run_id.clone())).collect();

    let requests = file.steps.iter().filter(|step| step.source == AtifSource::Agent);
    let requests = requests.map(|step| step.llm_call_count.unwrap_or(1)).fold(0, u32::saturating_add);
    let tokens = tokens(file.final_metrics.as_ref(), &file.steps);
    let requests =
        file.final_metrics.as_ref().and_then(|m| extra_field(m.extra.as_ref()?, "requests")).unwrap_or(requests);
    let steps = ImportedSteps::read(file.steps, started, known, own);

    let model = file.agent.model_name.clone().unwrap_or_default();
    let total = steps.turns.iter().filter(|turn| !turn.synthesis).count();
    let config = config(&extra, own, &model, &steps, u32::try_from(total).unwrap_or(u32::MAX));
    let last = steps.turns.iter().rev().map(|turn| turn.content.clone()).find(|content| !content.is_empty());
    let number = |key: &str, or: u32| extra_field(&extra, key).unwrap_or(or);
    let segments: Vec<Ending> = if own { extra_field(&extra, "segments").unwrap_or_default() } else { Vec::new() };
    let ended = segments.last();
    Trajectory {
        format: FORMAT.to_owned(),
        version: VERSION,
        engine_version: ENGINE_VERSION.to_owned(),
        imported: Some(Imported {
            format: file.schema_version,
            agent: file.agent.name,
            agent_version: file.agent.version,
            notes: file.notes,
        }),
        run_id,
        session_id: file.session_id.unwrap_or(identity),
        provider: config.providers.first().map(|provider| provider.kind).unwrap_or(ProviderKind::Custom),
        model,
        preset: config.preset,
        started_with: None,
        parent: extra_field(&extra, "parent").filter(|_| own),
        tools: tools(file.agent.tool_definitions.unwrap_or_default(), file.agent.extra.filter(|_| own)),
        input: steps.input.clone(),
        images: steps.images,
        history: steps.history,
        refused_tokens: None,
        started_at: time::rfc3339(started),
        started_ms: started,
        finished_at: finished,
        termination_reason: ended.map(|ending| ending.termination_reason),
        outcome: ended.map(|ending| ending.outcome),
        answer_source: ended.map(|ending| ending.answer_source),
        wrap_up: ended.and_then(|ending| ending.wrap_up),
        error: ended.and_then(|ending| ending.error.clone()),
        max_turns: config.max_turns,
        effective_max_turns: number("effective_max_turns", config.max_turns),
        total_turns: number("total_turns", steps.turns.last().map_or(0, |turn| turn.turn)),
        requests,
        tokens,
        output: text(&extra, "output").filter(|_| own).or(last),
        final_result_data: extra_field(&extra, "final_result_data").filter(|_| own),
        turns: steps.turns,
        segments,
        traces: if own { extra_field(&extra, "traces").unwrap_or_default() } else { Vec::new() },
        logs: if own { extra_field(&extra, "logs").unwrap_or_default() } else { Vec::new() },
        children,
        events: Vec::new(),
        notes: if own { extra_field(&extra, "notes").unwrap_or_default() } else { Vec::new() },
        config,
    }
}

/// Returns the configuration from our own export, or the parts of another agent's that can be shown.
fn config(extra: &Map<String, Value>, own: bool, model: &str, steps: &ImportedSteps, turns: u32) -> RunConfig {
    let ours = own.then(|| extra_field::<RunConfig>(extra, "config")).flatten();
    ours.unwrap_or_else(|| {
        let provider =
            ProviderConfig { kind: ProviderKind::Custom, model: model.to_owned(), ..ProviderConfig::default() };
        RunConfig {
            system: steps.system.clone(),
            max_turns: turns.max(1),
            counter: None,
            synthesis: None,
            providers: vec![provider],
            ..RunConfig::default()
        }
    })
}

/// Reads function definitions in OpenAI's format; anything else is left out.
fn tools(definitions: Vec<Value>, extra: Option<Map<String, Value>>) -> Vec<ToolSpec> {
    let traits: Map<String, Value> = extra.and_then(|extra| extra_field(&extra, "tools")).unwrap_or_default();
    let spec = |definition: Value| {
        let function = definition.get("function").unwrap_or(&definition);
        let text = |key: &str| function.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = text("name")?;
        let own = traits.get(&name).and_then(Value::as_object).cloned().unwrap_or_default();
        Some(ToolSpec {
            name,
            description: text("description").unwrap_or_default(),
            parameters: function.get("parameters").cloned().unwrap_or(Value::Bool(true)),
            may_finish: extra_field(&own, "may_finish").unwrap_or_default(),
            side_effect: extra_field(&own, "side_effect").unwrap_or_default(),
            effect_argument: None,
            host_argument: None,
            tool_argument: None,
        })
    };
    definitions.into_iter().filter_map(spec).collect()
}

fn tokens(whole: Option<&FinalMetrics>, steps: &[AtifStep]) -> Usage {
    let sum = |read: fn(&Metrics) -> Option<u64>| {
        let each = steps.iter().filter_map(|step| read(step.metrics.as_ref()?));
        TokenCount(each.fold(0, u64::saturating_add))
    };
    let stated = |read: fn(&FinalMetrics) -> Option<u64>| whole.and_then(read).map(TokenCount);
    let ours = whole.and_then(|whole| whole.extra.as_ref());
    Usage {
        input: stated(|m| m.total_prompt_tokens).unwrap_or_else(|| sum(|m| m.prompt_tokens)),
        output: stated(|m| m.total_completion_tokens).unwrap_or_else(|| sum(|m| m.completion_tokens)),
        cached: stated(|m| m.total_cached_tokens).unwrap_or_else(|| sum(|m| m.cached_tokens)),
        reasoning: ours.and_then(|extra| extra_field(extra, "reasoning_tokens")).unwrap_or_default(),
        estimated: ours.and_then(|extra| extra_field(extra, "estimated")).unwrap_or_default(),
    }
}

/// Returns the id of a Turnwise run unchanged, and derives an id of the same form from any other one.
fn run_id(identity: &str, started: EpochMillis, place: u32) -> String {
    if is_run_id(identity) {
        return identity.to_owned();
    }
    let digest = Sha256::digest(format!("{identity}/{place}").as_bytes());
    let seed = digest.iter().take(8).fold(0_u64, |seed, byte| (seed << 8) | u64::from(*byte));
    time::run_id(started, seed)
}

/// `run_20261121_220000_abcdef`
fn is_run_id(text: &str) -> bool {
    let mut parts = text.split('_');
    let digits = |part: Option<&str>, n| part.is_some_and(|p| p.len() == n && p.bytes().all(|b| b.is_ascii_digit()));
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    parts.next() == Some("run")
        && digits(parts.next(), 8)
        && digits(parts.next(), 6)
        && parts.next().is_some_and(|part| part.len() == 6 && part.bytes().all(hex))
        && parts.next().is_none()
}

fn text(extra: &Map<String, Value>, key: &str) -> Option<String> {
    extra_field(extra, key)
}
