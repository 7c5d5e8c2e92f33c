//! Records of runs and of plans. PURE -> engine.
//!
//! [`trajectory`] is the record of a run: what it contains, how it is read, replayed and continued, exports and imports.
//! [`plan`] is what runs several runs in order, and its record, which contains theirs.

pub mod plan;
pub mod trajectory;
