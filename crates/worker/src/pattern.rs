//! Runs the regular expressions of schemas in the browser's own engine: they are ECMA-262, as JSON Schema requires. An
//! expression that backtracks endlessly is ended together with its worker, by the deadline of the call.

use wasm_bindgen::prelude::*;

use turnwise_tools::schema::Pattern;

/// # Errors
/// The reason the engine rejects the expression.
pub fn pattern(source: &str) -> Result<Pattern, String> {
    let expression = RegExp::new(source, "u").map_err(|thrown| message(&thrown))?;
    Ok(Box::new(move |text| expression.test(text).map_err(|thrown| message(&thrown))))
}

fn message(thrown: &JsValue) -> String {
    thrown.dyn_ref::<js_sys::Error>().map_or_else(String::new, |error| String::from(error.message()))
}

// `js_sys` declares it without `catch`: an invalid expression would end the worker.
#[wasm_bindgen]
extern "C" {
    type RegExp;

    #[wasm_bindgen(constructor, catch)]
    fn new(source: &str, flags: &str) -> Result<RegExp, JsValue>;

    /// Engines compile large expressions only here, so this fails if one turns out to be too large.
    #[wasm_bindgen(method, catch)]
    fn test(this: &RegExp, text: &str) -> Result<bool, JsValue>;
}
