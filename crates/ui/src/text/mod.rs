//! Texts, values and figures as elements.

pub mod figure;
pub mod json;
pub mod markdown;
pub mod pieces;
pub mod prose;
pub mod render;
pub mod slack;
