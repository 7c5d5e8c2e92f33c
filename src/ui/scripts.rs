//! What the page's own scripts draw: they load when they are first needed, and `www/boot.js` defines these functions.

use wasm_bindgen::prelude::*;
use web_sys::Element;

#[wasm_bindgen]
extern "C" {
    /// Draws a table or a chart, from the JSON of a `Figure`.
    #[wasm_bindgen(js_name = turnwiseFigure)]
    pub fn draw(place: &Element, figure: &str);
    /// Shows the text of a file at a place of it.
    #[wasm_bindgen(js_name = turnwiseShow)]
    pub fn show(place: &Element, text: &str, at: &str);
    /// Makes buttons of the mentions of files in a text.
    #[wasm_bindgen(js_name = turnwiseCite)]
    pub fn cite(place: &Element);
    /// Sets the files that can be mentioned: their paths, one per line.
    #[wasm_bindgen(js_name = turnwiseFiles)]
    pub fn files(paths: &str);
}
