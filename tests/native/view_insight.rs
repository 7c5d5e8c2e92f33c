//! Figures, series, charts and their drawing across runs, from hand-made summaries.

use serde_json::json;
use turnwise_engine::*;
use turnwise_record::trajectory::RunSummary;
use turnwise_view::insight::chart::{ChartId, ColourRole};
use turnwise_view::insight::filter::WantedOutcome;
use turnwise_view::insight::{Filter, Insight, PointScope, charts};

const DAY: u64 = 86_400_000;
const START: u64 = 1_795_298_400_000; // 2026-11-21T22:00:00Z

/// A run that used `turns` of 10 and ended for this reason, `n` minutes after the first.
fn run(n: u64, turns: u32, reason: &str) -> RunSummary {
    let outcome = match reason {
        "" => None,
        "llm_complete" | "final_report" => Some("success"),
        "max_turns_synthesized" | "stop_synthesized" => Some("partial"),
        "cancelled" => Some("cancelled"),
        _ => Some("failed"),
    };
    let reason = (!reason.is_empty()).then_some(reason);
    serde_json::from_value(json!({
        "run_id": format!("run_{n}"), "session_id": "s", "title": format!("Task {n}"), "model": "m", "provider": "openai",
        "preset": "research", "started_ms": START + n * 60_000, "finished_ms": outcome.map(|_| START), "termination_reason": reason,
        "duration_ms": outcome.map(|_| 1_000 * n), "outcome": outcome, "answer_source": null, "max_turns": 10,
        "effective_max_turns": 10, "total_turns": turns, "turns_used": turns, "requests": turns + 1, "failed_attempts": {},
        "tool_calls": 2, "tool_failures": {}, "tokens": { "input": 100 * n, "output": 10, "cached": 0, "reasoning": 0, "estimated": false },
        "cost": null, "children": 0,
    }))
    .unwrap()
}

fn of(runs: &[RunSummary]) -> Insight {
    Insight::from_summaries(runs, &Filter::default())
}

#[test]
fn figures_are_those_of_a_run_by_nearest_rank() {
    let mut runs: Vec<RunSummary> = (1..=20).map(|n| run(n, (n % 10) as u32 + 1, "llm_complete")).collect();
    runs.push(run(21, 3, ""));
    runs[0].cost = Some(0.5);
    let insight = of(&runs);
    assert_eq!((insight.runs, insight.of, insight.ended), (21, 21, 20));
    assert_eq!(insight.success_share, Some(1.0));
    assert_eq!((insight.turns.median, insight.turns.p95, insight.turns.max), (5.0, 10.0, 10.0));
    assert_eq!((insight.tokens.median, insight.tokens.total), (1_110.0, 23_310.0));
    assert_eq!((insight.cost.known, insight.cost.total, insight.cost.p95), (1, 0.5, 0.5));
    // The open run has no duration, and does not count as failed.
    assert_eq!((insight.duration_ms.known, insight.duration_ms.p95), (20, 19_000.0));
    assert_eq!((insight.requests, insight.tool_calls), (134, 42));
    assert_eq!(insight.usage.output, TokenCount(210));
}

#[test]
fn no_run_is_no_figure_and_no_chart() {
    let insight = of(&[]);
    assert_eq!((insight.runs, insight.success_share, insight.turns.median), (0, None, 0.0));
    assert!(charts(&insight).is_empty() && insight.series.is_empty());
    let filter = Filter { model: Some("other".into()), ..Filter::default() };
    let none = Insight::from_summaries(&[run(1, 1, "llm_complete")], &filter);
    assert_eq!((none.runs, none.of), (0, 1));
    // The filter choices stay, or there would be no way back.
    assert_eq!(none.choices.models[0].value, "m");
    assert!(charts(&none).is_empty());
}

#[test]
fn a_run_at_its_limit_has_a_bin_of_its_own() {
    let runs = [
        run(1, 0, ""),
        run(2, 1, "llm_complete"),
        run(3, 9, "llm_error"),
        run(4, 10, "max_turns_synthesized"),
        run(5, 12, "llm_complete"),
    ];
    let limit = of(&runs).limit;
    assert_eq!(limit.reached, 2);
    assert_eq!((limit.bins.len(), limit.bins[0].other, limit.bins[1].success, limit.bins[9].failed), (11, 1, 1, 1));
    assert_eq!((limit.bins[10].partial, limit.bins[10].success), (1, 1));
    let all: u32 = limit.bins.iter().map(|bin| bin.success + bin.partial + bin.failed + bin.other).sum();
    assert_eq!(all, 5);
}

