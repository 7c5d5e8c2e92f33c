//! The plan of the start page: five agents gather, one makes a forecast, one writes the report.

use serde_json::{Value, json};

use turnwise_engine::CounterLevel;

use super::super::meter::{Tick, TickKind, TickState};

/// A plan with the documents it works on.
#[derive(Clone, Copy, Debug)]
pub struct ExamplePlan {
    pub title: &'static str,
    pub shows: &'static str,
    pub text: &'static str,
    /// The folder of the documents, on the site and in the workspace.
    pub folder: &'static str,
    pub files: &'static [&'static str],
}

pub const PLAN: ExamplePlan = ExamplePlan {
    title: "A plan with seven agents",
    shows: "Five agents work in parallel, each on its own document. A forecaster and a report writer receive all \
            earlier results without listing them as dependencies.",
    text: "A forecast for a company: product, numbers, news, market and competitors, an outlook, a one-page report.",
    folder: "samples/halden",
    files: &["product.md", "numbers.md", "news.md", "market.md", "competitors.md", "staff.md"],
};

const READING: [&str; 4] = ["list_files", "search_files", "read_file", "calculate"];

impl ExamplePlan {
    /// Returns the plan as a user would write it by hand.
    #[must_use]
    pub fn plan(&self) -> Value {
        let gather = |what: &str| json!({ "kind": "gather", "system": what, "tools": READING, "max_turns": 9 });
        let synthesis = |what: &str| json!({ "kind": "synthesis", "system": what, "tools": [], "max_turns": 8 });
        let step = |order: u32, agent: &str, action: &str| json!({ "order": order, "agent": agent, "action": action, "dependencies": [], "tools": [] });
        json!({
            "agents": {
                "Company": gather("You describe what a company makes. Use only the files, and name the one you read."),
                "Numbers": gather("You read figures of a company. Use only the files, and name the one you read."),
                "News": gather("You collect the news of a company. Use only the files, and name the one you read."),
                "Market": gather("You describe a market. Use only the files, and name the one you read."),
                "Competitors": gather("You compare competitors. Use only the files, and name the one you read."),
                "Forecaster": synthesis("You look ahead from what you are given, and say what speaks for and against it."),
                "Report": synthesis("You write one page for readers who know nothing of the company yet."),
            },
            "steps": [
                step(1, "Company", "Find the products and their payload in product.md"),
                step(2, "Numbers", "Find how revenue grew and what the order book covers in numbers.md"),
                step(3, "News", "Find the largest order, the recall and the price increase in news.md"),
                step(4, "Market", "Find how demand grows and which subsidy ends in market.md"),
                step(5, "Competitors", "Find the price and share of each competitor in competitors.md"),
                step(6, "Forecaster", "Weigh what speaks for and against growth in the coming year"),
                step(7, "Report", "Write a one-page forecast for Halden Cargo"),
            ],
        })
    }

    /// Returns a preview of the plan: one tick per agent.
    #[must_use]
    pub fn ticks(&self) -> Vec<Tick> {
        let gather = std::iter::repeat_n(TickKind::Turn(CounterLevel::Normal), 5);
        let kinds = gather.chain(std::iter::repeat_n(TickKind::Synthesis, 2));
        kinds.map(|kind| Tick { kind, state: TickState::Used }).collect()
    }
}
