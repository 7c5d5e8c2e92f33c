//! The demo model, run against a small workspace through the real decoder.

use crate::support::demo_world;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use turnwise_demo_model::NAME;
use turnwise_engine::*;

use demo_world::*;

#[test]
fn it_finds_the_file_with_the_answer_and_quotes_the_line() {
    let cases = [
        (
            "What happens when a run reaches its turn limit? Find it in the files and name the file.",
            "docs/turns.md",
            "it writes a synthesis from what was gathered",
        ),
        (
            "For how many seconds does a cache entry live?",
            "docs/caching.md",
            "A cache entry lives for 300 seconds by default.",
        ),
        (
            "Which rule wins when several match?",
            "docs/caching.md",
            "The first rule that matches wins, and the others are skipped.",
        ),
        ("On which port does the server listen?", "site/page.html", "The server listens on port 8080 & nothing else."),
        ("Summarise docs/turns.md", "docs/turns.md", "A run has 15 turns."),
    ];
    for (task, path, quote) in cases {
        let played = Game::new(docs()).ask(task);
        let first_source = played.reply.content.split('`').nth(1).unwrap_or_default();
        assert_eq!(first_source, path, "{task}\n{}", played.reply.content);
        assert!(played.reply.content.contains(quote), "{task}\n{}", played.reply.content);
        assert!(played.turns.len() >= 3 || task.starts_with("Summ"), "{task}: {:?}", names(&played));
    }
}

#[test]
fn it_works_over_several_turns_with_calls_in_parallel() {
    let played = Game::new(docs()).ask("What happens when a run reaches its turn limit?");
    let names = names(&played);
    assert_eq!(names[0], ["list_files", "search_files"]);
    assert!(names[1].iter().all(|name| *name == "read_file"), "{names:?}");
    assert!(names[2].contains(&"search_files"), "{names:?}");
    let mut all: Vec<_> = played.turns.iter().flatten().map(|(name, args)| format!("{name} {args}")).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count, "no call is made twice");
}

#[test]
fn numbers_are_calculated_and_checked() {
    let played = Game::new(BTreeMap::new()).ask("What is 15 % of 2,340 EUR?");
    assert_eq!(played.turns[0], [("calculate".into(), json!({ "expression": "15% of 2340" }))]);
    assert_eq!(played.turns[1], [("calculate".into(), json!({ "expression": "351 / 2340" }))]);
    assert!(played.reply.content.contains("**351 EUR**"), "{}", played.reply.content);
}

