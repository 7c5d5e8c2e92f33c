//! Turnwise: an agent runtime that lives in the browser.
//!
//! A pure core and a thin shell. `ARCHITECTURE.md` is the map and says which folders are pure; the rules a run follows are in
//! `docs/semantics.md`.

pub mod content;
#[cfg(feature = "convert")]
pub mod convert;
pub mod docs;
pub mod engine;
pub mod files;
pub mod llm;
pub mod plan;
pub mod protocol;
pub mod signin;
pub mod tools;
pub mod trajectory;
pub mod view;
pub mod worker;

#[cfg(target_arch = "wasm32")]
pub mod shell;

#[cfg(all(target_arch = "wasm32", feature = "sdk"))]
pub mod docs_fetch;

#[cfg(all(target_arch = "wasm32", feature = "desk"))]
pub mod store;

#[cfg(all(target_arch = "wasm32", feature = "ui"))]
pub mod ui;

#[cfg(all(target_arch = "wasm32", feature = "desk"))]
pub mod desk;

#[cfg(all(target_arch = "wasm32", feature = "sdk"))]
pub mod embed;
