//! The example tasks of the empty page, each of which shows something different.

use turnwise_engine::{
    CounterConfig, CounterLevel, DemoMode, Preset, ProviderKind, RunConfig, SynthesisConfig, own_tools,
};

use super::meter::{Tick, TickKind, TickState};

/// One example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExampleTask {
    /// The feature it shows.
    pub title: &'static str,
    pub shows: &'static str,
    /// The text of the task.
    pub text: &'static str,
    /// The preset that it needs; `None`: the user's.
    pub preset: Option<Preset>,
    /// Whether it offers the tool for sub-agents, regardless of the user's settings.
    pub subagents: bool,
    /// Whether it offers the tool that runs programs, regardless of the user's settings.
    pub programs: bool,
    /// Its own files, below `samples/files`, instead of the user's. A `.json` file there holds several, by their paths.
    pub files: &'static [&'static str],
    /// Its own limit, low enough to be reached while the user watches.
    pub max_turns: Option<u32>,
    /// The mode of the demo model; other models are not changed.
    pub demo: DemoMode,
    /// A preview of its run.
    pub course: &'static [TickKind],
}

const CALM: TickKind = TickKind::Turn(CounterLevel::Normal);
const AMBER: TickKind = TickKind::Turn(CounterLevel::Moderate);
const RED: TickKind = TickKind::Turn(CounterLevel::Urgent);

pub const EXAMPLES: &[ExampleTask] = &[
    ExampleTask {
        title: "Tools over files",
        shows: "The agent searches the sample files, reads what it finds and names its source.",
        text: "What happens when a run reaches its turn limit? Find it in the files and name the file.",
        preset: None,
        subagents: false,
        programs: false,
        files: &[],
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
        programs: false,
        files: &[],
        max_turns: Some(7),
        demo: DemoMode::Endless,
        course: &[CALM, AMBER, AMBER, RED, RED, RED, RED, TickKind::Synthesis],
    },
    ExampleTask {
        title: "Calculation with units",
        shows: "Numbers come from a calculator that knows units, not from the model.",
        text: "How long does light take to travel 384,400 km, and how many kWh are 5 MJ?",
        preset: None,
        subagents: false,
        programs: false,
        files: &[],
        max_turns: None,
        demo: DemoMode::Normal,
        course: &[CALM, CALM, CALM],
    },
    ExampleTask {
        title: "Parallel readers",
        shows: "Sub-agents read one file each in parallel. Each has its own turns and returns a report.",
        text: "Let readers work in parallel: what does each file say about turns and limits?",
        preset: Some(Preset::Research),
        subagents: true,
        programs: false,
        files: &[],
        max_turns: None,
        demo: DemoMode::Normal,
        course: &[CALM, CALM, CALM],
    },
    ExampleTask {
        title: "A report and a workbook",
        shows: "A PDF and a spreadsheet that disagree: text with its pages, SQL over a sheet, a program that compares.",
        text: "Do the quarterly revenues in annual-report.pdf and orders.xlsx agree? Name what differs, and the page.",
        preset: None,
        subagents: false,
        programs: true,
        files: &["annual-report.pdf", "orders.xlsx"],
        max_turns: None,
        demo: DemoMode::Normal,
        course: &[CALM, CALM, CALM, CALM],
    },
    ExampleTask {
        title: "Two hundred notes",
        shows: "One program reads every file, each with a call of its own, and returns a table that you can sort.",
        text: "Read all the notes and count the open actions of each person. Who has the most?",
        preset: None,
        subagents: false,
        programs: true,
        files: &["notes.json"],
        max_turns: None,
        demo: DemoMode::Normal,
        course: &[CALM, CALM, CALM, CALM],
    },
    ExampleTask {
        title: "A data set and a chart",
        shows: "The model writes code, the code runs in a sandbox in this tab, and its chart is part of the record.",
        text: "How do the rides in rides.csv depend on the weather and on the weekday? Draw a chart.",
        preset: None,
        subagents: false,
        programs: true,
        files: &["rides.csv"],
        max_turns: None,
        demo: DemoMode::Normal,
        course: &[CALM, CALM, CALM, CALM],
    },
];

impl ExampleTask {
    #[must_use]
    pub fn ticks(&self) -> Vec<Tick> {
        self.course.iter().map(|kind| Tick { kind: *kind, state: TickState::Used }).collect()
    }

    /// Applies the example's changes to the user's configuration.
    pub fn apply(&self, config: &mut RunConfig) {
        if let Some(preset) = self.preset {
            promise(config, preset);
        }
        if self.subagents && config.tools.iter().all(|tool| tool.name != own_tools::SPAWN) {
            config.tools.push(own_tools::spawn_spec(&config.agents));
        }
        if self.programs && config.tools.iter().all(|tool| tool.name != own_tools::PROGRAM) {
            config.tools.push(own_tools::program_spec());
        }
        if let Some(max_turns) = self.max_turns {
            config.max_turns = max_turns;
        }
        for provider in config.providers.iter_mut().filter(|provider| provider.kind == ProviderKind::Demo) {
            // Users who chose the mode that misbehaves want to see it here.
            if provider.demo != Some(DemoMode::Chaos) {
                provider.demo = Some(self.demo);
            }
        }
    }
}

/// Makes sure that an example shows its feature regardless of the user's settings: the rules of another preset, or a counter
/// or synthesis that is switched off, would hide it.
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
