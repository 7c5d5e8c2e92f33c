//! The answers about an open record: text, marks, parts, differences, comparison.

use turnwise_engine::*;
use turnwise_protocol::Snapshot;
use turnwise_protocol::record::{Cursor, DocumentPart, OpenError, RecordQuery};
use turnwise_record::trajectory::RunSummary;
use turnwise_view::replay::ReplaySteps;
use turnwise_view::replay::difference::{ChangedText, PieceKind};
use turnwise_view::replay::play::{Speed, bands, rest};
use turnwise_view::replay::text::{pieces, shortened};
use turnwise_view::replay::{
    Difference, DifferenceEntry, MessageMark, Replay, ReplayVerdict, RequestView, StepTone, Viewer,
};
use turnwise_view::{Meter, RunSource};

use super::{eventful, world};
use crate::support::*;

fn ask<T: serde::de::DeserializeOwned>(viewer: &mut Viewer, ask: &RecordQuery) -> T {
    serde_json::from_str(&viewer.answer(ask).unwrap()).unwrap()
}

#[test]
fn steps_say_what_happened() {
    let document = eventful().document();
    let replay = Replay::from_document(&document);
    let told: Vec<String> =
        replay.steps().iter().map(|step| format!("{}: {} ({})", step.turn, step.title, step.detail)).collect();
    assert_eq!(
        told,
        [
            "1: The run begins (first request to Demo (no AI))",
            "1: The request fails: provider_error (provider_error happened, waits 82 ms)",
            "1: The wait is over (attempt 2 is sent)",
            "1: The model calls 3 tools: search, bash, read ()",
            "1: read answers, 1 character ()",
            "1: search does not answer within 30.0 s ()",
            "2: The model answers (half, synthesis requested: the turn limit was reached)",
            "3: The model answers (so far, ends: concluded at the turn limit)",
            "3: The user grants 1 more turn ()",
            "4: The model sends an empty reply (not accepted, empty_response: the reply was empty, attempt 2 is sent)",
            "4: The request fails: auth_error (auth_error happened, ends: failed: no answer)",
        ],
    );
}

#[test]
fn requests_are_marked() {
    let played = eventful();
    let replay = Replay::from_document(&played.document());
    let marks = |index: usize| replay.request_view(index).unwrap().messages.iter().map(|m| m.mark).collect::<Vec<_>>();
    // A notice reports the reply that was cut off.
    let noticed =
        (0..replay.requests().len()).find(|index| marks(*index).contains(&Some(MessageMark::Notice))).unwrap();
    let view = replay.request_view(noticed).unwrap();
    let notice = view.messages.last().unwrap();
    assert!(notice.once && notice.text.starts_with("system notice: "), "{notice:?}");
    let counters = view.messages.iter().filter_map(|message| message.counter.clone()).collect::<Vec<_>>();
    assert_eq!(
        counters,
        [(CounterLevel::Urgent, "[Turn 1/2 - Only 1 turns left! Prioritize completing your task.]".into())]
    );
    assert!(view.title.starts_with(&format!("Request {} of ", noticed + 1)), "{}", view.title);
    assert_eq!(view.choice, "3 tools offered");
}

