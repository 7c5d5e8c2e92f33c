//! The page of the app. Everything is in `turnwise_ui`.

fn main() {
    #[cfg(target_arch = "wasm32")]
    turnwise_ui::mount();
}
