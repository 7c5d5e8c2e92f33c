//! A chart laid out: paths, labels and the places of its values, in the units of the picture.

use std::fmt::Write as _;

use serde::Serialize;

use super::chart::{Chart, ChartKind};
use super::number::exact;
use super::scale::{self, Positions, Values};
use super::table::FigureTable;

/// The widths that a chart is laid out for: a reading column and a phone.
const SIZES: [(f64, f64); 2] = [(680.0, 300.0), (340.0, 250.0)];
/// The width of a letter and the height of a line of the labels, in CSS pixels.
const LETTER: f64 = 6.7;
/// Lines with more positions have no marks.
const MARKED: usize = 40;
/// The free part of a band.
const GAP: f64 = 0.22;

/// A chart as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChartView {
    pub chart: ChartKind,
    pub title: String,
    /// For people who cannot see the picture.
    pub description: String,
    /// The names of the series, in the order of their colours.
    pub legend: Vec<String>,
    /// The values at each position, as text: the position, then one value for each series.
    pub stops: Vec<Vec<String>>,
    pub table: FigureTable,
    /// The same chart in several widths, the widest first.
    pub drawings: Vec<Drawing>,
}

/// The picture in one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawing {
    pub width: f64,
    pub height: f64,
    /// The top and the bottom of the plot.
    pub plot: [f64; 2],
    /// The width of a position's band; 0 without bands.
    pub band: f64,
    /// The horizontal place of each stop.
    pub at: Vec<f64>,
    pub paths: Vec<Path>,
    pub labels: Vec<Label>,
}

/// A path, with the class that gives it its colour: `grid`, `zero`, or what it is and `sN`, the number of its series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    pub class: String,
    pub d: String,
}

/// A text whose middle is at the height `y`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Label {
    pub x: f64,
    pub y: f64,
    /// `start`, `middle` or `end`: which part of it is at `x`.
    pub anchor: &'static str,
    pub text: String,
}

impl From<&Chart> for ChartView {
    fn from(chart: &Chart) -> Self {
        let value = |value: Option<f64>| value.map(exact).unwrap_or_default();
        let at = |place: usize| chart.series.iter().map(move |series| series.values.get(place).copied().flatten());
        let stop = |place: usize| {
            let position = chart.x.get(place).map(|x| x.text()).unwrap_or_default();
            std::iter::once(position).chain(at(place).map(value)).collect::<Vec<_>>()
        };
        let stops: Vec<Vec<String>> = (0..chart.x.len()).map(stop).collect();
        let first = chart.x_label.clone().unwrap_or_else(|| "x".to_owned());
        let names = std::iter::once(first).chain(chart.series.iter().map(|series| series.name.clone())).collect();
        ChartView {
            chart: chart.chart,
            title: chart.title.clone().unwrap_or_else(|| chart.chart.words().to_owned()),
            description: chart.description.clone().unwrap_or_else(|| description(chart, &stops)),
            legend: chart.series.iter().map(|series| series.name.clone()).collect(),
            table: FigureTable::new(names, stops.clone()),
            stops,
            drawings: SIZES.iter().map(|(width, height)| draw(chart, *width, *height)).collect(),
        }
    }
}

/// Says what the picture shows: its kind, its range, and the extremes of each series.
fn description(chart: &Chart, stops: &[Vec<String>]) -> String {
    let position = |place: usize| stops.get(place).and_then(|stop| stop.first()).map_or("", String::as_str);
    let mut text =
        format!("{} from {} to {}.", chart.chart.words(), position(0), position(stops.len().saturating_sub(1)));
    for series in &chart.series {
        let some = || series.values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?)));
        let low = some().min_by(|one, other| one.1.total_cmp(&other.1));
        let high = some().max_by(|one, other| one.1.total_cmp(&other.1));
        if let (Some((low_at, low)), Some((high_at, high))) = (low, high) {
            let _ = write!(
                text,
                " {}: lowest {} ({}), highest {} ({}).",
                series.name,
                exact(low),
                position(low_at),
                exact(high),
                position(high_at)
            );
        }
    }
    text
}

fn measure(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// The space that the marks of a chart have.
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    low: f64,
    high: f64,
}

impl Plot {
    fn y(&self, value: f64) -> f64 {
        self.bottom - (value - self.low) / (self.high - self.low) * (self.bottom - self.top)
    }

