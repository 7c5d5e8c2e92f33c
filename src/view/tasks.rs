//! The tasks of the empty page: a few to click, each shows something different.

use crate::engine::{
    CounterConfig, CounterLevel, DemoMode, Preset, ProviderKind, RunConfig, SynthesisConfig, own_tools,
};

use super::meter::{Tick, TickKind, TickState};

/// One example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExampleTask {
    /// What it shows.
    pub title: &'static str,
    pub shows: &'static str,
    /// What is asked.
    pub text: &'static str,
    /// What it shows is this preset's; `None`: the user's.
    pub preset: Option<Preset>,
    /// It offers the tool for sub-agents, whether the user does or not.
    pub subagents: bool,
    /// A limit of its own, so that it is reached while one watches.
    pub max_turns: Option<u32>,
    /// How the demo model plays it; other models are not touched.
    pub demo: DemoMode,
    /// What its run looks like, as a picture.
    pub course: &'static [TickKind],
}

const CALM: TickKind = TickKind::Turn(CounterLevel::Normal);
const AMBER: TickKind = TickKind::Turn(CounterLevel::Moderate);
const RED: TickKind = TickKind::Turn(CounterLevel::Urgent);

pub const EXAMPLES: &[ExampleTask] = &[
    ExampleTask {
        title: "Tools over files",
        shows: "It searches the sample files, reads what it finds and names its source.",
        text: "What happens when a run reaches its turn limit? Find it in the files and name the file.",
        preset: None,
        subagents: false,
        max_turns: None,
        demo: DemoMode::Normal,
        course: &[CALM, CALM, CALM, CALM],
    },
    ExampleTask {
        title: "Limit and synthesis",
        shows: "Seven turns are not enough: the counter goes from calm over amber to red, and a synthesis concludes.",
        text: "Read every file from the first to the last and compare what each says about turns.",
        preset: Some(Preset::Research),
        subagents: false,
        max_turns: Some(7),
        demo: DemoMode::Endless,
        course: &[CALM, AMBER, AMBER, RED, RED, RED, RED, TickKind::Synthesis],
    },
    ExampleTask {
        title: "Calculation with units",
        shows: "Numbers come from a calculator that knows units, not from the model.",
        text: "How long does light need for 384400 km, and how many kWh are 5 MJ?",
        preset: None,
        subagents: false,
        max_turns: None,
        demo: DemoMode::Normal,
        course: &[CALM, CALM, CALM],
    },
    ExampleTask {
        title: "Parallel readers",
        shows: "Sub-agents read a file each, side by side: every one has turns of its own, and its report comes back.",
        text: "Let readers work in parallel: what does each file say about turns and limits?",
        preset: Some(Preset::Research),
        subagents: true,
        max_turns: None,
        demo: DemoMode::Normal,
        course: &[CALM, CALM, CALM],
    },
];

impl ExampleTask {
    #[must_use]
    pub fn ticks(&self) -> Vec<Tick> {
        self.course.iter().map(|kind| Tick { kind: *kind, state: TickState::Used }).collect()
    }

    /// What the example changes in the user's configuration.
    pub fn apply(&self, config: &mut RunConfig) {
        if let Some(preset) = self.preset {
            promise(config, preset);
        }
        if self.subagents && config.tools.iter().all(|tool| tool.name != own_tools::SPAWN) {
            config.tools.push(own_tools::spawn_spec(&config.agents));
        }
        if let Some(max_turns) = self.max_turns {
            config.max_turns = max_turns;
        }
        for provider in config.providers.iter_mut().filter(|provider| provider.kind == ProviderKind::Demo) {
            // Who chose the one that misbehaves wants to see it here.
            if provider.demo != Some(DemoMode::Chaos) {
                provider.demo = Some(self.demo);
            }
        }
    }
}

/// What an example shows is there whatever the user has set: another preset's rules, a counter or a synthesis that is
/// switched off would break its word.
fn promise(config: &mut RunConfig, preset: Preset) {
    if config.preset != preset {
        let own = RunConfig::preset(preset);
        (config.preset, config.max_turns, config.synthesis) = (preset, own.max_turns, own.synthesis);
    }
    if config.synthesis.is_none() {
        config.synthesis = Some(SynthesisConfig::preset(preset));
    }
    config.counter.get_or_insert_with(CounterConfig::default);
}
