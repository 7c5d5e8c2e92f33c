//! The actions of the random world: configurations, replies, calls, outcomes, errors.

use turnwise_record::trajectory::RunSummary;

use super::*;

/// Half of the runs follow a conversation of up to 20 messages.
pub fn task(seed: u64) -> Task {
    let mut rng = Rng::new(seed ^ 7);
    let mut history = vec![Message::system("be brief")];
    for turn in 0..rng.up_to(1) * rng.up_to(7) {
        history.push(Message::user("said before ".repeat(1 + rng.up_to(20) as usize)));
        let id = CallId(format!("earlier_{turn}"));
        let call = (rng.up_to(1) == 0).then(|| ToolCall::new(id.clone(), "read".into(), "{}".into()));
        let answered = call.is_some();
        history.push(Message::Assistant(AssistantMessage {
            content: if answered { String::new() } else { "answered".into() },
            tool_calls: call.into_iter().collect(),
            ..AssistantMessage::default()
        }));
        if answered {
            let (name, content) = ("read".into(), "found ".repeat(rng.up_to(80) as usize));
            history.push(Message::Tool(ToolMessage {
                call_id: id,
                name,
                content,
                images: Vec::new(),
                is_error: false,
            }));
            history.push(Message::Assistant(AssistantMessage {
                content: "so it is".into(),
                ..AssistantMessage::default()
            }));
        }
    }
    Task { history: if history.len() > 1 { history } else { Vec::new() }, ..crate::support::task() }
}

pub fn configs() -> impl Strategy<Value = RunConfig> {
    let synthesis = (any::<bool>(), any::<bool>(), 1..4u32, any::<bool>());
    let budgets = (
        proptest::option::weighted(0.2, 0..30_000u64),
        proptest::option::weighted(0.2, 0..300u64),
        proptest::option::weighted(0.2, 0..5u32),
        proptest::option::weighted(0.3, 0..1_500u64),
    );
    let limits = (1..4u32, 1..5u32, 5..60usize, budgets);
    (
        0..3usize,
        1..6u32,
        1..4u32,
        proptest::option::weighted(0.85, synthesis),
        any::<bool>(),
        limits,
        any::<u64>(),
        (1..3usize, proptest::option::weighted(0.4, (0..4u32, any::<bool>()))),
    )
        .prop_map(|(preset, max_turns, max_attempts, synthesis, counter, limits, seed, (providers, spawn))| {
            let mut c = RunConfig { max_turns, max_attempts, seed, ..config(Preset::ALL[preset]) };
            c.tools.extend([own_tools::batch_spec(), own_tools::progress_spec(), own_tools::program_spec()]);
            if let Some((children, kinds)) = spawn {
                c.tools.push(own_tools::spawn_spec(&[]));
                c.limits.children = children;
                let reader = SubagentKind {
                    name: "reader".into(),
                    tools: vec!["read".into()],
                    max_turns: 2,
                    preset: [None, Some(Preset::Research), Some(Preset::Strict)][(seed % 3) as usize],
                    counter: [None, Some(false)][(seed / 3 % 2) as usize],
                    ..SubagentKind::default()
                };
                c.agents = if kinds { vec![reader] } else { Vec::new() };
            }
            c.synthesis = synthesis.map(|(system, numbered, attempts, text)| SynthesisConfig {
                role: if system { SynthesisRole::System } else { SynthesisRole::User },
                numbered,
                on_error: if text { SynthesisFallback::AggregatedText } else { SynthesisFallback::Message },
                attempts,
                prompt: None,
            });
            if !counter {
                c.counter = None;
            }
            permit(&mut c, seed);
            c.providers = vec![ProviderConfig::default(); providers];
            let (parallel, calls, chars, (wall, tokens, cost, context)) = limits;
            (c.limits.parallel_tools, c.limits.tool_calls_per_turn, c.limits.max_result_chars) =
                (parallel, calls, chars);
            (c.limits.wall_ms, c.limits.tokens, c.limits.context_tokens) = (wall, tokens, context);
            c.shortens = seed % 4 > 0;
            c.limits.cost = cost.map(|n| f64::from(n) * 0.0001);
            c.providers[0].price = cost.map(|_| Price { input: 3.0, output: 15.0, cached: 0.3 });
            c
        })
}

