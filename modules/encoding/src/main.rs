//! The part of the tools' worker that knows encodings of old. `www/worker-parts.js` loads it on first use.

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code)] // wasm-bindgen's exports
mod exports {
    use wasm_bindgen::prelude::*;

    /// The name of the encoding that these bytes are likely in.
    #[wasm_bindgen]
    pub fn guess(bytes: &[u8]) -> String {
        turnwise_encoding::guess(bytes).to_owned()
    }

    /// The bytes of a text in an encoding. Throws the first character that it does not have.
    #[wasm_bindgen]
    pub fn encode(text: &str, label: &str) -> Result<Vec<u8>, JsValue> {
        turnwise_encoding::encode(text, label).map_err(|character| JsValue::from_str(&character.to_string()))
    }
}

fn main() {}
