//! A chart of a workbook or a presentation (DrawingML) as one line.

use crate::markup::{Token, tokens};
use crate::references::unescaped;

#[derive(Default)]
struct Series {
    name: String,
    /// The cell that has the name.
    named: String,
    categories: String,
    values: String,
    literal: Vec<String>,
}

/// `bar "Sales": North = Data!$B$2:$B$5 by Data!$A$2:$A$5; …`.
#[must_use]
pub fn described(xml: &str) -> String {
    let (mut kind, mut title, mut axes) = (String::new(), String::new(), Vec::new());
    let mut series: Vec<Series> = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    let mut axis = String::new();
    for token in tokens(xml) {
        match token {
            Token::Open(tag) => {
                if kind.is_empty() && path.last() == Some(&"plotArea") && tag.name.ends_with("Chart") {
                    kind = tag.name.trim_end_matches("Chart").trim_end_matches("3D").to_owned();
                }
                if tag.name == "series" && kind.is_empty() {
                    kind = tag.get("layoutId").unwrap_or_default();
                }
                if matches!(tag.name, "ser" | "series") {
                    series.push(Series::default());
                }
                if !tag.empty {
                    path.push(tag.name);
                }
            }
            Token::Close(name) => {
                if name == "title" && !axis.is_empty() {
                    axes.push(std::mem::take(&mut axis));
                }
                if let Some(at) = path.iter().rposition(|open| *open == name) {
                    path.truncate(at);
                }
            }
            Token::Text(text) => {
                let inside = |name: &str| path.contains(&name);
                let last = path.last().copied().unwrap_or_default();
                let text = unescaped(text);
                let current = series.last_mut().filter(|_| inside("ser") || inside("series"));
                match (last, current) {
                    ("t" | "v", None) if inside("title") => {
                        let axis_title = path.iter().any(|name| name.ends_with("Ax") || *name == "axis");
                        (if axis_title { &mut axis } else { &mut title }).push_str(&text);
                    }
                    ("v", Some(one)) if inside("tx") => one.name.push_str(&text),
                    ("t", Some(one)) if inside("tx") => one.name.push_str(&text),
                    ("f", Some(one)) if inside("tx") => one.named = text,
                    ("f", Some(one)) if inside("cat") || inside("xVal") => one.categories = text,
                    ("f", Some(one)) if inside("val") || inside("yVal") => one.values = text,
                    ("v", Some(one)) if (inside("val") || inside("yVal")) && one.literal.len() < 50 => {
                        one.literal.push(text);
                    }
                    _ => {}
                }
            }
            Token::Raw(_) => {}
        }
    }
    let mut out = if kind.is_empty() { String::new() } else { kind };
    if !title.trim().is_empty() {
        out.push_str(&format!(" \"{}\"", title.trim()));
    }
    let series: Vec<String> = series
        .iter()
        .map(|one| {
            let values = if one.values.is_empty() { one.literal.join(", ") } else { one.values.clone() };
            let name = if one.name.is_empty() { &one.named } else { &one.name };
            let name = if name.is_empty() { String::new() } else { format!("{name} = ") };
            let by = if one.categories.is_empty() { String::new() } else { format!(" by {}", one.categories) };
            format!("{name}{values}{by}")
        })
        .collect();
    if !series.is_empty() {
        out.push_str(&format!(": {}", series.join("; ")));
    }
    if !axes.is_empty() {
        out.push_str(&format!("; axes {}", axes.join(", ")));
    }
    out.trim().to_owned()
}
