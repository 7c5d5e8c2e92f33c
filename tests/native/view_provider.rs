//! Providers as people choose them: each with its own address and model, known model facts, old settings.

use std::sync::Arc;

use turnwise_engine::*;
use turnwise_llm::models::{ModelInfo, table_row};
use turnwise_view::models::{By, KnownModel, options, price_words};
use turnwise_view::provider::{COMPATIBLE, DEMOS, Need, ProviderGroup, cards, name, needs_key, provider_card};
use turnwise_view::settings::{ConfigField, UserSettings};

fn with(fields: &[(ConfigField, &str)]) -> UserSettings {
    let mut settings = UserSettings::default();
    for (field, value) in fields {
        settings.set(*field, value);
    }
    settings
}

fn info(id: &str, name: &str) -> ModelInfo {
    ModelInfo { id: id.into(), name: name.into(), context_tokens: None, price: None, images: None }
}

#[test]
fn a_key_is_needed_at_a_providers_own_address() {
    let needs =
        |kind, base_url: &str| needs_key(&ProviderConfig { kind, base_url: base_url.into(), ..Default::default() });
    assert_eq!(needs(ProviderKind::Openai, ""), Some("OpenAI"));
    assert_eq!(needs(ProviderKind::Openai, "https://api.openai.com/v1/"), Some("OpenAI"), "its own, written out");
    assert_eq!(needs(ProviderKind::Openai, "http://127.0.0.1:8080/v1"), None, "another server may want none");
    for kind in [ProviderKind::Ollama, ProviderKind::PromptApi, ProviderKind::Demo, ProviderKind::Custom] {
        assert_eq!(needs(kind, ""), None, "{kind:?}");
    }
}

#[test]
fn every_kind_a_browser_can_reach_is_offered_once() {
    for kind in ProviderKind::ALL {
        let ids: Vec<&str> = cards().filter(|card| card.kind == *kind).map(|card| card.id).collect();
        match kind {
            // A function of a page needs JavaScript; the demo's modes are offered separately.
            ProviderKind::Demo | ProviderKind::Custom => assert!(ids.is_empty(), "{ids:?}"),
            ProviderKind::Openai => assert_eq!(ids, ["openai", COMPATIBLE]),
            _ => assert_eq!(ids, [kind.as_str()]),
        }
    }
    let demos: Vec<&str> = DEMOS.iter().map(|(_, words)| *words).collect();
    assert_eq!(demos, ["Demo (no AI)", "Demo: hits the limit", "Demo: flaky server"]);
    for card in cards() {
        assert!(card.hint.len() > 20 && !card.name.is_empty() && card.name.len() < 20, "fits its card");
        assert_eq!(card.key == Need::Needed, !card.keys_at.is_empty(), "{}", card.id);
    }
    assert!(ProviderGroup::ALL.iter().all(|place| cards().any(|card| card.place == *place)));
}

#[test]
fn every_provider_works_as_it_is_but_for_a_key() {
    for card in cards().filter(|card| card.id != COMPATIBLE) {
        let config = with(&[(ConfigField::Provider, card.id)]).build(Vec::new()).expect(card.id);
        let provider = &config.providers[0];
        assert_eq!((provider.kind, provider.base_url.as_str(), provider.demo), (card.kind, "", None));
        assert_eq!(provider.model, card.model);
    }
}

#[test]
fn a_likely_model_of_the_cloud_is_in_the_table_with_its_price() {
    for card in cards().filter(|card| card.place == ProviderGroup::Cloud) {
        let known = table_row(card.kind, card.model).expect(card.model);
        let config = with(&[(ConfigField::Provider, card.id)]).build(Vec::new()).expect("valid");
        assert_eq!(config.providers[0].price, Some(known.price), "{}", card.id);
        assert_eq!(config.limits.context_tokens, Some(known.context_tokens));
    }
}

#[test]
fn what_belongs_to_one_provider_does_not_go_with_the_next_and_comes_back() {
    let mut settings = with(&[
        (ConfigField::Provider, "ollama"),
        (ConfigField::BaseUrl, "http://127.0.0.1:9999/v1"),
        (ConfigField::Model, "mine"),
        (ConfigField::ContextTokens, "4096"),
        (ConfigField::PriceInput, "1"),
        (ConfigField::MaxTurns, "7"),
    ]);
    settings.set(ConfigField::Provider, "anthropic");
    let config = settings.build(Vec::new()).expect("valid");
    assert_eq!((config.providers[0].base_url.as_str(), config.providers[0].model.as_str()), ("", "claude-sonnet-5"));
    assert_ne!(config.limits.context_tokens, Some(4096));
    assert_eq!(config.max_turns, 7, "a setting of the run stays");
    settings.set(ConfigField::Model, "claude-opus-5");
    settings.set(ConfigField::Provider, "ollama");
    assert_eq!(settings.value(ConfigField::Model), "mine");
    assert_eq!(settings.value(ConfigField::BaseUrl), "http://127.0.0.1:9999/v1");
    assert_eq!(settings.value(ConfigField::ContextTokens), "4096");
    settings.set(ConfigField::Provider, "demo-endless");
    settings.set(ConfigField::Provider, "anthropic");
    assert_eq!(settings.value(ConfigField::Model), "claude-opus-5");
    assert_eq!(settings.value(ConfigField::BaseUrl), "");
}

