//! The worker module: tools, schema checks and rendering. One module for every worker, in pages and in Node.js.

#[cfg(target_arch = "wasm32")]
fn main() {
    turnwise::worker::serve::serve();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("the worker runs in a browser or in Node.js only; build it for wasm32-unknown-unknown");
}
