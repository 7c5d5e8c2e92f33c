//! The JavaScript API: `Agent`, `DocsSite`, `replay`, `exportTrajectory`, `importTrajectory`, `listModels`,
//! `renderMarkdown`. Its types are written by hand in `types.d.ts`.
//!
//! Owns the translation to and from JavaScript, and the checks of what a page passes in. Holds no rule of a run.
//! Deliberately absent: the widget (`www/embed.js` and, later, its mount point).

mod agent;
mod docs;
mod error;
mod event;
mod files;
mod insight;
mod listener;
mod markdown;
mod models;
mod options;
mod plan;
mod plan_options;
mod reader;
mod run_options;
mod tool_options;
mod trajectory;

pub use agent::Agent;
pub use docs::DocsSite;
pub use files::Files;
pub use insight::{insight, summarize};
pub use markdown::render_markdown;
pub use models::list_models;
pub use trajectory::{export_trajectory, import_trajectory, replay_trajectory};

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");
