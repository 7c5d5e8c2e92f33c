//! The regular expressions of schemas, run by the browser's own engine: they are ECMA-262, as JSON Schema says. One that
//! backtracks without end is ended with its worker, by the deadline of the call.

use wasm_bindgen::prelude::*;

use crate::tools::schema::Pattern;

/// # Errors
/// Why the engine does not take the expression.
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

    /// Large expressions are compiled only here, and may turn out to be too large.
    #[wasm_bindgen(method, catch)]
    fn test(this: &RegExp, text: &str) -> Result<bool, JsValue>;
}
