//! Draws charts as SVG. Inside an `img`, a picture sees neither the page's style sheet nor its fonts: the colours are
//! repeated here, and the widths of texts are estimated.

use super::chart::{ChartMark, ColourRole, Form, InsightChart, Unit};
use super::words::{short, short_dollars, short_duration};
use crate::markup::Html;

const FONT: &str = "ui-sans-serif, system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
/// In pixels, like all lengths here.
const FONT_SIZE: f64 = 12.5;
/// Height of a row of bars.
const ROW: i32 = 30;
const COLUMNS_HEIGHT: i32 = 190;
/// The top and the bottom of the columns' plot: their labels are below it.
const PLOT: (i32, i32) = (8, 165);

/// A chart as SVG, and the areas of its marks for the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnChart {
    pub svg: String,
    pub width: i32,
    pub height: i32,
    /// One per mark, in the same order: left, top, width, height.
    pub spots: Vec<[i32; 4]>,
}

/// The colours of the page's style sheet; a test compares the two.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    pub bg: u32,
    pub ink: u32,
    pub ink3: u32,
    pub line: u32,
    pub good: u32,
    pub warn: u32,
    pub bad: u32,
    pub synthesis: u32,
}

pub const LIGHT: Palette = Palette {
    bg: 0xfaf9f6,
    ink: 0x1d1c1a,
    ink3: 0x6a665d,
    line: 0xe3dfd6,
    good: 0x0f6b5c,
    warn: 0x8a5000,
    bad: 0xb3261e,
    synthesis: 0x5b3fb8,
};

pub const DARK: Palette = Palette {
    bg: 0x131412,
    ink: 0xeceae4,
    ink3: 0x98958b,
    line: 0x30312d,
    good: 0x4fc3ae,
    warn: 0xf0b357,
    bad: 0xff8a80,
    synthesis: 0xb8a3ff,
};

impl Palette {
    fn role(self, role: ColourRole) -> u32 {
        match role {
            ColourRole::Good | ColourRole::Plain => self.good,
            ColourRole::Warn => self.faded(self.warn, 0.85),
            ColourRole::Bad => self.bad,
            ColourRole::Synthesis => self.synthesis,
            ColourRole::Soft => self.faded(self.ink3, 0.5),
        }
    }

    /// Returns the opaque colour that looks translucent on the background, so that lines do not show through it.
    fn faded(self, colour: u32, share: f64) -> u32 {
        let mix = |(a, b): (u8, u8)| (f64::from(a) * share + f64::from(b) * (1.0 - share)).round() as u8;
        let ([_, r, g, b], [_, on_r, on_g, on_b]) = (colour.to_be_bytes(), self.bg.to_be_bytes());
        u32::from_be_bytes([0, mix((r, on_r)), mix((g, on_g)), mix((b, on_b))])
    }
}

/// Draws a chart in this width.
#[must_use]
pub fn draw(chart: &InsightChart, width: u32, dark: bool) -> DrawnChart {
    let width = i32::try_from(width).unwrap_or(i32::MAX).clamp(200, 4_000);
    let palette = if dark { DARK } else { LIGHT };
    match chart.form {
        Form::Bars => bars(chart, width, palette),
        Form::Columns => columns(chart, width, palette),
    }
}

fn bars(chart: &InsightChart, width: i32, palette: Palette) -> DrawnChart {
    let names = widest(chart.marks.iter().map(|mark| mark.label.clone())).min(width * 45 / 100);
    let numbers = widest(chart.marks.iter().map(|mark| formatted(chart.unit, mark.value())));
    let left = names + 12;
    let room = f64::from((width - numbers - 12 - left).max(0));
    let most = chart.marks.iter().map(ChartMark::value).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let mut picture = ChartCanvas::default();
    let mut top = 0;
    for mark in &chart.marks {
        let middle = top + ROW / 2;
        picture.text((0, middle), "start", palette.ink, &fitting(&mark.label, names));
        let mut x = left;
        for (role, value) in &mark.parts {
            let length = ((room * value / most).round() as i32).max(2);
            picture.rect([x, middle - 8, length, 16], 2, palette.role(*role));
            x += length;
        }
        picture.text((x + 8, middle), "start", palette.ink3, &formatted(chart.unit, mark.value()));
        picture.spots.push([0, top, width, ROW]);
        top += ROW;
    }
    picture.finish(width, top.max(ROW))
}

