//! Turnwise: an agent runtime that lives in the browser.
//!
//! This package is what needs a browser: [`worker`] (the page's end of the tools' worker) and, on wasm32, `shell` (performs the
//! engine's effects), `docs_fetch`, `store`, `run_manager`, `embed` (the agent's worker). The rules are in the crates below
//! `crates`; `ARCHITECTURE.md` is the map, and the rules that a run follows are in `docs/semantics.md`.

pub mod worker;

#[cfg(target_arch = "wasm32")]
pub mod docs_fetch;
#[cfg(target_arch = "wasm32")]
pub mod embed;
#[cfg(target_arch = "wasm32")]
pub mod run_manager;
#[cfg(target_arch = "wasm32")]
pub mod shell;
#[cfg(target_arch = "wasm32")]
pub mod store;
