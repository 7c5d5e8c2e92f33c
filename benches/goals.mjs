// The goals for our figures, in the order printed. `of`: the figure of one round, from the measurements of our package and of
// the hand-written loop in the same round; `most`: its maximum; `worst`: applies to every round, not to the median. `process`: a figure of
// the whole renderer, which only Linux has.
import { KINDS } from './parts/growth/texts.mjs';

const over = (key) => (ours, floor) => ours[key] / floor[key];
const bytes = (...keys) => (ours) => keys.reduce((sum, key) => sum + ours[key], 0);
const own = (key) => (ours) => ours[key];
const growth = (key) => (ours) => ours[`${key}, 1000 turns (ms)`] / ours[`${key}, 50 turns (ms)`];

/** The size of the code that runs an agent: the worker and its imports, or the page's code if there is no worker. */
const agent = (ours) => ours['its workers (B)'] || ours['page module (B)'];

const cpu = (what, goals) => Object.entries(goals).map(([turns, most]) => ({ part: 'cpu', figure: `${what} a turn, ${turns} turns, over the floor`, of: over(`${what} a turn, ${turns} turns (ms)`), most, process: what === 'process' }));

export const GOALS = [
  { part: 'sizes', figure: 'page module of the JavaScript API (B)', of: bytes('page module (B)'), most: 20_000 },
  ...cpu('page thread', { 50: 0.35, 200: 0.2, 400: 0.12 }),
  ...cpu('process', { 50: 1.3, 200: 0.75, 400: 0.42 }),
  ...cpu('wall', { 400: 0.5 }),
  { part: 'cpu', figure: 'growth: page thread a turn, 1,000 turns over 50', of: growth('page thread a turn'), most: 1.2 },
  { part: 'cpu', figure: 'growth: process a turn, 1,000 turns over 50', of: growth('process a turn'), most: 1.2, process: true },
  { part: 'stream', figure: 'page thread, 20,000 chunks, over the floor', of: over('page thread, 20000 chunks (ms)'), most: 0.1 },
  { part: 'stream', figure: 'process, 20,000 chunks, over the floor', of: over('process, 20000 chunks (ms)'), most: 0.65, process: true },
  { part: 'memory', figure: 'renderer after 200 turns (PSS), over the floor', of: over('renderer after 200 turns (MiB PSS)'), most: 1.2, process: true },
  { part: 'tasks', figure: 'tasks over 50 ms, 1,000 turns and 16 sub-agents', of: own('tasks over 50 ms'), most: 0, worst: true },
  { part: 'tasks', figure: 'the longest of them (ms)', of: own('longest of them (ms)') },
  { part: 'crew', figure: 'longest task, 16 sub-agents in a page (ms)', of: own('longest task, 16 sub-agents in a page (ms)'), most: 100 },
  { part: 'crew', figure: 'longest task, 16 sub-agents in the app (ms)', of: own('longest task, 16 sub-agents in the app (ms)'), most: 100 },
  { part: 'crew', figure: 'cancel of 16 sub-agents (ms)', of: own('cancel of 16 sub-agents (ms)'), most: 1000 },
  { part: 'crew', figure: 'longest task, 200 runs at once (ms)', of: own('longest task, 200 runs at once (ms)'), most: 500 },
  { part: 'crew', figure: 'heap after 200 runs, grown by (MiB)', of: own('heap after the first crowd, grown by (MiB)'), most: 8 },
  { part: 'crew', figure: 'heap after another 200, grown by (MiB)', of: own('heap after the second crowd, grown by (MiB)'), most: 2 },
  { part: 'crew', figure: 'module after 200 runs, grown by (MiB)', of: own('module after the first crowd, grown by (MiB)'), most: 16 },
  { part: 'crew', figure: 'module after another 200, grown by (MiB)', of: own('module after the second crowd, grown by (MiB)'), most: 2 },
  { part: 'record', figure: 'record of 2,000 turns: drop to paint (ms)', of: own('drop to paint (ms)'), most: 1000 },
  { part: 'record', figure: 'the same: longest task while opening (ms)', of: own('longest task while opening, its own time (ms)'), most: 50 },
  { part: 'record', figure: 'the same: frame gap while scrolling (ms)', of: own('frame gap while scrolling, 95th percentile (ms)'), most: 34 },
  { part: 'record', figure: 'the same: longest task while scrolling (ms)', of: own('longest task while scrolling, its own time (ms)'), most: 50 },
  { part: 'record', figure: 'the same: a step back in its replay (ms)', of: own('a step back at the end of the replay (ms)') },
  { part: 'hostile', figure: 'hostile server: slowest end (ms)', of: own('slowest end (ms)'), most: 5000 },
  { part: 'hostile', figure: 'hostile server: timers stood still (ms)', of: own('timers stood still (ms)'), most: 2000 },
  { part: 'hostile', figure: 'hostile server: memory grown by (MiB)', of: own('memory grown by (MiB)'), most: 160 },
  { part: 'busy', figure: 'busy page: turns a minute', of: own('turns a minute, busy page') },
  { part: 'busy', figure: 'busy page: times slower than on a quiet one', of: own('times slower on a busy page') },
  { part: 'busy', figure: 'busy page: the same, of the floor', of: (ours, floor) => floor['times slower on a busy page'] },
  { part: 'busy', figure: 'busy page: the same, with a built-in tool', of: own('times slower on a busy page, built-in tool'), most: 1.05 },
  { part: 'start', figure: 'run() to the first request, warm cache (ms)', of: own('run() to first request, second visit (ms)'), most: 150 },
  { part: 'slow', figure: 'app, four times slower: first paint (ms)', of: own('first paint (ms)'), most: 2000 },
  { part: 'slow', figure: 'the same: interactive (ms)', of: own('interactive (ms)'), most: 4000 },
  { part: 'slow', figure: 'the same: the demo has answered (ms)', of: own('the demo has answered (ms)'), most: 6000 },
  { part: 'slow', figure: 'the same: tasks over 50 ms while streaming', of: own('tasks over 50 ms while streaming, by the clock') },
  { part: 'slow', figure: 'the same with the page first', of: own('the page first: tasks over 50 ms, by the clock'), most: 0, worst: true },
  { part: 'slow', figure: 'the page first: longest task, its own time (ms)', of: own('the page first: longest task, its own time (ms)'), most: 50, worst: true },
  ...Object.keys(KINDS).flatMap((kind) => [
    { part: 'growth', figure: `app, ten times the text: page thread, ${kind}`, of: own(`${kind}: page thread, ten times the text`), most: 11 },
    { part: 'growth', figure: `app, ten times the text: process, ${kind}`, of: own(`${kind}: process, ten times the text`), most: 11, process: true },
  ]),
  { part: 'docs', figure: 'docs of 400 pages: question to answer, warm (ms)', of: own('returning visitor: question to answer (ms)'), most: 1500 },
  { part: 'docs', figure: 'docs of 400 pages: longest task while reading (ms)', of: own('longest task while reading, by the clock (ms)'), most: 50, worst: true },
  { part: 'sizes', figure: 'launcher (B)', of: bytes('launcher (B)'), most: 5_000 },
  { part: 'sizes', figure: 'opened widget, in the page (B)', of: bytes('opened widget, page (B)'), most: 40_000 },
  { part: 'sizes', figure: 'widget and its workers to the first answer (B)', of: bytes('opened widget, page (B)', 'opened widget, workers to the first answer (B)'), most: 800_000 },
  { part: 'sizes', figure: 'agent (B)', of: agent, most: 260_000 },
  { part: 'sizes', figure: 'docs worker (B)', of: bytes('docs worker (B)'), most: 480_000 },
  { part: 'sizes', figure: 'tools worker (B)', of: bytes('tools worker (B)'), most: 1_000_000 },
  { part: 'sizes', figure: 'app, its own modules (B)', of: bytes('app, its own modules (B)'), most: 600_000 },
];
