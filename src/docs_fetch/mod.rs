//! The fetching side of [`docs`](turnwise_docs_index): reads a documentation site in the browser or in Node.js. WASM -> docs, engine,
//! protocol, shell, worker.
//!
//! Owns the order and number of a site's requests, how one page is fetched, and the browser's cache of a site's content.
//! Deliberately absent: what is read on a site and how it is searched (`docs`, in a worker). Its requests belong to no run and
//! carry no key.

mod bridged;
mod cache;
mod fetch;
mod reader;

pub use reader::{Docs, DocsOptions};
