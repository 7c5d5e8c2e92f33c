//! Line icons on a 24 by 24 grid, of one weight (`.icon` in base.css): those of Lucide (icons.txt has its licence), each as one path.
//! An icon always comes with a label.

use leptos::prelude::*;
use leptos::svg;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    Menu,
    Plus,
    Close,
    Files,
    File,
    Settings,
    Download,
    Trash,
    Chevron,
    Down,
    Send,
    Share,
    Copy,
    Again,
    Edit,
    Note,
    Quote,
    Picture,
    More,
    Branch,
    Chart,
    Play,
    Pause,
    Back,
    Forward,
    First,
    Last,
}

impl Icon {
    /// The shape. The tag has some of them, too (`www/widget/dom.js`).
    fn path(self) -> &'static str {
        match self {
            Icon::Menu => "M4 5h16M4 12h16M4 19h16",
            Icon::Plus => "M5 12h14M12 5v14",
            Icon::Close => "M18 6 6 18M6 6l12 12",
            Icon::Files => {
                "M20 20a2 2 0 0 0 2-2V8a2 2 0 0 0-2-2h-7.9a2 2 0 0 1-1.69-.9L9.6 3.9A2 2 0 0 0 7.93 3H4a2 2 0 0 0-2 2v13a2 2 0 0 0 2 2Z"
            }
            Icon::File => {
                "M6 22a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h8a2.4 2.4 0 0 1 1.704.706l3.588 3.588A2.4 2.4 0 0 1 20 8v12a2 2 0 0 1-2 2zM14 2v5a1 1 0 0 0 1 1h5"
            }
            Icon::Settings => "M10 5H3M12 19H3M14 3v4M16 17v4M21 12h-9M21 19h-5M21 5h-7M8 10v4M8 12H3",
            Icon::Download => "M12 15V3M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4M7 10l5 5 5-5",
            Icon::Trash => {
                "M10 11v6M14 11v6M19 6v14a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V6M3 6h18M8 6V4a2 2 0 0 1 2-2h4a2 2 0 0 1 2 2v2"
            }
            Icon::Chevron | Icon::Forward => "M9 18l6-6-6-6",
            Icon::Down => "M6 9l6 6 6-6",
            Icon::Send => "M5 12l7-7 7 7M12 19V5",
            Icon::Share => "M12 2v13M16 6l-4-4-4 4M4 12v8a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-8",
            Icon::Copy => {
                "M10 8h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-10a2 2 0 0 1-2-2v-10a2 2 0 0 1 2-2zM4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2"
            }
            Icon::Again => "M21 12a9 9 0 1 1-9-9c2.52 0 4.93 1 6.74 2.74L21 8M21 3v5h-5",
            Icon::Edit => {
                "M21.174 6.812a1 1 0 0 0-3.986-3.987L3.842 16.174a2 2 0 0 0-.5.83l-1.321 4.352a.5.5 0 0 0 .623.622l4.353-1.32a2 2 0 0 0 .83-.497zM15 5l4 4"
            }
            Icon::Note => {
                "M21 9a2.4 2.4 0 0 0-.706-1.706l-3.588-3.588A2.4 2.4 0 0 0 15 3H5a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h14a2 2 0 0 0 2-2zM15 3v5a1 1 0 0 0 1 1h5"
            }
            Icon::Quote => "M17 5H3M21 12H8M21 19H8M3 12v7",
            Icon::Picture => {
                "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-14a2 2 0 0 1-2-2v-14a2 2 0 0 1 2-2zM7 9a2 2 0 1 0 4 0a2 2 0 1 0-4 0M21 15l-3.086-3.086a2 2 0 0 0-2.828 0L6 21"
            }
            Icon::More => {
                "M11 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0M18 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0M4 12a1 1 0 1 0 2 0a1 1 0 1 0-2 0"
            }
            Icon::Branch => "M15 6a9 9 0 0 0-9 9V3M15 6a3 3 0 1 0 6 0a3 3 0 1 0-6 0M3 18a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
            Icon::Chart => "M3 3v16a2 2 0 0 0 2 2h16M18 17V9M13 17V5M8 17v-3",
            Icon::Play => "M5 5a2 2 0 0 1 3.008-1.728l11.997 6.998a2 2 0 0 1 .003 3.458l-12 7A2 2 0 0 1 5 19z",
            Icon::Pause => {
                "M15 3h3a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1h-3a1 1 0 0 1-1-1v-16a1 1 0 0 1 1-1zM6 3h3a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1h-3a1 1 0 0 1-1-1v-16a1 1 0 0 1 1-1z"
            }
            Icon::Back => "M15 18l-6-6 6-6",
            Icon::First => "M17 18l-6-6 6-6M7 6v12",
            Icon::Last => "M7 18l6-6-6-6M17 6v12",
        }
    }
}

/// Draws an icon, which goes next to its label.
pub fn icon(icon: Icon) -> impl IntoView {
    drawn("icon", icon)
}

/// Draws a chevron that rotates with its `details`.
pub fn chevron() -> impl IntoView {
    drawn("icon chevron", Icon::Chevron)
}

fn drawn(class: &'static str, icon: Icon) -> impl IntoView {
    svg::svg()
        .attr("class", class)
        .attr("viewBox", "0 0 24 24")
        .attr("aria-hidden", "true")
        .child(svg::path().attr("d", icon.path()))
}

/// Draws the product's logo: a turn that comes full circle.
pub fn mark() -> impl IntoView {
    svg::svg().attr("class", "icon mark").attr("viewBox", "0 0 24 24").attr("aria-hidden", "true").child((
        svg::path().attr("d", "M20 12a8 8 0 1 1-2.3-5.6"),
        svg::path().attr("d", "M20 3v4h-4"),
        svg::circle().attr("cx", "12").attr("cy", "12").attr("r", "1.6"),
    ))
}
