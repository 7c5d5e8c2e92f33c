//! The part of the tools' worker that reads office documents and workbooks. `www/worker-parts.js` loads it on first use.

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code)] // wasm-bindgen's exports
mod exports {
    use wasm_bindgen::prelude::*;

    fn json(value: &impl serde::Serialize) -> Result<String, JsValue> {
        serde_json::to_string(value).map_err(|error| JsValue::from_str(&error.to_string()))
    }

    /// The text of a document, as the JSON of `turnwise_files::document::Document`. Throws the sentence that says why there is none.
    #[wasm_bindgen]
    pub fn convert(bytes: &[u8], name: &str) -> Result<String, JsValue> {
        json(&turnwise_convert::convert(bytes, name)?)
    }

    /// The content of a file that is attached to a mail. Throws the sentence that says why there is none.
    #[wasm_bindgen]
    pub fn attachment(bytes: &[u8], path: &str) -> Result<Vec<u8>, JsValue> {
        Ok(turnwise_convert::attachment(bytes, path)?)
    }

    /// The sheets of a workbook, as JSON: `[{ "name": …, "rows": [[…]] }]`. Throws the sentence that says why there are none.
    #[wasm_bindgen]
    pub fn sheets(bytes: &[u8], name: &str) -> Result<String, JsValue> {
        json(&turnwise_convert::sheets(bytes, name)?)
    }
}

fn main() {}
