//! What a branch changed is marked at the call or at the turn: live, in a snapshot, in a record and in reports.

use crate::support::*;
use turnwise_engine::*;
use turnwise_protocol::Snapshot;
use turnwise_protocol::snapshot::Reporter;
use turnwise_record::trajectory::export::ExportFormat;
use turnwise_record::trajectory::{Recorder, Restored, Trajectory, replay};
use turnwise_view::export::export;
use turnwise_view::version::{ListedRun, Version, choices, families, folded, labels, versions};
use turnwise_view::{CallView, HeadView, PanelView, RailView, RunSource, ViewModel};

/// A run of three turns: two calls one after the other, and the answer.
fn original() -> Trajectory {
    let search = |id: &str| calls("", &[(id, "search", "{}")]);
    let script = vec![search("a"), executed("search", "one"), search("b"), executed("search", "two"), text("Done.")];
    play(config(Preset::Research), script).document()
}

/// Branches before the turn at this index; `edited`: a call with its new result.
fn branch(of: &Trajectory, run_id: &str, place: usize, edited: Option<(&str, &str)>, more: Branch) -> Recorder {
    let mut recorded = of.clone();
    if let Some((call, result)) = edited {
        recorded = recorded.with_result(&CallId(call.into()), result.into()).unwrap();
    }
    let mut restored = Restored::before_turn(&recorded, place).expect("there is such a turn");
    let turn = restored.recorder.run.turns().last().unwrap().turn;
    let branch = Branch {
        run_id: run_id.into(),
        parent: Parent { run_id: of.run_id.clone(), turn },
        edited: edited.map(|(call, _)| CallId(call.into())),
        ..more
    };
    drop(restored.recorder.handle(restored.at, Event::Branched(Box::new(branch))));
    restored.recorder
}

/// Answers the open request.
fn answered(mut recorder: Recorder, reply: Reply) -> Recorder {
    let request = recorder.run.turns().last().unwrap().attempts.last().unwrap().request;
    drop(recorder.handle(Millis(900), Event::ModelReplied { request, reply, raw: None, first_token_ms: None }));
    assert!(recorder.run.ending().is_some());
    recorder
}

fn said(content: &str) -> Reply {
    Reply { content: content.into(), ..Reply::default() }
}

/// What is marked as changed: calls by id, turns by number, each with the run that has the original.
fn marks(source: &RunSource<'_>) -> Vec<(String, String)> {
    fn of_calls(calls: &[CallView], marks: &mut Vec<(String, String)>) {
        for call in calls {
            marks.extend(call.changed_from.clone().map(|from| (call.id.clone(), from)));
            of_calls(&call.inner, marks);
        }
    }
    let mut marks = Vec::new();
    for turn in ViewModel::from(source).turns {
        marks.extend(turn.changed_from.map(|from| (turn.number.to_string(), from)));
        of_calls(&turn.calls, &mut marks);
    }
    marks
}

/// The same marks in each form in which a run is shown.
fn same_marks(recorder: &Recorder) -> Vec<(String, String)> {
    let document = recorder.document();
    replay(&document).unwrap_or_else(|difference| panic!("{difference:?}"));
    let found = marks(&RunSource::from(&document));
    let text = serde_json::to_string(&document).unwrap();
    let followed = Snapshot::after(None, Reporter::default().changes(&recorder.run)).unwrap();
    let sent: Snapshot = serde_json::from_str(&serde_json::to_string(&followed).unwrap()).unwrap();
    assert_eq!(marks(&RunSource::from(&recorder.run)), found, "a live run");
    assert_eq!(marks(&RunSource::from(&sent)), found, "a snapshot");
    assert_eq!(marks(&RunSource::from(&Snapshot::recorded(&Trajectory::parse(&text).unwrap()))), found, "a file");
    found
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(what, from)| ((*what).to_owned(), (*from).to_owned())).collect()
}

const FIRST: &str = "run_20261121_220001_aaaaaa";
const SECOND: &str = "run_20261121_220002_bbbbbb";

