//! The layout of a plan's steps and of the lines between them, as plain numbers.
//!
//! A gather step receives the results of its dependencies, a synthesis step the results of every step before it; a step is
//! in the column after the last of these. A line that has to pass a column runs through a lane above that column's steps,
//! one lane per target step, so that no line crosses a step and lines to the same step merge into one.

use std::collections::BTreeMap;
use std::fmt::Write;

use turnwise_record::plan::{AgentKind, Plan, PlanStep};

/// The size of a step and the space between steps, for the layout from left to right.
const WIDTH: i32 = 212;
const HEIGHT: i32 = 100;
const BETWEEN: i32 = 66;
const BELOW: i32 = 12;
const LANE: i32 = 16;
/// The same for the layout from top to bottom, where steps fill the width next to the lines.
const TALL: i32 = 100;
const TRACK: i32 = 11;
const BEND: i32 = 8;
/// The distance above and below a step's middle at which lines enter and leave it.
const APART: i32 = 9;
/// The length of the visible end of a line.
const PORT: i32 = 4;

/// The whole drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    pub width: i32,
    pub height: i32,
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<Edge>,
    pub trunks: Vec<Trunk>,
    pub ports: Vec<Port>,
}

/// A step, in the order of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphNode {
    pub order: u32,
    pub column: usize,
    pub x: i32,
    pub y: i32,
    /// `None`: all the remaining width.
    pub width: Option<i32>,
    pub height: i32,
}

/// A line from a step to a step that receives its result, or to the trunk of that step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    /// The kind of the target step: the line shows a dependency, or the context of the session.
    pub kind: AgentKind,
    /// In the syntax of an SVG path.
    pub path: String,
}

/// The shared part of several lines to a step, drawn once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trunk {
    pub to: u32,
    pub kind: AgentKind,
    pub path: String,
}

/// The point at which the lines to a step end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    pub order: u32,
    pub kind: AgentKind,
    pub x: i32,
    pub y: i32,
}

/// Returns the steps whose results a step receives, if all goes well.
#[must_use]
pub fn inputs_of(plan: &Plan, step: &PlanStep) -> Vec<u32> {
    let before = plan.steps.iter().map(|other| other.order).filter(|order| *order < step.order);
    match plan.kind(step) {
        AgentKind::Synthesis => before.collect(),
        AgentKind::Gather => before.filter(|order| step.dependencies.contains(order)).collect(),
    }
}

/// Returns the column of each step: the one after the last step it waits for.
fn columns(plan: &Plan) -> BTreeMap<u32, usize> {
    let mut columns = BTreeMap::new();
    for step in &plan.steps {
        let before = inputs_of(plan, step).into_iter().filter_map(|order| columns.get(&order)).max();
        columns.insert(step.order, before.map_or(0, |last: &usize| last + 1));
    }
    columns
}

/// The contents of one column: steps from top to bottom, below lanes for lines that pass through.
#[derive(Default)]
struct GraphColumn {
    steps: Vec<u32>,
    /// Steps further right whose lines pass through.
    lanes: Vec<u32>,
}

impl GraphColumn {
    fn height(&self) -> i32 {
        let steps = count(self.steps.len());
        count(self.lanes.len()) * LANE + steps * HEIGHT + (steps - 1).max(0) * BELOW
    }
}

impl Graph {
    /// Lays out the plan from left to right.
    #[must_use]
    pub fn wide(plan: &Plan) -> Self {
        let place = columns(plan);
        let last = place.values().copied().max().unwrap_or(0);
        let mut columns: Vec<GraphColumn> = (0..=last).map(|_| GraphColumn::default()).collect();
        for step in &plan.steps {
            let to = column_of(&place, step.order);
            let from = inputs_of(plan, step).iter().map(|order| column_of(&place, *order)).min().unwrap_or(to);
            for (at, column) in columns.iter_mut().enumerate() {
                if at == to {
                    column.steps.push(step.order);
                } else if from < at && at < to {
                    column.lanes.push(step.order);
                }
            }
        }
        let height = columns.iter().map(GraphColumn::height).max().unwrap_or(0);
        let nodes = placed(plan, &mut columns, height);
        let (edges, trunks, ports) = lines(plan, &columns, &nodes, height);
        let width = count(columns.len()) * (WIDTH + BETWEEN) - BETWEEN;
        Graph { width, height, nodes, edges, trunks, ports }
    }

