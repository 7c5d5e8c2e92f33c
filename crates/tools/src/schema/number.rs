//! Numbers as JSON Schema defines them: `1.0` is the whole number 1, whole numbers are compared exactly, and
//! `multipleOf` uses decimals as they are written.

use std::cmp::Ordering;

use serde_json::Number;

/// A number by its value, regardless of how it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Whole(i128),
    /// With a fraction, or beyond `WHOLE`.
    Other(f64),
}

/// Floats without a fraction below this are stored as whole numbers.
const WHOLE: f64 = 1e36;

impl Amount {
    pub fn from_number(number: &Number) -> Amount {
        if let (false, Some(whole)) = (number.is_f64(), number.as_i128()) {
            return Amount::Whole(whole);
        }
        let float = number.as_f64().unwrap_or_default();
        #[allow(clippy::cast_possible_truncation)] // it has no fraction, and it is small enough
        match float.fract() == 0.0 && float.abs() < WHOLE {
            true => Amount::Whole(float as i128),
            false => Amount::Other(float),
        }
    }

    pub fn is_whole(self) -> bool {
        match self {
            Amount::Whole(_) => true,
            Amount::Other(float) => float.fract() == 0.0,
        }
    }

    /// Compares two numbers. Those that cannot be compared count as equal: JSON has no such numbers.
    pub fn compare(self, other: Amount) -> Ordering {
        match (self, other) {
            (Amount::Whole(a), Amount::Whole(b)) => a.cmp(&b),
            (a, b) => a.float().partial_cmp(&b.float()).unwrap_or(Ordering::Equal),
        }
    }

    #[allow(clippy::cast_precision_loss)] // compared only with fractions, or with numbers beyond `WHOLE`
    fn float(self) -> f64 {
        match self {
            Amount::Whole(whole) => whole as f64,
            Amount::Other(float) => float,
        }
    }
}

/// Whether `number` is a multiple of `of`, which is greater than 0.
pub fn is_multiple(number: &Number, divisor: &Number) -> bool {
    let ((mut digits, exponent), (divisor, of_exponent)) = (decimal(number), decimal(divisor));
    if digits == 0 || divisor == 0 {
        return digits == 0;
    }
    let shift = exponent - of_exponent;
    if shift < 0 {
        // A product that overflows is larger than the number it would have to divide.
        let scale = 10_u128.checked_pow(shift.unsigned_abs());
        return scale.and_then(|scale| divisor.checked_mul(scale)).is_some_and(|divisor| digits % divisor == 0);
    }
    for _ in 0..shift {
        digits = digits % divisor * 10;
    }
    digits % divisor == 0
}

/// The digits of a number without its sign, and the power of ten to multiply them by.
fn decimal(number: &Number) -> (u128, i32) {
    if let (false, Some(whole)) = (number.is_f64(), number.as_i128()) {
        return (whole.unsigned_abs(), 0);
    }
    // The shortest text for this number: at most 17 digits.
    let text = format!("{:e}", number.as_f64().unwrap_or_default().abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let places = i32::try_from(fraction.len()).unwrap_or_default();
    (format!("{whole}{fraction}").parse().unwrap_or_default(), exponent.parse().unwrap_or(0) - places)
}