#[test]
fn an_address_of_the_users_own_is_kept_apart_from_openai() {
    let own = with(&[(ConfigField::Provider, COMPATIBLE), (ConfigField::BaseUrl, "https://gateway.example/v1")]);
    let config = own.build(Vec::new()).expect("valid");
    assert_eq!((config.providers[0].kind, config.providers[0].price), (ProviderKind::Openai, None));
    assert_eq!(own.address().as_deref(), Some("https://gateway.example/v1"));
    assert_eq!(with(&[(ConfigField::Provider, "openai")]).address().as_deref(), Some("https://api.openai.com/v1"));
    for (typed, address) in
        [("gateway.example/v1/", "https://gateway.example/v1"), ("localhost:1234/v1", "http://localhost:1234/v1")]
    {
        let own = with(&[(ConfigField::Provider, COMPATIBLE), (ConfigField::BaseUrl, typed)]);
        assert_eq!(own.address().as_deref(), Some(address), "the scheme was left out");
        assert_eq!(own.build(Vec::new()).expect("valid").providers[0].base_url, address);
    }
    // The same model elsewhere may cost anything.
    let elsewhere = with(&[(ConfigField::Provider, "openai"), (ConfigField::BaseUrl, "https://gateway.example/v1")]);
    assert_eq!(elsewhere.build(Vec::new()).expect("valid").providers[0].price, None);
}

#[test]
fn while_an_address_is_missing_or_wrong_no_key_is_for_anything() {
    let missing = with(&[(ConfigField::Provider, COMPATIBLE)]);
    assert_eq!(missing.address(), None);
    assert_eq!(name(&missing.draft(Vec::new()).0.providers[0]), "model at an address that is not set yet");
    for wrong in ["gateway", "https://", "ftp://gateway.example/v1", "https://gateway.example/v1?key=1"] {
        assert_eq!(
            with(&[(ConfigField::Provider, "openai"), (ConfigField::BaseUrl, wrong)]).address(),
            None,
            "{wrong}"
        );
    }
    assert_eq!(missing.known(), None);
}

#[test]
fn what_the_user_types_goes_before_what_is_known() {
    let fields =
        [(ConfigField::Provider, "anthropic"), (ConfigField::ContextTokens, "50000"), (ConfigField::PriceOutput, "7")];
    let config = with(&fields).build(Vec::new()).expect("valid");
    let listed = table_row(ProviderKind::Anthropic, "claude-sonnet-5").expect("known").price;
    assert_eq!(config.limits.context_tokens, Some(50_000));
    assert_eq!(config.providers[0].price, Some(Price { output: 7.0, ..listed }));
    // A cost limit needs a price, and a known price is enough.
    let limited = with(&[(ConfigField::Provider, "anthropic"), (ConfigField::Cost, "1")]);
    assert!(limited.build(Vec::new()).is_ok());
}

#[test]
fn what_a_provider_says_of_its_models_goes_before_the_table() {
    let mut settings = with(&[(ConfigField::Provider, "openrouter"), (ConfigField::Model, "vendor/new")]);
    assert_eq!(settings.known(), None);
    let price = Price { input: 0.5, output: 2.0, cached: 0.1 };
    let listed = ModelInfo { context_tokens: Some(64_000), price: Some(price), ..info("vendor/new", "New") };
    settings.hear(settings.whose(), Arc::from([listed]));
    assert_eq!(settings.known().map(|known| known.by), Some(By::Provider));
    let config = settings.build(Vec::new()).expect("valid");
    assert_eq!((config.providers[0].price, config.limits.context_tokens), (Some(price), Some(64_000)));
    settings.set(ConfigField::Provider, "ollama");
    assert!(settings.models().is_none(), "a list is its provider's");
    settings.set(ConfigField::Provider, "openrouter");
    assert!(settings.models().is_some());
}

