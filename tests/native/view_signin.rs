//! Signing in, images and the built-in model: what is sent, and what is shown.

use turnwise_engine::Image;
use turnwise_files::base64::base64;
use turnwise_view::built_in::BuiltIn;
use turnwise_view::models::{By, KnownModel, picture_note};
use turnwise_view::picture::{LONG_SIDE, PictureView, fit, is_picture};
use turnwise_view::signin::{Back, auth_url, back, challenge, exchange, is_ours, key_of, verifier};

fn parameters(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_challenge_is_that_of_the_standards_own_example() {
    // RFC 7636, appendix B.
    let octets = [
        116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191,
        240, 91, 88, 5, 88, 83, 132, 141, 121,
    ];
    let verifier = verifier(&octets);
    assert_eq!(verifier, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    assert_eq!(challenge(&verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

#[test]
fn the_sign_in_page_gets_the_callback_whole_and_never_the_verifier() {
    let url = auth_url("https://a.example/x/?y=1&z", "secret-verifier");
    assert!(
        url.starts_with("https://openrouter.ai/auth?callback_url=https%3A%2F%2Fa.example%2Fx%2F%3Fy%3D1%26z&"),
        "{url}"
    );
    assert!(url.ends_with("&code_challenge_method=S256") && !url.contains("secret-verifier"), "{url}");
    let body: serde_json::Value = serde_json::from_str(&exchange("c\"1", "v")).unwrap();
    assert_eq!(body, serde_json::json!({ "code": "c\"1", "code_verifier": "v", "code_challenge_method": "S256" }));
}

#[test]
fn what_the_address_says_is_a_code_a_refusal_or_nothing_of_ours() {
    assert_eq!(back(&parameters(&[("a", "1"), ("code", "x")])), Some(Back::Code("x".into())));
    assert_eq!(back(&parameters(&[("code", "")])), None);
    assert_eq!(back(&parameters(&[("tab", "2")])), None);
    for (error, said) in [("access_denied", "access was denied"), ("server_error", "server_error")] {
        match back(&parameters(&[("error", error), ("code", "x")])) {
            Some(Back::Refused(words)) => assert!(words.contains(said), "{words}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(is_ours("code") && is_ours("error_description") && !is_ours("tab"));
}

#[test]
fn an_answer_without_a_key_says_what_to_do_and_quotes_nothing() {
    assert_eq!(key_of(200, r#"{"key":"sk-or-1","user_id":"u"}"#), Ok("sk-or-1".to_owned()));
    for (status, body, said) in [
        (403, r#"{"error":{"message":"Invalid code SENT"}}"#, "expired or was used before"),
        (400, "SENT", "expired or was used before"),
        (429, "SENT", "limits how often"),
        (502, "<html>SENT", "HTTP 502"),
        (200, r#"{"key":""}"#, "contained no key"),
        (200, "SENT", "contained no key"),
    ] {
        let words = key_of(status, body).expect_err("no key");
        assert!(words.contains(said) && words.ends_with('.') && !words.contains("SENT"), "{status}: {words}");
    }
}

#[test]
fn pictures_keep_their_shape_and_fit() {
    assert_eq!(fit(800, 600), (800, 600));
    assert_eq!(fit(LONG_SIDE, 1), (LONG_SIDE, 1));
    assert_eq!(fit(3_136, 1_568), (1_568, 784));
    assert_eq!(fit(1_000, 4_000), (392, 1_568));
    assert_eq!(fit(40_000, 1), (1_568, 1), "never nothing");
    assert!(
        is_picture("image/webp") && !is_picture("image/svg+xml") && !is_picture("application/pdf") && !is_picture("")
    );
}

#[test]
fn base64_is_that_of_the_standard() {
    for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
        assert_eq!(base64(bytes.as_bytes()), text);
    }
    assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
}

#[test]
fn a_records_pictures_are_counted_and_carry_themselves() {
    let image = |data: &str| Image { media_type: "image/png".into(), data: data.into() };
    let shown = PictureView::list(&[image("AA=="), image("BB==")]);
    assert_eq!(
        shown.iter().map(|picture| picture.alt.as_str()).collect::<Vec<_>>(),
        ["Picture 1 of 2", "Picture 2 of 2"]
    );
    assert_eq!(shown[1].src(), "data:image/png;base64,BB==");
    assert_eq!(PictureView::list(&[image("AA==")])[0].alt, "The task's picture");
    let pdf = || Image { media_type: "application/pdf".into(), data: "JVBERg==".into() };
    assert_eq!(PictureView::list(&[image("AA=="), pdf()])[1].alt, "PDF 2 of 2");
    assert_eq!(PictureView::list(&[pdf()])[0].alt, "The task's PDF");
}

#[test]
fn a_model_that_takes_no_pictures_is_named_only_where_that_is_known() {
    let known = |images| Some(KnownModel { context_tokens: None, price: None, images, by: By::Table });
    assert!(picture_note(known(Some(false)), false).is_some());
    assert!(picture_note(None, true).is_some_and(|words| words.contains("script")));
    for quiet in [known(Some(true)), known(None), None] {
        assert_eq!(picture_note(quiet, false), None);
    }
}

#[test]
fn the_built_in_model_says_where_it_stands_and_what_to_do_only_where_something_is() {
    let states = [
        (BuiltIn::Unknown, "", 0),
        (BuiltIn::Unsupported, "failed", 2),
        (BuiltIn::Unavailable, "failed", 2),
        (BuiltIn::Downloadable, "", 0),
        (BuiltIn::Downloading(Some(42)), "", 0),
        (BuiltIn::Downloading(None), "", 0),
        (BuiltIn::Available, "ok", 0),
    ];
    for (of, state, advice) in states {
        assert_eq!((of.state(), of.advice().len()), (state, advice), "{of:?}");
        assert!(of.message().ends_with('.'));
    }
    assert!(BuiltIn::Downloading(Some(42)).message().contains("42 %"));
}
