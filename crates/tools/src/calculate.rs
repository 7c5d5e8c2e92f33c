//! `calculate`: fend, without randomness, exchange rates, or variables kept between calls.

use fend_core::{Context, evaluate};

/// Maximum nesting of brackets: fend's parser is recursive, and a worker's stack is small.
const MAX_DEPTH: usize = 40;

/// The value of the expression, with its unit.
///
/// # Errors
/// The error in the expression.
pub fn calculate(expression: &str) -> Result<String, String> {
    if depth(expression) > MAX_DEPTH {
        return Err(format!("cannot evaluate: brackets are nested deeper than {MAX_DEPTH}"));
    }
    let mut context = Context::new();
    context.disable_rng();
    let result = evaluate(expression, &mut context).map_err(|error| format!("cannot evaluate: {error}"))?;
    let text = result.get_main_result().trim();
    if text.is_empty() { Err("cannot evaluate: the expression has no value".to_owned()) } else { Ok(text.to_owned()) }
}

fn depth(expression: &str) -> usize {
    let mut open = 0_usize;
    let depths = expression.chars().map(|c| {
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        open
    });
    depths.max().unwrap_or(0)
}
