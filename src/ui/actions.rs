//! What the user can do, wired to the session.

use crate::view::tasks::ExampleTask;
use crate::view::{Phase, Preview};

use super::state::App;
use super::{composer, dom};
use leptos::prelude::*;

impl App {
    pub fn running(&self) -> bool {
        self.page().is_some_and(|page| page.panel.with(|panel| panel.phase != Phase::Ended))
    }
    pub fn stop(&self) {}
    pub fn cancel(&self) {}
    pub fn grant(&self, _turns: u32) {}
    pub fn download(&self) {}
    pub fn submit(&self) {}
    pub fn run_example(&self, _task: &'static ExampleTask) {}
    pub fn new_run(&self) {
        self.current.set(None);
        self.rail_open.set(false);
        dom::focus(composer::TASK);
    }
    pub fn open_thread(&self, id: u32) {
        self.current.set(Some(id));
        self.rail_open.set(false);
    }
    pub fn file_count(&self) -> String {
        "12".to_owned()
    }
    pub fn model_name(&self) -> String {
        self.preview().model
    }
    pub fn preview(&self) -> Preview {
        let config = self.settings.with(|settings| settings.build(Vec::new())).unwrap_or_default();
        Preview::from(&config)
    }
}
