//! The module may use 512 MB.

#[allow(clippy::print_stdout)] // cargo reads it
fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-bins=--max-memory=536870912");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