    /// The height of zero, or of the edge that is nearest to it.
    fn base(&self) -> f64 {
        self.y(0.0_f64.clamp(self.low, self.high))
    }
}

fn draw(chart: &Chart, width: f64, height: f64) -> Drawing {
    let values = Values::of(chart);
    let positions = Positions::of(chart);
    let widest = values.ticks.iter().map(|(_, label)| measure(label)).fold(0.0, f64::max);
    let top = if chart.y_label.is_some() { 30.0 } else { 10.0 };
    let bottom = height - if chart.x_label.is_some() { 44.0 } else { 24.0 };
    let plot = Plot { left: widest + 12.0, right: width - 8.0, top, bottom, low: values.low, high: values.high };
    let mut picture = FigureCanvas::default();
    if let Some(name) = &chart.y_label {
        picture.label(0.0, 8.0, "start", &cut(name, width));
    }
    if let Some(name) = &chart.x_label {
        picture.label((plot.left + plot.right) / 2.0, height - 8.0, "middle", &cut(name, width));
    }
    for (tick, label) in &values.ticks {
        let y = plot.y(*tick);
        let class = if *tick == 0.0 { "zero" } else { "grid" };
        picture.path(class, format!("M{} {}H{}", shown(plot.left), shown(y), shown(plot.right)));
        picture.label(plot.left - 8.0, y, "end", label);
    }
    let (at, band) = places(&mut picture, &positions, &plot, width);
    for (number, series) in chart.series.iter().enumerate() {
        let some = at.iter().zip(&series.values).map(|(x, value)| value.map(|value| (*x, value)));
        let course: Vec<Option<(f64, f64)>> = some.collect();
        match chart.chart {
            ChartKind::Bar => bars(&mut picture, &plot, &course, number, chart.series.len(), band),
            ChartKind::Line => line(&mut picture, &plot, &course, number),
            ChartKind::Area => {
                area(&mut picture, &plot, &course, number);
                line(&mut picture, &plot, &course, number);
            }
            ChartKind::Point => marks(&mut picture, &plot, &course, number),
        }
    }
    Drawing { width, height, plot: [plot.top, plot.bottom], band, at, paths: picture.paths, labels: picture.labels }
}

/// Draws the labels of the horizontal axis; returns the place of each position, and the width of a band.
fn places(picture: &mut FigureCanvas, positions: &Positions, plot: &Plot, width: f64) -> (Vec<f64>, f64) {
    let y = plot.bottom + 14.0;
    let room = plot.right - plot.left;
    let centred = |x: f64, text: &str| {
        let half = measure(text) / 2.0;
        x.clamp(half, (width - half).max(half))
    };
    match positions {
        Positions::Bands(names) => {
            let band = room / names.len().max(1) as f64;
            let longest = names.iter().map(|name| measure(name)).fold(0.0, f64::max).min(110.0) + 10.0;
            let every = (longest.min(band.max(46.0)) / band).ceil().max(1.0) as usize;
            let at: Vec<f64> = (0..names.len()).map(|n| plot.left + band * (n as f64 + 0.5)).collect();
            for (name, x) in names.iter().zip(&at).step_by(every) {
                let room = (band * every as f64 - 6.0).min(2.0 * (width - x));
                picture.label(*x, y, "middle", &cut(name, room));
            }
            (at, band)
        }
        Positions::Numbers { at, from, to, dates } => {
            let x = |value: f64| plot.left + (value - from) / (to - from) * room;
            // A wide chart has one every 84 or 90 units; a narrow one has up to five, as far as their labels do not touch.
            let most = (room / if *dates { 84.0 } else { 90.0 }).max(5.0) as usize;
            let fit = |ticks: &Vec<(f64, String)>| {
                let span = |(tick, label): &(f64, String)| {
                    let (middle, half) = (centred(x(*tick), label), measure(label) / 2.0);
                    (middle - half, middle + half)
                };
                let spans: Vec<_> = ticks.iter().map(span).collect();
                spans.windows(2).all(|pair| matches!(pair, [one, other] if one.1 + LETTER <= other.0))
            };
            let mut choices = (2..=most).rev().map(|most| scale::ticks(*from, *to, most, *dates));
            let ticks = choices.find(fit).unwrap_or_default();
            for (tick, label) in ticks {
                picture.path("tick", format!("M{} {}v4", shown(x(tick)), shown(plot.bottom)));
                picture.label(centred(x(tick), &label), y, "middle", &label);
            }
            (at.iter().map(|value| tenth(x(*value))).collect(), 0.0)
        }
    }
}

