//! What the page, the command line and the documentation say about providers, tools and exports, made of their rows.

use std::fs;

use super::{MADE, check};
use serde_json::json;
use turnwise_engine::{ProviderConfig, ProviderKind};
use turnwise_llm::ServerName;
use turnwise_llm::providers::{Card, Need, ProviderGroup, card, function, wire};
use turnwise_llm::servers::{Browser, Forcing, ServerRow};
use turnwise_record::trajectory::ExportFormat;
use turnwise_tools::{ON_REQUEST, names};
use turnwise_view::provider::cards;

/// Checks or writes one part of a file: what stands between two texts.
fn part(path: &str, before: &str, after: &str, made: &str) {
    let text = fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once(before).unwrap_or_else(|| panic!("{path} lacks {before:?}"));
    let (_, tail) = rest.split_once(after).unwrap_or_else(|| panic!("{path} lacks {after:?} after {before:?}"));
    check(path, &format!("{head}{before}{made}{after}{tail}"));
}

/// The kinds that are called over HTTP, which have a function each.
fn servers() -> impl Iterator<Item = (ProviderKind, &'static Card)> {
    let servers = ProviderKind::ALL.iter().copied().filter(|kind| kind.is_http());
    servers.map(|kind| (kind, card(kind).unwrap_or_else(|| panic!("{kind:?} has no card"))))
}

/// The row of a kind at its own address.
fn row(kind: ProviderKind) -> &'static ServerRow {
    ServerName::of(&ProviderConfig { kind, ..ProviderConfig::default() }).row()
}

fn kinds(which: impl Fn(ProviderKind) -> bool) -> Vec<&'static str> {
    ProviderKind::ALL.iter().filter(|kind| which(**kind)).map(|kind| kind.as_str()).collect()
}

/// `openai-responses` -> `openaiResponses`
fn camel(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |all, word| all + &word[..1].to_uppercase() + &word[1..])
}

fn quoted(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| format!("'{word}'")).collect()
}

/// A list in the sources of the page, with several words on a line.
fn list(name: &str, words: &[&str], of: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in quoted(words) {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 110 => line.push_str(&format!(" {word},")),
            _ => lines.push(format!("{word},")),
        }
    }
    format!("export const {name} = [\n  {}\n] as const{of};\n", lines.join("\n  "))
}

/// `a, b or c`
fn alternatives(words: &[String], last: &str) -> String {
    let (end, start) = words.split_last().unwrap();
    if start.is_empty() { end.clone() } else { format!("{} {last} {end}", start.join(", ")) }
}

fn code(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| format!("`{word}`")).collect()
}

/// The type of the names of the built-in tools.
pub(super) fn built_in_tools() -> String {
    let words = |names: &[&str]| names.iter().map(|name| format!("\n  | \"{name}\"")).collect::<String>();
    let requested =
        "\n  // Not in the safe set: an agent has them only if it names them.".to_owned() + &words(ON_REQUEST);
    format!("\nexport type BuiltInTool ={}{requested};\n", words(&names()))
}

#[test]
fn the_lists_of_the_page_are_those_of_the_rows() {
    let formats: Vec<&str> = ExportFormat::ALL.iter().map(|format| format.as_str()).collect();
    let lists = [
        list("PROVIDER_KINDS", &kinds(|_| true), " satisfies readonly ProviderKind[]"),
        list("FORMATS", &formats, " satisfies readonly ExportFormat[]"),
        "/** The built-in tools of the safe set. */\n".to_owned() + &list("SAFE_TOOLS", &names(), ""),
        "/** Those, and the ones that are offered on request only. */\n".to_owned()
            + &list("BUILT_IN_TOOLS", &[names().as_slice(), ON_REQUEST].concat(), ""),
    ];
    check(
        "www/client/names.ts",
        &format!(
            "// The closed sets of the Rust sources, by name. Made of their rows: {MADE}\n\
             import type {{ ExportFormat, ProviderKind }} from './types/records';\n\n{}",
            lists.concat()
        ),
    );
}

