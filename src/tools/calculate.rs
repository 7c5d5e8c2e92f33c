//! `calculate`: fend, with nothing random, no exchange rates and no variables between calls.

use fend_core::{Context, evaluate};

/// The value of the expression, with its unit.
///
/// # Errors
/// What is wrong with the expression.
pub fn calculate(expression: &str) -> Result<String, String> {
    let mut context = Context::new();
    context.disable_rng();
    let result = evaluate(expression, &mut context).map_err(|error| format!("cannot evaluate: {error}"))?;
    let text = result.get_main_result().trim();
    if text.is_empty() { Err("cannot evaluate: the expression has no value".to_owned()) } else { Ok(text.to_owned()) }
}
