//! The files that a run wrote, by the paths in its calls: those of its programs and its sub-agents too.

use turnwise_engine::{CallRecord, SideEffect, ToolSpec};

use super::lane::LaneView;
use super::source::RunSource;

/// The argument that names the file, for tools that always write.
const PATH: &str = "path";

/// Returns the paths in the order of the first write to each, as the model wrote them. A file may be gone by now.
#[must_use]
pub fn written(source: &RunSource<'_>) -> Vec<String> {
    let mut paths = Vec::new();
    add(source, &mut paths);
    paths
}

fn add(source: &RunSource<'_>, paths: &mut Vec<String>) {
    for (index, turn) in source.turns.iter().enumerate() {
        turn.tool_calls.iter().for_each(|call| add_call(&source.config.tools, call, paths));
        for lane in LaneView::of_turn(source, index) {
            if let Some(child) = source.child(&lane.call, lane.task_id) {
                add(&child, paths);
            }
        }
    }
}

fn add_call(tools: &[ToolSpec], call: &CallRecord, paths: &mut Vec<String>) {
    let writes = |tool: &&ToolSpec| tool.name == call.name && tool.side_effect == SideEffect::Workspace;
    let done = call.result.is_some() && call.error.is_none() && call.slug.is_none();
    if let Some(tool) = tools.iter().find(writes).filter(|_| done) {
        let path = call.args.get(tool.effect_argument.as_deref().unwrap_or(PATH)).and_then(|path| path.as_str());
        if let Some(path) = path.filter(|path| !path.is_empty() && paths.iter().all(|known| known != path)) {
            paths.push(path.to_owned());
        }
    }
    call.calls.iter().for_each(|inner| add_call(tools, inner, paths));
}
