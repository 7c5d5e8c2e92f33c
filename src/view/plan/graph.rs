//! Where the steps of a plan stand and how the lines between them run, as numbers alone.
//!
//! A step stands in the column after the last one that it is told of: its dependencies for a gather step, every step
//! before it for a synthesis step. A line that has to pass a column runs through a lane above that column's steps, one
//! lane for each step it leads to, so that no line crosses a step and lines to one step become one.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::plan::{AgentKind, Plan, Step};

/// The size of a step and the space between steps, left to right.
const WIDTH: i32 = 212;
const HEIGHT: i32 = 88;
const BETWEEN: i32 = 66;
const BELOW: i32 = 12;
const LANE: i32 = 16;
/// The same from top to bottom, where steps fill the width beside the lines.
const TALL: i32 = 92;
const TRACK: i32 = 11;
const BEND: i32 = 8;
/// Where lines leave and enter a step, above and below its middle.
const APART: i32 = 9;

/// The whole drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    pub width: i32,
    pub height: i32,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub ports: Vec<Port>,
}

/// A step, in the order of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub order: u32,
    pub column: usize,
    pub x: i32,
    pub y: i32,
    /// `None`: all that is left.
    pub width: Option<i32>,
    pub height: i32,
}

/// A line from a step to one that is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    /// Of the step it leads to: dependencies, or the context of the session.
    pub kind: AgentKind,
    /// As an SVG path has it.
    pub path: String,
}

/// Where the lines to a step end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    pub order: u32,
    pub kind: AgentKind,
    pub x: i32,
    pub y: i32,
}

/// The steps that a step is told of, where all goes well.
#[must_use]
pub fn told_of(plan: &Plan, step: &Step) -> Vec<u32> {
    let before = plan.steps.iter().map(|other| other.order).filter(|order| *order < step.order);
    match plan.kind(step) {
        AgentKind::Synthesis => before.collect(),
        AgentKind::Gather => before.filter(|order| step.dependencies.contains(order)).collect(),
    }
}

/// The column of each step: one after the last of those it waits for.
fn columns(plan: &Plan) -> BTreeMap<u32, usize> {
    let mut columns = BTreeMap::new();
    for step in &plan.steps {
        let before = told_of(plan, step).into_iter().filter_map(|order| columns.get(&order)).max();
        columns.insert(step.order, before.map_or(0, |last: &usize| last + 1));
    }
    columns
}

/// What stands in one column: steps from top to bottom, under lanes for lines that pass by.
#[derive(Default)]
struct Column {
    steps: Vec<u32>,
    /// Steps further right whose lines pass.
    lanes: Vec<u32>,
}

impl Column {
    fn height(&self) -> i32 {
        let steps = count(self.steps.len());
        count(self.lanes.len()) * LANE + steps * HEIGHT + (steps - 1).max(0) * BELOW
    }
}

impl Graph {
    /// From left to right.
    #[must_use]
    pub fn wide(plan: &Plan) -> Self {
        let place = columns(plan);
        let last = place.values().copied().max().unwrap_or(0);
        let mut columns: Vec<Column> = (0..=last).map(|_| Column::default()).collect();
        for step in &plan.steps {
            let to = column_of(&place, step.order);
            let from = told_of(plan, step).iter().map(|order| column_of(&place, *order)).min().unwrap_or(to);
            for (at, column) in columns.iter_mut().enumerate() {
                if at == to {
                    column.steps.push(step.order);
                } else if from < at && at < to {
                    column.lanes.push(step.order);
                }
            }
        }
        let height = columns.iter().map(Column::height).max().unwrap_or(0);
        let nodes = placed(plan, &mut columns, height);
        let (edges, ports) = lines(plan, &columns, &nodes, height);
        let width = count(columns.len()) * (WIDTH + BETWEEN) - BETWEEN;
        Graph { width, height, nodes, edges, ports }
    }

