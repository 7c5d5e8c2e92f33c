//! Where two runs part, in one sentence, and the rows of their turns.

use turnwise_engine::*;
use turnwise_record::trajectory::{Restored, Trajectory};
use turnwise_view::RunSource;
use turnwise_view::compare::{ComparedWith, Comparison, TurnRow};

use crate::support::*;

fn run(steps: Vec<Step>) -> Trajectory {
    run_with(config(Preset::Research), steps)
}

fn run_with(config: RunConfig, steps: Vec<Step>) -> Trajectory {
    play(config, steps).document()
}

fn compared(a: &Trajectory, b: &Trajectory) -> Comparison {
    Comparison::new(&RunSource::from(a), &RunSource::from(b), ComparedWith::Other)
}

/// The rows: the number of equal turns, or what differs.
fn rows(made: &Comparison) -> Vec<String> {
    let row = |row: &TurnRow| match row {
        TurnRow::Same(turns) => format!("{} equal", turns.len()),
        TurnRow::Turns(pair) => format!("{}{}", pair.differs, if pair.first { ", first" } else { "" }),
    };
    made.rows.iter().map(row).collect()
}

fn searched(args: &str, result: &str) -> [Step; 2] {
    [calls("", &[("a", "search", args)]), executed("search", result)]
}

fn steps<const N: usize>(parts: [Vec<Step>; N]) -> Vec<Step> {
    parts.into_iter().flatten().collect()
}

#[test]
fn runs_that_are_the_same_have_one_folded_row() {
    let script = || steps([searched("{}", "x").into(), searched("{}", "x").into(), vec![text("one")]]);
    let made = compared(&run(script()), &run(script()));
    assert_eq!((made.words.as_str(), rows(&made)), ("All turns are the same.", vec!["3 equal".to_owned()]));
    assert!(made.facts.iter().all(|fact| !fact.differs()));
}

#[test]
fn a_call_and_an_answer_part_the_runs() {
    let a = run(steps([
        searched("{}", "x").into(),
        searched("{}", "x").into(),
        vec![calls("", &[("a", "read", "{\"path\": \"a.txt\"}")]), executed("read", "y"), text("So.")],
    ]));
    let b = run(steps([searched("{}", "x").into(), searched("{}", "x").into(), vec![text("Done.")]]));
    let made = compared(&a, &b);
    assert_eq!(
        made.words,
        "They part at turn 3: this run calls read {\"path\":\"a.txt\"}; the other answers \u{201c}Done\u{201d}."
    );
    assert_eq!(rows(&made), ["2 equal", "text, tool calls, first", "only one run has this turn"]);
    assert_eq!(made.outputs, ["Done.".to_owned(), "So.".to_owned()]);
    let ended =
        compared(&b, &run(steps([searched("{}", "x").into(), searched("{}", "x").into(), vec![text("Done.")]])));
    assert_eq!(rows(&ended), ["3 equal"]);
}

#[test]
fn the_first_call_that_differs_is_named() {
    let two = |second: &str| {
        let asked = [("a", "search", "{}"), ("b", "read", second)];
        run(vec![calls("", &asked), executed("search", "x"), executed("read", "y"), text("one")])
    };
    let made = compared(&two("{\"n\":1}"), &two("{\"n\":2}"));
    assert_eq!(made.words, "They part at turn 1: this run calls read {\"n\":1}; the other calls read {\"n\":2}.");
    // The turns after it are the same, though their requests are not.
    assert_eq!(rows(&made), ["tool calls, first", "1 equal"]);
    let one = run(vec![calls("", &[("a", "search", "{}")]), executed("search", "x"), text("one")]);
    let made = compared(&two("{\"n\":1}"), &one);
    assert_eq!(made.words, "They part at turn 1: this run calls read {\"n\":1}; the other makes no further call.");
}

#[test]
fn a_result_parts_the_runs() {
    let a = run(steps([searched("{}", "cats").into(), vec![text("one")]]));
    let b = run(steps([searched("{}", "dogs").into(), vec![text("one")]]));
    let made = compared(&a, &b);
    let expected = "They part at turn 1: search {} returns \u{201c}cats [Turn 1/15]\u{201d} to this run and \
                    \u{201c}dogs [Turn 1/15]\u{201d} to the other.";
    assert_eq!(made.words, expected);
    assert_eq!(rows(&made), ["results, first", "1 equal"]);
}

