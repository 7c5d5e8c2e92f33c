//! Trajectories as files of other formats: fixed documents byte for byte, random ones by invariants.

use std::collections::BTreeSet;

use crate::support::tree::*;
use crate::support::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_protocol::tool_worker::DocumentTask;
use turnwise_record::trajectory::export::ExportFormat;
use turnwise_record::trajectory::import::import;
use turnwise_record::trajectory::{Note, Secrets, Trajectory};
use turnwise_view::export::export;
use turnwise_worker::documents;

/// Everything at once: a retry, arguments that are not JSON, a failing tool, sub-agents, a limit and its synthesis.
fn eventful() -> Trajectory {
    let mut config = spawning(Preset::Research);
    (config.max_turns, config.temperature) = (3, Some(0.5));
    config.providers[0] = ProviderConfig {
        kind: ProviderKind::Openai,
        model: "gpt-5.4-mini".into(),
        price: Some(Price { input: 0.75, output: 4.5, cached: 0.075 }),
        ..ProviderConfig::default()
    };
    Tree::new(config).play(model).recorder.document()
}

fn model(call: &ModelCall) -> Result<Reply, ModelError> {
    let usage = Usage { input: TokenCount(1_200), output: TokenCount(34), cached: TokenCount(600), ..Usage::default() };
    let with = |reply: Reply| Reply {
        usage: Some(usage),
        id: "chatcmpl-1".into(),
        model: "gpt-5.4-mini-2026-03-17".into(),
        ..reply
    };
    Ok(with(match (call.request.child(), call.turn, call.attempt, call.tools) {
        (0, 1, 1, _) => return Err(error(Slug::AuthError, Retry::Fatal)).or(Ok(says(""))),
        (0, 1, ..) => Reply {
            content: "I will **look**, then ask <script>alert(1)</script> two.\n\n| a | b |\n| - | -: |\n| 1 | `2` |"
                .into(),
            reasoning: "Two parts & a plan.".into(),
            tool_calls: vec![
                RawCall {
                    id: "call_1".into(),
                    name: "search".into(),
                    arguments: "{\"query\": \"</script><b>\"}".into(),
                },
                RawCall { id: "call_1".into(), name: "read".into(), arguments: "{ no json".into() },
                RawCall { id: "call_2".into(), name: "bash".into(), arguments: "{}".into() },
            ],
            finish: FinishReason::ToolCalls,
            ..Reply::default()
        },
        (0, 2, ..) => spawn_call(&tasks(2)),
        (0, _, _, ToolChoice::None) => says("Concluded: *both* parts are done.\n\n```rust\nlet x = 1;\n```"),
        (0, ..) => reply_call("search", "{}"),
        (child, ..) => says(&format!("part {child} is done")),
    }))
}

#[test]
fn the_formats_have_the_names_of_the_api_and_files_of_their_own() {
    for format in ExportFormat::ALL {
        assert_eq!(ExportFormat::named(format.as_str()), Some(*format));
        assert_eq!(json!(format), format.as_str());
    }
    let files: BTreeSet<String> = ExportFormat::ALL.iter().map(|format| format.file_name("run_x")).collect();
    assert_eq!(files.len(), ExportFormat::ALL.len());
    assert!(files.contains("run_x.traj.json") && files.contains("run_x.atif.json"), "{files:?}");
    assert_eq!(ExportFormat::named("xml"), None);
}

#[test]
fn a_fixed_run_is_written_as_the_golden_files_say() {
    let document = eventful();
    validate(&document);
    for format in ExportFormat::ALL {
        golden(&format!("export/run{}", format.suffix()), &export(&document, *format));
    }
}

#[test]
fn the_worker_writes_and_reads_what_the_functions_do() {
    let document = eventful();
    let text = serde_json::to_string(&document).unwrap();
    let html = documents::exported(ExportFormat::Html, &text).unwrap();
    assert_eq!(html, export(&document, ExportFormat::Html));
    assert_eq!(documents::answer(DocumentTask::Import, &html).unwrap(), text);
    let atif = documents::exported(ExportFormat::Atif, &text).unwrap();
    let imported = documents::answer(DocumentTask::Import, &atif).unwrap();
    let why = documents::answer(DocumentTask::Replay, &imported).unwrap_err();
    let version = &document.engine_version;
    assert_eq!(
        why,
        format!("it was imported (turnwise {version}, ATIF-v1.7) and has no events, so it cannot be replayed")
    );
}

#[test]
fn an_html_report_loads_nothing_runs_nothing_and_carries_its_document() {
    let document = eventful();
    let page = export(&document, ExportFormat::Html);
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
    assert_eq!(page.matches("<script").count(), 1, "the data alone");
    assert!(!page.contains("<b>") && !page.contains("alert(1)</script>"), "a model's text became markup");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(import(&page).unwrap(), document);
    assert_eq!(export(&import(&page).unwrap(), ExportFormat::Native), export(&document, ExportFormat::Native));
}

