//! Draws charts as SVG with `plotters`. In the worker only.
//!
//! Texts are measured here: `plotters` would need either bundled fonts or a page's canvas to measure them, and a worker has
//! no canvas.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind};

use super::chart::{Chart, Form, Mark, Role, Unit};
use super::words::{short, short_dollars, short_duration};
use super::{DrawRequest, Drawn};

const FONT: &str = "ui-sans-serif, system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
/// In screen pixels; `plotters` uses another unit, see [`text`].
const SIZE: f64 = 12.5;
/// Height of a row of bars.
const ROW: u32 = 30;
const COLUMNS_HEIGHT: u32 = 190;

/// The colours of the page's style sheet, for the worker; a test compares the two.
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
    fn of(self, role: Role) -> RGBColor {
        match role {
            Role::Good | Role::Plain => rgb(self.good),
            Role::Warn => self.faded(self.warn, 0.85),
            Role::Bad => rgb(self.bad),
            Role::Synthesis => rgb(self.synthesis),
            Role::Soft => self.faded(self.ink3, 0.5),
        }
    }

    /// Returns the opaque colour that looks translucent on the background, so that lines do not show through it.
    fn faded(self, colour: u32, share: f64) -> RGBColor {
        let (of, on) = (rgb(colour), rgb(self.bg));
        let mix = |a: u8, b: u8| (f64::from(a) * share + f64::from(b) * (1.0 - share)).round() as u8;
        RGBColor(mix(of.0, on.0), mix(of.1, on.1), mix(of.2, on.2))
    }
}

/// # Errors
/// A message for users that says why the chart could not be drawn.
pub fn draw(request: &DrawRequest) -> Result<Drawn, String> {
    let DrawRequest { chart, width, dark } = request;
    let width = (*width).clamp(200, 4_000);
    let palette = if *dark { DARK } else { LIGHT };
    let drawn = match chart.form {
        Form::Bars => bars(chart, width, palette),
        Form::Columns => columns(chart, width, palette),
    };
    drawn.map_err(|error| format!("the chart could not be drawn: {error}"))
}

type Fault = DrawingAreaErrorKind<std::io::Error>;
type Area<'a> = DrawingArea<Sheet<'a>, plotters::coord::Shift>;

fn bars(chart: &Chart, width: u32, palette: Palette) -> Result<Drawn, Fault> {
    let height = ROW * u32::try_from(chart.marks.len()).unwrap_or(1).max(1);
    let longest = |texts: &mut dyn Iterator<Item = String>| texts.map(|text| measure(&text)).max().unwrap_or(0);
    let names = longest(&mut chart.marks.iter().map(|mark| mark.label.clone())).min(width * 45 / 100);
    let numbers = longest(&mut chart.marks.iter().map(|mark| words(chart.unit, mark.value())));
    let (left, right) = (names + 12, width.saturating_sub(numbers + 12));
    let most = chart.marks.iter().map(Mark::value).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let mut spots = Vec::new();
    let svg = sheet(width, height, |area| {
        for (row, mark) in (0_u32..).zip(&chart.marks) {
            let middle = pixel(row * ROW + ROW / 2);
            let label = fitting(&mark.label, names);
            area.draw(&Text::new(label, (0, middle), text(palette.ink, HPos::Left)))?;
            let mut from = pixel(left);
            for (role, value) in &mark.parts {
                let length = f64::from(right.saturating_sub(left)) * value / most;
                let to = from + (length.round() as i32).max(2);
                let bar = [(from, middle - 8), (to, middle + 8)];
                area.draw(&Rectangle::new(bar, palette.of(*role).filled()))?;
                from = to;
            }
            let number = words(chart.unit, mark.value());
            area.draw(&Text::new(number, (from + 8, middle), text(palette.ink3, HPos::Left)))?;
            spots.push([0, pixel(row * ROW), pixel(width), pixel(ROW)]);
        }
        Ok(())
    })?;
    // The backend does not support slightly rounded ends.
    Ok(Drawn { svg: svg.replace("<rect ", "<rect rx=\"2\" "), width, height, spots })
}

