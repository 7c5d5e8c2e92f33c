//! Connecting a model: keys and signing in.

pub mod dialog;
pub mod keys;
pub mod local;
pub mod signin;
pub mod store;