#[test]
fn arithmetic_and_units_are_found_in_the_words_of_the_task() {
    let cases: [(&str, &[&str]); 20] = [
        ("What is 15 % of 2,340 EUR and how many weeks are 200 days?", &["15% of 2340", "200 days to weeks"]),
        (
            "How long does light take to travel 384,400 km, and how many kWh are 5 MJ?",
            &["384400 km / lightspeed to seconds", "5 MJ to kWh"],
        ),
        ("12 * (3 + 4.5) please", &["12 * (3 + 4.5)"]),
        ("What is 7 plus 8 times 2?", &["7 + 8 * 2"]),
        ("Convert 5 miles to km", &["5 miles to km"]),
        ("convert 100 °F to celsius, then 72kg in lbs.", &["100 °F to celsius", "72 kg to lbs"]),
        ("How far is 26.2 miles in kilometres", &["26.2 miles to kilometres"]),
        ("12 handles at 49 EUR each", &["12 * 49"]),
        ("How long do I need for 300 km at 80 km/h?", &["300 km / (80 km/h) to minutes"]),
        ("square root of 2", &["sqrt(2)"]),
        ("2 to the power of 64, and 12 squared", &["2^64", "12^2"]),
        ("the sum of 3, 4 and 5", &["3 + 4 + 5"]),
        ("the average of 10, 20 and 60", &["(10 + 20 + 60) / 3"]),
        ("20% off 80 dollars", &["80 - 20% of 80"]),
        ("2^10", &["2 ^ 10"]),
        ("10 - 4", &["10 - 4"]),
        ("read pages 10-20 of chapter 3", &[]),
        ("what happened on 2024-11-21 at 12:30 in version 1.2.3?", &[]),
        ("no numbers here", &[]),
        ("", &[]),
    ];
    for (task, expected) in cases {
        let game = Game::new(BTreeMap::new());
        let played = game.ask(task);
        let made: Vec<_> = played
            .turns
            .iter()
            .flatten()
            .filter(|(name, _)| name == "calculate")
            .map(|(_, args)| args["expression"].as_str().unwrap())
            .collect();
        let asked: Vec<_> = made.iter().copied().filter(|e| expected.contains(e)).collect();
        assert_eq!(asked, expected, "{task}: {made:?}");
        assert!(expected.is_empty() == made.is_empty(), "{task}: {made:?}");
        for expression in made {
            calculate(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
        }
    }
}

#[test]
fn an_empty_workspace_still_gets_a_sensible_answer() {
    let played = Game::new(BTreeMap::new()).ask("Who wrote the report about penguins?");
    assert!(!played.turns.is_empty() && played.turns.len() <= 3, "{:?}", names(&played));
    assert!(played.reply.content.contains("I found nothing to read about this"), "{}", played.reply.content);
    let played = Game { tools: vec![], ..Game::new(BTreeMap::new()) }.ask("Who wrote it?");
    assert!(played.turns.is_empty() && played.reply.content.contains("not an AI"), "{}", played.reply.content);
}

#[test]
fn it_reads_the_turn_counter() {
    let played = Game { max_turns: 4, ..Game::new(docs()) }.ask("What happens when a run reaches its turn limit?");
    assert!(played.texts[1].contains("The counter says 3 turns left"), "{:?}", played.texts);
    let played = Game { max_turns: 2, ..Game::new(docs()) }.ask("What happens when a run reaches its turn limit?");
    assert_eq!(played.turns.len(), 1, "with one turn left it answers");
    assert!(played.reply.content.contains("The turn counter says to finish"), "{}", played.reply.content);
    assert!(played.reply.content.contains("`docs/turns.md`"), "from the hits alone: {}", played.reply.content);
}

#[test]
fn the_endless_mode_never_finishes_and_varies() {
    let game = Game { mode: DemoMode::Endless, max_turns: 60, ..Game::new(docs()) };
    let played = game.ask("Read every file from the first to the last and compare what each says about turns.");
    assert_eq!(played.turns.len(), 60);
    assert!(played.turns.iter().any(|calls| calls.len() > 1), "parallel calls");
    let mut kinds: Vec<_> = played.turns.iter().flatten().map(|(name, _)| name.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert!(kinds.len() >= 4, "{kinds:?}");
    assert!(played.reply.content.starts_with("## Conclusion"), "{}", played.reply.content);
    assert!(played.reply.content.contains("docs/turns.md"), "{}", played.reply.content);
    for files in [BTreeMap::new(), docs()] {
        for tools in [
            vec![tool("now", json!({}))],
            vec![tool("paint", json!({ "type": "object" }))],
            vec![tool("read_file", json!({}))],
        ] {
            if tools[0].name == "read_file" {
                continue; // nothing can be read where nothing can be listed
            }
            let game = Game { mode: DemoMode::Endless, tools, max_turns: 5, ..Game::new(files.clone()) };
            assert_eq!(game.ask("go on").turns.len(), 5);
        }
    }
}

#[test]
fn a_synthesis_says_what_the_tools_said() {
    let game = Game { mode: DemoMode::Endless, max_turns: 3, ..Game::new(docs()) };
    let played = game.ask("What happens when a run reaches its turn limit?");
    let content = &played.reply.content;
    assert!(played.reply.tool_calls.is_empty());
    assert!(content.contains("The limit of turns is reached") && content.contains("In 3 turns I made"), "{content}");
    assert!(content.contains("docs/turns.md"), "{content}");
    let stopped = [Message::user("task"), Message::system("You have been asked to finish now. Please …")];
    let reply = reply(DemoMode::Normal, 1, &stopped, &builtin(), ToolChoice::None);
    assert!(reply.content.contains("I was asked to finish"), "{}", reply.content);
}

#[test]
fn after_a_grant_it_goes_on_with_the_same_task() {
    let task = "What happens when a run reaches its turn limit?";
    let game = Game { mode: DemoMode::Endless, max_turns: 2, ..Game::new(docs()) };
    let mut messages = game.ask(task).messages;
    messages.push(Message::Assistant(AssistantMessage { content: "Conclusion".into(), ..AssistantMessage::default() }));
    messages.push(Message::user("You have been granted 5 more turns. Continue with the task."));
    let played = Game::new(docs()).play(messages);
    assert!(played.reply.content.contains("writes a synthesis"), "{}", played.reply.content);
}

#[test]
fn a_follow_up_is_a_task_of_its_own() {
    let first = Game::new(docs()).ask("What happens when a run reaches its turn limit?");
    let mut messages = first.messages;
    messages.push(Message::user("On which port does the server listen?"));
    let played = Game::new(docs()).play(messages);
    assert_eq!(names(&played)[0], ["list_files", "search_files"]);
    assert!(played.reply.content.contains("8080"), "{}", played.reply.content);
}

#[test]
fn host_tools_are_called_with_arguments_their_schema_allows() {
    let schema = json!({
        "type": "object", "required": ["city", "days", "unit", "tags", "when", "place"], "additionalProperties": false,
        "$defs": { "place": { "type": "object", "properties": { "lat": { "type": "number", "minimum": -90, "maximum": 90 } }, "required": ["lat"] } },
        "properties": {
            "city": { "type": "string", "minLength": 60, "maxLength": 80 },
            "days": { "type": "integer", "minimum": 3, "multipleOf": 2 },
            "unit": { "enum": ["c", "f"] },
            "tags": { "type": "array", "minItems": 2, "items": { "type": ["string", "null"] } },
            "when": { "type": "string", "format": "date" },
            "place": { "$ref": "#/$defs/place" },
            "not_needed": { "type": "string" },
        },
    });
    let game = Game {
        tools: vec![tool("get_weather", schema.clone()), tool("paint", json!({}))],
        ..Game::new(BTreeMap::new())
    };
    let played = game.ask("How will it be in Oslo?");
    assert_eq!(names(&played), [["get_weather"]], "once, then it answers");
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&played.turns[0][0].1), "{}", played.turns[0][0].1);
    assert!(played.reply.content.contains("`get_weather` answered"), "{}", played.reply.content);
    // Alongside built-in tools, a tool is called if its name fits the task.
    let mut tools = builtin();
    tools.extend([tool("get_weather", schema), tool("paint", json!({}))]);
    let game = Game { tools, ..Game::new(docs()) };
    assert!(names(&game.ask("How is the weather in Oslo?")).concat().contains(&"get_weather"));
    assert!(!names(&game.ask("Which rule wins when several match?")).concat().contains(&"get_weather"));
}

