//! The query tools: SQL over the tables of the workspace (`query_table`) and the jq language over JSON (`query_json`).
//!
//! Their engines are parts of their own, which a worker loads on first use: SQLite (`www/parts/sql.js`) and jaq
//! (`modules/jq`). The rest is here: which files are tables and under which names, what is asked
//! of an engine, and how its answer is shown.

mod ask;
mod markdown;
pub mod names;
pub mod query_json;
pub mod query_table;
