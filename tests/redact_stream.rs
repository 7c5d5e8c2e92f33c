//! Streamed text is redacted to the same text as a whole one, however it is cut.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

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