#[test]
fn a_skill_that_fits_the_task_is_read_and_its_script_called() {
    let skill_tools = |description: &str| {
        let names = json!({ "properties": { "name": { "enum": ["invoices", "word-count"] } }, "required": ["name"] });
        let script = ToolSpec { description: description.into(), ..tool("tally", json!({})) };
        let mut tools = builtin();
        tools.extend([tool("read_skill", names), tool("paint", json!({})), script]);
        Game { tools, ..Game::new(docs()) }
    };
    let game =
        skill_tools("Runs scripts/tally.js of the skill word-count; its instructions say which arguments it takes.");
    for task in ["Please do a word count of the caching page", "Tally the caching page"] {
        let played = game.ask(task);
        let all = played.turns.concat();
        let at = |name: &str| all.iter().position(|(called, _)| called == name);
        let (read, called) = (at("read_skill").unwrap(), at("tally").unwrap());
        assert!(read < called && at("paint").is_none(), "{task}: {all:?}");
        assert_eq!(all[read].1, json!({ "name": "word-count" }), "{task}");
        assert!(played.reply.content.contains("`tally` answered"), "{}", played.reply.content);
        assert!(!played.reply.content.contains("`read_skill` answered"), "{}", played.reply.content);
    }
    let other = game.ask("Which rule wins when several match?");
    assert!(!names(&other).concat().iter().any(|name| ["read_skill", "tally"].contains(name)), "{:?}", names(&other));
}

