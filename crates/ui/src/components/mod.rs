//! Components without a subject: dialogs, menus, icons, notices, reactive attributes.

pub mod dialog;
pub mod icon;
pub mod menu;
pub mod reactive;
pub mod toast;
