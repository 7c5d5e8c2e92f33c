//! What the tools' worker can do: tools, checks of arguments, records, rendering.
#![cfg(target_arch = "wasm32")]

mod complete;
mod engines;
mod later;
mod parts;

pub use complete::Complete;
