/** The key of a tool that calls another one: a function of the arguments that returns `{ name, input, tool }`, or nothing. */
export const DELEGATE = Symbol.for('turnwise.delegate');
