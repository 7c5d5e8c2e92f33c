//! The page's end of the connection to its worker, and the runs that are on the screen.

pub mod app_worker;
pub mod live;
pub mod news;
pub mod slots;
