//! The graph: steps as buttons, lines between them as SVG. Drawn twice, left to right and top to bottom; the styles show
//! the one that fits.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use leptos::svg;

use turnwise_record::plan::{AgentKind, Plan, StepStatus};
use turnwise_view::plan::{Edge, GivenLine, Graph, GraphNode, Port, StepView, Trunk};

use crate::answer::ending::dot;
use crate::browser::dom;
use crate::components::icon::{Icon, icon};
use crate::components::reactive::attribute;
use crate::plans::detail;
use crate::plans::state::{PlanPage, StepSlot};
use crate::run_facts::meter;
use crate::state::App;

/// Pixels that may be hidden without a hint to scroll.
const EDGE: i32 = 8;

pub fn graph(app: App, page: &PlanPage) -> impl IntoView + use<> {
    html::div()
        .class("graphs")
        .child((drawing(app, page, &page.wide, "graph wide"), drawing(app, page, &page.narrow, "graph narrow")))
}

fn drawing(app: App, page: &PlanPage, graph: &Graph, class: &'static str) -> impl IntoView + use<> {
    let edges = graph.edges.iter().map(|edge| line(page, edge)).collect_view();
    let trunks = graph.trunks.iter().map(|trunk| shared(page, trunk)).collect_view();
    let ports = graph.ports.iter().map(port).collect_view();
    let nodes = graph.nodes.iter().filter_map(|node| Some(step(app, page, page.slot(node.order)?, *node)));
    scrolled(class, canvas(graph, (edges, trunks, ports).into_any(), nodes.collect_view().into_any()))
}

/// Draws a plan that does not run yet: its steps and what each receives, without states.
pub fn sketch(plan: &Plan) -> impl IntoView + use<> {
    let drawn = |graph: &Graph, class: &'static str| {
        let path = |d: &str, kind: AgentKind| {
            svg::path().attr("class", "line").attr("data-kind", kind.as_str()).attr("d", d.to_owned())
        };
        let edges = graph.edges.iter().map(|edge| path(&edge.path, edge.kind)).collect_view();
        let trunks = graph.trunks.iter().map(|trunk| path(&trunk.path, trunk.kind)).collect_view();
        let ports = graph.ports.iter().map(port).collect_view();
        let node = |node: &GraphNode| {
            let step = plan.steps.iter().find(|step| step.order == node.order)?;
            let kind = plan.kind(step);
            let part = html::div()
                .class("node")
                .attr("data-kind", kind.as_str())
                .attr("data-level", if kind == AgentKind::Synthesis { "synthesis" } else { "normal" })
                .style(("left", format!("{}px", node.x)))
                .style(("top", format!("{}px", node.y)))
                .style(("width", node.width.map(|width| format!("{width}px")).unwrap_or_default()))
                .style(("height", format!("{}px", node.height)))
                .child((
                    html::span().class("who").child((
                        html::span().class("no").child(step.order),
                        html::b().child(step.agent.clone()),
                        html::span().class("kind").child(kind.as_str()),
                    )),
                    html::span().class("what").attr("dir", "auto").child(step.action.clone()),
                ));
            Some(part)
        };
        let nodes = graph.nodes.iter().filter_map(node).collect_view();
        scrolled(class, canvas(graph, (edges, trunks, ports).into_any(), nodes.into_any()))
    };
    html::div()
        .class("graphs sketch")
        .attr("role", "group")
        .attr("aria-label", "The plan as it is written")
        // A long plan is scrolled by keyboard.
        .attr("tabindex", "0")
        .child((drawn(&Graph::wide(plan), "graph wide"), drawn(&Graph::narrow(plan), "graph narrow")))
}

/// Draws lines, and nodes above them.
fn canvas(graph: &Graph, lines: AnyView, nodes: AnyView) -> AnyView {
    let (width, height) = (graph.width, graph.height);
    let lines = svg::svg()
        .attr("class", "lines")
        .attr("width", width.to_string())
        .attr("height", height.to_string())
        .attr("viewBox", format!("0 0 {width} {height}"))
        .attr("aria-hidden", "true")
        .child(lines);
    let full = graph.nodes.iter().all(|node| node.width.is_some());
    let size = if full { format!("{width}px") } else { String::new() };
    html::div()
        .class("canvas")
        .style(("width", size))
        .style(("height", format!("{height}px")))
        .child((lines, nodes))
        .into_any()
}

/// Draws a graph that may be wider than its container: it shows on which sides there is more, and scrolls by click or
/// by key.
fn scrolled(class: &'static str, canvas: AnyView) -> impl IntoView {
    let scroller = NodeRef::<html::Div>::new();
    let more = RwSignal::new(None);
    let look = move || {
        if let Some(it) = scroller.get_untracked() {
            let (at, rest) = (it.scroll_left(), it.scroll_width() - it.client_width() - it.scroll_left());
            let sides = match (at > EDGE, rest > EDGE) {
                (false, false) => None,
                (true, false) => Some("before"),
                (false, true) => Some("after"),
                (true, true) => Some("both"),
            };
            if more.try_get_untracked().is_some_and(|old| old != sides) {
                more.set(sides);
            }
        }
    };
    Effect::new(move || {
        if let Some(it) = scroller.get() {
            dom::on_resize(&[&it], look);
        }
    });
    let wide = Memo::new(move |_| more.get().is_some());
    let button = move |side: &'static str, text: &'static str, name: Icon, by: i32| {
        // Created once for as long as it is needed; otherwise it would lose the focus at the first click.
        let there = Memo::new(move |_| more.get().is_some_and(|sides| sides == side || sides == "both"));
        move || {
            there.get().then(|| {
                html::button()
                    .r#type("button")
                    .class("more")
                    .attr("data-side", side)
                    .attr("aria-label", text)
                    .attr("title", text)
                    .on(ev::click, move |_| {
                        if let Some(it) = scroller.get_untracked() {
                            // Four fifths of the visible width: one step stays visible.
                            it.scroll_by_with_x_and_y(f64::from(by * it.client_width() * 4 / 5), 0.0);
                        }
                    })
                    .child(icon(name))
            })
        }
    };
    html::div().class("frame").child((
        html::div()
            .class(class)
            .attr("role", "group")
            .attr("aria-label", "Steps of the plan")
            .attr("data-more", attribute(move || more.get()))
            .attr("tabindex", attribute(move || wide.get().then_some("0")))
            .node_ref(scroller)
            .on(ev::scroll, move |_| look())
            .child(canvas),
        button("before", "Show earlier steps", Icon::Back, -1),
        button("after", "Show later steps", Icon::Forward, 1),
    ))
}

