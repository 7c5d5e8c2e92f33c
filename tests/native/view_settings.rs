//! Settings: from text to a configuration and back, and every fault named at its field.

use turnwise_engine::*;
use turnwise_view::preview::FilePreview;
use turnwise_view::settings::{ConfigField, Group, ROWS, UserSettings};
use turnwise_view::tasks::EXAMPLES;

fn with(fields: &[(ConfigField, &str)]) -> UserSettings {
    let mut settings = UserSettings::default();
    for (field, value) in fields {
        settings.set(*field, value);
    }
    settings
}

#[test]
fn untouched_settings_are_the_presets_own_configuration() {
    for (preset, key) in
        [(Preset::Research, "research"), (Preset::Orchestrator, "orchestrator"), (Preset::Strict, "strict")]
    {
        let mut built = with(&[(ConfigField::Preset, key)]).build(Vec::new()).expect("valid");
        built.providers[0].demo = None;
        assert_eq!(built, RunConfig::preset(preset));
    }
}

#[test]
fn choosing_a_preset_takes_its_limit_and_its_synthesis_with_it() {
    let settings = with(&[
        (ConfigField::MaxTurns, "99"),
        (ConfigField::SynthesisNumbered, "on"),
        (ConfigField::Preset, "orchestrator"),
    ]);
    let config = settings.build(Vec::new()).expect("valid");
    assert_eq!(config.max_turns, 10);
    assert_eq!(config.synthesis, Some(SynthesisConfig::preset(Preset::Orchestrator)));
}

#[test]
fn every_field_reaches_the_configuration() {
    let settings = with(&[
        (ConfigField::Provider, "openai"),
        (ConfigField::BaseUrl, "http://localhost:11434/v1/"),
        (ConfigField::Model, " qwen3 "),
        (ConfigField::MaxOutputTokens, "512"),
        (ConfigField::MaxTurns, "7"),
        (ConfigField::MaxAttempts, "2"),
        (ConfigField::Temperature, "0.5"),
        (ConfigField::System, "Be brief.\n"),
        (ConfigField::Seed, "42"),
        (ConfigField::ModerateAt, "4"),
        (ConfigField::UrgentAt, "2"),
        (ConfigField::TemplateUrgent, "[{remaining}]"),
        (ConfigField::SynthesisRole, "system"),
        (ConfigField::SynthesisAttempts, "1"),
        (ConfigField::SynthesisOnError, "aggregated_text"),
        (ConfigField::SynthesisPrompt, "Conclude."),
        (ConfigField::WallTime, "90"),
        (ConfigField::Tokens, "200000"),
        (ConfigField::Cost, "0.5"),
        (ConfigField::ContextTokens, "32000"),
        (ConfigField::PriceInput, "3"),
        (ConfigField::PriceOutput, "15"),
        (ConfigField::ToolTimeout, "1.5"),
        (ConfigField::RetryBase, "0.1"),
    ]);
    let config = settings.build(Vec::new()).expect("valid");
    let provider = &config.providers[0];
    assert_eq!(
        (provider.kind, provider.base_url.as_str(), provider.model.as_str()),
        (ProviderKind::Openai, "http://localhost:11434/v1", "qwen3")
    );
    assert_eq!((provider.max_output_tokens, provider.demo), (Some(512), None));
    assert_eq!((config.max_turns, config.max_attempts, config.seed), (7, 2, 42));
    assert_eq!((config.temperature, config.system.as_str()), (Some(0.5), "Be brief.\n"));
    let counter = config.counter.expect("on");
    assert_eq!((counter.moderate_at, counter.urgent_at, counter.templates.urgent.as_str()), (4, 2, "[{remaining}]"));
    let synthesis = config.synthesis.expect("on");
    assert_eq!(
        (synthesis.role, synthesis.attempts, synthesis.on_error),
        (SynthesisRole::System, 1, SynthesisFallback::AggregatedText)
    );
    assert_eq!(synthesis.prompt.as_deref(), Some("Conclude."));
    assert_eq!((config.limits.tool_timeout_ms, config.retry.base_ms), (1_500, 100));
    let limits = config.limits;
    assert_eq!(
        (limits.wall_ms, limits.tokens, limits.cost, limits.context_tokens),
        (Some(90_000), Some(200_000), Some(0.5), Some(32_000))
    );
    assert_eq!(config.providers[0].price, Some(Price { input: 3.0, output: 15.0, cached: 3.0 }));
}