    /// From top to bottom, one step below the other, for narrow pages.
    #[must_use]
    pub fn narrow(plan: &Plan) -> Self {
        let place = columns(plan);
        let mut steps: Vec<&Step> = plan.steps.iter().collect();
        steps.sort_by_key(|step| (column_of(&place, step.order), step.order));
        let tracks: Vec<u32> =
            steps.iter().filter(|step| !told_of(plan, step).is_empty()).map(|step| step.order).collect();
        let x = if tracks.is_empty() { 0 } else { count(tracks.len()) * TRACK + BEND + 4 };
        let rows = steps.iter().enumerate();
        let nodes: Vec<Node> = rows
            .map(|(row, step)| {
                let (order, y) = (step.order, count(row) * (TALL + BELOW));
                Node { order, column: column_of(&place, order), x, y, width: None, height: TALL }
            })
            .collect();
        let middle = |order: u32| nodes.iter().find(|node| node.order == order).map_or(0, |node| node.y + TALL / 2);
        let (mut edges, mut ports) = (Vec::new(), Vec::new());
        for step in &steps {
            let Some(track) = tracks.iter().position(|order| *order == step.order) else { continue };
            let (kind, to) = (plan.kind(step), middle(step.order) - APART);
            let at = x - BEND - 4 - count(track) * TRACK;
            ports.push(Port { order: step.order, kind, x, y: to });
            edges.extend(told_of(plan, step).into_iter().map(|order| {
                let from = middle(order) + APART;
                let path = format!(
                    "M{x} {from}H{}Q{at} {from} {at} {}V{}Q{at} {to} {} {to}H{x}",
                    at + BEND,
                    from + BEND,
                    to - BEND,
                    at + BEND
                );
                Edge { from: order, to: step.order, kind, path }
            }));
        }
        let height = nodes.last().map_or(0, |node| node.y + TALL);
        Graph { width: x, height, nodes, edges, ports }
    }
}

/// Column by column: steps near those they are told of, the whole in the middle.
fn placed(plan: &Plan, columns: &mut [Column], height: i32) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(plan.steps.len());
    for (at, column) in columns.iter_mut().enumerate() {
        let told = |order: u32| plan.step(order).map(|step| told_of(plan, step)).unwrap_or_default();
        column.steps.sort_by_key(|order| {
            let near = told(*order);
            let ys: Vec<i32> = nodes.iter().filter(|node| near.contains(&node.order)).map(|node| node.y).collect();
            (ys.iter().sum::<i32>() / count(ys.len()).max(1), *order)
        });
        let top = (height - column.height()) / 2 + count(column.lanes.len()) * LANE;
        for (row, order) in column.steps.iter().enumerate() {
            let (x, y) = (count(at) * (WIDTH + BETWEEN), top + count(row) * (HEIGHT + BELOW));
            nodes.push(Node { order: *order, column: at, x, y, width: Some(WIDTH), height: HEIGHT });
        }
    }
    nodes.sort_by_key(|node| node.order);
    nodes
}

fn lines(plan: &Plan, columns: &[Column], nodes: &[Node], height: i32) -> (Vec<Edge>, Vec<Port>) {
    let node = |order: u32| nodes.iter().find(|node| node.order == order);
    let (mut edges, mut ports) = (Vec::new(), Vec::new());
    for step in &plan.steps {
        let (kind, told) = (plan.kind(step), told_of(plan, step));
        let Some(to) = node(step.order).filter(|_| !told.is_empty()) else { continue };
        ports.push(Port { order: step.order, kind, x: to.x, y: to.y + HEIGHT / 2 });
        for from in told.into_iter().filter_map(node) {
            let (mut x, mut y) = (from.x + WIDTH, from.y + HEIGHT / 2);
            let mut path = format!("M{x} {y}");
            for (at, column) in columns.iter().enumerate().take(to.column).skip(from.column + 1) {
                let Some(lane) = column.lanes.iter().position(|order| *order == step.order) else { continue };
                let left = count(at) * (WIDTH + BETWEEN);
                let lane = (height - column.height()) / 2 + count(lane) * LANE + LANE / 4;
                curve(&mut path, (x, y), (left, lane));
                (x, y) = (left + WIDTH, lane);
                let _ = write!(path, "H{x}");
            }
            curve(&mut path, (x, y), (to.x, to.y + HEIGHT / 2));
            edges.push(Edge { from: from.order, to: step.order, kind, path });
        }
    }
    (edges, ports)
}

/// Leaves and arrives level.
fn curve(path: &mut String, from: (i32, i32), to: (i32, i32)) {
    let middle = i32::midpoint(from.0, to.0);
    let _ = write!(path, "C{middle} {} {middle} {} {} {}", from.1, to.1, to.0, to.1);
}

fn column_of(place: &BTreeMap<u32, usize>, order: u32) -> usize {
    place.get(&order).copied().unwrap_or(0)
}

fn count(of: usize) -> i32 {
    i32::try_from(of).unwrap_or(i32::MAX / 1_000)
}
