//! Streamed text is redacted to the same text as a complete one, however it is split.

use crate::support::work::Work;
use proptest::prelude::*;
use turnwise_record::trajectory::Secrets;
use turnwise_record::trajectory::redact::{REDACTED, StreamScrub};

const KNOWN: &str = "hunter2/geheim+9";

fn secrets() -> Secrets {
    Secrets::new([KNOWN.to_owned(), "hunter2".to_owned()])
}

fn streamed(pieces: &[&str]) -> Vec<String> {
    let (secrets, mut scrub) = (secrets(), StreamScrub::default());
    let mut out: Vec<String> = pieces.iter().map(|piece| scrub.push(&secrets, piece)).collect();
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
        let shown = scrub.push(&secrets, piece);
        // The last letter may begin a known key in base64, the one before it a key with a prefix.
        assert!(piece.starts_with(&shown) && piece.len() - shown.len() < 3, "{piece:?}: {shown:?}");
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

/// A private key is not among the words: within a value, it makes an end where a second look finds none.
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
        prop_oneof![
            Just("hunter2%2Fgeheim%2b9"),
            Just("hunter2\\/gehe"),
            Just("&#"),
            Just("\\u0068unter2"),
            Just("aHVudGVyMi9n"),
            Just("ZWhlaW0rOQ=="),
            Just("68 75 6e 74 65 72 32"),
            Just("\"password\": \""),
            Just("DB_PASSWORD="),
            Just("Authorization: Basic "),
            Just("dXNlcjpwYXNz"),
            Just("https://user:"),
            Just("s3cret-pw"),
            Just("@host/"),
            Just("eyJhbGciOiJIUzI1NiJ9."),
            Just("Cookie: sid="),
            Just("123456789:"),
            Just("AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"),
        ]
        .prop_map(str::to_owned),
        "[a-f0-9]{1,40}",
        "[ \n.,/+é🙂s]{1,3}",
    ];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.concat())
}

fn pieces(text: &str, cuts: Vec<usize>) -> Vec<&str> {
    let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut.min(text.len()))).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// A secret in one of the forms in which programs write it.
