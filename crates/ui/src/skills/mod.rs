//! The skills of the user: read by a script of the page (`www/app/skills.js`), stored by the worker for later visits, given to new runs.

pub mod skill_page;
pub mod store;

use std::sync::Arc;

use js_sys::Reflect;
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, File, HtmlInputElement};

use turnwise::worker::Workspace;
use turnwise_content::format::counted;
use turnwise_engine::hidden::visible;
use turnwise_engine::{RunConfig, Skill};
use turnwise_protocol::AgentFileChange;
use turnwise_protocol::app::{KeptList, Order};
use turnwise_view::skills::{KeptSkill, OfferedSkills, ReadSkills};

use crate::browser::dom;
use crate::client::app_worker::AppWorker;
use crate::components::toast::Undo;
use crate::composer::drop;
use crate::skills::skill_page::{Dropped, PathFiles, ask};
use crate::state::{App, Dialog};

/// Loads the skills of earlier visits.
pub fn load(app: App, line: &AppWorker) -> impl Future<Output = ()> + use<> {
    let workspace = Workspace::new();
    let files = line.with(&workspace).files;
    let loaded = line.ask(move |id| Order::KeptFiles { id, list: KeptList::Skills, files }, Vec::new());
    async move {
        let loaded = loaded.await;
        let mut skills = Vec::new();
        for file in workspace.list() {
            let Some(blob) = workspace.get(&file.path) else { continue };
            if let Ok(skill) = serde_json::from_str::<KeptSkill>(&drop::text_of(&blob).await) {
                skills.push(Arc::new(skill));
            }
        }
        app.own_skills().skills.try_update(|all| {
            // What was added in the meantime is newer.
            skills.retain(|skill| !all.iter().any(|other| other.skill.name == skill.skill.name));
            all.extend(skills);
            all.sort_by_key(|skill| skill.added_ms);
        });
        if let Err(why) = loaded {
            app.complain(why);
        }
    }
}

impl App {
    /// Gives a run the skills that are on.
    pub fn with_skills(&self, config: RunConfig) -> RunConfig {
        let on = |all: &Vec<Arc<KeptSkill>>| all.iter().filter(|one| !one.off).map(|one| one.skill.clone()).collect();
        RunConfig { skills: self.own_skills().skills.with_untracked(on), ..config }
    }

    /// Has the user choose a folder, or files and archives.
    pub fn choose_skill(self, folder: bool) {
        let Ok(input) = dom::element("input").dyn_into::<HtmlInputElement>() else { return };
        input.set_type("file");
        input.set_multiple(true);
        if folder {
            let _ = input.set_attribute("webkitdirectory", "");
        }
        let chosen = input.clone();
        let picked = Closure::once_into_js(move || {
            let list = chosen.files();
            let files = list.iter().flat_map(|list| (0..list.length()).filter_map(|at| list.get(at)));
            self.read_skill(files.map(|file| (path_of(&file), file.into())).collect());
        });
        let _ = input.add_event_listener_with_callback("change", picked.unchecked_ref());
        input.click();
    }

    /// Asks whether what was dropped is to be a skill. On the page of the skills, that is clear.
    pub fn ask_about_skill(self, dropped: Dropped) {
        if self.own_skills().page.open.get_untracked() {
            return self.read_skill(dropped.given);
        }
        self.own_skills().page.asked.set(Some(source_of(&dropped.given)));
        self.own_skills().page.dropped.set_value(Some(dropped));
        self.dialog.set(Some(Dialog::Settings));
    }

    /// The answer: as a skill, as files, or not at all (`None`).
    pub fn take_dropped(self, as_skill: Option<bool>) {
        self.own_skills().page.asked.set(None);
        let dropped = self.own_skills().page.dropped.try_update_value(Option::take).flatten();
        match (dropped, as_skill) {
            (Some(dropped), Some(true)) => self.read_skill(dropped.given),
            (Some(Dropped { files, closed, .. }), Some(false)) => {
                self.dialog.set(None);
                spawn_local(drop::add(self, files, closed));
            }
            _ => {}
        }
    }

    fn read_skill(self, files: PathFiles) {
        if !files.is_empty() {
            let from = source_of(&files);
            let (paths, files) = files.into_iter().unzip();
            self.add_skills("read", from, paths, files);
        }
    }

    /// Adds the skill that the app comes with.
    pub fn add_shipped_skill(self) {
        self.add_skills("shipped", "Turnwise".to_owned(), Vec::new(), Vec::new());
    }

    /// Lists what a site offers.
    pub fn find_skills(self, site: String) {
        let page = self.own_skills().page;
        page.offered.set(None);
        page.remarks.set(Vec::new());
        page.busy.set(true);
        spawn_local(async move {
            match ask::<OfferedSkills>("find", "", vec![site], Vec::new()).await {
                Ok(offered) => page.offered.set(Some(offered)),
                Err(why) => page.remarks.set(vec![format!("Nothing was listed: {why}.")]),
            }
            page.busy.set(false);
        });
    }

    /// Loads one of them.
    pub fn add_offered_skill(self, place: usize, url: String) {
        self.add_skills("load", url, vec![place.to_string()], Vec::new());
    }

