//! Steps through a trajectory: its events one by one, and the content of each request to the model.
//!
//! PURE. [`Replay`] drives the engine through the recorded events again and keeps an index, not copies: the messages of
//! a line of work are shared by all its requests, so that time and memory grow linearly with the run, not quadratically.
//! [`Viewer`] answers an [`Ask`](turnwise_protocol::record::RecordQuery) about one record; it runs in a worker, and the page only holds the answers.

mod change;
pub mod difference;
mod fold;
mod marks;
pub mod message;
pub mod play;
pub mod request;
pub mod step;
pub mod text;
pub mod verify;
pub mod viewer;

pub use change::{Standing, StateAt};
pub use difference::{Difference, DifferenceEntry, Op};
pub use fold::{Replay, SentRequest};
pub use marks::MessageMark;
pub use message::{MessageRole, MessageView};
pub use request::RequestView;
pub use step::{ReplayStep, ReplaySteps, StepKind, StepTone};
pub use verify::ReplayVerdict;
pub use viewer::Viewer;
