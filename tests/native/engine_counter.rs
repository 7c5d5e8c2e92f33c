//! The turn counter: every line for `max_turns` from 1 to 20, exactly.

use crate::support::*;
use turnwise_engine::*;

#[test]
fn every_line_for_up_to_twenty_turns_is_the_golden_one() {
    let mut lines = String::new();
    for max in 1..=20 {
        for turn in 1..=max {
            let (level, line) = prompts::counter_line(&CounterConfig::default(), turn, max);
            lines.push_str(&format!("{line} {}\n", serde_json::to_value(level).unwrap().as_str().unwrap()));
        }
    }
    golden("counter_lines.txt", &lines);
}

#[test]
fn the_line_stands_on_the_last_result_only() {
    let played = play(
        config(Preset::Research),
        vec![
            calls("", &[("a", "search", "{}"), ("b", "read", "{}")]),
            executed("read", "second"),
            executed("search", "first"),
            text("done"),
        ],
    );
    assert_eq!(played.tool_results(), ["first", "second\n[Turn 1/15]"]);
    assert_eq!(played.run().turns()[0].counter_level, CounterLevel::Normal);
    assert_eq!(played.run().turns()[1].counter_level, CounterLevel::Off, "no tool calls, no counter");
}

#[test]
fn thresholds_and_templates_can_be_set_and_the_counter_switched_off() {
    let mut own = CounterConfig { moderate_at: 14, urgent_at: 0, ..CounterConfig::default() };
    own.templates.moderate = "{remaining} of {max} left after {turn}".into();
    let script = || vec![calls("", &[("a", "search", "{}")]), executed("search", "found"), text("done")];
    let played = play(RunConfig { counter: Some(own), ..config(Preset::Research) }, script());
    assert_eq!(played.tool_results(), ["found\n14 of 15 left after 1"]);
    let played = play(RunConfig { counter: None, ..config(Preset::Research) }, script());
    assert_eq!(played.tool_results(), ["found"]);
    assert_eq!(played.run().turns()[0].counter_level, CounterLevel::Off);
}

#[test]
fn a_run_of_seven_turns_goes_through_all_three_levels() {
    let mut script = Vec::new();
    for _ in 0..7 {
        script.extend([calls("", &[("", "search", "{}")]), executed("search", "x")]);
    }
    script.push(text("conclusion"));
    let played = play(RunConfig { max_turns: 7, ..config(Preset::Research) }, script);
    use CounterLevel::*;
    let levels: Vec<CounterLevel> = played.run().turns().iter().map(|t| t.counter_level).collect();
    assert_eq!(levels, [Normal, Moderate, Moderate, Urgent, Urgent, Urgent, Urgent, Off]);
}
