//! Connecting a model: keys and signing in.

pub mod keys;
pub mod signin;
pub mod store;
