//! The Test button's view of a tiny run: the sentence in bold, what to do below it, and who answered.

use crate::support::{Step, config, error, play};
use turnwise_engine::*;
use turnwise_view::probe::{Probe, facts, probe_config};

#[test]
fn a_failure_is_one_sentence_and_what_to_do() {
    let says = |message: &str| match Probe::failed(Some("network_error".to_owned()), message) {
        Probe::Failed { slug, title, text } if slug.as_deref() == Some("network_error") => (title, text),
        other => panic!("{other:?}"),
    };
    let own = |title: &str, text: &str| (title.to_owned(), text.to_owned());
    assert_eq!(
        says("Nothing answers at http://127.0.0.1:11434. Start Ollama: `ollama serve`."),
        own("Nothing answers at http://127.0.0.1:11434.", "Start Ollama: `ollama serve`.")
    );
    assert_eq!(says("It must start with https://."), own("It must start with https://.", ""));
    assert_eq!(says("a  message\nwithout an end"), own("a message without an end", ""));
}

#[test]
fn a_failed_attempt_is_told_with_its_first_slug() {
    let record = RecordKind::AttemptFailed {
        attempt: 1,
        slugs: vec![Slug::AuthError, Slug::NoTools],
        message: "The key is wrong. Check it.".into(),
    };
    let expected = Probe::failed(Some("auth_error".to_owned()), "The key is wrong. Check it.");
    assert_eq!(Probe::from_record(&record, 5, || None), Some(expected));
    assert_eq!(Probe::from_record(&RecordKind::TurnStarted { synthesis: false }, 5, || None), None);
}

#[test]
fn a_success_names_the_model_that_answered_and_its_own_figures() {
    let usage =
        |estimated| Some(Usage { input: TokenCount(1_023), output: TokenCount(1), estimated, ..Usage::default() });
    let answered = |model: &str, usage| {
        let reply = Reply { content: "ready".into(), model: model.into(), usage, ..Reply::default() };
        let mut config = probe_config(config(Preset::Research));
        config.providers[0].model = "asked-for".into();
        facts(&play(config, vec![Step::Reply(reply)]).document(), 1_200)
    };
    assert_eq!(answered("qwen3:8b", usage(false)), "qwen3:8b answered after 1.2 s. 1,023 tokens in, 1 out.");
    assert_eq!(answered("qwen3:8b", usage(true)), "qwen3:8b answered after 1.2 s.");
    assert_eq!(answered("", None), "asked-for answered after 1.2 s.");
}

#[test]
fn a_test_is_one_request() {
    let played = play(probe_config(config(Preset::Strict)), vec![Step::Fail(error(Slug::NetworkError, Retry::Yes))]);
    assert_eq!(played.ending().outcome, Outcome::Failed);
    assert_eq!(played.document().events.len(), 1, "one failure and no wait");
}
