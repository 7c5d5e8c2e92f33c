//! To come.

pub mod markdown;
