//! Which tool calls run, which ask first and which are denied, and how far an answer reaches (semantics.md#permissions).
//!
//! The engine decides; the shell only asks. A denied call never reaches the shell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::config::{Answers, Permissions, Rule, Scope, SideEffect, ToolSpec};

/// The rules of a run, and the answers that reach beyond their call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Consent {
    /// `None`: a record made before there were permissions, so nothing is asked or denied here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permissions: Option<Permissions>,
    /// Answers for all calls of a tool, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tools: BTreeMap<String, bool>,
    /// The answer for the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<bool>,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Allowed,
    Ask,
    /// The reason, for the model.
    Denied(String),
}

impl Consent {
    pub(super) fn new(permissions: Option<Permissions>) -> Self {
        Consent { permissions, ..Consent::default() }
    }

    /// The rules change; answers that were given stay.
    pub(super) fn set(&mut self, permissions: Permissions) {
        self.permissions = Some(permissions);
    }

    /// The rules, if the run has any.
    pub(super) fn permissions(&self) -> Option<&Permissions> {
        self.permissions.as_ref()
    }

    /// Forgets the answers: they were given for another run.
    pub(super) fn forget(&mut self) {
        self.tools.clear();
        self.run = None;
    }

    /// Keeps an answer that reaches beyond its call.
    pub(super) fn remember(&mut self, tool: &str, allow: bool, scope: Scope) {
        match scope {
            Scope::Call => {}
            Scope::Tool => drop(self.tools.insert(tool.to_owned(), allow)),
            Scope::Run => self.run = Some(allow),
        }
    }

    /// What happens to a call of this tool.
    pub(super) fn decide(&self, tool: &ToolSpec) -> Decision {
        let Some(permissions) = &self.permissions else { return Decision::Allowed };
        match (permissions.rule(tool), permissions.answers) {
            (Rule::Allow, _) | (Rule::Ask, Answers::All) => Decision::Allowed,
            (Rule::Deny, _) => Decision::Denied(denied(tool)),
            (Rule::Ask, Answers::Nobody) => Decision::Denied(nobody(tool)),
            (Rule::Ask, Answers::Page) => match self.tools.get(&tool.name).copied().or(self.run) {
                None => Decision::Ask,
                Some(true) => Decision::Allowed,
                Some(false) => Decision::Denied(REFUSED.to_owned()),
            },
        }
    }
}

impl Permissions {
    /// The rule for a tool: its own, otherwise that of what it touches.
    #[must_use]
    pub fn rule(&self, tool: &ToolSpec) -> Rule {
        let by_touch = match tool.side_effect {
            SideEffect::None => Rule::Allow,
            SideEffect::Workspace => self.workspace.unwrap_or(match self.answers {
                Answers::Page => Rule::Ask,
                Answers::Nobody | Answers::All => Rule::Allow,
            }),
            SideEffect::Folder => self.folder.unwrap_or(Rule::Ask),
            SideEffect::Network => self.network.unwrap_or(Rule::Ask),
            SideEffect::Page => self.page.unwrap_or(Rule::Ask),
        };
        self.tools.get(&tool.name).copied().unwrap_or(by_touch)
    }
}

/// The user said no.
pub(super) const REFUSED: &str = "the user refused this call";

fn denied(tool: &ToolSpec) -> String {
    let name = &tool.name;
    format!("not run: this run does not permit {name}, which {}. Go on without it", acts(tool))
}

fn nobody(tool: &ToolSpec) -> String {
    let name = &tool.name;
    format!(
        "not run: {name} {}, which has to be approved, and this run has nobody to ask and no standing permission. \
         Go on without it",
        acts(tool)
    )
}

fn acts(tool: &ToolSpec) -> &'static str {
    match tool.side_effect {
        SideEffect::None => "only reads",
        SideEffect::Workspace => "acts on the workspace",
        SideEffect::Folder => "acts on a folder of the user",
        SideEffect::Network => "acts on the network",
        SideEffect::Page => "acts on the page",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, side_effect: SideEffect) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: serde_json::json!({}),
            may_finish: false,
            side_effect,
        }
    }

    const TOUCHES: [SideEffect; 5] =
        [SideEffect::None, SideEffect::Workspace, SideEffect::Folder, SideEffect::Network, SideEffect::Page];

    /// One letter per kind of effect: `+` allowed, `?` asks, `-` denied.
    fn table(consent: &Consent) -> String {
        let sign = |touches| match consent.decide(&tool("t", touches)) {
            Decision::Allowed => '+',
            Decision::Ask => '?',
            Decision::Denied(_) => '-',
        };
        TOUCHES.into_iter().map(sign).collect()
    }

    fn with(answers: Answers, rule: Option<Rule>) -> Consent {
        let permissions = Permissions {
            answers,
            workspace: rule,
            folder: rule,
            network: rule,
            page: rule,
            tools: BTreeMap::new(),
        };
        Consent::new(Some(permissions))
    }

    #[test]
    fn the_rule_table() {
        use Answers::{All, Nobody, Page};
        // By who answers and what the rules say: nothing, ask, allow, deny.
        let rows = [
            (Nobody, ["++---", "+----", "+++++", "+----"]),
            (Page, ["+????", "+????", "+++++", "+----"]),
            (All, ["+++++", "+++++", "+++++", "+----"]),
        ];
        for (answers, expected) in rows {
            let rules = [None, Some(Rule::Ask), Some(Rule::Allow), Some(Rule::Deny)];
            let found = rules.map(|rule| table(&with(answers, rule)));
            assert_eq!(found.each_ref().map(String::as_str), expected, "{answers:?}");
        }
        assert_eq!(table(&Consent::default()), "+++++", "a record without permissions");
    }

    #[test]
    fn a_rule_for_a_tool_takes_precedence() {
        let mut consent = with(Answers::Page, Some(Rule::Deny));
        let permissions = consent.permissions.as_mut().expect("there are rules");
        permissions.tools.insert("t".into(), Rule::Ask);
        assert_eq!(table(&consent), "?????", "even of a tool that only reads");
        assert_eq!(consent.decide(&tool("other", SideEffect::Page)), Decision::Denied(denied(&tool("other", SideEffect::Page))));
    }

    #[test]
    fn answers_reach_as_far_as_they_say() {
        let mut consent = with(Answers::Page, None);
        consent.remember("t", true, Scope::Call);
        assert_eq!(table(&consent), "+????");
        consent.remember("t", true, Scope::Tool);
        assert_eq!(table(&consent), "+++++");
        assert_eq!(consent.decide(&tool("other", SideEffect::Page)), Decision::Ask);
        consent.remember("other", false, Scope::Run);
        assert_eq!(consent.decide(&tool("third", SideEffect::Workspace)), Decision::Denied(REFUSED.into()));
        assert_eq!(table(&consent), "+++++", "the answer for the tool is the narrower one");
        consent.forget();
        assert_eq!(table(&consent), "+????");
    }

    #[test]
    fn an_answer_does_not_lift_a_denial() {
        let mut consent = with(Answers::Page, Some(Rule::Deny));
        consent.remember("t", true, Scope::Run);
        assert_eq!(table(&consent), "+----");
    }
}