#[test]
fn reasons_and_slugs_come_by_frequency() {
    let mut runs = vec![
        run(1, 2, "llm_complete"),
        run(2, 10, "max_turns_synthesized"),
        run(3, 10, "max_turns_synthesized"),
        run(4, 1, ""),
    ];
    runs[0].failed_attempts = [("rate_limited".to_owned(), 1), ("timeout".to_owned(), 1)].into();
    runs[1].failed_attempts = [("rate_limited".to_owned(), 4)].into();
    let insight = of(&runs);
    let reasons: Vec<(Option<String>, u32)> =
        insight.reasons.iter().map(|r| (r.reason.map(|r| r.to_string()), r.count)).collect();
    assert_eq!(reasons[0], (Some("max_turns_synthesized".into()), 2));
    assert!(reasons.contains(&(None, 1)) && (insight.reasons[0].share - 0.5).abs() < 1e-9);
    let slugs: Vec<(&str, u32, u32)> = insight.retries.iter().map(|s| (s.slug.as_str(), s.count, s.runs)).collect();
    assert_eq!(slugs, [("rate_limited", 5, 2), ("timeout", 1, 1)]);
    assert_eq!(insight.failed_attempts, 6);
    assert_eq!(insight.outcomes["unfinished"], 1);
}

#[test]
fn each_part_of_a_filter_leaves_out_what_does_not_fit() {
    let mut runs: Vec<RunSummary> =
        vec![run(0, 1, "llm_complete"), run(10, 10, "max_turns_synthesized"), run(20, 1, "llm_error"), run(30, 1, "")];
    runs[1].model = "Large".into();
    runs[2].preset = Preset::Strict;
    let count = |filter: Filter| Insight::from_summaries(&runs, &filter).runs;
    assert_eq!(count(Filter { from_ms: Some(START + 600_000), ..Filter::default() }), 3);
    assert_eq!(count(Filter { to_ms: Some(START + 600_000), ..Filter::default() }), 1);
    assert_eq!(count(Filter { model: Some("Large".into()), ..Filter::default() }), 1);
    assert_eq!(count(Filter { preset: Some(Preset::Strict), ..Filter::default() }), 1);
    assert_eq!(count(Filter { outcome: Some(WantedOutcome::Unfinished), ..Filter::default() }), 1);
    assert_eq!(count(Filter { termination_reason: Some(TerminationReason::LlmError), ..Filter::default() }), 1);
    assert_eq!(count(Filter { text: Some(" LARGE".into()), ..Filter::default() }), 1);
    assert_eq!(count(Filter { text: Some("task 2".into()), ..Filter::default() }), 1);
    assert_eq!(count(Filter { model: Some("Large".into()), preset: Some(Preset::Strict), ..Filter::default() }), 0);
    assert!(serde_json::from_value::<Filter>(json!({ "modle": "m" })).is_err());
}

#[test]
fn few_runs_are_a_point_each_and_many_share_stretches_of_time() {
    let few: Vec<RunSummary> = (0..60).rev().map(|n| run(n, 1, "llm_complete")).collect();
    let insight = of(&few);
    assert_eq!((insight.step, insight.series.len()), (PointScope::Run, 60));
    assert!(insight.series.is_sorted_by_key(|point| point.at_ms));
    let at = |each: u64, count: u64| -> Vec<RunSummary> {
        (0..count).map(|n| RunSummary { started_ms: START + n * each, ..run(n, 1, "llm_complete") }).collect()
    };
    for (runs, step) in [
        (at(1_000, 100), PointScope::Minute),
        (at(3_600_000, 100), PointScope::SixHours),
        (at(DAY / 2, 100), PointScope::Day),
        (at(DAY, 400), PointScope::Week),
    ] {
        let insight = of(&runs);
        assert_eq!(insight.step, step);
        assert!(insight.series.len() <= 61, "{}", insight.series.len());
        assert_eq!(insight.series.iter().map(|point| point.runs).sum::<u32>() as usize, runs.len());
        assert!(insight.series.windows(2).all(|pair| pair[1].at_ms - pair[0].at_ms == step.ms()), "a gap");
    }
    let mut odd = at(1_000, 80);
    odd[0].started_ms = 0;
    odd[1].started_ms = u64::MAX / 2;
    assert!(of(&odd).series.len() <= 241, "a clock that is centuries off");
}

