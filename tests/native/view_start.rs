//! The start page, the list of runs and the task box: their texts and limits.

use turnwise_engine::{EpochMillis, ProviderConfig, ProviderKind};
use turnwise_llm::{RetryHeaders, classify_keyless_response};
use turnwise_view::picture::is_long;
use turnwise_view::provider::{key_needed, needs_network};
use turnwise_view::rail::{Period, clock, greeting};
use turnwise_view::settings::{ConfigField, UserSettings};
use turnwise_view::turn::calling;

const HOUR: u64 = 3_600_000;
/// 2026-11-26, 12:00 UTC.
const NOON: u64 = 1_795_694_400_000;

#[test]
fn the_greeting_and_the_times_are_those_of_the_users_clock() {
    assert_eq!(greeting(NOON, 0), "Good afternoon");
    assert_eq!(greeting(NOON - HOUR, 0), "Good morning");
    assert_eq!(greeting(NOON, 8 * HOUR as i64), "Good evening");
    assert_eq!(greeting(NOON, 16 * HOUR as i64), "Good evening", "04:00");
    assert_eq!(clock(NOON + 123_000, -(2 * HOUR as i64)), "10:02");
}

#[test]
fn a_period_is_counted_in_whole_days() {
    let held = |hours_ago: u64| Period::ALL.map(|period| period.holds(NOON - hours_ago * HOUR, NOON, 0));
    assert_eq!(held(12), [true; 4]);
    assert_eq!(held(13), [true, false, true, true], "yesterday, 23:00");
    assert_eq!(held(6 * 24 + 12), [true, false, true, true]);
    assert_eq!(held(6 * 24 + 13), [true, false, false, true]);
    assert_eq!(held(30 * 24), [true, false, false, false]);
    assert!(Period::Today.holds(NOON + HOUR, NOON, 0), "another clock was ahead");
}

#[test]
fn a_wait_for_the_model_is_told_in_seconds() {
    assert_eq!(calling("Waiting for the model", 2_999, false), "Waiting for the model");
    assert_eq!(calling("Waiting for the model", 3_000, false), "Waiting for the model, 3 s");
    assert_eq!(calling("Waiting for the model", 20_400, false), "Waiting for the model, 20 s. It may be loading");
    assert_eq!(calling("Waiting for the model", 20_400, true), "Offline: goes on when the connection is back");
}

fn provider(kind: ProviderKind, base_url: &str, model: &str) -> ProviderConfig {
    ProviderConfig { kind, base_url: base_url.into(), model: model.into(), ..ProviderConfig::default() }
}

#[test]
fn only_what_leaves_this_machine_waits_for_the_network() {
    assert!(needs_network(&provider(ProviderKind::Openai, "", "m")));
    assert!(needs_network(&provider(ProviderKind::Openai, "http://192.168.1.4:8000/v1", "m")));
    assert!(!needs_network(&provider(ProviderKind::Ollama, "", "m")));
    assert!(!needs_network(&provider(ProviderKind::Openai, "http://127.0.0.1:8000/v1", "m")));
    assert!(!needs_network(&provider(ProviderKind::Demo, "", "")));
    assert_eq!(key_needed(&provider(ProviderKind::Openai, "", "gpt-5.4-mini")), "gpt-5.4-mini \u{b7} key needed");
}

#[test]
fn a_server_that_got_no_key_did_not_refuse_one() {
    let p = provider(ProviderKind::Openai, "https://models.example/v1", "m");
    let error = classify_keyless_response(&p, 401, &RetryHeaders::default(), "application/json", "", EpochMillis(0));
    assert_eq!(error.message, "models.example wants a key, and none was sent (401). Enter the key for this address.");
}

#[test]
fn a_pasted_text_of_more_than_4000_characters_is_long() {
    assert!(!is_long(&"\u{e4}".repeat(4_000)));
    assert!(is_long(&"\u{e4}".repeat(4_001)));
}

#[test]
fn an_address_is_completed_only_where_its_scheme_is_missing() {
    let whole = |typed: &str| {
        let mut settings = UserSettings::default();
        settings.set(ConfigField::Provider, "openai-compatible");
        settings.set(ConfigField::BaseUrl, typed);
        (settings.whole_address(), settings.names_no_model())
    };
    assert_eq!(whole("localhost:8000/v1"), (Some("http://localhost:8000/v1".into()), true));
    assert_eq!(whole("models.example.org/v1"), (Some("https://models.example.org/v1".into()), true));
    assert_eq!(whole("http://localhost:8000/v1").0, None);
    assert_eq!((whole("").0, whole("no address").0), (None, None));
}
