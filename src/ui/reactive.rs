//! Reactive children in one type: with a type for each closure, the effect around it and its view are compiled again each time.
//! One type made the page's module 12 KB (brotli) smaller.

use leptos::prelude::*;

/// A child that is made again whenever what it read has changed.
pub type Reactive = Box<dyn FnMut() -> AnyView + Send>;

pub fn reactive<V: IntoAny>(mut child: impl FnMut() -> V + Send + 'static) -> Reactive {
    Box::new(move || child().into_any())
}
