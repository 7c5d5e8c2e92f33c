//! The page of the app. Everything is in `turnwise::ui`.

fn main() {
    #[cfg(target_arch = "wasm32")]
    turnwise::ui::mount();
}
