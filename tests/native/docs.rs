//! Checks the documentation: its links resolve, and what it quotes matches the code.

use crate::support::pages;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::pages::Page;
use crate::support::sources::{files, text};
use turnwise_engine::{
    AnswerSource, CounterConfig, Outcome, Preset, RunConfig, Slug, SynthesisConfig, TerminationReason, Trigger, prompts,
};

/// Every page of the project, by path.
fn all_pages() -> Vec<(String, Page)> {
    let root = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(str::to_owned);
    root.into_iter().chain(files("docs", ".md")).map(|path| (path.clone(), Page::read(&text(&path)))).collect()
}

fn page(path: &str) -> Page {
    Page::read(&text(path))
}

fn set<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn every_relative_link_leads_to_a_file_and_its_anchor_to_a_heading() {
    let mut broken = Vec::new();
    for (path, page) in all_pages() {
        for link in &page.links {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => PathBuf::from(&path),
                file => Path::new(&path).parent().unwrap().join(file),
            };
            if !target.is_file() {
                broken.push(format!("{path}: {link}: there is no such file"));
            } else if !anchor.is_empty() && !Page::read(&text(target.to_str().unwrap())).anchors.contains(anchor) {
                broken.push(format!("{path}: {link}: there is no such heading"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_documentation_page_is_linked_from_the_first_one() {
    let linked: BTreeSet<String> =
        page("docs/index.md").links.iter().map(|link| format!("docs/{}", link.split('#').next().unwrap())).collect();
    let there: Vec<String> = files("docs", ".md").into_iter().filter(|path| path != "docs/index.md").collect();
    let missing: Vec<&String> = there.iter().filter(|path| !linked.contains(*path)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_counter_lines_are_the_engines() {
    let page = page("docs/semantics.md");
    let config = CounterConfig::default();
    let lines: BTreeSet<String> = page.code.iter().filter(|code| code.starts_with("[Turn ")).cloned().collect();
    let templates = [&config.templates.normal, &config.templates.moderate, &config.templates.urgent];
    for template in templates {
        assert!(lines.contains(template), "{template} is not quoted");
    }
    let real: BTreeSet<String> = (1..=20)
        .flat_map(|max| (1..=max).map(move |turn| (turn, max)))
        .map(|(t, m)| prompts::counter_line(&config, t, m).1)
        .collect();
    for line in &lines {
        assert!(templates.contains(&line) || real.contains(line), "{line} is no line of the counter's");
    }
    let rows: Vec<String> = page.rows("Turn counter").into_iter().map(|row| row.join(" ").replace('`', "")).collect();
    assert!(rows[0].contains(&format!("more than {}", config.moderate_at)), "{rows:?}");
    assert!(rows[1].contains(&format!("{} or {}", config.urgent_at + 1, config.moderate_at)), "{rows:?}");
    assert!(rows[2].contains(&format!("{} or fewer", config.urgent_at)), "{rows:?}");
}

#[test]
fn the_synthesis_prompts_and_reports_are_the_engines() {
    let page = page("docs/semantics.md");
    let quoted = |text: &str| page.code.contains(text);
    for preset in [Preset::Research, Preset::Orchestrator] {
        let config = SynthesisConfig::preset(preset);
        let text = |trigger| match prompts::synthesis_prompt(preset, &config, trigger) {
            turnwise_engine::Message::User { content, .. } | turnwise_engine::Message::System { content } => content,
            other => panic!("{other:?}"),
        };
        let whole = text(Trigger::MaxTurns);
        assert!(quoted(&whole), "{whole}");
        let stop = "You have been asked to finish now.";
        assert!(text(Trigger::Stop).starts_with(stop) && quoted(stop));
        let rest = whole.split_once(". ").unwrap().1;
        assert_eq!(text(Trigger::Stop), format!("{stop} {rest}"));
    }
    assert!(quoted(&prompts::no_synthesis_report(Trigger::MaxTurns)));
    assert!(quoted(&prompts::synthesis_failed_report(Trigger::MaxTurns, "{error}")));
    assert!(self::page("docs/retries.md").code.contains(turnwise_engine::prompts::NOTICE_PREFIX));
}

#[test]
fn the_presets_and_the_bound_are_the_engines() {
    let page = page("docs/semantics.md");
    let all: Vec<RunConfig> = Preset::ALL.iter().map(|preset| RunConfig::preset(*preset)).collect();
    let row = |start: &str| {
        page.rows("Presets")
            .into_iter()
            .find(|row| row[0].starts_with(start))
            .unwrap_or_else(|| panic!("no row {start}"))
    };
    let numbers = |f: fn(&RunConfig) -> u32| all.iter().map(|c| f(c).to_string()).collect::<Vec<_>>();
    assert_eq!(row("turns at most")[1..], numbers(|c| c.max_turns));
    assert_eq!(row("attempts per turn")[1..], numbers(|c| c.max_attempts));
    for config in all.iter().filter(|c| c.synthesis.is_some()) {
        let (turns, attempts, synthesis) = (config.max_turns, config.max_attempts, config.synthesis_attempts());
        let sum = format!("{turns} x {attempts} + {synthesis} = {}", turns * attempts + synthesis);
        assert!(page.prose.contains(&sum), "{sum}");
    }
}

#[test]
fn the_table_of_slugs_is_the_engines() {
    let rows = page("docs/retries.md").rows("Slugs");
    let listed: Vec<String> = rows.into_iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(listed, Slug::ALL.iter().map(|slug| slug.as_str().to_owned()).collect::<Vec<_>>());
}

#[test]
fn the_triggers_are_the_engines() {
    let page = page("docs/semantics.md");
    let rows = page.rows("When a run reaches its turn limit");
    let listed: Vec<String> = rows.iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(listed, Trigger::ALL.iter().map(|trigger| trigger.as_str().to_owned()).collect::<Vec<_>>());
    let config = SynthesisConfig::preset(Preset::Research);
    for (row, trigger) in rows.iter().zip(Trigger::ALL).skip(1) {
        let turnwise_engine::Message::User { content, .. } =
            prompts::synthesis_prompt(Preset::Research, &config, *trigger)
        else {
            panic!("a user message")
        };
        assert!(content.starts_with(row[2].trim_matches('`')), "{row:?}");
    }
    let events = text("docs/api.md");
    let started = events.lines().find(|line| line.starts_with("| `synthesis_started`")).unwrap();
    for trigger in Trigger::ALL {
        assert!(started.contains(&format!("`{}`", trigger.as_str())), "{started}");
    }
    for tool in turnwise_tools::ON_REQUEST {
        let default = |line: &str| line.contains("all but") && line.contains(tool);
        let options = text("docs/api-options.md");
        assert!(options.lines().any(|line| line.starts_with("| `tools`") && default(line)), "{tool}");
        assert!(
            text("www/client/types/turnwise.d.ts")
                .lines()
                .any(|line| line.contains("Built-in tools to offer") && default(line))
        );
    }
}

#[test]
fn the_endings_are_the_engines() {
    let page = page("docs/semantics.md");
    let reasons: Vec<String> = page
        .rows("How a run ends")
        .into_iter()
        .map(|row| row[0].trim_matches('`').to_owned())
        .filter(|name| name.parse::<TerminationReason>().is_ok())
        .collect();
    let own = ["llm_complete", "final_result", "final_report", "llm_error", "retries_exhausted", "max_turns_exhausted"];
    let of_triggers = Trigger::ALL.iter().flat_map(|trigger| {
        [TerminationReason::Synthesized(*trigger), TerminationReason::SynthesisFailed(*trigger)].map(|r| r.to_string())
    });
    let all: BTreeSet<String> =
        own.map(str::to_owned).into_iter().chain(["cancelled".into()]).chain(of_triggers).collect();
    assert_eq!(reasons.iter().cloned().collect::<BTreeSet<_>>(), all);
    assert_eq!(reasons.len(), all.len(), "each is there once");
    let unknown = page.rows("How a run ends").into_iter().map(|row| row[0].trim_matches('`').to_owned());
    let fields = set(["termination_reason", "outcome", "answer_source", "total_turns"]);
    let unknown: Vec<String> = unknown.filter(|name| !reasons.contains(name) && !fields.contains(name)).collect();
    assert!(unknown.is_empty(), "no reasons of the engine's: {unknown:?}");
    let name = |value: serde_json::Result<serde_json::Value>| value.unwrap().as_str().unwrap().to_owned();
    for outcome in [Outcome::Success, Outcome::Partial, Outcome::Failed, Outcome::Cancelled] {
        assert!(page.code.contains(&name(serde_json::to_value(outcome))), "{outcome:?}");
    }
    for source in [AnswerSource::Model, AnswerSource::Tool, AnswerSource::Synthesis, AnswerSource::System] {
        assert!(page.code.contains(&name(serde_json::to_value(source))), "{source:?}");
    }
}

#[test]
fn options_and_events_of_the_api_are_those_of_its_types() {
    let records = text("www/client/types/records.d.ts");
    let types = text("www/client/types/turnwise.d.ts") + &records;
    let mut checked = 0;
    for page in ["api", "api-options", "api-records", "api-docs-site"].map(|name| page(&format!("docs/{name}.md"))) {
        for heading in &page.headings {
            let Some(fields) = interface(&types, heading) else { continue };
            let rows = page.rows(heading);
            let listed: BTreeSet<String> = rows.iter().flat_map(|row| pages::code_spans(&row[0])).collect();
            assert_eq!(listed, fields, "{heading}");
            checked += 1;
        }
    }
    assert_eq!(checked, 25, "sections about an interface");
    let events = page("docs/api.md")
        .rows("Events")
        .iter()
        .map(|row| row[0].trim_matches('`').to_owned())
        .collect::<BTreeSet<_>>();
    let unions = ["AgentEvent", "RunEvent"]
        .map(|name| types.split_once(&format!("export type {name} =")).unwrap().1.split_once("\n\n").unwrap().0);
    let types = unions.iter().flat_map(|union| union.split("type: \"").skip(1));
    let typed = set(types.map(|rest| rest.split('"').next().unwrap()));
    assert_eq!(events, typed);
}

/// The field names of an interface, including inherited ones.
fn interface(types: &str, name: &str) -> Option<BTreeSet<String>> {
    let start = types.lines().position(|line| {
        line.strip_prefix(&format!("export interface {name}")).is_some_and(|rest| rest.starts_with([' ', '<']))
    })?;
    let head = types.lines().nth(start)?;
    let base = head.split_once(" extends ").map(|(_, rest)| rest.trim_end_matches(" {"));
    let body = types.lines().skip(start + 1).take_while(|line| *line != "}");
    let own = body.filter(|line| line.starts_with("  ") && line[2..].starts_with(|c: char| c.is_ascii_alphabetic()));
    let mut fields = set(own.map(|line| line[2..].split(['?', ':', '(']).next().unwrap()));
    if let Some(base) = base {
        fields.extend(interface(types, base)?);
    }
    Some(fields)
}

#[test]
fn the_table_of_tools_is_the_code() {
    let rows = page("docs/tools.md").rows("Built-in tools");
    let listed = set(rows.iter().map(|row| row[0].trim_matches('`')));
    assert_eq!(listed, set(turnwise_tools::names().into_iter().chain(turnwise_tools::ON_REQUEST.iter().copied())));
    for row in rows {
        let spec = turnwise_tools::builtin(row[0].trim_matches('`')).unwrap();
        let properties = spec.parameters["properties"].as_object().unwrap();
        assert_eq!(
            pages::code_spans(&row[1]).into_iter().collect::<BTreeSet<_>>(),
            properties.keys().cloned().collect(),
            "{}",
            spec.name
        );
    }
}

#[test]
fn the_table_of_providers_is_the_code() {
    let rows = page("docs/providers.md").rows("Providers");
    let listed: Vec<(&str, &str)> =
        rows.iter().map(|row| (row[0].trim_matches('`'), row[2].trim_matches('`'))).collect();
    let known = turnwise_engine::ProviderKind::ALL.iter().map(|kind| match kind.is_http() {
        true => (kind.as_str(), turnwise_llm::base_url(*kind)),
        false => (kind.as_str(), "none"),
    });
    assert_eq!(listed, known.collect::<Vec<_>>());
}

#[test]
fn the_keys_of_a_trajectory_are_those_of_its_schema() {
    let schema: serde_json::Value = serde_json::from_str(&text("docs/schema/turnwise-trajectory.v1.json")).unwrap();
    let keys: BTreeSet<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    let page = page("docs/trajectory.md");
    let mut listed: BTreeSet<String> =
        page.rows("What is in it").iter().flat_map(|row| pages::code_spans(&row[0])).collect();
    listed.extend(["format".to_owned(), "version".to_owned()]);
    assert_eq!(listed, keys);
}