#[test]
fn every_chart_says_what_it_shows_and_names_every_figure() {
    let mut runs: Vec<RunSummary> = (1..=12)
        .map(|n| run(n, (n % 10) as u32 + 1, ["llm_complete", "max_turns_synthesized", "llm_error"][n as usize % 3]))
        .collect();
    runs[0].failed_attempts = Slug::ALL.iter().map(|slug| (slug.as_str().to_owned(), 1)).collect();
    runs[1].tool_failures = [("timeout".to_owned(), 2)].into();
    runs.iter_mut().for_each(|run| run.cost = Some(0.01));
    let charts = charts(&of(&runs));
    let ids: Vec<ChartId> = charts.iter().map(|chart| chart.id).collect();
    assert_eq!(
        ids,
        [
            ChartId::Reasons,
            ChartId::Limit,
            ChartId::Retries,
            ChartId::ToolFailures,
            ChartId::Tokens,
            ChartId::Cost,
            ChartId::Time
        ]
    );
    for chart in &charts {
        assert!(chart.summary.ends_with('.') && !chart.title.is_empty(), "{chart:?}");
        assert!(chart.marks.iter().all(|mark| !mark.words.is_empty() && !mark.name.is_empty()), "{chart:?}");
    }
    let reasons = &charts[0];
    assert_eq!(reasons.summary, "12 runs ended for 3 reasons. Most often: Turn limit, synthesized, 4 runs, 33 %.");
    assert!(reasons.marks.iter().all(|mark| mark.key.as_ref().is_some_and(|key| mark.name.contains(key.as_str()))));
    assert_eq!(
        reasons.legend.iter().map(|(role, _)| *role).collect::<Vec<_>>(),
        [ColourRole::Good, ColourRole::Synthesis, ColourRole::Bad]
    );
    assert!(charts.iter().all(|chart| !chart.title.contains("slug") && !chart.summary.contains("p95")));
    // Four runs are read one by one.
    assert!(turnwise_view::insight::charts(&of(&runs[..4])).is_empty());
    let slugs = charts[2..4].iter().flat_map(|chart| &chart.marks);
    let named = slugs.clone().filter(|mark| !mark.label.ends_with(" more"));
    assert!(named.clone().count() > 10);
    assert!(named.clone().all(|mark| !mark.label.contains('_') && mark.label.starts_with(char::is_uppercase)));
    assert_eq!(
        (charts[3].marks[0].label.as_str(), charts[3].marks[0].name.as_str()),
        ("A deadline passed", "A deadline passed (timeout)")
    );
    // Slugs that there is no room for share one bar.
    assert_eq!(
        (charts[2].marks.len(), charts[2].marks[10].label.as_str()),
        (11, format!("{} more", Slug::ALL.len() - 10).as_str())
    );
    assert_eq!(
        charts[5].summary,
        "$0.12 in all. Half of the runs cost $0.0100 or less, one in twenty more than $0.0100."
    );
}

mod drawn {
    use super::*;
    use turnwise_view::insight::draw::{DARK, LIGHT, draw};

    fn all() -> Vec<turnwise_view::insight::InsightChart> {
        let mut runs: Vec<RunSummary> = (1..=40)
            .map(|n| {
                run(n, (n % 11) as u32, ["llm_complete", "max_turns_synthesized", "llm_error", ""][n as usize % 4])
            })
            .collect();
        runs[0].failed_attempts = [("rate_limited".to_owned(), 7), ("<b>".to_owned(), 1)].into();
        runs.iter_mut().for_each(|run| run.cost = Some(0.013));
        charts(&of(&runs))
    }

    #[test]
    fn every_chart_is_drawn_within_its_width_and_each_mark_has_its_spot() {
        for chart in all() {
            for (width, dark) in [(200, false), (358, true), (700, false)] {
                let drawn = draw(&chart, width, dark);
                assert!(drawn.svg.starts_with("<svg") && drawn.svg.trim_end().ends_with("</svg>"), "{}", drawn.svg);
                assert_eq!((drawn.width, drawn.spots.len()), (width as i32, chart.marks.len()));
                for [left, top, wide, high] in &drawn.spots {
                    let inside =
                        *left >= 0 && *top >= 0 && left + wide <= width as i32 + 1 && top + high <= drawn.height;
                    assert!(inside && *wide > 0 && *high > 0, "{:?}: {left} {top} {wide} {high}", chart.id);
                }
                let palette = if dark { DARK } else { LIGHT };
                assert!(drawn.svg.contains(&format!("#{:06X}", palette.ink3)), "{}", drawn.svg);
            }
        }
    }

    #[test]
    fn names_are_text_and_never_markup() {
        let retries = all().into_iter().find(|chart| chart.id == ChartId::Retries).unwrap();
        let svg = draw(&retries, 400, false).svg;
        assert!(svg.contains("&lt;b&gt;") && !svg.contains("<b>"));
    }

    #[test]
    fn the_colours_are_those_of_the_style_sheet() {
        let css = include_str!("../../www/app/styles/tokens.css");
        let token = |name: &str, light: u32, dark: u32| {
            let line = format!("--{name}: light-dark(#{light:06x}, #{dark:06x});");
            assert!(css.contains(&line), "{line}");
        };
        token("bg", LIGHT.bg, DARK.bg);
        token("ink", LIGHT.ink, DARK.ink);
        token("ink3", LIGHT.ink3, DARK.ink3);
        token("line", LIGHT.line, DARK.line);
        token("calm", LIGHT.good, DARK.good);
        token("warn", LIGHT.warn, DARK.warn);
        token("urgent", LIGHT.bad, DARK.bad);
        token("synth", LIGHT.synthesis, DARK.synthesis);
    }
}