fn columns(chart: &InsightChart, width: i32, palette: Palette) -> DrawnChart {
    let (top, step) = scale(chart.marks.iter().map(ChartMark::value).fold(0.0, f64::max), chart.unit);
    let ticks: Vec<f64> = (0..).map(|n| f64::from(n) * step).take_while(|tick| *tick <= top * 1.001).collect();
    let left = widest(ticks.iter().map(|tick| formatted(chart.unit, *tick))) + 10;
    let right = width - 2;
    let count = chart.marks.len().max(1);
    // A sum of decimal fractions may be a little below the whole number that it stands for.
    let along = |length: i32, share: f64| (f64::from(length) * share + 1e-3).floor() as i32;
    let x = |slots: f64| left + along(right - 1 - left, slots / count as f64);
    let y = |value: f64| PLOT.1 - along(PLOT.1 - PLOT.0, value / top);
    let mut picture = ChartCanvas::default();
    for tick in &ticks {
        let (colour, opacity) = if *tick == 0.0 { (palette.ink3, 0.8) } else { (palette.line, 1.0) };
        picture.line(y(*tick), left, right, colour, opacity);
        picture.text((left - 8, y(*tick)), "end", palette.ink3, &formatted(chart.unit, *tick));
    }
    // On each side of a column, as a share of its slot.
    let gap = if count > 30 { 0.1 } else { 0.18 };
    for (n, mark) in chart.marks.iter().enumerate() {
        let slot = n as f64;
        let (from, to) = (x(slot + gap), x(slot + 1.0 - gap));
        let mut below = 0.0;
        for (role, value) in mark.parts.iter().filter(|(_, value)| *value > 0.0) {
            let (low, high) = (y(below), y(below + value));
            picture.rect([from, high, to - from, low - high], 0, palette.role(*role));
            below += value;
        }
        picture.spots.push([x(slot), PLOT.0, x(slot + 1.0) - x(slot), PLOT.1 - PLOT.0]);
    }
    let label = widest(chart.marks.iter().map(|mark| mark.label.clone())).max(1) + 14;
    let every = (label as usize * count).div_ceil((right - left).max(1) as usize).max(1);
    // The last column of a distribution is the one that matters, so it always has a label.
    let shown = |n: usize| n.is_multiple_of(every) && (every == 1 || n + every < count) || n + 1 == count;
    let mut last = "";
    for (n, mark) in chart.marks.iter().enumerate().filter(|(n, _)| shown(*n)) {
        if mark.label != last {
            let half = measure(&mark.label) / 2 + 2;
            let middle = x(n as f64 + 0.5).clamp(half, (width - half).max(half));
            picture.text((middle, PLOT.1 + 14), "middle", palette.ink3, &mark.label);
        }
        last = &mark.label;
    }
    picture.finish(width, COLUMNS_HEIGHT)
}

/// Returns the top of the axis and the distance between its lines: round numbers of the unit, about four lines.
fn scale(most: f64, unit: Unit) -> (f64, f64) {
    let least = if unit == Unit::Count { 1.0 } else { f64::MIN_POSITIVE };
    let most = most.max(least);
    // Durations are shown in minutes and hours.
    let base = match unit {
        Unit::Milliseconds if most > 3_600_000.0 => 3_600_000.0,
        Unit::Milliseconds if most > 60_000.0 => 60_000.0,
        _ => 1.0,
    };
    let rough = most / base / 4.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= rough);
    let mut step = step.unwrap_or(rough) * base;
    if unit == Unit::Count || unit == Unit::Tokens {
        step = step.ceil().max(1.0);
    }
    ((most / step).ceil() * step, step)
}

fn formatted(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Count | Unit::Tokens => short(value),
        Unit::Dollars => short_dollars(value),
        Unit::Milliseconds => short_duration(value),
    }
}

/// A chart that is being drawn.
#[derive(Default)]
struct ChartCanvas {
    body: Html,
    spots: Vec<[i32; 4]>,
}

impl ChartCanvas {
    fn rect(&mut self, [x, y, width, height]: [i32; 4], radius: i32, fill: u32) {
        self.body.raw(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\" fill=\"#{fill:06X}\"/>"
        ));
    }

    fn line(&mut self, y: i32, from: i32, to: i32, stroke: u32, opacity: f64) {
        self.body.raw(&format!("<path d=\"M{from} {y}H{to}\" stroke=\"#{stroke:06X}\" opacity=\"{opacity}\"/>"));
    }

    /// Writes a text whose middle is at the height `y`; `anchor` says which part of it is at `x`.
    fn text(&mut self, (x, y): (i32, i32), anchor: &str, fill: u32, text: &str) {
        let tag = format!("<text x=\"{x}\" y=\"{y}\" dy=\"0.5ex\" text-anchor=\"{anchor}\" fill=\"#{fill:06X}\">");
        self.body.raw(&tag).text(text).close("text");
    }

    fn finish(self, width: i32, height: i32) -> DrawnChart {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FONT}\" font-size=\"{FONT_SIZE}\">{}</svg>",
            self.body.finish()
        );
        DrawnChart { svg, width, height, spots: self.spots }
    }
}

/// Estimates the width of a text: system fonts differ by a few per cent.
fn measure(text: &str) -> i32 {
    let wide = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | '\'' | '|' | '!' => 0.28,
        'f' | 'r' | 't' | ' ' | '-' | '(' | ')' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' => 0.88,
        c if c.is_ascii_uppercase() => 0.68,
        c if c.is_ascii() => 0.57,
        _ => 1.0,
    };
    let ems: f64 = text.chars().map(wide).sum();
    (ems * FONT_SIZE).ceil() as i32
}

fn widest(texts: impl Iterator<Item = String>) -> i32 {
    texts.map(|text| measure(&text)).max().unwrap_or(0)
}

/// Returns the text, truncated if it is wider than `width`.
fn fitting(text: &str, width: i32) -> String {
    if measure(text) <= width {
        return text.to_owned();
    }
    let mut short: String = text.to_owned();
    while !short.is_empty() && measure(&short) + 12 > width {
        short.pop();
    }
    format!("{}…", short.trim_end())
}
