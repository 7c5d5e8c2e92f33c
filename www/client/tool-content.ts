/** The key under which a tool's result has what goes with its text, which is then in `text`. */
export const TOOL_CONTENT = Symbol.for('turnwise.toolContent');