#[test]
fn a_changed_result_is_marked_at_its_call_in_every_form() {
    let original = original();
    assert_eq!(marks(&RunSource::from(&original)), pairs(&[]));
    let first = answered(branch(&original, FIRST, 2, Some(("b", "2")), Branch::default()), said("Changed."));
    assert_eq!(same_marks(&first), pairs(&[("b", &original.run_id)]));
    let facts = HeadView::from(&RunSource::from(&first.document())).facts;
    assert!(facts.contains(&"result of search changed".to_owned()), "{facts:?}");
    // The engine counts the repeated turn's request twice.
    let calls = |document: &Trajectory| PanelView::from(&RunSource::from(document)).calls;
    assert_eq!((calls(&original), calls(&first.document())), ("3".to_owned(), "3".to_owned()));
}

#[test]
fn a_branch_of_a_branch_keeps_older_marks() {
    let original = original();
    let first = branch(&original, FIRST, 1, Some(("a", "1")), Branch::default());
    let call = RawCall { id: "c".into(), name: "search".into(), arguments: "{}".into() };
    let mut first = first;
    let request = first.run.turns()[1].attempts[0].request;
    let reply = Reply { tool_calls: vec![call], finish: FinishReason::ToolCalls, ..Reply::default() };
    drop(first.handle(Millis(900), Event::ModelReplied { request, reply, raw: None, first_token_ms: None }));
    let outcome = ToolOutcome::executed("three".into(), None);
    drop(first.handle(Millis(900), Event::ToolFinished { call: CallId("c".into()), outcome }));
    let first = answered(first, said("First.")).document();

    // Later, at the same turn, at the same turn with another change, and before the change.
    let later = branch(&first, SECOND, 2, Some(("c", "3")), Branch::default());
    assert_eq!(same_marks(&answered(later, said("."))), pairs(&[("a", &original.run_id), ("c", FIRST)]));
    let again = branch(&first, SECOND, 1, None, Branch::default());
    assert_eq!(same_marks(&answered(again, said("."))), pairs(&[("a", &original.run_id)]));
    let twice = branch(&first, SECOND, 1, Some(("a", "0")), Branch::default());
    assert_eq!(same_marks(&answered(twice, said("."))), pairs(&[("a", &original.run_id),]));
    let before = branch(&first, SECOND, 0, None, Branch::default());
    assert_eq!(same_marks(&answered(before, said("."))), pairs(&[]));
}

#[test]
fn a_changed_reply_is_marked_until_the_turn_is_requested_again() {
    let original = original();
    let by_hand = Branch { reply: Some(Reply::by_hand("By hand.".into(), Vec::new())), ..Branch::default() };
    let first = branch(&original, FIRST, 1, None, by_hand);
    assert_eq!(same_marks(&first), pairs(&[("2", &original.run_id)]));
    let again = answered(branch(&first.document(), SECOND, 1, None, Branch::default()), said("By the model."));
    assert_eq!(same_marks(&again), pairs(&[]));
}

#[test]
fn a_call_inside_another_is_marked_too() {
    let first = answered(branch(&original(), FIRST, 2, Some(("b", "2")), Branch::default()), said("."));
    let mut document = first.document();
    let outer = &mut document.turns[0].tool_calls[0];
    outer.calls.push(CallRecord { id: CallId("b".into()), ..outer.clone() });
    document.turns[1].tool_calls.clear();
    assert_eq!(marks(&RunSource::from(&document)), pairs(&[("b", &original().run_id)]));
}

