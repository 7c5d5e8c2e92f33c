//! Long texts as several elements. A browser lays out a text in one element as a whole, and with lines of their own direction
//! (`unicode-bidi: plaintext`) the time grows with the square of its length. Pieces out of sight are not laid out at all.

use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::pieces;

/// The longest piece, in bytes.
pub const PIECE: usize = 8 << 10;
/// The class of their elements.
pub const CLASS: &str = "piece";

/// Draws a text, in pieces if it is long.
pub fn text(text: &str) -> AnyView {
    if text.len() <= PIECE {
        return text.to_owned().into_any();
    }
    pieces(text, PIECE).map(|piece| html::span().class(CLASS).child(piece.to_owned())).collect_view().into_any()
}