fn forms(secret: &str) -> Vec<(&'static str, String)> {
    let bytes = secret.as_bytes();
    let each = |write: &dyn Fn(u8) -> String| bytes.iter().map(|byte| write(*byte)).collect::<String>();
    let special = |write: &dyn Fn(u8) -> String| {
        each(&|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { write(byte) })
    };
    let named = |byte: u8| match byte {
        b'&' => "&amp;".to_owned(),
        b'<' => "&lt;".to_owned(),
        b'>' => "&gt;".to_owned(),
        b'"' => "&quot;".to_owned(),
        b'\'' => "&apos;".to_owned(),
        b'+' => "&plus;".to_owned(),
        b'/' => "&sol;".to_owned(),
        b'=' => "&equals;".to_owned(),
        b'_' => "&lowbar;".to_owned(),
        _ => char::from(byte).to_string(),
    };
    let json = serde_json::to_string(secret).unwrap();
    let (inner, twice) = (&json[1..json.len() - 1], serde_json::to_string(&json).unwrap());
    let thrice = serde_json::to_string(&twice).unwrap();
    let escaped = each(&|byte| format!("\\u{:04x}", u32::from(byte)));
    let percent = special(&|byte| format!("%{byte:02X}"));
    let mut forms = vec![
        ("plain", secret.to_owned()),
        ("hex", each(&|byte| format!("{byte:02x}"))),
        ("hex, upper case", each(&|byte| format!("{byte:02X}"))),
        ("hex with spaces", each(&|byte| format!("{byte:02x} "))),
        ("hex with colons", each(&|byte| format!("{byte:02X}:"))),
        ("a list of bytes", each(&|byte| format!("0x{byte:02x}, "))),
        ("escapes of bytes", each(&|byte| format!("\\x{byte:02x}"))),
        ("percent", percent.clone()),
        ("percent, lower case", special(&|byte| format!("%{byte:02x}"))),
        ("percent, all", each(&|byte| format!("%{byte:02X}"))),
        ("percent of percent", percent.replace('%', "%25")),
        ("JSON", inner.to_owned()),
        ("JSON with slashes", inner.replace('/', "\\/")),
        ("JSON, all", escaped.clone()),
        ("JSON, all, upper case", each(&|byte| format!("\\u{:04X}", u32::from(byte)))),
        ("JSON in JSON", twice[3..twice.len() - 3].to_owned()),
        ("JSON in JSON in JSON", thrice[7..thrice.len() - 7].to_owned()),
        ("JSON in JSON, all", escaped.replace('\\', "\\\\")),
        ("JSON as Go writes it", inner.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")),
        ("entities", each(&|byte| format!("&#{byte};"))),
        ("entities with zeros", each(&|byte| format!("&#{byte:05};"))),
        ("entities in hex", each(&|byte| format!("&#x{byte:x};"))),
        ("entities in hex, upper case", each(&|byte| format!("&#X{byte:02X};"))),
        ("entities by name", each(&named)),
        ("entities of entities", each(&named).replace('&', "&amp;")),
        ("entities in JSON", serde_json::to_string(&each(&named)).unwrap().replace('&', "\\u0026")),
    ];
    for shift in ["", "u", "us", "user:"] {
        let text = base64(format!("{shift}{secret}").as_bytes());
        forms.push(("base64", text.clone()));
        forms.push(("base64 without padding", text.trim_end_matches('=').to_owned()));
        forms.push(("base64 for addresses", text.replace('+', "-").replace('/', "_")));
        forms.push(("base64 in an address", text.replace('+', "%2B").replace('/', "%2f").replace('=', "%3D")));
        forms.push(("base64 in JSON", text.replace('/', "\\/")));
        let lines: Vec<&str> = text.as_bytes().chunks(8).map(|line| std::str::from_utf8(line).unwrap()).collect();
        forms.push(("base64 in lines", lines.join("\r\n")));
        forms.push(("base64 in lines in JSON", lines.join("\\n")));
    }
    forms
}

/// Written for the tests, bit by bit.
fn base64(bytes: &[u8]) -> String {
    const CHARACTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let six = |bits: &[u8]| {
        let bits = format!("{:0<6}", std::str::from_utf8(bits).unwrap());
        char::from(CHARACTERS[usize::from_str_radix(&bits, 2).unwrap()])
    };
    let text: String = bits.as_bytes().chunks(6).map(six).collect();
    let padding = (4 - text.len() % 4) % 4;
    text + &"=".repeat(padding)
}

/// The parts of a form that say the most: all but what base64 shares with its neighbours.
fn core(form: &str) -> &str {
    let trimmed = form.trim_end_matches([' ', ':', ',', '=']);
    let from = trimmed.char_indices().nth(8).map_or(0, |(at, _)| at);
    let to = trimmed.char_indices().rev().nth(3).map_or(trimmed.len(), |(at, _)| at);
    if from + 4 < to { &trimmed[from..to] } else { form }
}

#[test]
fn a_known_secret_is_removed_in_every_form() {
    for secret in ["sk-Us3r+4f9a/8b7c6d5e4f3a2b1c==", "pa%20ss&wo\"rd<1>'\\x", "a&amp;b%41c+d", "0123456789abcdef"] {
        let secrets = Secrets::new([secret.to_owned()]);
        for (name, form) in forms(secret) {
            for (before, after) in
                [("", ""), ("got ", "\n"), ("\"", "\""), ("%", "%"), ("\\", "\\"), ("&", ";"), ("x", "x")]
            {
                let clean = secrets.scrub(&format!("{before}{form}{after}")).into_owned();
                assert!(clean.contains(REDACTED), "{name} of {secret}: {before}{form}{after}");
                assert!(!clean.contains(core(&form)), "{name} of {secret}: {clean}");
            }
        }
    }
}

#[test]
fn the_decoded_value_of_basic_is_known_too() {
    let secrets = Secrets::new(["Basic YWxpY2U6d29uZGVyLWxhbmQ=".to_owned()]);
    assert_eq!(secrets.scrub("wrong password wonder-land"), format!("wrong password {REDACTED}"));
    assert_eq!(secrets.scrub("alice:wonder-land"), REDACTED);
}

#[test]
fn short_secrets_and_what_only_resembles_one_stay() {
    let secrets = Secrets::new(["abc12".to_owned(), "secret-of-mine".to_owned()]);
    let split: String = "secret-of-mine".chars().map(|one| format!("{one} ")).collect();
    let reversed: String = "secret-of-mine".chars().rev().collect();
    for text in ["abc12", "YWJjMTI=", "6162633132", "secret-of-min", "Secret-Of-Mine", &split, &reversed] {
        assert_eq!(secrets.scrub(text), text);
    }
}

/// What forms a secret is made of, so that random ones meet every rule for escapes.
fn secret() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_+/=.&<>\"'%-]{8,40}".prop_filter("a text that occurs by itself", |secret| {
        let distinct: std::collections::BTreeSet<char> = secret.chars().collect();
        distinct.len() > 5 && !REDACTED.contains(secret.as_str())
    })
}

