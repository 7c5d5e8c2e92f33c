//! The tool worker, from both sides.
//!
//! [`protocol`] and [`pool`] are PURE: what is said, and which worker runs what. On the page's side (wasm32)
//! `workspace` holds the files as blobs, `driver` makes and ends workers as the pool says, `host` and `render` are what
//! the rest uses. In the worker (feature `worker`) `serve` answers. Deliberately absent: what the tools do (`tools`).

pub mod pool;
pub mod protocol;

#[cfg(target_arch = "wasm32")]
mod driver;
#[cfg(target_arch = "wasm32")]
pub mod host;
#[cfg(target_arch = "wasm32")]
mod live;
#[cfg(target_arch = "wasm32")]
pub mod render;
#[cfg(all(target_arch = "wasm32", feature = "worker"))]
pub mod serve;
#[cfg(target_arch = "wasm32")]
pub mod workspace;

#[cfg(target_arch = "wasm32")]
pub use host::ToolHost;
#[cfg(target_arch = "wasm32")]
pub use render::{RenderError, RenderHost};
#[cfg(target_arch = "wasm32")]
pub use workspace::Workspace;