    /// Lays out the plan from top to bottom, one step below the other, for narrow pages.
    #[must_use]
    pub fn narrow(plan: &Plan) -> Self {
        let place = columns(plan);
        let mut steps: Vec<&PlanStep> = plan.steps.iter().collect();
        steps.sort_by_key(|step| (column_of(&place, step.order), step.order));
        let tracks: Vec<u32> =
            steps.iter().filter(|step| !inputs_of(plan, step).is_empty()).map(|step| step.order).collect();
        let x = if tracks.is_empty() { 0 } else { count(tracks.len()) * TRACK + BEND + 4 };
        let rows = steps.iter().enumerate();
        let nodes: Vec<GraphNode> = rows
            .map(|(row, step)| {
                let (order, y) = (step.order, count(row) * (TALL + BELOW));
                GraphNode { order, column: column_of(&place, order), x, y, width: None, height: TALL }
            })
            .collect();
        let middle = |order: u32| nodes.iter().find(|node| node.order == order).map_or(0, |node| node.y + TALL / 2);
        let (mut edges, mut trunks, mut ports) = (Vec::new(), Vec::new(), Vec::new());
        for step in &steps {
            let Some(track) = tracks.iter().position(|order| *order == step.order) else { continue };
            let (kind, to) = (plan.kind(step), middle(step.order) - APART);
            let at = x - BEND - 4 - count(track) * TRACK;
            ports.push(Port { order: step.order, kind, x: x - PORT, y: to });
            let mut first = to;
            for order in inputs_of(plan, step) {
                let from = middle(order) + APART;
                first = first.min(from + BEND);
                let path = format!("M{x} {from}H{}Q{at} {from} {at} {}", at + BEND, from + BEND);
                edges.push(Edge { from: order, to: step.order, kind, path });
            }
            let path = format!("M{at} {first}V{}Q{at} {to} {} {to}H{x}", to - BEND, at + BEND);
            trunks.push(Trunk { to: step.order, kind, path });
        }
        let height = nodes.last().map_or(0, |node| node.y + TALL);
        Graph { width: x, height, nodes, edges, trunks, ports }
    }
}

/// Places the steps column by column, near the steps whose results they receive, and centres each column.
fn placed(plan: &Plan, columns: &mut [GraphColumn], height: i32) -> Vec<GraphNode> {
    let mut nodes: Vec<GraphNode> = Vec::with_capacity(plan.steps.len());
    for (at, column) in columns.iter_mut().enumerate() {
        let inputs = |order: u32| plan.step(order).map(|step| inputs_of(plan, step)).unwrap_or_default();
        column.steps.sort_by_key(|order| {
            let near = inputs(*order);
            let ys: Vec<i32> = nodes.iter().filter(|node| near.contains(&node.order)).map(|node| node.y).collect();
            (ys.iter().sum::<i32>() / count(ys.len()).max(1), *order)
        });
        let top = (height - column.height()) / 2 + count(column.lanes.len()) * LANE;
        for (row, order) in column.steps.iter().enumerate() {
            let (x, y) = (count(at) * (WIDTH + BETWEEN), top + count(row) * (HEIGHT + BELOW));
            nodes.push(GraphNode { order: *order, column: at, x, y, width: Some(WIDTH), height: HEIGHT });
        }
    }
    nodes.sort_by_key(|node| node.order);
    nodes
}

type Lines = (Vec<Edge>, Vec<Trunk>, Vec<Port>);

fn lines(plan: &Plan, columns: &[GraphColumn], nodes: &[GraphNode], height: i32) -> Lines {
    let node = |order: u32| nodes.iter().find(|node| node.order == order);
    let (mut edges, mut trunks, mut ports) = (Vec::new(), Vec::new(), Vec::new());
    for step in &plan.steps {
        let (kind, inputs) = (plan.kind(step), inputs_of(plan, step));
        let Some(to) = node(step.order).filter(|_| !inputs.is_empty()) else { continue };
        let end = (to.x, to.y + HEIGHT / 2);
        ports.push(Port { order: step.order, kind, x: end.0 - PORT, y: end.1 });
        // The point at which the step's lane enters each column that it passes.
        let lanes = columns.iter().enumerate().filter_map(|(at, column)| {
            let lane = column.lanes.iter().position(|order| *order == step.order)?;
            let top = (height - column.height()) / 2 + count(lane) * LANE + LANE / 4;
            Some((at, (count(at) * (WIDTH + BETWEEN), top)))
        });
        let lanes: BTreeMap<usize, (i32, i32)> = lanes.collect();
        for from in inputs.into_iter().filter_map(node) {
            let begin = (from.x + WIDTH, from.y + HEIGHT / 2);
            let mut path = format!("M{} {}", begin.0, begin.1);
            curve(&mut path, begin, lanes.get(&(from.column + 1)).copied().unwrap_or(end));
            edges.push(Edge { from: from.order, to: step.order, kind, path });
        }
        if let Some((x, y)) = lanes.values().next().copied() {
            let mut path = format!("M{x} {y}");
            let following = lanes.values().skip(1).copied().chain(std::iter::once(end));
            for (lane, next) in lanes.values().zip(following) {
                let right = (lane.0 + WIDTH, lane.1);
                let _ = write!(path, "H{}", right.0);
                curve(&mut path, right, next);
            }
            trunks.push(Trunk { to: step.order, kind, path });
        }
    }
    (edges, trunks, ports)
}

/// Adds a curve that starts and ends horizontally.
fn curve(path: &mut String, from: (i32, i32), to: (i32, i32)) {
    let middle = i32::midpoint(from.0, to.0);
    let _ = write!(path, "C{middle} {} {middle} {} {} {}", from.1, to.1, to.0, to.1);
}

fn column_of(place: &BTreeMap<u32, usize>, order: u32) -> usize {
    place.get(&order).copied().unwrap_or(0)
}

fn count(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX / 1_000)
}
