//! Writes the tables and charts of results: without a script, with the values as titles of the places in the picture.

use crate::markup::Html;
use turnwise_content::figure::draw::{ChartView, Drawing};
use turnwise_content::figure::table::FigureTable;
use turnwise_content::figure::{self, Figure};
use turnwise_content::format::{counted, thousands};

/// Rows of a table that are written; the record has all of them.
const ROWS: usize = 50;

/// Writes the figure in a result, if there is one.
pub fn figure(html: &mut Html, result: Option<&str>) {
    match result.and_then(figure::read) {
        Some(Figure::Table(of)) => table(html, &of, "Table"),
        Some(Figure::Chart(of)) => chart(html, &of),
        Some(Figure::Refused { why }) => _ = html.element("p", "fig refused", &why),
        None => {}
    }
}

fn table(html: &mut Html, of: &FigureTable, label: &str) {
    html.raw("<div class=\"fig\"><div class=\"table\" role=\"group\" tabindex=\"0\"").attribute("aria-label", label);
    html.raw("><table><thead><tr>");
    for column in &of.columns {
        let right = if column.numbers.is_some() { " class=\"right\"" } else { "" };
        html.raw("<th scope=\"col\"").raw(right).raw(">").text(&column.name).close("th");
    }
    html.raw("</tr></thead><tbody>");
    for row in of.rows.iter().take(ROWS) {
        html.raw("<tr>");
        for (cell, column) in row.iter().zip(&of.columns) {
            html.element("td", if column.numbers.is_some() { "right" } else { "" }, cell);
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    let rows = counted(of.total as u64, "row");
    let words = match of.total > ROWS {
        true => {
            format!("The first {ROWS} of {} rows. The record in this file has all of them.", thousands(of.total as u64))
        }
        false => rows,
    };
    html.element("p", "rows", &words).raw("</div>");
}

fn chart(html: &mut Html, of: &ChartView) {
    html.raw("<figure class=\"fig drawn\">").element("figcaption", "", &of.title);
    if of.legend.len() > 1 {
        let is_bar = of.chart == figure::chart::ChartKind::Bar;
        html.raw("<ul class=\"legend\">");
        for (number, name) in of.legend.iter().enumerate() {
            let shape = if is_bar { 1 } else { number % 4 };
            html.raw(&format!("<li><i class=\"swatch s{number}\" data-shape=\"{shape}\"></i>")).text(name).close("li");
        }
        html.raw("</ul>");
    }
    if let Some(drawing) = of.drawings.first() {
        html.raw("<div class=\"plot\">");
        picture(html, of, drawing);
        html.raw("</div>");
    }
    html.raw("<details><summary>Show the data</summary>");
    table(html, &of.table, &format!("{}: data", of.title));
    html.raw("</details></figure>");
}

fn picture(html: &mut Html, of: &ChartView, drawing: &Drawing) {
    let Drawing { width, height, plot: [top, bottom], .. } = drawing;
    html.raw(&format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\""));
    html.attribute("aria-label", &format!("{}. {}", of.title, of.description)).raw(">");
    for path in &drawing.paths {
        html.raw("<path").attribute("class", &path.class).attribute("d", &path.d).raw("/>");
    }
    for label in &drawing.labels {
        html.raw(&format!("<text x=\"{}\" y=\"{}\" dy=\"0.35em\" text-anchor=\"{}\">", label.x, label.y, label.anchor));
        html.text(&label.text).close("text");
    }
    // The pointer is over the nearest position.
    for (place, (at, stop)) in drawing.at.iter().zip(&of.stops).enumerate() {
        let half = if drawing.band > 0.0 { drawing.band / 2.0 } else { 6.0 };
        let before = place.checked_sub(1).and_then(|place| drawing.at.get(place));
        let left = before.map_or(at - half, |before| (before + at) / 2.0);
        let right = drawing.at.get(place + 1).map_or(at + half, |after| (after + at) / 2.0);
        if right <= left {
            continue;
        }
        html.raw(&format!(
            "<rect class=\"spot\" x=\"{left:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{}\"><title>",
            right - left,
            bottom - top
        ));
        let mut values = stop.iter();
        html.text(values.next().map_or("", String::as_str));
        for (name, value) in of.legend.iter().zip(values) {
            html.text("\n").text(name).text(": ").text(if value.is_empty() { "no value" } else { value });
        }
        html.raw("</title></rect>");
    }
    html.raw("</svg>");
}