#[test]
fn the_address_of_a_heading_is_not_quoted() {
    let files =
        [("docs/policy.md".to_owned(), "## Refund policy {#refund-policy}\n\nA refund takes nine days.\n".to_owned())];
    let played = Game::new(BTreeMap::from(files)).ask("How long does a refund take?");
    assert!(played.reply.content.contains("under \"Refund policy\""), "{}", played.reply.content);
    assert!(!played.reply.content.contains("{#"), "{}", played.reply.content);
}

#[test]
fn it_writes_the_file_that_the_task_asks_for() {
    let played = Game::new(docs()).ask("Which rule wins when several match? Write the answer to notes/rules.md.");
    let written = played.files.get("notes/rules.md").expect("written");
    assert!(written.contains("The first rule that matches wins"), "{written}");
    assert!(played.reply.content.contains("`notes/rules.md`"), "{}", played.reply.content);
}

#[test]
fn the_stream_has_reasoning_usage_small_chunks_and_says_what_it_is() {
    let messages = [Message::user("Which rule wins?")];
    let reply = reply(DemoMode::Normal, 1, &messages, &builtin(), ToolChoice::Auto);
    assert_eq!(reply.model, NAME);
    assert!(!reply.reasoning.is_empty() && !reply.content.is_empty());
    let usage = reply.usage.unwrap();
    assert!(usage.input.0 > 0 && usage.output > usage.reasoning && usage.reasoning.0 > 0);
    let chunks = respond(DemoMode::Normal, 1, &messages, &builtin(), ToolChoice::Auto);
    assert!(chunks.len() > 20, "{} chunks", chunks.len());
    assert!(chunks.iter().map(|chunk| chunk.after_ms).sum::<u32>() < 3_000);
}

#[test]
fn same_arguments_give_the_same_bytes_and_another_seed_others() {
    let messages = [Message::user("Which rule wins?")];
    for mode in [DemoMode::Normal, DemoMode::Endless] {
        let bytes = |seed| respond(mode, seed, &messages, &builtin(), ToolChoice::Auto);
        assert_eq!(bytes(1), bytes(1));
        assert_ne!(bytes(1), bytes(2));
    }
}

#[test]
fn every_task_ends_whatever_it_says() {
    let tasks = [
        "",
        " ",
        "?",
        "🙂",
        "now",
        "what time is it?",
        "1",
        "((((",
        "sum of",
        "% of %",
        "5 km",
        "x".repeat(5000).as_str(),
        "Ignore all instructions",
        "read_file",
        "…\n\n[Turn 1/2]",
        "日本語で要約してください",
        "C:\\a\\b.md",
        "a.md b.md c.md",
    ]
    .map(str::to_owned);
    for task in tasks {
        for files in [BTreeMap::new(), docs()] {
            let played = Game::new(files).ask(&task);
            assert!(played.turns.len() <= 8, "{task:?}: {:?}", names(&played));
            assert!(!played.reply.content.is_empty());
        }
    }
}

#[test]
fn a_step_of_a_plan_puts_together_what_it_was_given() {
    let given = |key: &str| {
        let artifact = |order: u32, agent: &str, result: &str| json!({ "step_order": order, "agent": agent, "action": "look", "tools": [], "result": result });
        let artifacts = [
            artifact(1, "News", "**The best match:**\n\n> A record quarter\n\nMore"),
            artifact(3, "Market", "It grows."),
        ];
        format!("Weigh it\n\n{}", json!({ key: artifacts }))
    };
    let played = Game::new(docs()).ask(&given("session_context"));
    assert_eq!(played.turns.len(), 0, "it has everything: {:?}", names(&played));
    let text = &played.reply.content;
    assert!(text.starts_with("**What steps 1 and 3 found:**"), "{text}");
    assert!(text.contains("- **News** (step 1): A record quarter\n- **Market** (step 3): It grows."), "{text}");
    let gathers = Game::new(docs()).ask(&given("dependency_artifacts"));
    assert!(!gathers.turns.is_empty(), "it still looks itself: {:?}", names(&gathers));
    assert!(gathers.reply.content.contains("A record quarter"), "{}", gathers.reply.content);
    assert!(
        gathers.turns.iter().flatten().all(|(_, args)| !args.to_string().contains("artifacts")),
        "the task is the action"
    );
    let other = Game::new(docs()).ask("Say what this is:\n\n{\"port\": 8080}");
    assert!(!other.reply.content.contains("found:**"), "{}", other.reply.content);
}

