//! The skills of the user, and the page that shows them.

use std::sync::Arc;

use leptos::prelude::*;

use turnwise_view::skills::KeptSkill;

use crate::skills::skill_page::SkillPage;
use crate::state::App;

#[derive(Clone, Copy, Debug)]
pub struct SkillsStore {
    /// The skills of the user, by name.
    pub skills: RwSignal<Vec<Arc<KeptSkill>>>,
    pub page: SkillPage,
}

impl Default for SkillsStore {
    fn default() -> Self {
        SkillsStore { skills: RwSignal::new(Vec::new()), page: SkillPage::default() }
    }
}

impl App {
    pub fn own_skills(&self) -> SkillsStore {
        self.store()
    }
}
