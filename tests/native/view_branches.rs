//! What a branch changed is marked at the call or at the turn: live, in a snapshot, in a record and in reports.

use crate::support::*;
use turnwise::engine::*;
use turnwise::protocol::Snapshot;
use turnwise::protocol::snapshot::Reporter;
use turnwise::trajectory::export::Format;
use turnwise::trajectory::{Recorder, Restored, Trajectory, replay};
use turnwise::view::export::export;
use turnwise::view::version::{Version, versions};
use turnwise::view::{CallView, HeadView, Source, ViewModel};

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
fn marks(source: &Source<'_>) -> Vec<(String, String)> {
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
    let found = marks(&Source::from(&document));
    let text = serde_json::to_string(&document).unwrap();
    let followed = Snapshot::after(None, Reporter::default().changes(&recorder.run)).unwrap();
    let sent: Snapshot = serde_json::from_str(&serde_json::to_string(&followed).unwrap()).unwrap();
    assert_eq!(marks(&Source::from(&recorder.run)), found, "a live run");
    assert_eq!(marks(&Source::from(&sent)), found, "a snapshot");
    assert_eq!(marks(&Source::from(&Snapshot::recorded(&Trajectory::parse(&text).unwrap()))), found, "a file");
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
    assert_eq!(marks(&Source::from(&original)), pairs(&[]));
    let first = answered(branch(&original, FIRST, 2, Some(("b", "2")), Branch::default()), said("Changed."));
    assert_eq!(same_marks(&first), pairs(&[("b", &original.run_id)]));
    let facts = HeadView::from(&Source::from(&first.document())).facts;
    assert!(facts.contains(&"result of search changed".to_owned()), "{facts:?}");
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
    let outcome = ToolOutcome::Executed { content: "three".into(), images: Vec::new(), repaired_args: None };
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
    assert_eq!(marks(&Source::from(&document)), pairs(&[("b", &original().run_id)]));
}

#[test]
fn reports_say_what_was_changed() {
    let both = Branch { reply: Some(Reply::by_hand("By hand.".into(), Vec::new())), ..Branch::default() };
    let document = branch(&original(), FIRST, 2, Some(("b", "2")), both).document();
    let count = |format: Format, text: &str| export(&document, format).matches(text).count();
    assert_eq!(count(Format::Markdown, "Result (changed by hand):"), 1);
    assert_eq!(count(Format::Markdown, "*This reply was changed by hand.*"), 1);
    assert_eq!(count(Format::Html, r#"<span class="changed">changed</span>"#), 1);
    assert_eq!(count(Format::Html, r#"<span class="changed">This reply was changed by hand</span>"#), 1);
    assert_eq!(count(Format::Html, "Result, changed by hand"), 1);
    for format in [Format::Markdown, Format::Html] {
        assert!(!export(&original(), format).contains("changed by hand"));
    }
}

fn version(run_id: &str, of: Option<&str>) -> Version {
    Version { run_id: run_id.into(), of: of.map(Into::into), change: String::new() }
}

#[test]
fn versions_are_the_runs_of_one_original_in_the_order_in_which_they_began() {
    let all = || {
        vec![
            version("another", None),
            version("changed", Some("first")),
            version("again", Some("first")),
            version("deeper", Some("changed")),
            version("of another", Some("another")),
            version("orphan", Some("gone")),
            version("sibling", Some("gone")),
            version("first", None),
        ]
    };
    let of = |run_id: &str| versions(all(), run_id).into_iter().map(|run| run.run_id).collect::<Vec<_>>();
    for run_id in ["first", "changed", "again", "deeper"] {
        assert_eq!(of(run_id), ["first", "changed", "again", "deeper"]);
    }
    assert_eq!(of("another"), ["another", "of another"]);
    assert_eq!(of("sibling"), ["orphan", "sibling"], "their original was deleted");
    assert_eq!(of("nowhere"), [""; 0]);
    let circle = vec![version("a", Some("b")), version("b", Some("a"))];
    assert!(!versions(circle, "a").is_empty(), "it ends");
}