/// In two thirds of the runs, tools have effects, and rules decide about them.
fn permit(c: &mut RunConfig, seed: u64) {
    let touches = [SideEffect::Network, SideEffect::Workspace, SideEffect::Folder, SideEffect::Page];
    for (tool, at) in c.tools.iter_mut().zip(0..) {
        if (seed >> at) % 2 == 1 {
            tool.side_effect = touches[(seed >> at) as usize / 2 % 4];
        }
    }
    c.permissions = (!(seed / 64).is_multiple_of(3)).then(|| permissions(&mut Rng::new(seed)));
}

pub fn permissions(rng: &mut Rng) -> Permissions {
    let mut rule = || {
        [None, Some(PermissionRule::Ask), Some(PermissionRule::Allow), Some(PermissionRule::Deny)]
            [rng.up_to(3) as usize]
    };
    let (workspace, folder, network, page, own) = (rule(), rule(), rule(), rule(), rule());
    Permissions {
        answers: [Answers::Nobody, Answers::Page, Answers::Page, Answers::Page, Answers::All][rng.up_to(4) as usize],
        workspace,
        folder,
        network,
        page,
        tools: own.map(|rule| ("read".to_owned(), rule)).into_iter().collect(),
        folders: Vec::new(),
        hosts: Default::default(),
    }
}

impl Sim {
    pub fn permitted(&mut self, call: CallId) -> Event {
        let scope = [Scope::Call, Scope::Call, Scope::Tool, Scope::Run][self.rng.up_to(3) as usize];
        Event::Permitted { call, allow: self.rng.up_to(2) > 0, scope }
    }

    pub fn reply(&mut self) -> Reply {
        let content = match self.rng.up_to(3) {
            0 => String::new(),
            1 => " \n".into(),
            n => format!("text {n} {}", self.rng.up_to(99)),
        };
        let reasoning = if self.rng.up_to(3) == 0 { "thinking".into() } else { String::new() };
        let count = if self.rng.up_to(2) == 0 { 0 } else { self.rng.up_to(5) };
        let tool_calls = (0..count).map(|_| self.raw_call()).collect();
        let finish = if self.rng.up_to(9) == 0 { FinishReason::Length } else { FinishReason::Stop };
        let input = TokenCount(self.rng.up_to(60));
        let usage = (self.rng.up_to(1) == 0).then(|| Usage { input, output: TokenCount(9), ..Usage::default() });
        Reply { content, reasoning, tool_calls, finish, usage, ..Reply::default() }
    }

    fn raw_call(&mut self) -> RawCall {
        let id = match self.rng.up_to(3) {
            0 => String::new(),
            1 => "call_0".into(),
            2 => format!("call_{}_{}_{}", self.rng.up_to(4), self.rng.up_to(3), self.rng.up_to(3)),
            _ => "no id, ünusable".into(),
        };
        let name: String = self.tool_name().into();
        let arguments = match name.as_str() {
            "progress_report" => "{\"status\": \"working\"}".into(),
            "final_report" => {
                ["{\"format\": \"text\", \"content\": \"all of it\"}", "{\"format\": \"text\", \"content\": \" \"}"]
                    [self.rng.up_to(1) as usize]
                    .into()
            }
            "spawn_subagents" => {
                let n = self.rng.up_to(4);
                let agent = ["reader", "nobody"][self.rng.up_to(1) as usize];
                let task = |i| serde_json::json!({ "task": format!("part {i}"), "max_turns": i, "agent": agent });
                serde_json::json!({ "tasks": (1..=n).map(task).collect::<Vec<_>>() }).to_string()
            }
            "batch" => {
                let n = self.rng.up_to(4);
                let inner = (0..n).map(|_| self.tool_name());
                let calls: Vec<_> = inner.map(|name| serde_json::json!({ "name": name, "arguments": {} })).collect();
                serde_json::json!({ "calls": calls }).to_string()
            }
            _ => ["{}", "", "{\"q\": 1}", "{\"q\":"][self.rng.up_to(3) as usize].into(),
        };
        RawCall { id, name, arguments }
    }

