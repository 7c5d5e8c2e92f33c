//! The page's end of the tools' worker; the other end is `turnwise-worker`, the messages are `turnwise_protocol::tool_worker`.
//!
//! [`pool`] is PURE: the assignment of calls to workers. So is the rule of [`awake`]: what deadlines count. On wasm32 `workspace` holds the files as blobs, `driver` starts and ends
//! workers as the pool decides, `writes`, `on_disk` and `disk` apply what calls write, and other modules use `host`, `demo`, `render`,
//! `records`, `viewer` and `docs`.

pub mod awake;
pub mod pool;

#[cfg(target_arch = "wasm32")]
pub mod demo;
#[cfg(target_arch = "wasm32")]
mod disk;
#[cfg(target_arch = "wasm32")]
pub mod docs;
#[cfg(target_arch = "wasm32")]
mod driver;
#[cfg(target_arch = "wasm32")]
pub mod host;
#[cfg(target_arch = "wasm32")]
mod live;
#[cfg(target_arch = "wasm32")]
mod on_disk;
#[cfg(target_arch = "wasm32")]
pub mod records;
#[cfg(target_arch = "wasm32")]
pub mod render;
#[cfg(target_arch = "wasm32")]
pub mod viewer;
#[cfg(target_arch = "wasm32")]
pub mod workspace;
#[cfg(target_arch = "wasm32")]
mod workspace_sync;
#[cfg(target_arch = "wasm32")]
mod writes;

#[cfg(target_arch = "wasm32")]
pub use self::{
    demo::{DemoError, DemoHost},
    docs::DocsHost,
    host::ToolHost,
    live::make_by,
    on_disk::workspace_with_folders,
    render::{RenderError, RenderHost},
    viewer::ViewerHost,
    workspace::Workspace,
    workspace_sync::WorkspaceSync,
    writes::Prepared,
};
