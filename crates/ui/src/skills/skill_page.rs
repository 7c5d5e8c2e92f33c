//! What the page of the skills shows besides them, what was dropped and may be one, and calls of the script that reads them (`www/app/skills.js`).

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use web_sys::Blob;

use turnwise_view::skills::{KeptSkill, OfferedSkills};

use crate::browser::scripts::{self, Problem};

/// Files with their paths.
pub type PathFiles = Vec<(String, Blob)>;

/// What the page of the skills shows besides them.
#[derive(Clone, Copy, Debug)]
pub struct SkillPage {
    /// The page is open.
    pub open: RwSignal<bool>,
    /// What was dropped and holds a skill, by name: the user is asked whether it is to be one.
    pub asked: RwSignal<Option<String>>,
    pub dropped: StoredValue<Option<Dropped>, LocalStorage>,
    /// Sentences about what was not added, or not as it is.
    pub remarks: RwSignal<Vec<String>>,
    /// What the last site offers.
    pub offered: RwSignal<Option<OfferedSkills>>,
    /// Something is being read.
    pub busy: RwSignal<bool>,
    pub removed: StoredValue<Option<Arc<KeptSkill>>>,
    /// The names of the skills whose change has to be stored, and whether changes are being stored.
    pub unkept: StoredValue<(BTreeSet<String>, bool)>,
}

/// What was dropped: as it is, and as files for the agent.
#[derive(Debug)]
pub struct Dropped {
    pub given: PathFiles,
    pub files: PathFiles,
    pub closed: Vec<String>,
}

impl Default for SkillPage {
    fn default() -> Self {
        SkillPage {
            open: RwSignal::new(false),
            asked: RwSignal::new(None),
            dropped: StoredValue::new_local(None),
            remarks: RwSignal::new(Vec::new()),
            offered: RwSignal::new(None),
            busy: RwSignal::new(false),
            removed: StoredValue::new(None),
            unkept: StoredValue::new(Default::default()),
        }
    }
}

/// Whether files hold a skill: in a folder, or in an archive that is not opened among the files of the agent.
pub async fn is_one(files: &PathFiles) -> bool {
    if files.iter().any(|(path, _)| path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))) {
        return true;
    }
    for (path, blob) in files {
        let name = path.to_ascii_lowercase();
        let is_archive = [".skill", ".tgz", ".tar.gz", ".tar"].iter().any(|end| name.ends_with(end));
        if is_archive
            && !path.contains('/')
            && ask::<bool>("holds", "", Vec::new(), vec![blob.clone()]).await == Ok(true)
        {
            return true;
        }
    }
    false
}

/// Calls the page's script. The error is a sentence without its end.
pub async fn ask<T: DeserializeOwned>(
    what: &str,
    others: &str,
    paths: Vec<String>,
    files: Vec<Blob>,
) -> Result<T, String> {
    let answer = scripts::skills(what, others, paths, files).await;
    let text = answer.map_err(|error| error.unchecked_into::<Problem>().message())?;
    serde_json::from_str(&text.as_string().unwrap_or_default()).map_err(|error| error.to_string())
}