    pub fn tool_name(&mut self) -> &'static str {
        let names = [
            "search",
            "read",
            "submit",
            "bash",
            "",
            "progress_report",
            "batch",
            "final_report",
            "spawn_subagents",
            "run_code",
            "read_earlier",
        ];
        names[self.rng.up_to(10) as usize]
    }

    pub fn outcome(&mut self, mode: RunMode) -> ToolOutcome {
        if mode == RunMode::Check && self.rng.up_to(4) != 0 {
            return ToolOutcome::executed(String::new(), None);
        }
        let content = match self.rng.up_to(5) {
            0 => String::new(),
            1 => "x".repeat(self.rng.up_to(200) as usize),
            2 => "ä".repeat(self.rng.up_to(200) as usize),
            3 if self.rng.up_to(3) == 0 => "<<<FINAL_RESULT>>>{\"a\":1}<<<END_FINAL_RESULT>>>".into(),
            _ => "found".into(),
        };
        match self.rng.up_to(9) {
            0 => ToolOutcome::Rejected { slug: Slug::InvalidArguments, path: None, message: "no".into() },
            1 => ToolOutcome::Failed { message: "boom".into() },
            2 => ToolOutcome::TimedOut { after_ms: 30_000 },
            3 => ToolOutcome::executed(content, Some(serde_json::json!({"q": 1}))),
            _ => ToolOutcome::executed(content, None),
        }
    }

    pub fn model_error(&mut self) -> ModelError {
        let slugs = [Slug::NetworkError, Slug::StreamCut, Slug::RateLimited, Slug::Timeout, Slug::ContextGuard];
        let slug = slugs[self.rng.up_to(4) as usize];
        let retry = if self.rng.up_to(5) == 0 || slug == Slug::ContextGuard { Retry::Fatal } else { Retry::Yes };
        let retry_after_ms = (self.rng.up_to(3) == 0).then(|| self.rng.up_to(70_000));
        ModelError { retry_after_ms, ..error(slug, retry) }
    }
}

/// Checks that every run can be written in every format, and that what can be read again says the same.
pub fn export_all(document: &Trajectory) {
    use turnwise_record::trajectory::{ExportFormat, import::import};
    for format in ExportFormat::ALL {
        let text = turnwise_view::export::export(document, *format);
        match format {
            ExportFormat::Native | ExportFormat::Html => assert_eq!(import(&text).as_ref(), Ok(document), "{format:?}"),
            ExportFormat::Atif => {
                let read = import(&text).expect("ATIF");
                let same = Trajectory { imported: read.imported.clone(), events: Vec::new(), ..document.clone() };
                assert_eq!((read.turns, read.segments, read.output), (same.turns, same.segments, same.output));
            }
            ExportFormat::OpenaiJsonl => assert_eq!(text.lines().count(), 1 + document.children.len()),
            ExportFormat::Markdown => assert!(text.starts_with("# ")),
            json if json.media_type() == "application/json" => {
                let _: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            }
            _ => assert!(!text.is_empty(), "{format:?}"),
        }
    }
}

/// Checks that a run's figures match its record and the run's own counts.
pub fn check_figures(recorder: &Recorder, requests: u32) {
    let run = &recorder.run;
    let summary = RunSummary::of_run(run);
    assert_eq!(summary, RunSummary::from(&recorder.document()), "the figures of a run and of its record");
    assert_eq!((summary.requests, run.requests()), (requests, requests));
    assert_eq!((summary.cost, summary.tokens), (run.cost(), run.usage()));
    let warned = |run: &Run| run.logs().iter().filter(|log| log.level == LogLevel::Warn).count();
    let failed = run.child_runs().map(warned).sum::<usize>() + warned(run);
    assert_eq!(summary.failed_attempts.values().sum::<u32>() as usize, failed, "each failed attempt counts once");
    assert!(summary.turns_used <= summary.total_turns && summary.duration_ms.is_some(), "{summary:?}");
    let text = serde_json::to_string(&summary).expect("serializes");
    assert_eq!(serde_json::from_str::<RunSummary>(&text).expect("reads back"), summary);
}
