//! The tool worker, from both sides.
//!
//! [`protocol`], [`pool`] and `documents` are PURE: the messages, the assignment of calls to workers, and tasks on records.
//! On the page's side (wasm32) `workspace` holds the files as blobs, `driver` starts and ends workers as the pool decides,
//! `writes` and `disk` apply what calls write, and other modules use `host`, `demo`, `render`, `records`, `viewer` and `docs`. In the worker (features `docs` and
//! `worker`) `serve` answers requests, `documents` answers those about records, `parts` calls the code that loads on first use,
//! and `pattern` runs the regular expressions of schemas. Deliberately absent: the work of the tools (`tools`).

#[cfg(feature = "docs")]
pub mod documents;
#[cfg(feature = "docs")]
pub mod growing;
pub mod pool;
pub mod protocol;

#[cfg(target_arch = "wasm32")]
pub mod demo;
#[cfg(all(target_arch = "wasm32", feature = "desk"))]
mod disk;
#[cfg(target_arch = "wasm32")]
pub mod docs;
#[cfg(target_arch = "wasm32")]
mod driver;
#[cfg(all(target_arch = "wasm32", feature = "worker"))]
mod engines;
#[cfg(target_arch = "wasm32")]
pub mod host;
#[cfg(target_arch = "wasm32")]
mod live;
#[cfg(all(target_arch = "wasm32", feature = "worker"))]
mod parts;
#[cfg(all(target_arch = "wasm32", feature = "docs"))]
mod pattern;
#[cfg(target_arch = "wasm32")]
pub mod records;
#[cfg(target_arch = "wasm32")]
pub mod render;
#[cfg(all(target_arch = "wasm32", feature = "docs"))]
pub mod serve;
#[cfg(target_arch = "wasm32")]
mod twin;
#[cfg(target_arch = "wasm32")]
pub mod viewer;
#[cfg(target_arch = "wasm32")]
pub mod workspace;
#[cfg(target_arch = "wasm32")]
mod writes;

#[cfg(target_arch = "wasm32")]
pub use demo::{DemoError, DemoHost};
#[cfg(target_arch = "wasm32")]
pub use docs::DocsHost;
#[cfg(target_arch = "wasm32")]
pub use host::ToolHost;
#[cfg(target_arch = "wasm32")]
pub use live::make_by;
#[cfg(target_arch = "wasm32")]
pub use render::{RenderError, RenderHost};
#[cfg(target_arch = "wasm32")]
pub use twin::Twin;
#[cfg(target_arch = "wasm32")]
pub use viewer::ViewerHost;
#[cfg(target_arch = "wasm32")]
pub use workspace::Workspace;
#[cfg(target_arch = "wasm32")]
pub use writes::Prepared;
