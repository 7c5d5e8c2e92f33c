//! The options of `new Agent(options)`: one function an object, one line an option. What each one means is in
//! `types.d.ts`; where it is not given, the preset decides.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::prelude::*;

use super::error::{describe, type_error};
use super::reader::{Reader, set};
use crate::engine::*;
use crate::shell::{Access, SessionOptions, random_seed};
use crate::tools;
use crate::worker::Workspace;

const TOP: &[&str] = &[
    "preset",
    "provider",
    "system",
    "temperature",
    "maxTurns",
    "maxAttempts",
    "counter",
    "synthesis",
    "report",
    "tools",
    "agents",
    "limits",
    "retry",
    "seed",
    "workerUrl",
];

#[wasm_bindgen]
extern "C" {
    /// The address of this module.
    #[wasm_bindgen(thread_local_v2, js_namespace = ["import", "meta"], js_name = url)]
    static MODULE_URL: JsValue;
}

/// Reads them all, or throws at the first that is wrong.
pub(super) fn read(options: &JsValue) -> Result<SessionOptions, JsValue> {
    let options = Reader::open_optional("options", options, TOP, &[])?;
    let presets: Vec<(&'static str, Preset)> = Preset::ALL.iter().map(|preset| (preset.as_str(), *preset)).collect();
    let mut config = RunConfig::preset(options.word("preset", &presets, &[])?.unwrap_or_default());
    let mut access = vec![Access::default()];
    if let Some(value) = options.get("provider") {
        (config.providers, access) = providers(&value)?;
    }
    set(&mut config.system, options.text("system")?);
    config.temperature = options.number("temperature")?;
    set(&mut config.max_turns, options.whole("maxTurns", 1)?);
    set(&mut config.max_attempts, options.whole("maxAttempts", 1)?);
    counter(&options, &mut config)?;
    synthesis(&options, &mut config)?;
    report(&options, &mut config)?;
    config.tools = match options.get("tools") {
        None => tools::safe_set(),
        Some(value) => built_in_tools(&options, &value)?,
    };
    config.agents = agents(&options)?;
    limits(&options, &mut config.limits)?;
    retry(&options, &mut config.retry)?;
    config.seed = options.whole("seed", 0)?.unwrap_or_else(random_seed);
    let worker_url = match options.get("workerUrl") {
        None => beside_module("worker.js"),
        Some(url) if url.is_instance_of::<web_sys::Url>() => url.unchecked_into::<web_sys::Url>().href(),
        Some(url) => url.as_string().ok_or_else(|| options.wrong("workerUrl", &url, "a string or a URL"))?,
    };
    Ok(SessionOptions { config, access, workspace: Workspace::new(), worker_url })
}

fn counter(options: &Reader, config: &mut RunConfig) -> Result<(), JsValue> {
    let Some(given) = options.child_or_false("counter", &["moderateAt", "urgentAt", "templates"])? else {
        return Ok(());
    };
    let Some(given) = given else {
        config.counter = None;
        return Ok(());
    };
    let counter = config.counter.get_or_insert_default();
    set(&mut counter.moderate_at, given.whole("moderateAt", 0)?);
    set(&mut counter.urgent_at, given.whole("urgentAt", 0)?);
    if let Some(templates) = given.child("templates", &["normal", "moderate", "urgent"], &[])? {
        set(&mut counter.templates.normal, templates.text("normal")?);
        set(&mut counter.templates.moderate, templates.text("moderate")?);
        set(&mut counter.templates.urgent, templates.text("urgent")?);
    }
    Ok(())
}

fn synthesis(options: &Reader, config: &mut RunConfig) -> Result<(), JsValue> {
    let known = &["role", "numbered", "prompt", "onError", "attempts"];
    let Some(given) = options.child_or_false("synthesis", known)? else { return Ok(()) };
    let Some(given) = given else {
        config.synthesis = None;
        return Ok(());
    };
    let synthesis = config.synthesis.get_or_insert_default();
    let roles = [("user", SynthesisRole::User), ("system", SynthesisRole::System)];
    let fallbacks = [("message", SynthesisFallback::Message), ("aggregated_text", SynthesisFallback::AggregatedText)];
    set(&mut synthesis.role, given.word("role", &roles, &[])?);
    set(&mut synthesis.numbered, given.flag("numbered")?);
    set(&mut synthesis.prompt, given.text("prompt")?.map(Some));
    set(&mut synthesis.on_error, given.word("onError", &fallbacks, &[])?);
    set(&mut synthesis.attempts, given.whole("attempts", 1)?);
    Ok(())
}

fn report(options: &Reader, config: &mut RunConfig) -> Result<(), JsValue> {
    let Some(given) = options.child("report", &["format", "schema"], &[])? else { return Ok(()) };
    let formats = [ReportFormat::Text, ReportFormat::Markdown, ReportFormat::Json, ReportFormat::Slack];
    let formats = formats.map(|format| (format.as_str(), format));
    set(&mut config.report.format, given.word("format", &formats, &[])?);
    if let Some(schema) = given.get("schema") {
        if config.report.format != ReportFormat::Json {
            return Err(given.wrong("schema", &schema, "nothing: only a 'json' report has a schema"));
        }
        config.report.schema = Some(given.json("schema", "a JSON Schema")?);
    }
    if config.preset != Preset::Strict {
        return Err(options.wrong(
            "report",
            &given.value(),
            "nothing: only the 'strict' preset asks for a final report",
        ));
    }
    Ok(())
}

/// Kinds of sub-agents by name. Which tools there are is known only when a run starts.
fn agents(options: &Reader) -> Result<Vec<SubagentKind>, JsValue> {
    let Some(value) = options.get("agents") else { return Ok(Vec::new()) };
    let takes = "an object of kinds of agents by name";
    let kinds = value.dyn_ref::<Object>().filter(|_| !Array::is_array(&value));
    let kinds = kinds.ok_or_else(|| options.wrong("agents", &value, takes))?;
    let read = |name: JsValue| {
        let name = name.as_string().unwrap_or_default();
        let kind = Reflect::get(kinds, &name.as_str().into())?;
        let path = format!("options.agents.{name}");
        let given = Reader::open(&path, &kind, &["description", "system", "tools", "maxTurns"], &[])?;
        let mut agent = SubagentKind { name, ..SubagentKind::default() };
        set(&mut agent.description, given.text("description")?);
        set(&mut agent.system, given.text("system")?);
        set(&mut agent.max_turns, given.whole("maxTurns", 1)?);
        if let Some(tools) = given.get("tools") {
            let names =
                Array::is_array(&tools).then(|| Array::from(&tools).iter().map(|name| name.as_string()).collect());
            agent.tools = names.flatten().ok_or_else(|| given.wrong("tools", &tools, "an array of names of tools"))?;
        }
        Ok(agent)
    };
    Object::keys(kinds).iter().map(read).collect()
}

fn limits(options: &Reader, limits: &mut Limits) -> Result<(), JsValue> {
    let known = &[
        "toolTimeoutMs",
        "parallelTools",
        "toolCallsPerTurn",
        "maxResultChars",
        "children",
        "childMs",
        "headersMs",
        "firstTokenMs",
        "requestMs",
        "idleMs",
        "wallMs",
        "tokens",
        "cost",
        "contextTokens",
    ];
    let Some(given) = options.child("limits", known, &[])? else { return Ok(()) };
    set(&mut limits.tool_timeout_ms, given.whole("toolTimeoutMs", 1)?);
    set(&mut limits.parallel_tools, given.whole("parallelTools", 1)?);
    set(&mut limits.tool_calls_per_turn, given.whole("toolCallsPerTurn", 1)?);
    set(&mut limits.max_result_chars, given.whole("maxResultChars", 1)?);
    set(&mut limits.children, given.whole("children", 0)?);
    set(&mut limits.child_ms, given.whole("childMs", 1)?);
    set(&mut limits.headers_ms, given.whole("headersMs", 1)?);
    set(&mut limits.first_token_ms, given.whole("firstTokenMs", 1)?);
    set(&mut limits.request_ms, given.whole("requestMs", 1)?);
    set(&mut limits.idle_ms, given.whole("idleMs", 1)?);
    set(&mut limits.wall_ms, given.whole("wallMs", 1)?.map(Some));
    set(&mut limits.tokens, given.whole("tokens", 1)?.map(Some));
    set(&mut limits.cost, given.number("cost")?.map(Some));
    set(&mut limits.context_tokens, given.whole("contextTokens", 1)?.map(Some));
    Ok(())
}

fn retry(options: &Reader, retry: &mut RetryConfig) -> Result<(), JsValue> {
    let Some(given) = options.child("retry", &["baseMs", "capMs", "retryAfterCapMs"], &[])? else { return Ok(()) };
    set(&mut retry.base_ms, given.whole("baseMs", 0)?);
    set(&mut retry.cap_ms, given.whole("capMs", 0)?);
    set(&mut retry.retry_after_cap_ms, given.whole("retryAfterCapMs", 0)?);
    Ok(())
}

fn built_in_tools(options: &Reader, value: &JsValue) -> Result<Vec<ToolSpec>, JsValue> {
    let takes = || format!("an array of {}", [tools::NAMES, tools::ON_REQUEST].concat().join(", "));
    if !Array::is_array(value) {
        return Err(options.wrong("tools", value, &takes()));
    }
    let mut specs: Vec<ToolSpec> = Vec::new();
    for name in Array::from(value).iter() {
        let spec = name.as_string().and_then(|name| tools::builtin(&name));
        let spec = spec.ok_or_else(|| options.wrong("tools", &name, &takes()))?;
        if specs.iter().all(|other| other.name != spec.name) {
            specs.push(spec);
        }
    }
    Ok(specs)
}

fn providers(value: &JsValue) -> Result<(Vec<ProviderConfig>, Vec<Access>), JsValue> {
    if !Array::is_array(value) {
        let (provider, access) = provider("options.provider", value)?;
        return Ok((vec![provider], vec![access]));
    }
    let list = Array::from(value);
    if list.length() == 0 {
        return Err(type_error("options.provider: got an empty array; it takes an object, or an array of one or more"));
    }
    list.iter().enumerate().map(|(at, value)| provider(&format!("options.provider[{at}]"), &value)).collect()
}

pub(super) fn provider(path: &str, value: &JsValue) -> Result<(ProviderConfig, Access), JsValue> {
    let known = &["kind", "baseUrl", "model", "apiKey", "headers", "maxOutputTokens", "price", "demo", "complete"];
    let given = Reader::open(path, value, known, &[])?;
    let kinds: Vec<(&'static str, ProviderKind)> =
        ProviderKind::ALL.iter().map(|kind| (kind.as_str(), *kind)).collect();
    let kind = given.word("kind", &kinds, &[])?;
    let names = || kinds.iter().map(|(name, _)| format!("'{name}'")).collect::<Vec<_>>().join(" or ");
    let kind = kind.ok_or_else(|| given.missing("kind", &names()))?;
    let modes = [("normal", DemoMode::Normal), ("endless", DemoMode::Endless), ("chaos", DemoMode::Chaos)];
    let demo = given.word("demo", &modes, &["gullible"])?;
    if let Some(demo) = given.get("demo").filter(|_| kind != ProviderKind::Demo) {
        return Err(given.wrong("demo", &demo, "nothing: only the demo model has modes"));
    }
    let config = ProviderConfig {
        kind,
        base_url: base_url(&given)?.unwrap_or_default(),
        model: given.text("model")?.unwrap_or_default(),
        max_output_tokens: given.whole("maxOutputTokens", 1)?,
        demo,
        price: price(&given)?,
    };
    let complete = given.function("complete")?;
    match (kind, &complete) {
        (ProviderKind::Custom, None) => return Err(given.missing("complete", "a function that asks your model")),
        (ProviderKind::Custom, Some(_)) | (_, None) => {}
        (_, Some(function)) => {
            return Err(given.wrong("complete", function, "nothing: only the 'custom' kind has a function"));
        }
    }
    Ok((config, Access { api_key: given.secret("apiKey")?, headers: headers(&given)?, complete }))
}

/// US dollars a million tokens; without a price for cached tokens they cost as much as fresh ones.
fn price(given: &Reader) -> Result<Option<Price>, JsValue> {
    let Some(given) = given.child("price", &["input", "output", "cached"], &[])? else { return Ok(None) };
    let takes = "US dollars a million tokens";
    let input = given.number("input")?.ok_or_else(|| given.missing("input", takes))?;
    let output = given.number("output")?.ok_or_else(|| given.missing("output", takes))?;
    Ok(Some(Price { input, output, cached: given.number("cached")?.unwrap_or(input) }))
}

/// Checked where it is written, not when the first request fails.
fn base_url(given: &Reader) -> Result<Option<String>, JsValue> {
    let Some(url) = given.text("baseUrl")? else { return Ok(None) };
    let location = Reflect::get(&js_sys::global(), &"location".into()).unwrap_or_default();
    let page = Reflect::get(&location, &"href".into()).ok().and_then(|href| href.as_string());
    let parsed = match &page {
        Some(page) => web_sys::Url::new_with_base(&url, page),
        None => web_sys::Url::new(&url),
    };
    let takes = match page {
        Some(_) => "an address such as 'https://api.example.com/v1' or '/v1'",
        None => "a whole address such as 'https://api.example.com/v1' (there is no page to resolve it against)",
    };
    parsed.map(|_| Some(url.clone())).map_err(|_| given.wrong("baseUrl", &url.as_str().into(), takes))
}

fn headers(given: &Reader) -> Result<Vec<(String, String)>, JsValue> {
    let Some(value) = given.get("headers") else { return Ok(Vec::new()) };
    let path = format!("{}.headers", given.path);
    if !value.is_object() || Array::is_array(&value) {
        return Err(type_error(&format!("{path}: got {}; it takes an object of strings", describe(&value))));
    }
    let trial = web_sys::Headers::new()?;
    let mut headers = Vec::new();
    for entry in Object::entries(value.unchecked_ref::<Object>()).iter() {
        let entry = Array::from(&entry);
        let (name, value) = (entry.get(0).as_string().unwrap_or_default(), entry.get(1).as_string());
        match value {
            Some(value) if trial.set(&name, &value).is_ok() => headers.push((name, value)),
            _ => return Err(type_error(&format!("{path}.{name}: it takes a valid header name and a string"))),
        }
    }
    Ok(headers)
}

pub(super) fn beside_module(file: &str) -> String {
    // Some hosts have no address of a module.
    let module = MODULE_URL.with(JsValue::as_string).unwrap_or_default();
    web_sys::Url::new_with_base(file, &module).map_or_else(|_| file.to_owned(), |url| url.href())
}