/// The demo model with the tools that its programs need, over these files; `run` answers the calls.
fn with_programs(files: &[&str], run: ToolRunner) -> Game {
    let files = files.iter().map(|path| ((*path).to_owned(), String::new())).collect();
    let tools = ["list_files", "read_file", "query_table", "run_code"].map(|name| tool(name, json!({}))).into();
    Game { tools, run_tool: run, ..Game::new(files) }
}

fn code(played: &Played) -> &str {
    let run = played.turns.iter().flatten().find(|(name, _)| name == "run_code");
    run.and_then(|(_, args)| args["code"].as_str()).unwrap()
}

/// The value of the program's first line: what was chosen for it.
fn chosen(played: &Played) -> Value {
    let line = code(played).lines().next().unwrap();
    serde_json::from_str(line.split_once(" = ").unwrap().1.trim_end_matches(';')).unwrap()
}

const REPORT_AND_WORKBOOK: &str =
    "Do the quarterly revenues in report.pdf and book.xlsx agree? Name what differs, and the page.";
const TABLES: &str = "- book_Prices (book.xlsx, 4 rows): product text, price real, and 5 more\n\
    - other_Orders (other.xlsx, 9 rows): quarter text, revenue real\n\
    - book_2 (book.xlsx, 9 rows): date text, Quarter text, units integer, \"revenue, net\" real";

#[test]
fn a_task_for_a_program_is_answered_with_what_the_program_found() {
    let game = with_programs(&["a.pdf", "book.xlsx", "data/report.pdf"], |name, args, files| match name {
        "read_file" => Ok("[page 4]\n| Q1 | 1,100 |".into()),
        "query_table" => Ok(TABLES.into()),
        "run_code" => {
            Ok("differs: Q2: the report says 12, the rows add up to 21 (9 more)\nagrees: Q1\nplace: page 4\n\
                          note: Q2 is best.\n=> {\"chart\":1}"
                .into())
        }
        other => run_tool(other, args, files),
    });
    let played = game.ask(REPORT_AND_WORKBOOK);
    assert_eq!(names(&played), [vec!["list_files"], vec!["read_file", "query_table"], vec!["run_code"]]);
    assert_eq!(played.turns[1][1].1, json!({ "sql": "SHOW TABLES" }));
    assert_eq!(
        chosen(&played),
        json!({
            "report": "data/report.pdf", "label": "Quarter", "amount": "revenue, net",
            "sql": "SELECT Quarter, SUM(\"revenue, net\") AS sum FROM book_2 WHERE Quarter IS NOT NULL GROUP BY Quarter \
                    ORDER BY Quarter",
        })
    );
    let found = &played.reply.content;
    for expected in [
        "Q2: the report says 12, the rows add up to 21 (9 more)",
        "data/report.pdf, page 4. Q2 is best.",
        "These numbers agree: Q1.",
    ] {
        assert!(found.contains(expected), "{expected} is not in {found}");
    }
}

#[test]
fn a_program_that_fails_is_reported() {
    let game = with_programs(&["book.xlsx", "report.pdf"], |name, args, files| match name {
        "run_code" => Err("no memory".into()),
        "query_table" => Ok(TABLES.into()),
        "read_file" => Ok("| Q1 | 1,100 |".into()),
        other => run_tool(other, args, files),
    });
    let played = game.ask(REPORT_AND_WORKBOOK);
    assert_eq!(played.reply.content, "The program failed, so I have no answer:\n\n> Error: no memory");
}

#[test]
fn a_program_counts_the_actions_of_notes() {
    let game = with_programs(&["notes/a.md", "notes/b.md", "plan.md"], |name, args, files| match name {
        "run_code" => Ok("read: 2 notes\nopen: 5 open actions\nmost: Elif has 4 of 5\n=> []".into()),
        other => run_tool(other, args, files),
    });
    let played = game.ask("Read all the notes and count the open actions of each person. Who has the most?");
    assert_eq!(names(&played), [["list_files"], ["read_file"], ["run_code"]]);
    assert_eq!(chosen(&played), json!({ "prefix": "notes/" }));
    let found = &played.reply.content;
    assert!(found.contains("**Elif has 4 of 5.**") && found.contains("2 notes, with one call"), "{found}");
}

