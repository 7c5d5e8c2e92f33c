//! Every service with every situation.

use serde_json::json;
use turnwise_engine::*;
use turnwise_llm::ServerName;

use super::drive::{Failure, Model, Played, play};
use super::replies::Says;
use super::services::{Service, services};
use crate::support::{plain_tool, task};

#[derive(Clone, Debug, PartialEq)]
enum Cell {
    OneCall,
    Parallel,
    /// At the limit of turns, directly after the result of a tool.
    Synthesis,
    Subagents,
    /// A list of two providers: a failure goes to the second, the next turn to the first.
    List,
    Picture,
    Pdf,
    Effort(ReasoningEffort),
    Sampling,
    OutputLimit,
    Choice(AskedTool),
    /// A conversation of another model with an id of 64 characters and thoughts.
    ForeignHistory,
    NoArguments,
    TooLong,
    NoMoney,
    TooMany,
}

fn cells(service: &Service) -> Vec<Cell> {
    use Cell::*;
    let mut cells = vec![
        OneCall,
        Parallel,
        Synthesis,
        Subagents,
        List,
        Picture,
        Pdf,
        Sampling,
        OutputLimit,
        Choice(AskedTool::Auto),
        Choice(AskedTool::None),
        Choice(AskedTool::Required),
        Choice(AskedTool::Tool("f".into())),
        ForeignHistory,
        NoArguments,
        TooLong,
        NoMoney,
        TooMany,
    ];
    cells.extend(service.efforts.iter().map(|effort| Effort(*effort)));
    cells
}

/// How a cell has to end; nothing: with an answer.
fn declared(service: &Service, cell: &Cell, is_known: bool) -> Option<Slug> {
    match cell {
        // The row says that they are left out; no refusal does.
        Cell::Picture if !service.images && !is_known => Some(Slug::ProviderError),
        Cell::NoMoney => Some(Slug::QuotaError),
        Cell::OneCall if !service.tools => Some(Slug::ProviderError),
        _ => None,
    }
}

fn call(arguments: &str) -> Vec<(&'static str, String)> {
    vec![("f", arguments.to_owned())]
}

fn text() -> Says {
    Says { text: "It is 12.".into(), calls: Vec::new() }
}

