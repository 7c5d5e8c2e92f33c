//! What the settings show of skills, and what the transcript shows of their calls.

use serde_json::json;

use turnwise_engine::{RunConfig, Skill};
use turnwise_view::skills::{KeptSkill, ReadSkills, code_of};

fn read() -> ReadSkills {
    serde_json::from_value(json!({
        "skills": [
            {
                "name": "count", "description": "Counts.", "instructions": "Count.",
                "files": { "scripts/submit.js": "1", "scripts/plot.py": "2", "rules.md": "3" },
                "scripts": [{ "tool": "count_submit", "path": "scripts/submit.js", "description": "", "may_finish": true }],
                "binary": ["logo.png"], "allowed_tools": ["read_file", "list_files"],
            },
            { "name": "text", "description": "d", "instructions": "i", "files": {} },
        ],
        "faults": [
            { "skill": "count", "path": "count/scripts/plot.js", "message": "it needs Node.js", "skipped": false },
            { "skill": "other", "path": "other/SKILL.md", "message": "it has no instructions", "skipped": true },
            { "skill": "count", "path": "b/SKILL.md", "message": "another skill is named count already, so this one was left out", "skipped": true },
            { "skill": "", "path": "README.md", "message": "this file belongs to no skill, and was left out", "skipped": false },
        ],
    }))
    .unwrap()
}

#[test]
fn each_skill_has_its_faults_and_the_rest_is_about_what_is_left_out() {
    let (kept, rest) = read().sorted("folder", 5);
    let faults: Vec<usize> = kept.iter().map(|one| one.faults.len()).collect();
    assert_eq!(faults, [1, 0]);
    assert_eq!(kept[0].faults[0].sentence(), "count/scripts/plot.js: it needs Node.js.");
    assert_eq!(
        rest,
        [
            "other/SKILL.md: it has no instructions. It was left out.",
            "b/SKILL.md: another skill is named count already, so this one was left out.",
            "README.md: this file belongs to no skill, and was left out.",
        ]
    );
    assert_eq!((kept[0].from.as_str(), kept[0].added_ms, kept[0].off), ("folder", 5, false));
}

#[test]
fn a_skill_says_what_it_may_do() {
    let (kept, _) = read().sorted("folder", 5);
    assert_eq!(kept[0].summary(), "1 script, may end the run, 4 files, 1 remark");
    assert!(kept[0].calls().starts_with("Its scripts can call only read_file, list_files;"));
    assert_eq!(kept[0].not_run().collect::<Vec<_>>(), ["scripts/plot.py"]);
    assert_eq!(kept[1].summary(), "no scripts");
    assert!(kept[1].calls().starts_with("Only text"));
    let with = |allowed_tools| KeptSkill { skill: Skill { allowed_tools, ..kept[0].skill.clone() }, ..kept[0].clone() };
    assert!(with(None).calls().starts_with("Its scripts can call every tool of the run;"));
    assert_eq!(with(Some(Vec::new())).calls(), "Its scripts can call no tools.");
    let stored = serde_json::to_string(&kept[0]).unwrap();
    assert_eq!(serde_json::from_str::<KeptSkill>(&stored).unwrap(), kept[0]);
}

#[test]
fn the_code_of_a_script_is_that_of_its_tool() {
    let skills = read().skills;
    let config = RunConfig { skills, ..RunConfig::default() };
    assert_eq!(code_of(&config, "count_submit"), Some("1"));
    assert_eq!(code_of(&config, "read_file"), None);
}