#[test]
fn reports_say_what_was_changed() {
    let both = Branch { reply: Some(Reply::by_hand("By hand.".into(), Vec::new())), ..Branch::default() };
    let document = branch(&original(), FIRST, 2, Some(("b", "2")), both).document();
    let count = |format: ExportFormat, text: &str| export(&document, format).matches(text).count();
    assert_eq!(count(ExportFormat::Markdown, "Result (changed by hand):"), 1);
    assert_eq!(count(ExportFormat::Markdown, "*This reply was changed by hand.*"), 1);
    assert_eq!(count(ExportFormat::Html, r#"<span class="changed">changed</span>"#), 1);
    assert_eq!(count(ExportFormat::Html, r#"<span class="changed">This reply was changed by hand</span>"#), 1);
    assert_eq!(count(ExportFormat::Html, "Result, changed by hand"), 1);
    for format in [ExportFormat::Markdown, ExportFormat::Html] {
        assert!(!export(&original(), format).contains("changed by hand"));
    }
}

fn listed(run_id: &str, of: Option<&str>, title: &str) -> ListedRun {
    let change = of.map(|_| format!("{run_id} changed"));
    ListedRun {
        version: Version::new(run_id.into(), of.map(Into::into), change),
        line: format!("line of {run_id}"),
        rail: RailView { title: title.into(), words: "3 turns, complete".into(), ..RailView::default() },
        model: "m".into(),
        began_ms: 1_795_694_400_000, // 2026-11-26, 12:00 UTC
    }
}

fn version(run_id: &str, of: Option<&str>) -> ListedRun {
    listed(run_id, of, "Add.")
}

fn family() -> Vec<ListedRun> {
    vec![
        version("another", None),
        version("changed", Some("first")),
        version("again", Some("first")),
        version("deeper", Some("changed")),
        version("of another", Some("another")),
        version("orphan", Some("gone")),
        version("sibling", Some("gone")),
        version("alone", Some("gone as well")),
        version("first", None),
    ]
}

#[test]
fn versions_are_the_runs_of_one_original_in_the_order_in_which_they_began() {
    let of = |run_id: &str| versions(&family(), run_id).into_iter().map(|run| run.run_id).collect::<Vec<_>>();
    for run_id in ["first", "changed", "again", "deeper"] {
        assert_eq!(of(run_id), ["first", "changed", "again", "deeper"]);
    }
    assert_eq!(of("another"), ["another", "of another"]);
    assert_eq!(of("sibling"), ["orphan", "sibling"], "their original was deleted");
    assert_eq!(of("nowhere"), [""; 0]);
    let circle = vec![version("a", Some("b")), version("b", Some("a"))];
    assert!(!versions(&circle, "a").is_empty(), "it ends");
}

#[test]
fn each_line_of_the_list_says_which_version_it_is() {
    let found = labels(&family());
    let label = |run_id: &str| {
        let of_run = found.iter().filter(|(line, _)| *line == format!("line of {run_id}"));
        of_run.map(|(_, label)| label.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(label("first"), ["version 1 of 4, original"]);
    assert_eq!(label("deeper"), ["version 4 of 4, deeper changed"]);
    assert_eq!(label("sibling"), ["version 2 of 2, sibling changed"]);
    assert_eq!(label("alone"), [""; 0], "there is no other version");
    assert_eq!(found.len(), 8, "each line once");
}

#[test]
fn the_list_folds_versions_below_the_first_line_of_their_family() {
    let families = families(&family());
    assert_eq!(families.iter().map(Vec::len).collect::<Vec<_>>(), [4, 2, 2]);
    assert!(families.iter().all(|family| family[0].1.starts_with("version 1 of ")), "{families:?}");
    let (one, two) = (Some(0), Some(1));
    assert_eq!(
        folded(&[None, one, None, two, one, None, one]),
        [(0, vec![]), (1, vec![4, 6]), (2, vec![]), (3, vec![]), (5, vec![])]
    );
    assert!(folded(&[]).is_empty());
}

#[test]
fn the_likely_runs_to_compare_with_come_first() {
    let runs = [
        vec![listed("old", None, "Multiply."), listed("new", None, "Subtract.")],
        vec![version("first", None), version("changed", Some("first")), version("again", Some("first"))],
        vec![version("twin", None), version("of twin", Some("twin"))],
    ]
    .concat();
    let now = 1_795_694_400_000 + 60_000;
    let shown: Vec<(&str, Vec<String>)> = choices(&runs, "changed", now, 0)
        .into_iter()
        .map(|(name, runs)| (name, runs.into_iter().map(|(id, text)| format!("{id}: {text}")).collect()))
        .collect();
    let words = "3 turns, complete · Today 12:00";
    let expected = vec![
        (
            "Versions of this run",
            vec![
                format!("first: Version 1 of 3, original · {words}"),
                format!("again: Version 3 of 3, again changed · {words}"),
            ],
        ),
        ("The same task", vec![format!("of twin: Of twin changed · {words} · m"), format!("twin: {words} · m")]),
        ("Other runs", vec![format!("new: Subtract. · {words}"), format!("old: Multiply. · {words}")]),
    ];
    assert_eq!(shown, expected);
    assert_eq!(choices(&runs[..1], "old", now, 0), []);
}
