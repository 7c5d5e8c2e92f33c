//! A record whose numbers are at their limits is rejected or shown: nothing overflows, and neither time nor size
//! depends on a number in a record.

use std::time::Duration;

use crate::support::tree::*;
use crate::support::work::Work;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::trajectory::export::ExportFormat;
use turnwise_record::trajectory::import::import;
use turnwise_record::trajectory::{RunSummary, Trajectory, replay};
use turnwise_view::export::export;
use turnwise_view::insight::{Filter, Insight, charts};
use turnwise_view::replay::Replay;
use turnwise_view::{LaneView, Meter, RailView, RunSource, ViewModel};

/// A record with a failed attempt and its wait, a failing tool, sub-agents, a limit and its synthesis.
fn record() -> Value {
    let mut config = spawning(Preset::Research);
    config.max_turns = 3;
    config.providers[0].price = Some(Price { input: 0.75, output: 4.5, cached: 0.075 });
    config.limits = Limits {
        wall_ms: Some(1_000_000),
        tokens: Some(1_000_000),
        cost: Some(9.5),
        context_tokens: Some(9_000),
        ..config.limits
    };
    json!(Tree::new(config).play(model).recorder.document())
}

fn model(call: &ModelCall) -> Result<Reply, ModelError> {
    let usage = Usage { input: TokenCount(1_200), output: TokenCount(34), cached: TokenCount(600), ..Usage::default() };
    let reply = match (call.request.child(), call.turn, call.attempt) {
        (0, 1, 1) => says(""),
        (0, 1, _) => reply_call("search", "{}"),
        (0, 2, _) => spawn_call(&tasks(2)),
        (0, ..) if call.tools != ToolChoice::None => reply_call("bash", "{}"),
        _ => says("done"),
    };
    Ok(Reply { usage: Some(usage), ..reply })
}

/// The place of every number, as a JSON pointer. Numbers in a schema belong to a tool, not to the record.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| numbers(item, &format!("{at}/{n}"), found));
        }
        Value::Object(fields) => {
            for (key, item) in fields.iter().filter(|(key, _)| *key != "parameters" && *key != "version") {
                numbers(item, &format!("{at}/{key}"), found);
            }
        }
        _ => {}
    }
}

fn extremes() -> Vec<Value> {
    vec![
        json!(u64::MAX),
        json!(i64::MAX),
        json!(u32::MAX),
        json!(u32::MAX - 1),
        json!(9_007_199_254_740_993_u64),
        json!(1e308),
        json!(0),
        json!(-1),
        json!(i64::MIN),
    ]
}

/// Derives everything there is from a record. Returns the number of bytes produced.
fn show(text: &str) -> Option<usize> {
    let document = import(text).ok()?;
    let source = RunSource::from(&document);
    let meter = Meter::from(&source);
    assert!(meter.ticks.len() <= document.turns.len() + 202, "{} ticks", meter.ticks.len());
    let mut size = format!("{meter:?}{:?}{:?}", ViewModel::from(&source), RailView::from(&source)).len();
    let lanes = (0..document.turns.len()).flat_map(|turn| LaneView::of_turn(&source, turn));
    size += lanes.map(|lane| format!("{lane:?}").len()).sum::<usize>();
    let summary = RunSummary::from(&document);
    let insight = Insight::from_summaries(&[summary.clone(), summary.clone()], &Filter::default());
    // More runs than points of their own: grouped by time.
    let other = RunSummary { started_ms: 0, ..summary.clone() };
    let many = Insight::from_summaries(&[vec![summary; 80], vec![other; 80]].concat(), &Filter::default());
    size += json!(insight).to_string().len() + json!(many).to_string().len() + format!("{:?}", charts(&many)).len();
    size += ExportFormat::ALL.iter().map(|format| export(&document, *format).len()).sum::<usize>();
    size += match replay(&document) {
        Ok(recorder) => format!("{:?}", recorder.run.status()).len(),
        Err(mismatch) => format!("{mismatch:?}").len(),
    };
    let replayed = Replay::from_document(&document);
    size += replayed.steps().iter().map(|step| format!("{step:?}").len()).sum::<usize>();
    Some(size)
}

#[test]
fn every_number_at_its_limit() {
    let record = record();
    let honest = show(&record.to_string()).expect("it is a record");
    let mut places = Vec::new();
    numbers(&record, "", &mut places);
    assert!(places.len() > 150, "{}", places.len());
    let (mut shown, mut refused) = (0, 0);
    let mut changed = |text: &str, name: &str| {
        let began = Work::begin();
        match show(text) {
            Some(size) => {
                shown += 1;
                assert!(size < honest * 2 + 100_000, "{name}: {size} bytes, {honest} of the honest record");
            }
            None => refused += 1,
        }
        assert!(began.done() < Duration::from_secs(5), "{name}: {:?}", began.done());
    };
    // One field of each name, and then all of them at once.
    let mut seen = std::collections::BTreeSet::new();
    for place in &places {
        let name: String = place.chars().filter(|c| !c.is_ascii_digit()).collect();
        if !seen.insert(name) {
            continue;
        }
        for extreme in extremes() {
            let mut record = record.clone();
            *record.pointer_mut(place).unwrap() = extreme.clone();
            changed(&record.to_string(), &format!("{place} = {extreme}"));
        }
    }
    for extreme in extremes() {
        // As far as the types allow: a field that rejects the value keeps its own.
        let mut all = record.clone();
        for place in &places {
            let own = all.pointer(place).cloned().unwrap();
            *all.pointer_mut(place).unwrap() = extreme.clone();
            if serde_json::from_value::<Trajectory>(all.clone()).is_err() {
                let most = if extreme.as_f64().unwrap() > 1.0 { json!(u32::MAX) } else { own.clone() };
                *all.pointer_mut(place).unwrap() = most;
                if serde_json::from_value::<Trajectory>(all.clone()).is_err() {
                    *all.pointer_mut(place).unwrap() = own;
                }
            }
        }
        changed(&all.to_string(), &format!("all = {extreme}"));
    }
    assert!(shown > 100 && refused > 100, "{shown} shown, {refused} refused");
}

/// Summaries are stored and passed on by themselves, too.
#[test]
fn summaries_with_every_number_at_its_limit_are_figures() {
    let document: Trajectory = serde_json::from_value(record()).unwrap();
    let honest = json!(RunSummary::from(&document));
    let mut places = Vec::new();
    numbers(&honest, "", &mut places);
    for extreme in extremes() {
        let mut summary = honest.clone();
        for place in &places {
            let own = summary.pointer(place).cloned().unwrap();
            *summary.pointer_mut(place).unwrap() = extreme.clone();
            if serde_json::from_value::<RunSummary>(summary.clone()).is_err() {
                *summary.pointer_mut(place).unwrap() = if own.is_u64() { json!(u32::MAX) } else { own };
            }
        }
        let summary: RunSummary = serde_json::from_value(summary).unwrap();
        let other: RunSummary = serde_json::from_value(honest.clone()).unwrap();
        for runs in [vec![summary.clone(); 2], [vec![summary.clone(); 80], vec![other; 80]].concat()] {
            let insight = Insight::from_summaries(&runs, &Filter::default());
            let size = json!(insight).to_string().len() + format!("{:?}", charts(&insight)).len();
            assert!(size < 1_000_000, "{extreme}: {size}");
        }
    }
}