    fn add_skills(self, what: &'static str, from: String, paths: Vec<String>, files: Vec<Blob>) {
        let page = self.own_skills().page;
        page.remarks.set(Vec::new());
        page.busy.set(true);
        let others = self.own_skills().skills.with_untracked(|all| {
            let all: Vec<&Skill> = all.iter().map(|one| &one.skill).collect();
            serde_json::to_string(&all).unwrap_or_default()
        });
        spawn_local(async move {
            match ask::<ReadSkills>(what, &others, paths, files).await {
                Ok(read) => self.take_read(read, &from),
                Err(why) => page.remarks.set(vec![format!("Nothing was added: {why}.")]),
            }
            page.busy.set(false);
        });
    }

    fn take_read(self, read: ReadSkills, from: &str) {
        let (added, remarks) = read.sorted(from, dom::now());
        self.own_skills().page.remarks.set(remarks);
        let names: Vec<String> = added.iter().map(|one| one.skill.name.clone()).collect();
        let mut replaced = 0;
        self.own_skills().skills.update(|all| {
            for mut skill in added {
                if let Some(old) = all.iter().position(|one| one.skill.name == skill.skill.name) {
                    skill.off = all.remove(old).off;
                    replaced += 1;
                }
                all.push(Arc::new(skill));
            }
        });
        match names.as_slice() {
            [] => return,
            [one] => {
                self.tell(format!("{} the skill {}.", if replaced > 0 { "Replaced" } else { "Added" }, visible(one)));
            }
            many => self.tell(format!("Added {}.", counted(many.len() as u64, "skill"))),
        }
        self.keep_skills(names);
    }

    pub fn switch_skill(self, name: &str, on: bool) {
        self.own_skills().skills.update(|all| {
            all.iter_mut().filter(|one| one.skill.name == name).for_each(|one| Arc::make_mut(one).off = !on);
        });
        self.keep_skills([name.to_owned()]);
    }

    pub fn remove_skill(self, name: &str) {
        let mut removed = None;
        self.own_skills().skills.update(|all| {
            let place = all.iter().position(|one| one.skill.name == name);
            removed = place.map(|place| all.remove(place));
        });
        self.own_skills().page.removed.set_value(removed);
        self.tell_with_undo(format!("Removed the skill {}.", visible(name)), Some(Undo::Skill(name.to_owned())));
        self.keep_skills([name.to_owned()]);
    }

    /// Brings it back, unless there is another one of its name now.
    pub fn put_back_skill(self) {
        let removed = self.own_skills().page.removed.try_update_value(Option::take).flatten();
        let Some(skill) = removed else { return };
        let name = skill.skill.name.clone();
        self.own_skills().skills.update(|all| {
            if !all.iter().any(|one| one.skill.name == name) {
                all.push(skill);
                all.sort_by_key(|one| one.added_ms);
            }
        });
        self.keep_skills([name]);
    }

    /// Stores these skills, and deletes those that were removed. Sends one order at a time: the later change has to be stored later.
    fn keep_skills(self, names: impl IntoIterator<Item = String>) {
        let page = self.own_skills().page;
        let busy = page.unkept.try_update_value(|(unkept, keeping)| {
            unkept.extend(names);
            std::mem::replace(keeping, true)
        });
        let Some(line) = self.line.get_value().filter(|_| busy == Some(false)) else { return };
        spawn_local(async move {
            while let Some((changes, blobs)) = self.unkept_skills() {
                if let Err(why) = line.ask(|id| Order::KeepFiles { id, list: KeptList::Skills, changes }, blobs).await {
                    self.complain(why);
                }
            }
        });
    }

    fn unkept_skills(self) -> Option<(Vec<AgentFileChange>, Vec<JsValue>)> {
        let names = self.own_skills().page.unkept.try_update_value(|(unkept, keeping)| {
            *keeping = !unkept.is_empty();
            std::mem::take(unkept)
        })?;
        let (mut changes, mut blobs) = (Vec::new(), Vec::new());
        self.own_skills().skills.with_untracked(|all| {
            for name in names {
                let skill = all.iter().find(|one| one.skill.name == name);
                let text = skill.and_then(|skill| serde_json::to_string(skill.as_ref()).ok());
                let blob = text.and_then(|text| dom::text_blob(&text, "application/json"));
                changes.push(AgentFileChange { path: format!("{name}.json"), there: blob.is_some() });
                blobs.extend(blob.map(JsValue::from));
            }
        });
        (!changes.is_empty()).then_some((changes, blobs))
    }
}

/// The path of a file below the chosen folder, or its name.
fn path_of(file: &File) -> String {
    let below = Reflect::get(file, &"webkitRelativePath".into()).ok().and_then(|path| path.as_string());
    below.filter(|path| !path.is_empty()).unwrap_or_else(|| file.name())
}

/// The folder or the file that something was read from, by name.
fn source_of(files: &PathFiles) -> String {
    let first = files.first().map(|(path, _)| path.split('/').next().unwrap_or(path).to_owned()).unwrap_or_default();
    match files.len() as u64 {
        more if more > 1 && files.iter().all(|(path, _)| !path.contains('/')) => {
            format!("{first} and {}", counted(more - 1, "more file"))
        }
        _ => first,
    }
}
