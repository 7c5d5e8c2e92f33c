use leptos::prelude::*;
fn main() {
    leptos::mount::mount_to_body(|| leptos::html::p().child("hi"));
}
