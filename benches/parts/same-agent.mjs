// One small agent, written with each library: its lines of code, the bytes that a page loads, and the time to its first text.
export { markdown, measure, names, rounds } from '../same-agent/measure.mjs';