#[test]
fn settings_of_the_version_before_go_to_the_kind_their_address_is_of() {
    let rows = [
        ("https://api.openai.com/v1", "openai", ""),
        ("https://openrouter.ai/api/v1/", "openrouter", ""),
        ("http://localhost:11434/v1", "ollama", ""),
        ("http://127.0.0.1:11434/v1", "ollama", "http://127.0.0.1:11434/v1"),
        ("http://localhost:1234/v1", "lmstudio", ""),
        ("http://localhost:8080/v1", "llamacpp", ""),
        ("https://gateway.example/v1", COMPATIBLE, "https://gateway.example/v1"),
    ];
    for (stored, id, base_url) in rows {
        let old = format!(r#"{{"provider":"openai","base_url":"{stored}","model":"m","max_turns":"7"}}"#);
        let settings = UserSettings::from_json(&old);
        assert_eq!(settings.value(ConfigField::Provider), id, "{stored}");
        assert_eq!(settings.value(ConfigField::BaseUrl).trim_end_matches('/'), base_url, "{stored}");
        assert_eq!(
            (settings.value(ConfigField::Model), settings.value(ConfigField::MaxTurns)),
            ("m".into(), "7".into())
        );
        assert_eq!(UserSettings::from_json(&settings.to_json()), settings, "only once");
    }
    let endless = UserSettings::from_json(r#"{"provider":"demo-endless"}"#);
    assert_eq!(endless.value(ConfigField::Provider), "demo-endless");
    // OpenAI with a custom address, as it can be chosen today, stays as it is.
    let now = with(&[(ConfigField::Provider, "openai"), (ConfigField::BaseUrl, "http://localhost:11434/v1")]);
    assert_eq!(UserSettings::from_json(&now.to_json()), now);
    assert_eq!(
        UserSettings::from_json(r#"{"provider":"gone"}"#).build(Vec::new()).expect("valid").providers[0].kind,
        ProviderKind::Demo
    );
}

#[test]
fn a_run_names_its_model_and_where_it_answers() {
    let of = |kind: ProviderKind, base_url: &str, model: &str| {
        name(&ProviderConfig { kind, base_url: base_url.into(), model: model.into(), ..Default::default() })
    };
    let rows = [
        (of(ProviderKind::Anthropic, "", "claude-sonnet-5"), "claude-sonnet-5 at api.anthropic.com"),
        (of(ProviderKind::Gemini, "", "gemini-pro"), "gemini-pro at generativelanguage.googleapis.com"),
        (of(ProviderKind::OpenaiResponses, "", "o3"), "o3 at api.openai.com"),
        (of(ProviderKind::Openrouter, "", "a/b"), "a/b at openrouter.ai"),
        (of(ProviderKind::Llamacpp, "", ""), "model at localhost:8080"),
        (of(ProviderKind::Openai, "https://x.example:8443/v1", "m"), "m at x.example:8443"),
        (of(ProviderKind::Openai, "/llm/v1", ""), "model at /llm/v1"),
        (of(ProviderKind::PromptApi, "", ""), "Chrome's built-in model"),
        (of(ProviderKind::Custom, "", "local"), "local, supplied by the page"),
        (of(ProviderKind::Demo, "", ""), "Demo (no AI)"),
    ];
    for (said, expected) in rows {
        assert_eq!(said, expected);
    }
}

#[test]
fn what_is_known_of_a_model_is_said_in_one_line_with_its_date() {
    let price = Price { input: 3.0, output: 15.0, cached: 0.3 };
    let known = KnownModel { context_tokens: Some(200_000), price: Some(price), images: Some(true), by: By::Table };
    let date = turnwise_llm::models::AS_OF;
    assert_eq!(
        known.description(),
        format!("200 K tokens of context · $3 in / $15 out per million tokens (as of {date}) · accepts pictures")
    );
    let small = KnownModel { context_tokens: Some(8_192), price: None, images: Some(false), by: By::Provider };
    assert_eq!(small.description(), "8,192 tokens of context · no pictures");
    let cheap = Price { input: 0.075, output: 0.3, cached: 0.0 };
    let listed = KnownModel { context_tokens: Some(1_048_576), price: Some(cheap), images: None, by: By::Provider };
    assert_eq!(
        listed.description(),
        "1.05 M tokens of context · $0.075 in / $0.30 out per million tokens (as listed now)"
    );
    let free = KnownModel { context_tokens: None, price: Some(Price::default()), images: None, by: By::Provider };
    assert_eq!(free.description(), "free of charge");
    let provider = with(&[(ConfigField::Provider, "anthropic")]).build(Vec::new()).expect("valid").providers[0].clone();
    assert!(price_words(&provider).expect("known").ends_with(&format!("the list price as of {date}")));
    let own = ProviderConfig { price: Some(price), kind: ProviderKind::Ollama, ..provider };
    assert_eq!(price_words(&own).as_deref(), Some("$3 in / $15 out per million tokens"));
}

#[test]
fn typing_narrows_a_list_and_what_begins_that_way_stands_first() {
    let mut models: Vec<ModelInfo> = (0..100).map(|n| info(&format!("vendor/filler-{n}"), "")).collect();
    models.push(info("acme/not-gpt", "Acme"));
    models.push(info("openai/gpt-9", "GPT Nine"));
    let ids = |typed: &str| options(&models, typed).0.into_iter().map(|option| option.id).collect::<Vec<_>>();
    assert_eq!(ids("gpt"), ["openai/gpt-9", "acme/not-gpt"]);
    assert_eq!(ids("NINE openai"), ["openai/gpt-9"]);
    assert_eq!(ids("none such"), Vec::<String>::new());
    let (all, more) = options(&models, "");
    assert_eq!((all.len(), more), (80, 22));
    assert_eq!(options(&models, "nine").0[0].name.as_deref(), Some("GPT Nine"));
    assert_eq!(provider_card("demo"), None);
}