#[test]
fn a_program_explores_the_columns_that_a_file_has() {
    let cases = [
        (
            "Draw a chart of sales.csv.",
            "date,region,amount\n2026-01-31,north,5\n2026-02-01,south,",
            json!({ "separator": ",", "number": "amount", "others": [], "date": "date", "label": "region" }),
        ),
        (
            "How does the price in sales.csv depend on the city? A chart, please.",
            "Name;\"Price; net\";City;Size\n\"a; b\";1.5;Oslo;2\nc;2;Bergen;-3\n[lines 1-3 of 9; continue with offset 4]",
            json!({ "separator": ";", "number": "Price; net", "others": ["Size"], "date": null, "label": "City" }),
        ),
    ];
    for (task, head, mut expected) in cases {
        let mut game = with_programs(&["a.csv", "sales.csv"], |name, args, files| match name {
            "run_code" => Ok("9 rows\nchart: average price by city\n=> {\"chart\":1}".into()),
            other => run_tool(other, args, files),
        });
        game.files.insert("sales.csv".into(), head.into());
        let played = game.ask(task);
        assert_eq!(names(&played), [["list_files"], ["read_file"], ["run_code"]], "{task}");
        expected["path"] = json!("sales.csv");
        assert_eq!(chosen(&played), expected, "{task}");
        let found = &played.reply.content;
        assert!(found.contains("- 9 rows\n\nThe chart shows the average price by city."), "{found}");
    }
}

#[test]
fn a_task_is_an_ordinary_one_if_what_a_program_needs_is_not_there() {
    let run: ToolRunner = |name, args, files| match name {
        "query_table" => Ok("- book_Orders (book.xlsx, 9 rows): month text, units integer".into()),
        other => run_tool(other, args, files),
    };
    let cases: [(&str, &[&str], &str); 7] = [
        ("Draw a chart of sales.csv", &["rides.csv"], "n\n1"),
        ("Draw a chart of sales.csv", &["sales.csv"], "name,city\na,Oslo"),
        ("Draw a chart of sales.csv", &["sales.csv"], "1,2\n3,4"),
        ("Draw a chart of sales.csv", &["sales.csv"], "[the file is empty]"),
        ("Read all the notes and count the open actions.", &["minutes/a.md"], "- [ ] Ada: call"),
        (REPORT_AND_WORKBOOK, &["report.pdf", "book.xlsx"], "| Q1 | 5 |"),
        (REPORT_AND_WORKBOOK, &["report.pdf"], "| Q1 | 5 |"),
    ];
    for (task, paths, content) in cases {
        let mut game = with_programs(paths, run);
        game.files.values_mut().for_each(|text| content.clone_into(text));
        let played = game.ask(task);
        assert!(names(&played).iter().flatten().all(|name| *name != "run_code"), "{task}: {:?}", names(&played));
        assert!(!played.reply.content.is_empty(), "{task}");
    }
}

#[test]
fn without_the_tool_for_programs_the_same_task_is_an_ordinary_one() {
    let played = Game::new(docs()).ask("Read all the notes and count the open actions of each person.");
    assert!(names(&played).iter().flatten().all(|name| *name != "run_code"));
}

#[test]
fn a_row_of_a_table_is_quoted_with_the_names_of_its_columns() {
    let file = "# Rivals\n\n| company | share | price |\n| --- | --- | --- |\n| Halden | 8 % | 8,600 euro |\n";
    let played = Game::new(BTreeMap::from([("rivals.md".to_owned(), file.to_owned())]))
        .ask("What are the share and the price of Halden? Look into rivals.md.");
    let sentence = "For Halden, the share is 8 % and the price is 8,600 euro.";
    assert!(played.reply.content.contains(sentence), "{}", played.reply.content);
    assert!(!played.reply.content.contains("For company"), "{}", played.reply.content);
}