fn bars(picture: &mut FigureCanvas, plot: &Plot, course: &[Option<(f64, f64)>], number: usize, of: usize, band: f64) {
    let each = band * (1.0 - GAP) / of.max(1) as f64;
    let thick = (each - if of > 1 && each > 4.0 { 1.0 } else { 0.0 }).clamp(0.5, 64.0);
    let mut d = String::new();
    for (x, value) in course.iter().flatten() {
        let left = x - each * of as f64 / 2.0 + each * number as f64 + (each - thick) / 2.0;
        let (base, end) = (plot.base(), plot.y(*value));
        let _ = write!(d, "M{} {}h{}V{}h{}z", shown(left), shown(base), shown(thick), shown(end), shown(-thick));
    }
    picture.path(&format!("bar s{number}"), d);
}

/// Draws a line in the order of its positions; a missing value is a gap.
fn line(picture: &mut FigureCanvas, plot: &Plot, course: &[Option<(f64, f64)>], number: usize) {
    let mut d = String::new();
    for part in parts(course) {
        for (place, (x, value)) in part.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if place == 0 { 'M' } else { 'L' }, shown(*x), shown(plot.y(*value)));
        }
        if part.len() == 1 {
            d.push_str("h0");
        }
    }
    picture.path(&format!("line s{number}"), d);
    if course.len() <= MARKED {
        marks(picture, plot, course, number);
    }
}

fn area(picture: &mut FigureCanvas, plot: &Plot, course: &[Option<(f64, f64)>], number: usize) {
    let base = shown(plot.base());
    let mut d = String::new();
    for part in parts(course) {
        let (Some((first, _)), Some((last, _))) = (part.first(), part.last()) else { continue };
        let _ = write!(d, "M{} {base}", shown(*first));
        for (x, value) in &part {
            let _ = write!(d, "L{} {}", shown(*x), shown(plot.y(*value)));
        }
        let _ = write!(d, "L{} {base}z", shown(*last));
    }
    picture.path(&format!("area s{number}"), d);
}

/// The parts of a line between its gaps, each from left to right.
fn parts(course: &[Option<(f64, f64)>]) -> Vec<Vec<(f64, f64)>> {
    let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
    for part in course.split(Option::is_none).filter(|part| !part.is_empty()) {
        let mut part: Vec<(f64, f64)> = part.iter().flatten().copied().collect();
        part.sort_by(|one, other| one.0.total_cmp(&other.0));
        parts.push(part);
    }
    parts
}

/// Draws a mark for each value. Each series has a shape of its own, so that it is known without its colour.
fn marks(picture: &mut FigureCanvas, plot: &Plot, course: &[Option<(f64, f64)>], number: usize) {
    let mut d = String::new();
    for (x, value) in course.iter().flatten() {
        let (x, y) = (*x, plot.y(*value));
        let _ = match number % 4 {
            0 => write!(d, "M{} {}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", shown(x - 3.5), shown(y)),
            1 => write!(d, "M{} {}h6.4v6.4h-6.4z", shown(x - 3.2), shown(y - 3.2)),
            2 => write!(d, "M{} {}l4 7h-8z", shown(x), shown(y - 4.2)),
            _ => write!(d, "M{} {}l4.4 4.4l-4.4 4.4l-4.4 -4.4z", shown(x), shown(y - 4.4)),
        };
    }
    picture.path(&format!("mark s{number}"), d);
}

/// Truncates a text that is wider than `width`.
fn cut(text: &str, width: f64) -> String {
    let most = (width / LETTER).max(1.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn shown(value: f64) -> String {
    super::number::fixed(value, 1)
}

#[derive(Default)]
struct FigureCanvas {
    paths: Vec<Path>,
    labels: Vec<Label>,
}

impl FigureCanvas {
    fn path(&mut self, class: &str, d: String) {
        if !d.is_empty() {
            self.paths.push(Path { class: class.to_owned(), d });
        }
    }

    fn label(&mut self, x: f64, y: f64, anchor: &'static str, text: &str) {
        self.labels.push(Label { x: tenth(x), y: tenth(y), anchor, text: text.to_owned() });
    }
}