proptest! {
    #[test]
    fn a_random_secret_is_removed_in_every_form_and_however_it_is_split(
        secret in secret(),
        (before, after) in (text(), text()),
        cuts in proptest::collection::vec(0usize..400, 0..20),
        choice in 0usize..1000,
    ) {
        let (secrets, forms) = (Secrets::new([secret.clone()]), forms(&secret));
        let (name, form) = &forms[choice % forms.len()];
        let text = format!("{before} {form} {after}");
        let whole = secrets.scrub(&text).into_owned();
        prop_assert!(whole.contains(REDACTED), "{} of {}: {}", name, secret, whole);
        prop_assert!(!whole.contains(form.as_str()) && !whole.contains(core(form)), "{} of {}: {}", name, secret, whole);
        let mut scrub = StreamScrub::default();
        let mut shown: String = pieces(&text, cuts).into_iter().map(|piece| scrub.push(&secrets, piece)).collect();
        shown.push_str(&scrub.finish(&secrets));
        prop_assert_eq!(shown, whole);
    }

    #[test]
    fn a_second_time_removes_nothing_more(text in text()) {
        let clean = secrets().scrub(&text).into_owned();
        prop_assert_eq!(secrets().scrub(&clean), clean.as_str());
    }

    #[test]
    fn text_without_secrets_stays(words in proptest::collection::vec("[A-Za-z]{1,12}[,.:;!?]?|[0-9]{1,6}|[&%\\\\#=/]", 0..60)) {
        let text = words.join(" ");
        prop_assert_eq!(secrets().scrub(&text), text.as_str());
    }

    #[test]
    fn pieces_add_up_to_the_redacted_whole(text in text(), cuts in proptest::collection::vec(0usize..400, 0..20)) {
        let pieces = pieces(&text, cuts);
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
        ("", "-----BEGIN PRIVATE KEY-----"),
        ("-----BEGIN PRIVATE KEY-----", "AAAAAAA\n"),
        ("", "password=12"),
        ("", "aHVudGVyMi9nZWhlaW0rO\n"),
        ("", "68 75 6e 74 65 72 32 2f 67 65 68 "),
        ("", "\\\\\\\\"),
        ("", "https://a:b"),
        ("", "eyJhbGciOiJI."),
    ];
    let secrets = secrets();
    for (start, piece) in runs {
        let mut scrub = StreamScrub::default();
        let began = Work::begin();
        let mut shown = scrub.push(&secrets, start);
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
        assert!(most_held < 1000, "{start}{piece}…: {most_held} bytes held");
    }
}
