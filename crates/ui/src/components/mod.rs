//! Components without a subject: buttons, chips, fields, lists, dialogs, menus, icons, notices, reactive attributes. `#/gallery` of a test
//! build shows them in their states.

pub mod button;
pub mod dialog;
pub mod field;
pub mod icon;
pub mod list;
pub mod menu;
pub mod reactive;
pub mod toast;