#[test]
fn each_model_server_has_a_function_of_its_name() {
    let functions = servers().map(|(kind, _)| {
        let about = function(kind).unwrap_or_else(|| panic!("{kind:?} has no function"));
        let name = kind.as_str();
        let called = camel(name);
        format!("/**\n * {about}\n *\n * @example\n * new Agent({{ model: {called}('name-of-a-model', {{ apiKey }}) }})\n */\nexport const {called} = /* @__PURE__ */ http('{name}');\n")
    });
    check(
        "www/client/sdk/providers.ts",
        &format!(
            "// A function for each kind of model server. Made of the rows in crates/llm/src/providers.rs: {MADE}\n\
             import {{ http }} from './models.js';\n\n{}",
            functions.collect::<String>()
        ),
    );
    let rows = servers().map(|(kind, _)| {
        format!("| `{}(model, settings)` | {} |\n", camel(kind.as_str()), function(kind).unwrap().trim_end_matches('.'))
    });
    part("docs/agent.md", "| function | model |\n| --- | --- |\n", "| `chrome()`", &rows.collect::<String>());
}

#[test]
fn the_docs_agent_offers_the_providers_whose_rows_say_so() {
    let needed = kinds(|kind| card(kind).is_some_and(|card| card.key == Need::Needed));
    let mut offered: Vec<_> = ProviderKind::ALL
        .iter()
        .filter_map(|kind| Some((*kind, card(*kind)?)))
        .filter(|(_, card)| card.offered_to_visitors)
        .collect();
    // Signing in is less work than fetching a key.
    offered.sort_by_key(|(kind, _)| *kind != ProviderKind::Openrouter);
    let property = |kind: &str| if kind.contains('-') { format!("'{kind}'") } else { kind.to_owned() };
    let texts = fs::read_to_string("www/widget/texts.js").unwrap();
    let (mut names, mut choices) = (String::new(), String::new());
    for (kind, card) in offered {
        let key = property(kind.as_str());
        if card.place == ProviderGroup::Cloud {
            let text = property(&format!("way_{}", kind.as_str()));
            names.push_str(&format!("  {text}: '{}',\n", card.name));
        } else {
            // A test of the texts compares the other languages with English.
            let name = property(&format!("way_{}", kind.as_str()));
            assert!(texts.contains(&name), "www/widget/texts.js names {kind:?}: {name}");
        }
        let model = (!card.model.is_empty()).then(|| format!("model: '{}'", card.model));
        let needs_key = (card.key == Need::Needed).then(|| "key: true".to_owned());
        let of: Vec<String> = [model, needs_key].into_iter().flatten().collect();
        let of = if of.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", of.join(", ")) };
        choices.push_str(&format!("  {key}: {of},\n"));
    }
    check(
        "www/widget/providers.js",
        &format!(
            "// Made of the rows in crates/llm/src/providers.rs: {MADE}\n\n\
             export const NEED_KEY = new Set([{}]);\n\n\
             /** Texts that are the same in each language: proper names. */\n\
             export const NAMES = {{\n{names}}};\n\n\
             /** The providers that a visitor can choose, each with a model that is likely to be available. */\n\
             export const CHOICES = {{\n{choices}  demo: {{}},\n}};\n",
            quoted(&needed).join(", ")
        ),
    );
}

#[test]
fn the_command_line_names_the_model_servers() {
    let words: Vec<String> =
        kinds(|kind| kind.is_http() || kind == ProviderKind::Demo).into_iter().map(str::to_owned).collect();
    part("www/package/cli.mjs", "      provider: [text, '", "'],\n", &alternatives(&words, "or"));
}

