//! Parts of the page whose code loads when they are first shown. The palette is none: what is typed at once would be lost.
//! A build without the feature `split` (tests, the development server) has them in the page's module.
//!
//! `.ci/build` splits the linked module at these functions: each group, and what only it uses, becomes a module of its own.

use std::future::Future;

use leptos::html;
use leptos::prelude::*;
use send_wrapper::SendWrapper;

use crate::browser::dom;

/// A part of the page, or that its module did not arrive: the page is offline, or the server has another version by now.
pub type Part = Result<AnyView, NotLoaded>;

#[derive(Clone, Copy, Debug)]
pub struct NotLoaded;

#[cfg(feature = "split")]
impl From<wasm_split_helpers::SplitLoaderError> for NotLoaded {
    fn from(_: wasm_split_helpers::SplitLoaderError) -> Self {
        NotLoaded
    }
}

/// Declares parts: their group, their name and what they show.
macro_rules! parts {
    ($($group:ident: $name:ident($($argument:ident: $type:ty),*) => $view:expr;)*) => {
        // The expansion of `wasm_split` declares what the other module exports.
        #[allow(unsafe_code)]
        mod loaded_later {
            use super::*;
            use $crate::parts::Part;
            $(
                #[cfg(feature = "split")]
                #[wasm_split_helpers::wasm_split($group, fallible)]
                pub fn $name($($argument: $type),*) -> Part {
                    Ok($view.into_any())
                }

                #[cfg(not(feature = "split"))]
                pub async fn $name($($argument: $type),*) -> Part {
                    Ok($view.into_any())
                }
            )*
        }
        pub use loaded_later::*;
    };
}
pub(crate) use parts;

/// Shows a part as soon as it is there.
pub fn later(part: impl Future<Output = Part> + 'static) -> AnyView {
    let part = SendWrapper::new(part);
    Suspend::new(async move {
        let part = part.await;
        set_timeout(dom::focus_awaited, std::time::Duration::ZERO);
        part.unwrap_or_else(|NotLoaded| {
            html::p()
                .class("nothing")
                .attr("role", "alert")
                .child("This part of the app did not load. Try again when the connection is back, or reload the page.")
                .into_any()
        })
    })
    .into_any()
}