fn columns(chart: &Chart, width: u32, palette: Palette) -> Result<Drawn, Fault> {
    let most = chart.marks.iter().map(Mark::value).fold(0.0, f64::max);
    let (top, step) = scale(most, chart.unit);
    let ticks: Vec<f64> = (0..).map(|n| f64::from(n) * step).take_while(|tick| *tick <= top * 1.001).collect();
    let left = ticks.iter().map(|tick| measure(&words(chart.unit, *tick))).max().unwrap_or(0) + 10;
    let count = chart.marks.len().max(1);
    let mut spots = Vec::new();
    let svg = sheet(width, COLUMNS_HEIGHT, |area| {
        let mut builder = ChartBuilder::on(area);
        builder.margin_top(8).margin_right(2).set_label_area_size(LabelAreaPosition::Left, left);
        builder.set_label_area_size(LabelAreaPosition::Bottom, 24);
        let mut plot = builder.build_cartesian_2d(0.0..count as f64, 0.0..top)?;
        let ((x0, x1), at) = (span(&plot), |plot: &Plot, x: f64, y: f64| plot.backend_coord(&(x, y)));
        for tick in &ticks {
            let (_, y) = at(&plot, 0.0, *tick);
            let line = if *tick == 0.0 { rgb(palette.ink3).mix(0.8) } else { rgb(palette.line).mix(1.0) };
            area.draw(&PathElement::new(vec![(x0, y), (x1, y)], ShapeStyle::from(line)))?;
            let label = words(chart.unit, *tick);
            area.draw(&Text::new(label, (pixel(left) - 8, y), text(palette.ink3, HPos::Right)))?;
        }
        for (n, mark) in chart.marks.iter().enumerate() {
            let (from, to) = (n as f64 + gap(count), n as f64 + 1.0 - gap(count));
            let mut below = 0.0;
            for (role, value) in mark.parts.iter().filter(|(_, value)| *value > 0.0) {
                let colour = palette.of(*role).filled();
                plot.draw_series([Rectangle::new([(from, below), (to, below + value)], colour)])?;
                below += value;
            }
            let ((l, t), (r, b)) = (at(&plot, n as f64, top), at(&plot, n as f64 + 1.0, 0.0));
            spots.push([l, t, r - l, b - t]);
        }
        let (_, base) = at(&plot, 0.0, 0.0);
        let wide = chart.marks.iter().map(|mark| measure(&mark.label)).max().unwrap_or(1) + 14;
        let every = (wide as usize * count).div_ceil((x1 - x0).max(1) as usize).max(1);
        // The last column of a distribution is the one that matters, so it always has a label.
        let shown = |n: usize| n.is_multiple_of(every) && (every == 1 || n + every < count) || n + 1 == count;
        let mut last = String::new();
        for (n, mark) in chart.marks.iter().enumerate().filter(|(n, _)| shown(*n)) {
            if mark.label != last {
                let (x, _) = at(&plot, n as f64 + 0.5, 0.0);
                let half = pixel(measure(&mark.label)) / 2 + 2;
                let x = x.clamp(half, pixel(width) - half);
                area.draw(&Text::new(mark.label.clone(), (x, base + 14), text(palette.ink3, HPos::Center)))?;
            }
            last.clone_from(&mark.label);
        }
        Ok(())
    })?;
    Ok(Drawn { svg, width, height: COLUMNS_HEIGHT, spots })
}

type Plot<'a, 'b> = ChartContext<'a, Sheet<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

fn span(plot: &Plot) -> (i32, i32) {
    let (x, _) = plot.plotting_area().get_pixel_range();
    (x.start, x.end)
}

/// The space on each side of a column, as a share of the column's slot.
fn gap(count: usize) -> f64 {
    if count > 30 { 0.1 } else { 0.18 }
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

fn words(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Count | Unit::Tokens => short(value),
        Unit::Dollars => short_dollars(value),
        Unit::Milliseconds => short_duration(value),
    }
}

fn sheet(width: u32, height: u32, body: impl FnOnce(&Area) -> Result<(), Fault>) -> Result<String, Fault> {
    let mut svg = String::new();
    {
        let area = Sheet(SVGBackend::with_string(&mut svg, (width, height))).into_drawing_area();
        body(&area)?;
        area.present()?;
    }
    Ok(svg)
}

fn rgb(of: u32) -> RGBColor {
    let [_, r, g, b] = of.to_be_bytes();
    RGBColor(r, g, b)
}

fn text(colour: u32, anchor: HPos) -> TextStyle<'static> {
    // The backend divides the size by this number.
    let font = FontDesc::new(FontFamily::Name(FONT), SIZE * 1.24, FontStyle::Normal);
    font.color(&rgb(colour)).pos(Pos::new(anchor, VPos::Center))
}

/// Estimates the width of a text: system fonts differ by a few per cent.
fn measure(text: &str) -> u32 {
    let wide = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | '\'' | '|' | '!' => 0.28,
        'f' | 'r' | 't' | ' ' | '-' | '(' | ')' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' => 0.88,
        c if c.is_ascii_uppercase() => 0.68,
        c if c.is_ascii() => 0.57,
        _ => 1.0,
    };
    let ems: f64 = text.chars().map(wide).sum();
    (ems * SIZE).ceil() as u32
}

/// Returns the text, truncated if it is wider than `width`.
fn fitting(text: &str, width: u32) -> String {
    if measure(text) <= width {
        return text.to_owned();
    }
    let mut short: String = text.to_owned();
    while !short.is_empty() && measure(&short) + 12 > width {
        short.pop();
    }
    format!("{}…", short.trim_end())
}

fn pixel(of: u32) -> i32 {
    i32::try_from(of).unwrap_or(i32::MAX)
}

/// The SVG backend with our own text measurement.
struct Sheet<'a>(SVGBackend<'a>);

type Done = Result<(), DrawingErrorKind<std::io::Error>>;

impl DrawingBackend for Sheet<'_> {
    type ErrorType = std::io::Error;

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }
    fn ensure_prepared(&mut self) -> Done {
        self.0.ensure_prepared()
    }
    fn present(&mut self) -> Done {
        self.0.present()
    }
    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Done {
        self.0.draw_pixel(point, color)
    }
    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done {
        self.0.draw_line(from, to, style)
    }
    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Done {
        self.0.draw_rect(from, to, style, fill)
    }
    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done {
        self.0.draw_path(path, style)
    }
    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Done {
        self.0.draw_text(text, style, at)
    }
    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        _: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<std::io::Error>> {
        Ok((measure(text), SIZE.ceil() as u32))
    }
}
