//! The charts of a document or a presentation, changed so that `anydoc`, which reads a table of categories and values, reads all of their
//! points: it counts them without their numbers, knows no points with two values, and takes the categories of the first series for all.

use super::lost::Lost;
use super::parts::Package;
use super::xml::{Element, Node, elements};

/// Maximum number of points of a chart.
const MAX_POINTS: usize = 20_000;

pub fn change(package: &mut Package<'_>, lost: &mut Lost) {
    for name in package.names() {
        let chart = name
            .rsplit_once('/')
            .is_some_and(|(folder, file)| folder.ends_with("/charts") && file.starts_with("chart"));
        if !chart || !name.ends_with(".xml") {
            continue;
        }
        let Some(mut part) = package.part(&name) else { continue };
        if part.root.is("c:chartSpace") {
            change_chart(&mut part.root, lost);
            package.change(&name, part);
        }
    }
}

fn change_chart(root: &mut Element, lost: &mut Lost) {
    let axis: Vec<String> = root
        .all("c:valAx")
        .iter()
        .filter_map(|axis| Some(axis.child("c:title")?.all("a:t").iter().map(|one| one.text()).collect::<String>()))
        .filter(|text| !text.trim().is_empty())
        .collect();
    lost.some("set(s) of bubble sizes of a chart", root.all("c:bubbleSize").len());
    // What each series has, before it is written again with the points of all.
    let mut all: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    each_series(root, &mut |series| {
        let of = |names: [&str; 2]| names.iter().find_map(|name| series.child(name)).map(points).unwrap_or_default();
        let values = of(["c:val", "c:yVal"]);
        let mut categories = of(["c:cat", "c:xVal"]);
        if categories.is_empty() {
            categories = (1..=values.len()).map(|number| number.to_string()).collect();
        }
        all.push((categories, values));
    });
    let same = all.iter().all(|(categories, _)| all.first().is_some_and(|(first, _)| first == categories));
    let count =
        if same { all.first().map_or(0, |(one, _)| one.len()) } else { all.iter().map(|(one, _)| one.len()).sum() };
    if count > MAX_POINTS {
        lost.one("chart(s) of too many points");
        return;
    }
    let categories: Vec<String> = if same {
        all.first().map(|(one, _)| one.clone()).unwrap_or_default()
    } else {
        all.iter().flat_map(|(one, _)| one.clone()).collect()
    };
    let mut before = 0;
    let mut at = 0;
    each_series(root, &mut |series| {
        let Some((own, values)) = all.get(at) else { return };
        let mut shown = vec![String::new(); if same { 0 } else { before }];
        shown.extend(values.iter().cloned());
        before += own.len();
        at += 1;
        series.children.retain(
            |node| !matches!(node, Node::Element(one) if matches!(&*one.name, "c:cat" | "c:val" | "c:xVal" | "c:yVal")),
        );
        series.children.push(written("c:cat", &categories));
        series.children.push(written("c:val", &shown));
    });
    if !axis.is_empty() {
        add_to_title(root, &format!(" [axis: {}]", axis.join("; ")));
    }
}

fn each_series(of: &mut Element, then: &mut impl FnMut(&mut Element)) {
    for node in &mut of.children {
        if let Node::Element(child) = node {
            if child.is("c:ser") { then(child) } else { each_series(child, then) }
        }
    }
}

/// The texts of the points, an empty one where a number is missing. Of several levels the outer ones come first.
fn points(of: &Element) -> Vec<String> {
    let levels = of.all("c:lvl");
    let count =
        of.first("c:ptCount").and_then(|one| one.attr("val")).and_then(|count| count.parse().ok()).unwrap_or(0_usize);
    let read = |of: &Element| {
        let mut texts: Vec<String> = vec![String::new(); count.min(MAX_POINTS)];
        for (at, point) in of.all("c:pt").into_iter().enumerate() {
            let at = point.attr("idx").and_then(|at| at.parse().ok()).unwrap_or(at);
            if at >= texts.len() && at < MAX_POINTS {
                texts.resize(at + 1, String::new());
            }
            if let (Some(text), Some(value)) = (texts.get_mut(at), point.child("c:v")) {
                *text = value.text();
            }
        }
        texts
    };
    if levels.is_empty() {
        return read(of);
    }
    let mut joined: Vec<String> = Vec::new();
    for level in levels.into_iter().rev() {
        let mut last = String::new();
        for (at, text) in read(level).into_iter().enumerate() {
            if !text.is_empty() {
                last = text;
            }
            match joined.get_mut(at) {
                Some(known) if !known.is_empty() => known.push_str(&format!(" / {last}")),
                Some(known) => known.clone_from(&last),
                None => joined.push(last.clone()),
            }
        }
    }
    joined
}

fn written(name: &str, texts: &[String]) -> Node {
    let point = |text: &String| {
        let value = Element::new("c:v", &[], vec![Node::Text(text.clone())]);
        Node::Element(Element::new("c:pt", &[], vec![Node::Element(value)]))
    };
    Node::Element(Element::new(name, &[], texts.iter().map(point).collect()))
}

fn add_to_title(root: &mut Element, text: &str) {
    let added = |text: &str| {
        let text = Element::new("a:t", &[], vec![Node::Text(text.to_owned())]);
        Node::Element(Element::new(
            "a:p",
            &[],
            vec![Node::Element(Element::new("a:r", &[], vec![Node::Element(text)]))],
        ))
    };
    let chart = root.children.iter_mut().find_map(|node| match node {
        Node::Element(one) if one.is("c:chart") => Some(one),
        _ => None,
    });
    let Some(chart) = chart else { return };
    if elements(&chart.children).any(|one| one.is("c:title")) {
        for node in &mut chart.children {
            if let Node::Element(title) = node
                && title.is("c:title")
            {
                title.children.push(added(text));
            }
        }
    } else {
        chart.children.insert(0, Node::Element(Element::new("c:title", &[], vec![added(text.trim())])));
    }
}