#[test]
fn removed_results_and_synthesis_prompts_are_marked_in_random_runs() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..300 {
        let replay = Replay::from_document(&world::run(seed));
        for index in 0..replay.requests().len() {
            let of = replay.requests().len();
            let view = replay.request_view(index).unwrap();
            assert!(view.title.contains(&format!(" of {of}")));
            seen.extend(view.messages.iter().filter_map(|message| message.mark).map(|mark| mark.label()));
            seen.extend(view.messages.iter().filter_map(|m| m.context.as_ref()).map(|_| "context"));
        }
    }
    let all = [
        "context",
        "long result, cut in the middle",
        "result removed by the context guard",
        "synthesis prompt",
        "system notice",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn a_viewer_answers_about_its_record() {
    let document = eventful().document();
    let text = serde_json::to_string(&document).unwrap();
    let (mut viewer, opened) = Viewer::open(&text).unwrap();
    assert_eq!((opened.turns, opened.events), (document.turns.len(), document.events.len()));
    assert!(opened.head.turns.is_empty());

    let mut whole = opened.head;
    let mut next = Some(Cursor::default());
    while let Some(cursor) = next {
        let part: DocumentPart = ask(&mut viewer, &RecordQuery::Part(cursor));
        next = part.join(&mut whole);
    }
    assert_eq!(whole, Snapshot::recorded(&document));
    assert_eq!(whole.summary(), RunSummary::from(&document));

    let steps: ReplaySteps = ask(&mut viewer, &RecordQuery::Steps { from: 2 });
    assert_eq!((steps.of, steps.steps.len()), (document.events.len() + 1, document.events.len() - 1));
    let request: RequestView = ask(&mut viewer, &RecordQuery::Request { index: 1 });
    assert_eq!(request.previous, Some(0));
    let difference: Difference = ask(&mut viewer, &RecordQuery::Difference { index: 1 });
    assert_eq!(difference.entries, [DifferenceEntry::Same(2)]);
    assert_eq!(difference.facts, [("Attempt".to_owned(), "1".to_owned(), "2".to_owned())]);
    let verdict: ReplayVerdict = ask(&mut viewer, &RecordQuery::Verify);
    let words = format!(
        "Replays exactly: {} events, {} requests, every hash matches.",
        document.events.len(),
        document.requests
    );
    assert_eq!(verdict.words, words);
    assert!(viewer.answer(&RecordQuery::Request { index: 99 }).is_err());
}

#[test]
fn long_documents_come_in_parts() {
    let script = |n: usize| vec![calls("", &[("a", "search", "{}")]), executed("search", &"x".repeat(30_000 + n))];
    let steps = (0..12).flat_map(script).chain([text("done")]).collect();
    let of = RunConfig { max_turns: 20, ..config(Preset::Research) };
    let document =
        play(RunConfig { limits: Limits { max_result_chars: 100_000, ..of.limits.clone() }, ..of }, steps).document();
    let (mut next, mut parts) = (Some(Cursor::default()), 0);
    let mut whole = Snapshot::head(&document);
    while let Some(cursor) = next {
        let part = DocumentPart::new(&document, cursor);
        assert!(serde_json::to_string(&part).unwrap().len() < 256 * 1024);
        next = part.join(&mut whole);
        parts += 1;
    }
    assert_eq!(whole, Snapshot::recorded(&document));
    assert!((3..=6).contains(&parts), "{parts}");
}

#[test]
fn other_texts_are_refused() {
    assert_eq!(Viewer::open("hello").unwrap_err(), OpenError::NotJson);
    assert_eq!(Viewer::open("{}").unwrap_err(), OpenError::OtherFormat);
    let later = "{\"format\": \"turnwise-trajectory\", \"version\": 99}";
    assert!(matches!(Viewer::open(later), Err(OpenError::Unreadable(why)) if why.contains("version 99")));
}

#[test]
fn pieces_make_both_texts() {
    let (old, new) =
        ("The cache lives for 300 seconds.\nIt is small.", "The cache lives for 60 seconds.\nIt is small, too.");
    let all = pieces(old, new);
    let of = |without: PieceKind| all.iter().filter(|p| p.kind != without).map(|p| p.text.as_str()).collect::<String>();
    assert_eq!((of(PieceKind::Added), of(PieceKind::Removed)), (old.to_owned(), new.to_owned()));
    assert!(all.contains(&ChangedText { kind: PieceKind::Added, text: "60".into() }), "{all:?}");

    let long = "word ".repeat(500);
    let short = shortened(pieces(&long, &format!("{long}end")));
    assert!(short.iter().any(|piece| piece.kind == PieceKind::Gap) && short.len() < 5, "{short:?}");
    assert!(short.iter().map(|piece| piece.text.len()).sum::<usize>() < 400);
}

#[test]
fn pauses_are_cut_and_bands_cover_all_steps() {
    let document = eventful().document();
    let replay = Replay::from_document(&document);
    let steps = replay.steps();
    assert_eq!(rest(steps, steps.len() - 1, Speed::X1), None);
    assert!((0..steps.len() - 1).all(|at| (40..=2_000).contains(&rest(steps, at, Speed::X1).unwrap())));
    assert!((0..steps.len() - 1).all(|at| rest(steps, at, Speed::X16) <= rest(steps, at, Speed::X1)));
    let bands = bands(steps, &Meter::from(&RunSource::from(&document)).ticks);
    assert_eq!((bands[0].from, bands.last().unwrap().to), (0, steps.len()));
    assert!(bands.windows(2).all(|two| two[0].to == two[1].from));
    assert_eq!(bands.len(), document.turns.len());
    assert!(steps.iter().any(|step| step.tone == StepTone::Failed), "it failed in the end");
}
