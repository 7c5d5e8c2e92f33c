//! The tools' worker of the docs agent: the tools that need no more than files of text, without what makes the worker large.

#[cfg(target_arch = "wasm32")]
mod basic;

fn main() {
    #[cfg(target_arch = "wasm32")]
    turnwise_worker::serve::serve::<basic::Basic>();
}