#[test]
fn the_documentation_lists_what_the_rows_say() {
    let servers = quoted(&kinds(ProviderKind::is_http)).into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>();
    part("docs/api-options.md", "| `kind` | ", " | required |\n| `baseUrl`", &alternatives(&servers, "or"));
    let formats: Vec<&str> = ExportFormat::ALL.iter().map(|format| format.as_str()).collect();
    part("docs/api-records.md", "`format` is ", "; [what each one holds]", &alternatives(&code(&formats), "or"));

    let page = "docs/providers.md";
    let of = |which: &dyn Fn(ProviderKind) -> bool| code(&kinds(which)).join(", ");
    part(
        page,
        "| a system message in the middle of a conversation | ",
        " | a user message",
        &of(&|kind| !kind.takes_system_midway()),
    );
    part(page, "| consecutive user messages | ", " | one message", &of(&|kind| row(kind).merges_user_messages));
    let without_pdfs = code(&kinds(|kind| !row(kind).pdfs));
    part(page, "answers with an error.\n", " do not accept PDFs", &alternatives(&without_pdfs, "and"));

    let text = fs::read_to_string(page).unwrap();
    for (kind, card) in self::servers() {
        let row = text.lines().find(|line| line.starts_with(&format!("| `{}` |", kind.as_str())));
        let row = row.unwrap_or_else(|| panic!("{page} has no row for `{}`", kind.as_str()));
        let key = match card.key {
            Need::Needed => "needed",
            Need::Optional => "optional",
            Need::No => "none",
        };
        let end = format!("| `{}` | {key}", wire(kind).base_url);
        assert!(row.contains(&end), "{page}: the row of `{}` ends with {end:?}", kind.as_str());
    }

    let page = "docs/trajectory.md";
    let text = fs::read_to_string(page).unwrap();
    for format in ExportFormat::ALL {
        let row = format!("| `{}` | `{}` | ", format.as_str(), format.suffix());
        assert!(text.contains(&row), "{page} lacks {row:?}");
    }
    let text = fs::read_to_string("docs/tools.md").unwrap();
    for tool in names() {
        assert!(text.contains(&format!("| `{tool}` | ")), "docs/tools.md lacks a row for `{tool}`");
    }
}

#[test]
fn the_documentation_has_a_row_for_each_service() {
    let word = |is: bool| if is { "yes" } else { "no" };
    let row = |name: &ServerName| {
        let row = name.row();
        let hosts = row.hosts.iter().map(|host| match host.strip_prefix(['.', '-']) {
            Some(_) => format!("`*{host}`"),
            None => format!("`{host}`"),
        });
        let place: Vec<String> = hosts.chain(row.port.map(|port| format!("port {port}"))).collect();
        let page = match row.browser {
            Browser::Yes(date) => format!("yes ({date})"),
            Browser::Header(date) => format!("yes, with a header that Turnwise sends ({date})"),
            Browser::Setting(date) => format!("if its settings allow the page ({date})"),
            Browser::No(date) => format!("no ({date})"),
            Browser::Unknown => "unknown".to_owned(),
        };
        let forced = match (row.tools, row.forcing, row.forces_thinking) {
            (false, ..) => "no tools",
            (_, Forcing::ByName, true) => "yes, by name too",
            (_, Forcing::ByName, false) => "yes, by name too, if thinking is off",
            (_, Forcing::ByWord, true) => "yes, but not by name",
            (_, Forcing::ByWord, false) => "yes, if thinking is off, but not by name",
        };
        let (place, pictures, pdfs) = (place.join(", "), word(row.images), word(row.pdfs));
        format!("| {} | {place} | {page} | {forced} | {pictures} | {pdfs} |\n", row.title)
    };
    let hidden = [ServerName::Page, ServerName::PromptApi];
    let rows: String = ServerName::ALL.iter().filter(|name| !hidden.contains(name)).map(row).collect();
    let head = "| service | address | a page may call it | a tool call can be demanded | pictures | PDFs |\n| --- | --- | --- | --- | --- | --- |\n";
    part("docs/providers.md", head, "\nFor a service", &rows);
}

/// For the tests in a browser.
#[test]
fn the_tests_of_the_app_know_the_rows() {
    let names: Vec<&str> = cards().map(|card| card.name).collect();
    let exports = ExportFormat::ALL
        .iter()
        .map(|format| json!({ "format": format.as_str(), "suffix": format.suffix(), "label": format.label() }));
    let rows = json!({ "providers": names, "exports": exports.collect::<Vec<_>>() });
    check("tests/e2e/lib/rows.json", &(serde_json::to_string_pretty(&rows).unwrap() + "\n"));
}

#[test]
fn a_row_is_whole() {
    for (kind, card) in servers() {
        let wire = wire(kind);
        assert!(!wire.base_url.is_empty() && !wire.base_url.ends_with('/'), "{kind:?}: {}", wire.base_url);
        assert_eq!(card.place == ProviderGroup::Cloud, wire.base_url.starts_with("https://"), "{kind:?}");
        assert!(wire.headers.iter().all(|(name, _)| *name == name.to_lowercase()), "{kind:?}");
    }
}
