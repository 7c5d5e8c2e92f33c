//! What models and tools wrote, as data to draw: Markdown, JSON trees and Slack messages as closed sets of nodes, tables and
//! charts, and numbers and times as text. PURE.
//!
//! No node carries markup, and none makes a browser load anything. Deliberately absent: what a text means for a run (`view`).

pub mod figure;
pub mod format;
pub mod json;
pub mod markdown;
pub mod mrkdwn;
pub mod slack;
mod slack_rich;
