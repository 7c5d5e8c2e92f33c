//! Plans on the page: the graph, a step with its context and its run, the panel, and the actions on a plan.

pub mod actions;
pub mod context;
pub mod detail;
pub mod editor;
pub mod example;
pub mod graph;
pub mod live;
pub mod page;
pub mod panel;
pub mod state;
pub mod store;

pub use crate::plans::example::example;
pub use crate::plans::page::page;
