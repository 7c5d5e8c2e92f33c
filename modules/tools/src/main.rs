//! The tools' worker: tools, checks of arguments, records, rendering. One module for every worker, in pages and in Node.js.
#![cfg_attr(not(target_arch = "wasm32"), allow(unused))] // it runs in a browser or in Node.js only

#[cfg(target_arch = "wasm32")]
mod complete;
#[cfg(target_arch = "wasm32")]
mod engines;
#[cfg(target_arch = "wasm32")]
mod parts;

fn main() {
    #[cfg(target_arch = "wasm32")]
    turnwise_worker::serve::serve::<complete::Complete>();
}
