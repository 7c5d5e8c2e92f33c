//! The chart format: an object that a tool or a program returns, and what is allowed in it.

use serde::de::value::Error as ValueError;
use serde::de::{Error, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

/// Limits of one chart; more data belongs in a table or a file.
pub const MAX_POINTS: usize = 2_000;
pub const MAX_BARS: usize = 200;
pub const MAX_SERIES: usize = 8;

/// A chart: `{"chart": "bar", "title": …, "x": […], "series": [{"name": …, "y": […]}]}`. A tool or a program that
/// returns one has it drawn in the transcript and in the HTML report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema))]
pub struct Chart {
    #[serde(deserialize_with = "kind")]
    pub chart: ChartKind,
    /// What the chart shows, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description for people who cannot see the chart; if omitted, it is derived from the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The positions on the horizontal axis, at most 2,000, or 200 of a bar chart: all numbers, all dates (`2026-11`,
    /// `2026-11-26`, `2026-11-26T08:30`), or labels.
    #[cfg_attr(feature = "types", schemars(length(min = 1, max = 2000)))]
    pub x: Vec<Position>,
    /// At most 8.
    #[cfg_attr(feature = "types", schemars(length(min = 1, max = 8)))]
    pub series: Vec<Series>,
    /// The name of the horizontal axis, with its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_label: Option<String>,
    /// The name of the vertical axis, with its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_label: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// Amounts to compare, side by side.
    Bar,
    /// A line through the values, in the order of `x`.
    Line,
    /// Single measurements, with one mark for each.
    Point,
    /// A line that is filled down to zero.
    Area,
}

/// One position: a number, a date or a label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a position in `x` is neither a number nor a text")]
pub enum Position {
    Number(f64),
    Text(String),
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ChartKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    let kind = ChartKind::deserialize(name.as_str().into_deserializer());
    kind.map_err(|_: ValueError| {
        D::Error::custom(format!("`{name}` is not a kind of chart; the kinds are `bar`, `line`, `point` and `area`"))
    })
}

/// Values with a name; they share a colour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema))]
pub struct Series {
    pub name: String,
    /// One value for each `x`; null: no value.
    #[serde(rename = "y", alias = "values")]
    pub values: Vec<Option<f64>>,
}

impl Chart {
    /// Checks what the types do not.
    ///
    /// # Errors
    /// What is wrong, as part of a sentence.
    pub fn check(&self) -> Result<(), String> {
        let count = self.x.len();
        let most = if self.chart == ChartKind::Bar { MAX_BARS } else { MAX_POINTS };
        if count == 0 {
            return Err("`x` is empty".to_owned());
        }
        if count > most {
            return Err(format!("`x` has {count} positions, and at most {most} are allowed: group the values first"));
        }
        if self.series.is_empty() || self.series.len() > MAX_SERIES {
            let series = self.series.len();
            return Err(format!("`series` has {series} entries, and 1 to {MAX_SERIES} are allowed"));
        }
        for (place, series) in self.series.iter().enumerate() {
            let values = series.values.len();
            if values != count {
                return Err(format!(
                    "`series[{place}].y` has {values} values and `x` has {count} positions: give one value, or null, for each"
                ));
            }
        }
        if self.series.iter().all(|series| series.values.iter().all(Option::is_none)) {
            return Err("every value is null".to_owned());
        }
        Ok(())
    }
}

impl Position {
    /// The position as text.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Position::Number(value) => super::number::plain(*value),
            Position::Text(text) => text.clone(),
        }
    }
}

impl ChartKind {
    /// `Bar chart`
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            ChartKind::Bar => "Bar chart",
            ChartKind::Line => "Line chart",
            ChartKind::Point => "Point chart",
            ChartKind::Area => "Area chart",
        }
    }
}