/// One call, then an answer.
fn calls_once(_: u32, said: usize) -> Says {
    if said == 0 { Says { text: String::new(), calls: call(r#"{"x":1}"#) } } else { text() }
}

fn calls_twice(_: u32, said: usize) -> Says {
    if said < 2 { Says { text: "Let me look.".into(), calls: call(r#"{"x":1}"#) } } else { text() }
}

fn calls_in_parallel(_: u32, said: usize) -> Says {
    let calls = || [call(r#"{"x":1}"#), call(r#"{"x":2}"#), call("{}")].concat();
    if said < 2 { Says { text: String::new(), calls: calls() } } else { text() }
}

fn calls_without_arguments(_: u32, said: usize) -> Says {
    if said == 0 { Says { text: String::new(), calls: call("") } } else { text() }
}

fn calls_always(_: u32, _: usize) -> Says {
    Says { text: String::new(), calls: call("{}") }
}

/// Two sub-agents, each with a call.
fn spawns(child: u32, said: usize) -> Says {
    let tasks = json!({ "tasks": [{ "task": "part 1" }, { "task": "part 2" }] }).to_string();
    match (child, said) {
        (0, 0) => Says { text: String::new(), calls: vec![("spawn_subagents", tasks)] },
        _ => calls_once(child, said.saturating_sub(usize::from(child == 0))),
    }
}

/// What another model said before.
fn foreign_history() -> Vec<Message> {
    let id = CallId(format!("toolu_{}", "a1B2".repeat(15)[..58].to_owned()));
    let from =
        ProviderConfig { kind: ProviderKind::Anthropic, model: "claude-sonnet-5".into(), ..ProviderConfig::default() };
    let said = |content: &str, tool_calls: Vec<ToolCall>| {
        let (content, reasoning, from) =
            (content.to_owned(), "thoughts of another".to_owned(), Some(Author::from(&from)));
        Message::Assistant(AssistantMessage { content, reasoning, tool_calls, opaque: None, from })
    };
    let (call_id, name, content) = (id.clone(), "f".to_owned(), "12".to_owned());
    vec![
        Message::system("Be brief."),
        Message::user("What is 3 x 4?"),
        said("", vec![ToolCall::new(id, "f".into(), "{}".into())]),
        Message::Tool(ToolMessage { call_id, name, content, images: Vec::new(), is_error: false }),
        said("It is 12.", Vec::new()),
    ]
}

fn run(service: &Service, other: &Service, base_url: &str, cell: &Cell) -> Played {
    let provider = |service: &Service, base_url: &str| ProviderConfig {
        kind: service.kind,
        base_url: base_url.into(),
        model: service.model.into(),
        ..ProviderConfig::default()
    };
    let mut config = RunConfig {
        providers: vec![provider(service, base_url)],
        tools: vec![plain_tool("f"), plain_tool("g")],
        ..RunConfig::default()
    };
    let (mut task, mut model, mut failure, mut result) = (task(), calls_once as Model, None, "12".to_owned());
    let mut parties = vec![*service];
    if !service.tools && *cell != Cell::OneCall {
        config.tools.clear();
    }
    let image = |media_type: &str| vec![Image { media_type: media_type.into(), data: "iVBORw0KGgo=".into() }];
    let fails =
        |(status, body): (u16, &'static str), at: fn(usize) -> bool| Some(Failure { status, body, at, bytes: 0 });
    match cell {
        Cell::OneCall => {}
        Cell::Parallel => model = calls_in_parallel,
        Cell::Synthesis => (config.max_turns, model) = (2, calls_always),
        Cell::Subagents => {
            if service.tools {
                config.tools.push(own_tools::spawn_spec(&[]));
            }
            model = spawns;
        }
        Cell::List => {
            config.providers.push(provider(other, other.base_url));
            parties.push(*other);
            (model, failure) = (calls_twice, fails((503, "{}"), |n| n == 1));
        }
        Cell::Picture => task.images = image("image/png"),
        Cell::Pdf => task.images = image("application/pdf"),
        Cell::Effort(effort) => config.reasoning = Some(*effort),
        Cell::Sampling => (config.temperature, config.top_p) = (Some(0.5), Some(0.9)),
        Cell::OutputLimit => config.providers[0].max_output_tokens = Some(4096),
        Cell::Choice(asked) => config.tool_choice = Some(asked.clone()),
        Cell::ForeignHistory => task.history = foreign_history(),
        Cell::NoArguments => model = calls_without_arguments,
        Cell::TooLong => {
            (model, result) = (calls_twice, "word ".repeat(3_000));
            failure = service.overflow.map(|(status, body)| Failure { status, body, at: |_| true, bytes: 24_000 });
        }
        Cell::NoMoney => failure = fails(service.no_money, |_| true),
        Cell::TooMany => failure = fails(service.too_many, |n| n == 0),
    }
    play(config, task, &parties, failure, &result, model)
}

/// What is wrong with how a cell ended.
fn fault(service: &Service, cell: &Cell, played: &Played, corrections: usize) -> Option<String> {
    let declared = declared(service, cell, corrections == 0);
    let document = &played.document;
    let slugs: Vec<Slug> = played.attempts().iter().flat_map(|attempt| attempt.slugs.clone()).collect();
    let answered = document.output.as_deref().is_some_and(|output| output.contains("12"));
    let ended = match declared {
        None => answered && matches!(document.outcome, Some(Outcome::Success | Outcome::Partial)),
        Some(slug) => document.outcome == Some(Outcome::Failed) && slugs.last() == Some(&slug),
    };
    let met = match cell {
        Cell::TooLong if service.overflow.is_some() && service.tools => slugs.contains(&Slug::ContextGuard),
        Cell::TooMany => {
            matches!(slugs.first(), Some(Slug::RateLimited | Slug::ProviderError)) && slugs.len() <= 1 + corrections
        }
        _ => true,
    };
    let most = if declared.is_some() { usize::MAX } else { corrections };
    let few = played.corrections() <= corrections && played.refusals.len() <= most;
    (!ended || !met || !few)
        .then(|| format!("{:?} {slugs:?} {:?} {:?}", document.termination_reason, document.error, played.refusals))
}

/// All services, in the order of the rows.
fn all() -> Vec<Service> {
    ServerName::ALL.iter().flat_map(|name| services(*name)).collect()
}

/// Plays every cell of the services that are chosen; returns how many.
fn matrix(base_url: impl Fn(&Service) -> Option<&'static str>, corrections: usize) -> (usize, usize) {
    let all = all();
    let (mut count, mut corrected, mut faults) = (0, 0, Vec::new());
    for (at, service) in all.iter().enumerate() {
        let Some(base_url) = base_url(service) else { continue };
        let other = all.iter().cycle().skip(at + 1).find(|other| other.tools).unwrap();
        for cell in cells(service) {
            let played = run(service, other, base_url, &cell);
            count += 1;
            corrected += played.corrections();
            if let Some(fault) = fault(service, &cell, &played, corrections) {
                faults.push(format!("{:?} {} {} {cell:?}: {fault}", service.kind, service.base_url, service.model));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {count} cells:\n{}", faults.len(), faults.join("\n"));
    (count, corrected)
}

#[test]
fn with_its_own_row_no_service_refuses_a_request_in_946_cells() {
    let (cells, corrections) = matrix(|service| Some(service.base_url), 0);
    assert_eq!((cells, corrections), (946, 0));
}

#[test]
fn with_nothing_known_of_the_server_two_corrections_are_enough_in_611_cells() {
    let floor = |service: &Service| {
        let is_bearer = !service.base_url.contains("azure");
        (service.kind == ProviderKind::Openai && is_bearer).then_some("https://models.example.org/v1")
    };
    let (cells, corrections) = matrix(floor, 2);
    assert_eq!((cells, corrections), (611, 66));
}

/// Eight rounds with text and two calls each, of which the window holds a few; one of them reads what was left out.
fn calls_for_long(_: u32, said: usize) -> Says {
    let calls = match said {
        0..=5 | 7 => [call(r#"{"x":1}"#), call(r#"{"x":2}"#)].concat(),
        6 => vec![("read_earlier", r#"{"from": 1, "count": 3}"#.to_owned()), ("f", "{}".to_owned())],
        _ => return text(),
    };
    Says { text: "Let me look at that. ".repeat(20), calls }
}

#[test]
fn no_service_refuses_a_conversation_of_which_the_oldest_turns_are_left_out() {
    let (mut faults, mut read) = (Vec::new(), 0);
    for service in all() {
        let provider = ProviderConfig {
            kind: service.kind,
            base_url: service.base_url.into(),
            model: service.model.into(),
            ..ProviderConfig::default()
        };
        let mut config = RunConfig {
            providers: vec![provider],
            tools: if service.tools { vec![plain_tool("f")] } else { Vec::new() },
            shortens: true,
            max_turns: 20,
            ..RunConfig::default()
        };
        config.limits.context_tokens = Some(1_600);
        let turn = |_| {
            let mut turn = foreign_history().split_off(1);
            turn.insert(0, Message::user("Long ago. ".repeat(60)));
            turn
        };
        let mut history = vec![Message::system("Be brief.")];
        for (n, mut turn) in (0..12).map(|n| (n, turn(n))) {
            for message in &mut turn {
                let id = CallId(format!("call_{n}"));
                match message {
                    Message::Assistant(said) => said.tool_calls.iter_mut().for_each(|call| call.id = id.clone()),
                    Message::Tool(tool) => tool.call_id = id,
                    _ => {}
                }
            }
            history.extend(turn);
        }
        let played = play(config, Task { history, ..task() }, &[service], None, &"12 ".repeat(60), calls_for_long);
        let name = format!("{:?} {} {}", service.kind, service.base_url, service.model);
        let attempts = played.attempts();
        let left_out = attempts.iter().filter(|attempt| attempt.left_out > 0).count();
        // A model that takes no tools refuses the one that reads what is left out, once.
        let refused = played.refusals.len() <= usize::from(!service.tools);
        let answered = played.document.outcome == Some(Outcome::Success);
        if !(refused && answered && left_out > 0) {
            faults.push(format!("{name}: {:?} {left_out} {:?}", played.document.error, played.refusals));
        }
        let calls = played.document.turns.iter().flat_map(|turn| &turn.tool_calls);
        read += calls.filter(|call| call.name == own_tools::EARLIER && call.slug.is_none()).count();
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
    assert!(read > 20, "{read} services read what was left out");
}