#[test]
fn notes_are_in_the_reports_below_their_turn() {
    let note = Note { turn: 2, text: "<i>Why</i> two?\n\nשלום".into(), at: "2026-11-26T10:05:00.000Z".into() };
    let document = Trajectory { notes: vec![note], ..eventful() };
    let page = export(&document, ExportFormat::Html);
    let place = page.find("&lt;i&gt;Why&lt;/i&gt; two?").expect("shown as text");
    assert_eq!(
        page[..place].matches("<article").count(),
        4,
        "below the second turn, which has two sub-agents of one turn each"
    );
    assert!(page[..place].ends_with("Note, Nov 26, 2026, 10:05 UTC</p><p class=\"plain\" dir=\"auto\">"));
    assert_eq!(import(&page).unwrap(), document);
    assert!(export(&document, ExportFormat::Markdown).contains("Note, Nov 26, 2026, 10:05 UTC:\n\n> "));
    assert_eq!(import(&export(&document, ExportFormat::Atif)).unwrap().notes, document.notes);
}

#[test]
fn a_footnote_of_a_report_leads_to_its_note_and_back() {
    let said = "One[^a], again[^a], two[^b].\n\n[^a]: The first.\n[^b]: The second.\n\n[^c]: Not mentioned.";
    let script = vec![calls(said, &[("a", "search", "{}")]), executed("search", "x"), text(said)];
    let page = export(&play(config(Preset::Research), script).document(), ExportFormat::Html);
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let unique: BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "each name is given once: {ids:?}");
    let targets: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(targets.len(), 2 * (3 + 2), "three marks and two ways back in each of the two texts");
    assert!(targets.iter().all(|target| ids.contains(target)), "{targets:?} {ids:?}");
}

#[test]
fn the_messages_of_the_chat_format_are_what_was_sent_at_the_end() {
    let text = export(&eventful(), ExportFormat::OpenaiJsonl);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "the run and its two sub-agents");
    let messages = lines[0]["messages"].as_array().unwrap();
    assert_eq!(messages[0]["role"], "system");
    assert_eq!(messages[1], json!({ "role": "user", "content": "the task" }));
    let last: Vec<&str> = messages.iter().rev().take(2).map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(last, ["assistant", "user"], "the synthesis prompt and the synthesis");
    assert!(messages[messages.len() - 2]["content"].as_str().unwrap().contains("maximum number of reasoning steps"));
    assert_eq!(lines[0]["tools"].as_array().unwrap().len(), 4);
    assert_eq!(lines[1]["messages"][1]["content"], "part 1");
    // A record that does not replay is exported from its turns.
    let changed = Trajectory { events: Vec::new(), ..eventful() };
    let text = export(&changed, ExportFormat::OpenaiJsonl);
    let said: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(said["messages"][2]["tool_calls"].as_array().unwrap().len(), 3);
}

#[test]
fn spans_have_ids_of_their_own_and_parents_that_are_there() {
    let spans = spans(&eventful());
    let ids: BTreeSet<&str> = spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), spans.len());
    let count = |start: &str| spans.iter().filter(|span| span["name"].as_str().unwrap().starts_with(start)).count();
    assert_eq!((count("invoke_agent"), count("execute_tool")), (3, 5));
    let orphans = spans.iter().filter(|span| span.get("parentSpanId").is_none()).count();
    assert_eq!(orphans, 1, "the root alone");
    for span in &spans {
        assert!(span.get("parentSpanId").is_none_or(|id| ids.contains(id.as_str().unwrap())), "{span}");
        let nanos = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"));
    }
    let spawn = spans.iter().find(|span| span["name"] == "execute_tool spawn_subagents").unwrap();
    let below = spans.iter().filter(|span| span.get("parentSpanId") == spawn.get("spanId")).count();
    assert_eq!(below, 2, "sub-agents stand below the call that started them");
}

fn spans(document: &Trajectory) -> Vec<Value> {
    let request: Value = serde_json::from_str(&export(document, ExportFormat::Otlp)).unwrap();
    request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
}

#[test]
fn open_failed_and_cancelled_runs_are_written_too() {
    let open = play_open(config(Preset::Research), vec![calls("", &[("a", "search", "{}")])]).document();
    let failed = play(config(Preset::Strict), vec![Step::Fail(error(Slug::AuthError, Retry::Fatal))]).document();
    let cancelled = play(config(Preset::Orchestrator), vec![Step::Cancel]).document();
    for document in [open, failed, cancelled] {
        for format in ExportFormat::ALL {
            let text = export(&document, *format);
            assert!(text.ends_with(['\n', '}']) && text.len() > 100, "{format:?}");
            if matches!(format, ExportFormat::Native | ExportFormat::Atif | ExportFormat::Html) {
                assert_eq!(import(&text).unwrap().turns, document.turns, "{format:?}");
            }
        }
    }
}

#[test]
fn a_planted_key_is_in_no_export() {
    const KEY: &str = "sk-planted-0123456789abcdef";
    let secrets = Secrets::new([KEY.to_owned()]);
    let mut text = serde_json::to_string(&eventful()).unwrap();
    for place in ["the task", "part 1", "found", "Two parts"] {
        assert!(text.contains(place));
        text = text.replace(place, KEY);
    }
    let planted = Trajectory::parse(&text).unwrap();
    let clean = Trajectory::parse(&secrets.scrub(&text)).unwrap();
    for format in ExportFormat::ALL {
        assert!(export(&planted, *format).contains("planted"), "{format:?} shows what is planted");
        assert!(!export(&clean, *format).contains("planted"), "{format:?}");
    }
}
