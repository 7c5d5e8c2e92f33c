//! Known facts about models: the table, and the providers' own lists.

use turnwise_engine::*;
use turnwise_llm::models::{complete, read_list, table_row};

const TABLE: &str = include_str!("../../crates/llm/src/models/table.csv");

#[test]
fn every_row_of_the_table_is_whole() {
    let mut names = Vec::new();
    for line in TABLE.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let [vendor, model, window, input, output, cached, images] = cells.as_slice() else { panic!("{line}") };
        let kind = ProviderKind::ALL.iter().copied().find(|kind| kind.as_str() == *vendor).expect(line);
        let found = table_row(kind, model).expect(line);
        assert_eq!(found.context_tokens, window.parse::<u64>().expect(line));
        assert_eq!(found.price.input, input.parse::<f64>().expect(line));
        assert_eq!(found.price.output, output.parse::<f64>().expect(line));
        assert_eq!(found.price.cached, cached.parse().unwrap_or(found.price.input), "{line}");
        assert!(found.price.cached <= found.price.input && found.price.input <= found.price.output, "{line}");
        assert_eq!(found.images, *images == "yes");
        names.push((*vendor, *model));
    }
    let rows = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(rows == names.len() && rows > 60, "{rows} rows, each model once");
}

#[test]
fn a_dated_version_is_its_model_and_anything_else_is_unknown() {
    let haiku = table_row(ProviderKind::Anthropic, "claude-haiku-4-5").unwrap();
    assert_eq!(table_row(ProviderKind::Anthropic, "claude-haiku-4-5-20251001"), Some(haiku));
    assert_eq!(table_row(ProviderKind::Openrouter, "anthropic/claude-haiku-4.5"), Some(haiku));
    let gpt = table_row(ProviderKind::Openai, "gpt-5.5").unwrap();
    assert_eq!(table_row(ProviderKind::OpenaiResponses, " gpt-5.5-2026-04-23 "), Some(gpt));
    assert_eq!(table_row(ProviderKind::Gemini, "models/gemini-2.5-pro").unwrap().price.output, 10.0);
    assert_eq!(table_row(ProviderKind::Openrouter, "google/gemini-2.5-pro").unwrap().price.output, 10.0);
    for unknown in ["", "gpt", "gpt-5.5-preview", "gpt-5.5-2026-04", "gpt-5.5,", "claude-haiku-4-5"] {
        assert_eq!(table_row(ProviderKind::Openai, unknown), None, "{unknown}");
    }
    assert_eq!(table_row(ProviderKind::Ollama, "gpt-5.5"), None, "a local server calls its models as it likes");
}

#[test]
fn a_configuration_is_completed_where_the_user_left_it_open() {
    let of = |kind, model: &str, base_url: &str| ProviderConfig {
        kind,
        model: model.into(),
        base_url: base_url.into(),
        ..ProviderConfig::default()
    };
    let mut config = RunConfig {
        providers: vec![of(ProviderKind::Openai, "gpt-5", ""), of(ProviderKind::Anthropic, "claude-sonnet-4-5", "")],
        ..RunConfig::default()
    };
    complete(&mut config);
    assert_eq!(config.providers[0].price, Some(Price { input: 1.25, output: 10.0, cached: 0.125 }));
    assert_eq!(config.limits.context_tokens, Some(200_000), "the smallest window");

    let own = Price { input: 7.0, output: 7.0, cached: 7.0 };
    let mut config = RunConfig {
        providers: vec![
            ProviderConfig { price: Some(own), ..of(ProviderKind::Openai, "gpt-5", "https://api.openai.com/v1/") },
            of(ProviderKind::Openai, "gpt-5", "http://localhost:9/v1"),
        ],
        ..RunConfig::default()
    };
    complete(&mut config);
    assert_eq!(config.providers[0].price, Some(own), "the user's own price stays");
    assert_eq!(config.providers[1].price, None, "another server's models may cost anything");
    assert_eq!(config.limits.context_tokens, None, "one window is unknown");
}

#[test]
fn lists_are_read_in_the_shapes_the_providers_have() {
    let read = |kind, text: &str| read_list(kind, text).unwrap();
    let ids = |kind, text: &str| read(kind, text).into_iter().map(|model| model.id).collect::<Vec<_>>();
    assert_eq!(
        ids(
            ProviderKind::Openai,
            r#"{"object":"list","data":[{"id":"gpt-5"},{"id":"text-embedding-3-small"},{"id":"gpt-4.1"},{"id":"gpt-5"},{"id":""}]}"#
        ),
        ["gpt-4.1", "gpt-5"]
    );
    let claude = read(
        ProviderKind::Anthropic,
        r#"{"data":[{"type":"model","id":"claude-sonnet-4-5-20250929","display_name":"Claude Sonnet 4.5","created_at":"2025-09-29T00:00:00Z"}],"has_more":false}"#,
    );
    assert_eq!((claude[0].name.as_str(), claude[0].context_tokens), ("Claude Sonnet 4.5", Some(200_000)));
    let gemini = read(
        ProviderKind::Gemini,
        r#"{"models":[{"name":"models/gemini-2.5-pro","displayName":"Gemini 2.5 Pro","inputTokenLimit":1048576,"supportedGenerationMethods":["generateContent"]},{"name":"models/gemini-embedding-001","supportedGenerationMethods":["embedContent"]}]}"#,
    );
    assert_eq!((gemini.len(), gemini[0].id.as_str(), gemini[0].context_tokens), (1, "gemini-2.5-pro", Some(1_048_576)));
    let router = read(
        ProviderKind::Openrouter,
        r#"{"data":[{"id":"a/b","name":"A: B","context_length":32768,"pricing":{"prompt":"0.0000008","completion":"0.000004"},"architecture":{"input_modalities":["text","image"]}},{"id":"auto","name":"Auto","pricing":{"prompt":"-1","completion":"-1"}}]}"#,
    );
    assert_eq!(router[0].price, Some(Price { input: 0.8, output: 4.0, cached: 0.8 }));
    assert_eq!((router[0].name.as_str(), router[0].images), ("A: B", Some(true)));
    assert_eq!((router[1].price, router[1].images), (None, None));
    let llama = read(ProviderKind::Llamacpp, r#"{"data":[{"id":"m.gguf","meta":{"n_ctx":4096}}]}"#);
    assert_eq!(llama[0].context_tokens, Some(4096));
    for wrong in ["", "<html>", "{}", "{\"error\":{\"message\":\"no\"}}", "7"] {
        assert!(read_list(ProviderKind::Openai, wrong).is_err(), "{wrong}");
    }
}