#[test]
fn a_request_parts_the_runs_and_says_what_is_known_of_it() {
    let of = |model: &str, answer: &str| {
        let mut config = config(Preset::Research);
        config.providers[0].model = model.into();
        run_with(config, vec![text(answer)])
    };
    let made = compared(&of("small", "One."), &of("large", "Two."));
    let expected = "They part at turn 1, where the requests differ (model): this run answers \u{201c}One\u{201d}; \
                    the other answers \u{201c}Two\u{201d}.";
    assert_eq!((made.words.as_str(), rows(&made)), (expected, vec!["model, text, first".to_owned()]));
    let made = compared(&of("small", "One."), &of("large", "One."));
    let expected = "They part at turn 1, where the requests differ (model): the replies are the same.";
    assert_eq!((made.words.as_str(), rows(&made)), (expected, vec!["model, first".to_owned()]));
}

#[test]
fn a_failed_attempt_parts_the_runs() {
    let failed = || vec![Step::Fail(error(Slug::ProviderError, Retry::Yes)), Step::Timer(None), text("one")];
    let made = compared(&run(failed()), &run(vec![text("one")]));
    let expected = "They part at turn 1: this run fails first (provider_error); the other has no failed attempt.";
    assert_eq!((made.words.as_str(), rows(&made)), (expected, vec!["failed attempts, first".to_owned()]));
}

#[test]
fn a_branch_parts_from_its_original_at_its_first_turn() {
    let original = run(steps([searched("{}", "x").into(), searched("{}", "y").into(), vec![text("one")]]));
    let mut restored = Restored::before_turn(&original, 1).unwrap();
    let parent = Parent { run_id: original.run_id.clone(), turn: 2 };
    let branch = Branch {
        parent,
        say: Some("Shorter.".into()),
        run_id: "run_20261121_220000_abcdee".into(),
        ..Branch::default()
    };
    drop(restored.recorder.handle(restored.at, Event::Branched(Box::new(branch))));
    let branched = restored.recorder.document();
    let made = Comparison::new(&RunSource::from(&branched), &RunSource::from(&original), ComparedWith::Original);
    let expected =
        "They part at turn 2, where the requests differ: this run answers nothing; the original calls search {}.";
    assert_eq!(made.words, expected);
    assert_eq!(rows(&made).first().map(String::as_str), Some("1 equal"));
}

#[test]
fn the_change_itself_is_shown_and_the_baseline_comes_first() {
    let of = |system: &str| {
        let mut config = config(Preset::Research);
        config.system = system.into();
        run_with(config, vec![text("One.")])
    };
    let (own, other) = (of("Be brief."), of("Be thorough."));
    let compared = |with| Comparison::new(&RunSource::from(&own), &RunSource::from(&other), with);
    for (with, names, texts) in [
        (ComparedWith::Original, ["The original", "This run"], ["Be thorough.", "Be brief."]),
        (ComparedWith::Other, ["The other", "This run"], ["Be thorough.", "Be brief."]),
        (ComparedWith::Branch, ["This run", "The branch"], ["Be brief.", "Be thorough."]),
    ] {
        let made = compared(with);
        assert_eq!(made.names, names);
        assert_eq!(made.title.as_deref(), Some("First difference: system message"));
        let TurnRow::Turns(pair) = &made.rows[0] else { panic!("{:?}", made.rows) };
        assert!(pair.same_reply);
        let [change] = pair.changes.as_slice() else { panic!("{:?}", pair.changes) };
        assert!(
            change.name == "System message" && change.texts.iter().zip(texts).all(|(all, part)| all.contains(part))
        );
    }
}

#[test]
fn an_amount_says_how_much_more_the_changed_run_has() {
    let long = run(steps([searched("{}", "x").into(), searched("{}", "x").into(), vec![text("one")]]));
    let short = run(vec![text("one")]);
    let turns = |with| {
        let made = Comparison::new(&RunSource::from(&long), &RunSource::from(&short), with);
        made.facts.into_iter().find(|fact| fact.name == "Turns").unwrap()
    };
    let fact = turns(ComparedWith::Original);
    assert!(fact.values[0].starts_with("1 ") && fact.values[1].starts_with("3 "));
    assert_eq!(fact.change.as_deref(), Some("2 more (+200\u{a0}%)"));
    assert!(turns(ComparedWith::Branch).change.unwrap().starts_with("2 fewer"));
}

#[test]
fn a_result_that_differs_is_shown_whole() {
    let long = |end: &str| format!("{}{end}", "x".repeat(400));
    let a = run(steps([searched("{}", &long("cats")).into(), vec![text("one")]]));
    let b = run(steps([searched("{}", &long("dogs")).into(), vec![text("one")]]));
    let made = compared(&a, &b);
    let TurnRow::Turns(pair) = &made.rows[0] else { panic!("{:?}", made.rows) };
    assert_eq!(pair.changes[0].name, "Result of search");
    assert!(pair.changes[0].texts[0].contains("dogs") && pair.changes[0].texts[1].contains("cats"));
}