#[test]
fn what_is_wrong_is_named_at_its_field_and_nowhere_else() {
    let rows: &[(&[(ConfigField, &str)], ConfigField)] = &[
        (&[(ConfigField::MaxTurns, "0")], ConfigField::MaxTurns),
        (&[(ConfigField::MaxTurns, "many")], ConfigField::MaxTurns),
        (&[(ConfigField::Temperature, "3")], ConfigField::Temperature),
        (&[(ConfigField::Provider, "openai-compatible")], ConfigField::BaseUrl),
        (&[(ConfigField::Provider, "anthropic"), (ConfigField::Model, " ")], ConfigField::Model),
        (&[(ConfigField::Provider, "openai"), (ConfigField::BaseUrl, "ftp://x")], ConfigField::BaseUrl),
        (
            &[(ConfigField::Provider, "openai"), (ConfigField::BaseUrl, "https://x/v1/chat/completions")],
            ConfigField::BaseUrl,
        ),
        (
            &[(ConfigField::Provider, "anthropic"), (ConfigField::BaseUrl, "https://x/v1/messages")],
            ConfigField::BaseUrl,
        ),
        (&[(ConfigField::Provider, "openai"), (ConfigField::BaseUrl, "https://x/openai?key=1")], ConfigField::BaseUrl),
        (
            &[(ConfigField::Provider, "openai"), (ConfigField::BaseUrl, "https://x/v1/chat/completions?api-version=1")],
            ConfigField::BaseUrl,
        ),
        (&[(ConfigField::ModerateAt, "1")], ConfigField::ModerateAt),
        (&[(ConfigField::RetryBase, "9")], ConfigField::RetryCap),
        (&[(ConfigField::TemplateNormal, " ")], ConfigField::TemplateNormal),
        (&[(ConfigField::Cost, "1")], ConfigField::Cost),
        (&[(ConfigField::WallTime, "0")], ConfigField::WallTime),
        (&[(ConfigField::PriceInput, "-1")], ConfigField::PriceInput),
        (&[(ConfigField::SearchService, "searxng")], ConfigField::SearchAddress),
        (&[(ConfigField::SearchService, "brave"), (ConfigField::SearchAddress, "ftp://x")], ConfigField::SearchAddress),
        (&[(ConfigField::Relay, "https://user:word@relay.example")], ConfigField::Relay),
        (&[(ConfigField::HostsAllowed, "https://docs.example/page")], ConfigField::HostsAllowed),
        (&[(ConfigField::HostsAllowed, "*.docs.example:8443")], ConfigField::HostsAllowed),
        (&[(ConfigField::HostsDenied, "ftp://docs.example")], ConfigField::HostsDenied),
        (
            &[(ConfigField::Preset, "strict"), (ConfigField::ReportFormat, "json"), (ConfigField::ReportSchema, "{")],
            ConfigField::ReportSchema,
        ),
        (
            &[(ConfigField::Preset, "strict"), (ConfigField::ReportFormat, "json"), (ConfigField::ReportSchema, "[]")],
            ConfigField::ReportSchema,
        ),
    ];
    for (fields, expected) in rows {
        let errors = with(fields).build(Vec::new()).expect_err("invalid");
        let named: Vec<ConfigField> = errors.iter().map(|error| error.field).collect();
        assert_eq!(named, [*expected], "{fields:?}: {errors:?}");
        assert!(errors[0].message.ends_with('.'), "a sentence: {}", errors[0].message);
    }
}

#[test]
fn a_strict_run_has_a_report_and_no_synthesis() {
    let schema = r#"{"type":"object","required":["answer"]}"#;
    let fields =
        [(ConfigField::Preset, "strict"), (ConfigField::ReportFormat, "json"), (ConfigField::ReportSchema, schema)];
    let strict = with(&fields);
    let config = strict.build(Vec::new()).expect("valid");
    assert_eq!((config.preset, config.synthesis), (Preset::Strict, None));
    assert_eq!(config.report.format, ReportFormat::Json);
    assert_eq!(config.report.schema, Some(serde_json::from_str(schema).expect("JSON")));
    assert!(strict.group_applies(Group::Report) && !strict.group_applies(Group::Synthesis));
    assert!(!UserSettings::default().group_applies(Group::Report));
    // A preset chosen later brings its own ending.
    let mut back = strict;
    back.set(ConfigField::Preset, "research");
    assert_eq!(back.build(Vec::new()).expect("valid").synthesis, Some(SynthesisConfig::preset(Preset::Research)));
}

