//! The tools' worker. One module for every worker, in pages and in Node.js.

fn main() {
    #[cfg(target_arch = "wasm32")]
    turnwise_worker::serve::serve::<turnwise_tools_module::Complete>();
}
