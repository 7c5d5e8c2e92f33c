// One small agent, written with each library: its lines, what a page loads for it, and when its first text comes.
export { markdown, measure, names, rounds } from '../same-agent/measure.mjs';
