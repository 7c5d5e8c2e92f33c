//! A slug with its meaning, for tooltips. The texts are in the table of slugs (`engine/failure.rs`).

use turnwise_engine::Slug;

/// A slug with its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlugView {
    pub name: &'static str,
    pub meaning: &'static str,
}

impl From<Slug> for SlugView {
    fn from(slug: Slug) -> Self {
        SlugView { name: slug.as_str(), meaning: slug.meaning() }
    }
}

/// Whether the model caused the failure. It is told by a system notice, or by the answer to its call.
#[must_use]
pub fn is_models_doing(slug: Slug) -> bool {
    slug.notice().is_some() || slug == Slug::ToolExecFailed
}
