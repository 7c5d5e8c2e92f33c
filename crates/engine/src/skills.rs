//! Skills (skills.md): the catalogue in the system message, `read_skill`, and the tools of scripts.
//!
//! Three stages: every run has the names and descriptions of its skills in the system message; the model reads a skill's instructions
//! when it needs them, and its files when the instructions mention them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::{RunConfig, Skill, SkillScript, ToolSpec};
use super::own_tools::{self, own_tool};

pub const READ_SKILL: &str = "read_skill";

/// The code of a script, and the tools that it can call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptCode {
    pub code: String,
    pub tools: Vec<String>,
}

/// Offers `read_skill` and the tools of the scripts. A script without its file, or whose tool has the name of another tool, is no tool: its
/// skill lists it among its files only.
pub(super) fn offer(config: &mut RunConfig) {
    let RunConfig { skills, tools, .. } = config;
    if skills.is_empty() {
        return;
    }
    // A configuration that is normalized again has them already.
    let own: Vec<ToolSpec> =
        skills.iter().flat_map(|skill| skill.scripts.iter().map(|one| script_spec(&skill.name, one))).collect();
    tools.retain(|tool| tool.name != READ_SKILL && !own.contains(tool));
    tools.push(read_spec(skills));
    for Skill { name, files, scripts, .. } in skills {
        scripts.retain(|script| {
            let is_free = files.contains_key(&script.path) && tools.iter().all(|tool| tool.name != script.tool);
            if is_free {
                tools.push(script_spec(name, script));
            }
            is_free
        });
    }
}

/// The skills with these names; `None` if none are named.
pub(super) fn named(skills: &[Skill], names: &[String]) -> Option<Vec<Skill>> {
    (!names.is_empty()).then(|| skills.iter().filter(|skill| names.contains(&skill.name)).cloned().collect())
}

/// The skills of a sub-agent that has these of its parent's tools.
pub(super) fn offered(skills: &[Skill], tools: &[ToolSpec]) -> Vec<Skill> {
    let has = |name: &str| tools.iter().any(|tool| tool.name == name);
    if !has(READ_SKILL) {
        return Vec::new();
    }
    let mut skills = skills.to_vec();
    for skill in &mut skills {
        skill.scripts.retain(|script| has(&script.tool));
    }
    skills
}

/// The skills and scripts of a record that its adopter has too, as the adopter has them.
pub(super) fn adopt(recorded: &mut Vec<Skill>, own: &[Skill]) {
    recorded.retain_mut(|skill| {
        let Some(own) = own.iter().find(|own| own.name == skill.name) else { return false };
        let recorded = std::mem::replace(skill, own.clone());
        skill.scripts.retain(|script| recorded.scripts.iter().any(|known| known.tool == script.tool));
        true
    });
}

/// What the system message says of the skills. `None`: there are none.
#[must_use]
pub fn catalogue(skills: &[Skill]) -> Option<String> {
    if skills.is_empty() {
        return None;
    }
    let mut text = format!(
        "Skills are instructions for particular kinds of work. If one fits the task, read it with {READ_SKILL} before you begin:"
    );
    for Skill { name, description, .. } in skills {
        // One line each.
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&format!("\n- {name}: {description}"));
    }
    Some(text)
}

fn read_spec(skills: &[Skill]) -> ToolSpec {
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    own_tool(
        READ_SKILL,
        "Reads a skill's instructions or, with path, one of the files that they mention.".to_owned(),
        json!({
            "type": "object",
            "properties": {
                "name": { "enum": names },
                "path": { "type": "string", "description": "A file of the skill, such as references/format.md." },
            },
            "required": ["name"],
            "additionalProperties": false,
        }),
    )
}

fn script_spec(skill: &str, script: &SkillScript) -> ToolSpec {
    let SkillScript { tool, path, description, may_finish } = script;
    let what = match description.as_str() {
        "" => String::new(),
        said => format!(" {said}"),
    };
    let description = format!("Runs {path} of the skill {skill}; its instructions say which arguments it takes.{what}");
    // A script declares no parameters; it reads them from `input`.
    let parameters = json!({ "type": "object", "properties": {}, "additionalProperties": true });
    ToolSpec { may_finish: *may_finish, ..own_tool(tool, description, parameters) }
}

/// The answer to a call of `read_skill`; `Err`: what is wrong with it.
pub(super) fn read(skills: &[Skill], args: &Value) -> Result<String, String> {
    let text = |key: &str| args.get(key).and_then(Value::as_str);
    let name = text("name").unwrap_or_default();
    let Some(skill) = skills.iter().find(|skill| skill.name == name) else {
        return Err(format!("there is no skill named {name:?}"));
    };
    match text("path").map(|path| path.trim_start_matches("./")) {
        None | Some("" | "SKILL.md") => Ok(skill.instructions_with_files()),
        Some(path) => skill.file(path),
    }
}

impl Skill {
    fn instructions_with_files(&self) -> String {
        let tool_of = |path: &String| self.scripts.iter().find(|script| script.path == *path);
        let lines = self.files.iter().map(|(path, text)| match tool_of(path) {
            Some(script) => format!("- {path}: call the tool {}", script.tool),
            None if is_code(path) => {
                format!("- {path} ({} characters): it cannot be run here, only read", text.chars().count())
            }
            None => format!("- {path} ({} characters)", text.chars().count()),
        });
        let binary = self.binary.iter().map(|path| format!("- {path}: not a text, cannot be read"));
        let files: Vec<String> = lines.chain(binary).collect();
        if files.is_empty() {
            return self.instructions.clone();
        }
        format!(
            "{}\n\nFiles of this skill, for {READ_SKILL} with path:\n{}",
            self.instructions.trim_end(),
            files.join("\n")
        )
    }

    fn file(&self, path: &str) -> Result<String, String> {
        if let Some(text) = self.files.get(path) {
            return Ok(text.clone());
        }
        if self.binary.iter().any(|other| other == path) {
            return Err(format!("{path} is not a text"));
        }
        let known: Vec<&str> = self.files.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "it has none".to_owned() } else { known.join(", ") };
        Err(format!("the skill {} has no file {path:?}. Its files: {known}", self.name))
    }
}

/// Whether a file looks like one that a skill means to be run.
fn is_code(path: &str) -> bool {
    path.starts_with("scripts/")
}

impl RunConfig {
    /// Whether a tool is a script of a skill.
    #[must_use]
    pub fn is_script(&self, tool: &str) -> bool {
        self.skills.iter().any(|skill| skill.scripts.iter().any(|script| script.tool == tool))
    }

    /// The script that is this tool. `None`: it is none.
    #[must_use]
    pub fn script(&self, tool: &str) -> Option<ScriptCode> {
        let of_skill = |skill: &Skill| skill.scripts.iter().find(|script| script.tool == tool).cloned();
        let (skill, script) = self.skills.iter().find_map(|skill| Some((skill, of_skill(skill)?)))?;
        let allowed = |name: &String| skill.allowed_tools.as_ref().is_none_or(|only| only.contains(name));
        let names = self.tools.iter().map(|tool| tool.name.clone());
        let callable = |name: &String| own_tools::allowed_inside(name) && !self.is_script(name) && allowed(name);
        Some(ScriptCode {
            code: skill.files.get(&script.path).cloned().unwrap_or_default(),
            tools: names.filter(callable).collect(),
        })
    }
}
