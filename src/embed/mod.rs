//! The agent's worker: answers the messages of the protocol, with one handler per message.
//!
//! Owns the agents and sites that the page opened, and their pending work. Contains no rules of a run. Deliberately
//! absent: the page's side (`www/client`), which checks the caller's arguments and holds the caller's functions.

mod agents;
mod asks;
mod calls;
mod docs;
mod outbox;
mod plans;
mod port;

pub use port::{OpenRunManager, Port, PostNews, TakeOrder};
