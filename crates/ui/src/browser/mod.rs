//! What the page's components need of the browser: elements, storage, the clipboard, the focus, the theme.

pub mod clipboard;
pub mod dom;
pub mod focus;
pub mod gzip;
pub mod notify;
pub mod scripts;
pub mod storage;
pub mod theme;
pub mod update;