#[test]
fn progress_and_batch_are_offered_only_where_the_user_wants_them() {
    let mut settings = UserSettings::default();
    let offered = |settings: &UserSettings| {
        let config = settings.build(turnwise_tools::all()).expect("valid");
        config.tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    // Programs are on in the app.
    assert_eq!(offered(&settings), [turnwise_tools::names(), vec!["run_code"]].concat());
    settings.toggle_tool("batch");
    settings.toggle_tool("now");
    let names = offered(&settings);
    assert!(names.contains(&"batch".to_owned()) && !names.contains(&"now".to_owned()), "{names:?}");
    assert_eq!(UserSettings::from_json(&settings.to_json()), settings);
}

#[test]
fn a_field_that_does_not_apply_cannot_be_wrong() {
    let off =
        with(&[(ConfigField::Counter, "off"), (ConfigField::ModerateAt, "x"), (ConfigField::BaseUrl, "nonsense")]);
    assert_eq!(off.build(Vec::new()).expect("valid").counter, None);
}

#[test]
fn settings_survive_storage_and_unknown_keys_are_dropped() {
    let mut settings = with(&[(ConfigField::MaxTurns, "7"), (ConfigField::System, "a \"quoted\"\nline")]);
    settings.toggle_tool("now");
    assert_eq!(UserSettings::from_json(&settings.to_json()), settings);
    let older = r#"{"max_turns":"7","gone_since":"1"}"#;
    assert_eq!(UserSettings::from_json(older), with(&[(ConfigField::MaxTurns, "7")]));
    assert_eq!(UserSettings::from_json("no json"), UserSettings::default());
}

#[test]
fn every_field_has_one_row_and_a_key_of_its_own() {
    let mut keys: Vec<&str> = ROWS.iter().map(|row| row.key).collect();
    keys.sort_unstable();
    let before = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), before);
    for row in ROWS {
        assert_eq!(ConfigField::of_key(row.key), Some(row.field));
    }
}

#[test]
fn the_preview_counts_the_bound_of_requests() {
    let preview = FilePreview::from(&RunConfig::default());
    assert_eq!(
        (preview.max_turns, preview.calls.as_str()),
        (15, "at most 48"),
        "15 turns of 3 attempts, 3 for the synthesis"
    );
    assert_eq!(preview.meter.ticks.len(), 16);
    assert_eq!(preview.legend.len(), 4);
}

#[test]
fn the_examples_show_different_things_and_change_only_the_demo_model() {
    let titles: std::collections::BTreeSet<&str> = EXAMPLES.iter().map(|example| example.title).collect();
    assert_eq!(titles.len(), EXAMPLES.len());
    for example in EXAMPLES {
        let mut config = with(&[(ConfigField::Provider, "openai"), (ConfigField::BaseUrl, "http://localhost:1/v1")])
            .build(Vec::new())
            .expect("valid");
        example.apply(&mut config);
        assert_eq!(config.providers[0].demo, None, "{}", example.title);
        let mut demo = RunConfig::default();
        example.apply(&mut demo);
        assert_eq!(demo.providers[0].demo, Some(example.demo));
        let mut chaos = with(&[(ConfigField::Provider, "demo-chaos")]).build(Vec::new()).expect("valid");
        assert_eq!(turnwise_view::provider::facts(&chaos), ["Demo: flaky server"]);
        example.apply(&mut chaos);
        assert_eq!(chaos.providers[0].demo, Some(DemoMode::Chaos), "who chose it wants to see it");
    }
}

#[test]
fn changes_to_files_ask_only_if_the_user_wants_it() {
    use turnwise_engine::{PermissionRule, RunConfig};
    let rule = |config: &RunConfig| config.permissions.as_ref().and_then(|rules| rules.workspace);
    assert_eq!(rule(&UserSettings::default().build(Vec::new()).expect("valid")), None);
    let asks = with(&[(ConfigField::FileChanges, "ask")]);
    assert_eq!(rule(&asks.build(Vec::new()).expect("valid")), Some(PermissionRule::Ask));
    assert_eq!(UserSettings::from_json(&asks.to_json()), asks);
}

#[test]
fn the_version_of_an_azure_address_stays() {
    let azure = "https://a.openai.azure.com/openai/deployments/d?api-version=2024-10-21";
    let settings =
        with(&[(ConfigField::Provider, "openai-compatible"), (ConfigField::BaseUrl, azure), (ConfigField::Model, "m")]);
    assert_eq!(settings.build(Vec::new()).expect("valid").providers[0].base_url, azure);
}

#[test]
fn an_address_that_is_not_valid_is_not_shown_as_another_one() {
    let with_password = ["https://alice:geheim@host/v1", "http:/\\alice:geheim@host", "https://geheim@host\\x"];
    for (address, shown) in
        [("", "not set yet"), ("models", "not valid")].into_iter().chain(with_password.map(|one| (one, "not valid")))
    {
        let settings = with(&[(ConfigField::Provider, "openai-compatible"), (ConfigField::BaseUrl, address)]);
        let (draft, errors) = settings.draft(Vec::new());
        let error = errors.iter().find(|error| error.field == ConfigField::BaseUrl).expect(address);
        assert!(!format!("{error:?} {:?}", FilePreview::from(&draft).model).contains("geheim"), "{address}");
        assert!(FilePreview::from(&draft).model.contains(shown), "{}", FilePreview::from(&draft).model);
    }
}
