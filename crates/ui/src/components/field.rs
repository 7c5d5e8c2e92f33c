//! A field with its name, what is wrong with it, and a hint.

use leptos::html;
use leptos::prelude::*;

use crate::components::reactive::reactive;

/// Draws a field. `id`: the id of `control`, which names `ID-wrong` and `ID-help` as its descriptions. `help`: empty, or a hint that is always
/// shown. A field complains after it was left, not while it is empty and untouched: `wrong` decides when.
pub fn field(
    class: &'static str,
    id: String,
    label: &'static str,
    control: AnyView,
    wrong: impl Fn() -> Option<String> + Send + 'static,
    help: &'static str,
) -> impl IntoView {
    let (of_wrong, of_help) = (format!("{id}-wrong"), format!("{id}-help"));
    html::div().class(class).child((
        html::label().r#for(id).child(label),
        control,
        reactive(move || wrong().map(|wrong| html::span().class("wrong").id(of_wrong.clone()).child(wrong))),
        (!help.is_empty()).then(|| html::span().class("help").id(of_help).child(help)),
    ))
}
