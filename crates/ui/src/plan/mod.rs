//! Plans on the page: the graph, a step with its context and its run, the panel, and the actions on a plan.

mod actions;
mod context;
mod detail;
pub mod editor;
mod example;
mod graph;
pub mod live;
mod page;
pub mod panel;
pub mod state;

pub use example::example;
pub use page::page;
