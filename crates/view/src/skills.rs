//! The skills of the user, as the settings show them: where each comes from, what it may do, and what was wrong with it.

use serde::{Deserialize, Serialize};

use turnwise_content::format::counted;
use turnwise_engine::{RunConfig, Skill};

/// A skill that the user added, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptSkill {
    pub skill: Skill,
    pub faults: Vec<SkillFault>,
    /// The folder, the archive or the address that it was read from.
    pub from: String,
    /// New runs do not get it.
    pub off: bool,
    /// When it was added, in milliseconds since 1970.
    pub added_ms: u64,
}

/// What was found wrong when a skill was read (`www/client/sdk/skills.ts`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillFault {
    /// The name of the skill, or its folder.
    pub skill: String,
    pub path: String,
    pub message: String,
    /// The skill is left out.
    pub skipped: bool,
}

/// Skills that were read, and what was wrong with them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ReadSkills {
    pub skills: Vec<Skill>,
    pub faults: Vec<SkillFault>,
}

/// The skills that a site offers. None of them is loaded.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct OfferedSkills {
    pub offered: Vec<OfferedSkill>,
    /// Further ones, which are not listed.
    pub more: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct OfferedSkill {
    pub name: String,
    pub description: String,
    pub url: String,
}

impl ReadSkills {
    /// The skills, each with its faults, and sentences about what was left out.
    #[must_use]
    pub fn sorted(self, from: &str, added_ms: u64) -> (Vec<KeptSkill>, Vec<String>) {
        let ReadSkills { skills, faults } = self;
        let of = |skill: &Skill, fault: &SkillFault| !fault.skipped && fault.skill == skill.name;
        let rest = faults.iter().filter(|fault| !skills.iter().any(|skill| of(skill, fault)));
        let rest = rest.map(SkillFault::sentence).collect();
        let kept = |skill: Skill| {
            let faults = faults.iter().filter(|fault| of(&skill, fault)).cloned().collect();
            KeptSkill { skill, faults, from: from.to_owned(), off: false, added_ms }
        };
        (skills.iter().cloned().map(kept).collect(), rest)
    }
}

impl SkillFault {
    /// `count/SKILL.md: it has no name; its folder's is used.`
    #[must_use]
    pub fn sentence(&self) -> String {
        let path = if self.path.is_empty() { &self.skill } else { &self.path };
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let end = match self.skipped && !self.message.contains("left out") {
            true => ". It was left out.",
            false if self.message.ends_with('.') => "",
            false => ".",
        };
        format!("{place}{}{end}", self.message)
    }
}

impl KeptSkill {
    /// `2 scripts, may end the run, 3 files, 1 remark`
    #[must_use]
    pub fn summary(&self) -> String {
        let Skill { scripts, files, binary, .. } = &self.skill;
        let ending = scripts.iter().filter(|script| script.may_finish).count();
        let facts = [
            match scripts.len() as u64 {
                0 => "no scripts".to_owned(),
                some => counted(some, "script"),
            },
            if ending > 0 { "may end the run".to_owned() } else { String::new() },
            match (files.len() + binary.len()) as u64 {
                0 => String::new(),
                some => counted(some, "file"),
            },
            match self.faults.len() as u64 {
                0 => String::new(),
                some => counted(some, "remark"),
            },
        ];
        facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Which tools its scripts can call, as a sentence.
    #[must_use]
    pub fn calls(&self) -> String {
        match &self.skill.allowed_tools {
            _ if self.skill.scripts.is_empty() => {
                "Only text: it has no script that runs here, so it can do no more than what the model does with it."
                    .to_owned()
            }
            None => {
                "Its scripts can call every tool of the run; each call needs the same permission as one of the model."
                    .to_owned()
            }
            Some(tools) if tools.is_empty() => "Its scripts can call no tools.".to_owned(),
            Some(tools) => format!(
                "Its scripts can call only {}; each call needs the same permission as one of the model.",
                tools.join(", ")
            ),
        }
    }

    /// Its files in `scripts` that do not run here.
    pub fn not_run(&self) -> impl Iterator<Item = &str> {
        let Skill { scripts, files, .. } = &self.skill;
        let is_script = |path: &str| scripts.iter().any(|script| script.path == path);
        files.keys().map(String::as_str).filter(move |path| path.starts_with("scripts/") && !is_script(path))
    }
}

/// The code of the script that is this tool.
#[must_use]
pub fn code_of<'a>(config: &'a RunConfig, tool: &str) -> Option<&'a str> {
    config.skills.iter().find_map(|skill| {
        let script = skill.scripts.iter().find(|script| script.tool == tool)?;
        skill.files.get(&script.path).map(String::as_str)
    })
}
