//! Runs the regular expressions of schemas natively, where there is no browser.

use turnwise_tools::schema::Pattern;

/// Close enough to ECMA-262 for tests.
pub fn pattern(source: &str) -> Result<Pattern, String> {
    let expression = fancy_regex::Regex::new(source).map_err(|error| error.to_string())?;
    Ok(Box::new(move |text| expression.is_match(text).map_err(|error| error.to_string())))
}