fn line(page: &PlanPage, edge: &Edge) -> impl IntoView + use<> {
    let view = page.slot(edge.to).map(|slot| slot.view.clone());
    let (from, to) = (edge.from, edge.to);
    let given = move || style(view.as_ref().map(|view| view.with(|view| view.given_by(from))));
    let selected = page.selected.clone();
    let shown = move || selected.get().map(|order| if order == to { "in" } else { "other" });
    svg::path()
        .attr("class", "line")
        .attr("data-kind", edge.kind.as_str())
        .attr("data-given", given)
        .attr("data-shown", shown)
        .attr("d", edge.path.clone())
}

/// Returns the style name.
fn style(given: Option<GivenLine>) -> &'static str {
    match given {
        Some(GivenLine::Given) => "given",
        Some(GivenLine::Missing) => "missing",
        Some(GivenLine::Planned) | None => "planned",
    }
}

/// Draws a shared line. It counts as given as soon as any result was given.
fn shared(page: &PlanPage, trunk: &Trunk) -> impl IntoView + use<> {
    let view = page.slot(trunk.to).map(|slot| slot.view.clone());
    let given = move || style(view.as_ref().map(|view| view.with(StepView::given_at_all)));
    let (to, selected) = (trunk.to, page.selected.clone());
    let shown = move || selected.get().map(|order| if order == to { "in" } else { "other" });
    svg::path()
        .attr("class", "line")
        .attr("data-kind", trunk.kind.as_str())
        .attr("data-given", given)
        .attr("data-shown", shown)
        .attr("d", trunk.path.clone())
}

fn port(port: &Port) -> impl IntoView + use<> {
    svg::circle()
        .attr("class", "port")
        .attr("data-kind", port.kind.as_str())
        .attr("cx", port.x.to_string())
        .attr("cy", port.y.to_string())
        .attr("r", "4")
}

fn step(app: App, page: &PlanPage, slot: &StepSlot, node: GraphNode) -> impl IntoView + use<> {
    let order = slot.order;
    let (kind, agent, action, text) =
        slot.view.with_untracked(|view| (view.kind, view.agent.clone(), view.action.clone(), view.kind_words));
    let level = if kind == AgentKind::Synthesis { "synthesis" } else { "normal" };
    let inputs_text = {
        let view = slot.view.clone();
        move || view.with(|view| view.inputs_text.clone())
    };
    let hidden = |text: &'static str| html::span().class("hidden").child(text);
    let status = {
        let view = slot.view.clone();
        move || view.with(|view| if view.is_interrupted() { "interrupted" } else { view.status.as_str() })
    };
    let stands = {
        let view = slot.view.clone();
        move || {
            view.with(|view| {
                let sign = match view.status {
                    StepStatus::Pending => html::i().class("dot waiting").attr("aria-hidden", "true").into_any(),
                    _ => dot(view.tone, "dot").into_any(),
                };
                (sign, html::span().class("words").child(view.state.clone()), meter::tiny(&view.ticks))
            })
        }
    };
    let time = {
        let view = slot.view.clone();
        move || view.with(|view| view.time(if view.status == StepStatus::Running { app.now.get() } else { 0 }))
    };
    let selected = page.selected.clone();
    let pressed = move || if selected.get() == Some(order) { "true" } else { "false" };
    let page = page.clone();
    let click = move |_| {
        let shown = page.selected.get_untracked() == Some(order);
        page.select((!shown).then_some(order));
        if !shown {
            detail::bring_into_view();
        }
    };
    html::button()
        .r#type("button")
        .class("node")
        .attr("data-kind", kind.as_str())
        .attr("data-level", level)
        .attr("data-status", attribute(status))
        .attr("aria-pressed", attribute(pressed))
        .style(("left", format!("{}px", node.x)))
        .style(("top", format!("{}px", node.y)))
        .style(("width", node.width.map(|width| format!("{width}px")).unwrap_or_default()))
        .style(("height", format!("{}px", node.height)))
        .on(ev::click, click)
        .child((
            html::span().class("who").child((
                html::span().class("no").child((hidden("Step "), order)),
                hidden(", "),
                html::b().child(agent),
                hidden(", "),
                html::span().class("kind").child(text),
            )),
            html::span().class("what").attr("dir", "auto").child((hidden(": "), action, hidden(". "))),
            html::span().class("stands").child((stands, hidden(" "), html::span().class("time").child(time))),
            html::span().class("hidden").child((" ", inputs_text)),
        ))
}
