//! Line icons, drawn from paths on a 24 by 24 grid. An icon always comes with a label.

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
    fn path(self) -> &'static str {
        match self {
            Icon::Menu => "M4 7h16M4 12h16M4 17h16",
            Icon::Plus => "M12 5v14M5 12h14",
            Icon::Close => "M6 6l12 12M18 6L6 18",
            Icon::Files => {
                "M3 7.5A1.5 1.5 0 0 1 4.5 6H9l2 2.5h8.5A1.5 1.5 0 0 1 21 10v7.5a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5z"
            }
            Icon::File => "M6 3.5h8l4 4v13H6zM14 3.5v4h4",
            Icon::Settings => "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5",
            Icon::Download => "M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14",
            Icon::Trash => "M5 7h14M10 7V4.5h4V7M7 7l.8 13h8.4L17 7",
            Icon::Chevron => "M9 5l7 7-7 7",
            Icon::Down => "M5 9l7 7 7-7",
            Icon::Share => "M12 15V4M8 7.5L12 4l4 3.5M7 11H5v9h14v-9h-2",
            Icon::Copy => "M9 9h11v11H9zM5 15H4V4h11v1",
            Icon::Again => "M19 12a7 7 0 1 1-2.2-5.1M19 4v4.5h-4.5",
            Icon::Note => "M5 4h14v10l-6 6H5zM13 20v-6h6",
            Icon::Quote => "M10 7H5v6h5zM10 13c0 3-2 4-4 4M19 7h-5v6h5zM19 13c0 3-2 4-4 4",
            Icon::Edit => "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
            Icon::Picture => "M4 5h16v14H4zM4 16l4.5-4.5 4 4 2.5-2.5 5 5M15.5 9h.01",
            Icon::Branch => "M6 4v16M6 14c0-5 12-3 12-9M15.5 7.5L18 5l2.5 2.5",
            Icon::More => "M5 12h.01M12 12h.01M19 12h.01",
            Icon::Chart => "M4 20h16M7 16v-5M12 16V6M17 16v-8",
            Icon::Play => "M7 4.5v15l12-7.5z",
            Icon::Pause => "M8 5v14M16 5v14",
            Icon::Back => "M15 5l-7 7 7 7",
            Icon::Forward => "M9 5l7 7-7 7",
            Icon::First => "M18 5l-7 7 7 7M7 5v14",
            Icon::Last => "M6 5l7 7-7 7M17 5v14",
            Icon::Send => "M12 20V5M5.5 11.5L12 5l6.5 6.5",
        }
    }
}

/// Draws an icon, which goes next to its label.
pub fn icon(icon: Icon) -> impl IntoView {
    svg::svg()
        .attr("class", "icon")
        .attr("viewBox", "0 0 24 24")
        .attr("aria-hidden", "true")
        .child(svg::path().attr("d", icon.path()))
}

/// Draws a chevron that rotates with its `details`.
pub fn chevron() -> impl IntoView {
    svg::svg()
        .attr("class", "icon chevron")
        .attr("viewBox", "0 0 24 24")
        .attr("aria-hidden", "true")
        .child(svg::path().attr("d", Icon::Chevron.path()))
}

/// Draws the product's logo: a turn that comes full circle.
pub fn mark() -> impl IntoView {
    svg::svg().attr("class", "icon mark").attr("viewBox", "0 0 24 24").attr("aria-hidden", "true").child((
        svg::path().attr("d", "M20 12a8 8 0 1 1-2.3-5.6"),
        svg::path().attr("d", "M20 3v4h-4"),
        svg::circle().attr("cx", "12").attr("cy", "12").attr("r", "1.6"),
    ))
}
