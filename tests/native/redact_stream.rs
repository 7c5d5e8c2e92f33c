//! Streamed text is redacted to the same text as a complete one, however it is split.

use crate::support::work::Work;
use proptest::prelude::*;
use turnwise::trajectory::Secrets;
use turnwise::trajectory::redact::{REDACTED, StreamScrub};

const KNOWN: &str = "hunter2/geheim+9";

fn secrets() -> Secrets {
    Secrets::new([KNOWN.to_owned(), "hunter2".to_owned()])
}

fn streamed(pieces: &[&str]) -> Vec<String> {
    let (secrets, mut scrub) = (secrets(), StreamScrub::default());
    let mut out: Vec<String> = pieces.iter().map(|piece| scrub.push(&secrets, piece).into_owned()).collect();
    out.push(scrub.finish(&secrets));
    out
}

#[test]
fn a_key_that_comes_in_pieces_is_never_shown() {
    let out = streamed(&["my key is s", "k-abcdef", "0123456789", "ABCDEF and", " hunter", "2/gehei", "m+9 too"]);
    assert_eq!(out.concat(), format!("my key is {REDACTED} and {REDACTED} too"));
    assert!(out.iter().all(|piece| !piece.contains("abcdef") && !piece.contains("hunter")), "{out:?}");
    assert_eq!(out[0], "my key is ", "what cannot be a secret is shown at once");
}

#[test]
fn plain_text_is_not_held_back() {
    for piece in ["The ", "task is risky", " but so", "ks are fine", "\n\n", "Grüße 🙂 "] {
        let (secrets, mut scrub) = (secrets(), StreamScrub::default());
        assert_eq!(scrub.push(&secrets, piece), piece);
    }
}

#[test]
fn an_address_shows_a_known_secret_in_no_spelling() {
    let clean = secrets().scrub("GET /x?q=hunter2%2Fgeheim%2B9 failed").into_owned();
    assert_eq!(clean, format!("GET /x?q={REDACTED} failed"));
}

#[test]
fn a_key_counts_as_it_is_sent() {
    let secrets = Secrets::new([
        "  my-own-key-1\n".to_owned(),
        "Bearer other-own-key\r\n".to_owned(),
        "basic dXNlcjpwYXNz".to_owned(),
    ]);
    for (text, clean) in [
        ("the key my-own-key-1 is wrong", "the key [redacted] is wrong"),
        ("it was my-own-key-1\n", "it was [redacted]\n"),
        ("it was other-own-key", "it was [redacted]"),
        ("it was Bearer other-own-key.", "it was [redacted]."),
        ("it was dXNlcjpwYXNz", "it was [redacted]"),
    ] {
        assert_eq!(secrets.scrub(text), clean);
    }
}

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("sk-".to_owned()),
        Just(KNOWN.to_owned()),
        Just("hunter2".to_owned()),
        Just("hunter".to_owned()),
        Just("Bearer ".to_owned()),
        Just("?api_key=".to_owned()),
        Just("X-Api-Key: ".to_owned()),
        Just("AIza".to_owned()),
        Just("risk-".to_owned()),
        "[a-f0-9]{1,40}",
        "[ \n.,/+é🙂s]{1,3}",
    ];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn pieces_add_up_to_the_redacted_whole(text in text(), cuts in proptest::collection::vec(0usize..400, 0..20)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut.min(text.len()))).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        let whole = secrets().scrub(&text).into_owned();
        prop_assert_eq!(streamed(&pieces).concat(), whole);
    }
}

/// A server chooses both the text and how it is split.
#[test]
fn a_long_run_of_key_characters_in_small_pieces_costs_no_more_than_its_length() {
    const MIB: usize = 1 << 20;
    let runs = [
        ("sk-", "abcdefgh"),
        ("Bearer ", "abcdefgh"),
        ("?api_key=", "abcdefgh"),
        ("sk-", "abcd1234"),
        ("", "abcdefgh"),
        ("", "12345678api-key: "),
        ("", "?key=123"),
        ("", "bearer "),
        ("", "hunter2/"),
    ];
    let secrets = secrets();
    for (start, piece) in runs {
        let mut scrub = StreamScrub::default();
        let began = Work::begin();
        let mut shown = scrub.push(&secrets, start).into_owned();
        let mut most_held = 0;
        for _ in 0..MIB / piece.len() {
            shown.push_str(&scrub.push(&secrets, piece));
            most_held = most_held.max(scrub.held());
        }
        shown.push_str(&scrub.finish(&secrets));
        let took = began.done();
        assert!(took.as_secs() < 5, "{start}{piece}…: {took:?}");
        let whole = format!("{start}{}", piece.repeat(MIB / piece.len()));
        assert!(secrets.scrub(&whole) == shown, "{start}{piece}…: not as the whole text");
        assert!(most_held <= MIB + start.len(), "{start}{piece}…: {most_held} bytes held");
    }
}
