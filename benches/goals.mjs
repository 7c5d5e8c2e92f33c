// The goals for our figures, in the order printed. `of`: the figure of one round, from the measurements of our package and of
// the hand-written loop in the same round; `most`: its maximum; `worst`: applies to every round, not to the median.
const over = (key) => (ours, floor) => ours[key] / floor[key];
const bytes = (...keys) => (ours) => keys.reduce((sum, key) => sum + ours[key], 0);
const own = (key) => (ours) => ours[key];
const growth = (key) => (ours) => ours[`${key}, 1000 turns (ms)`] / ours[`${key}, 50 turns (ms)`];

/** The size of the code that runs an agent: the worker and its imports, or the page's code if there is no worker. */
const agent = (ours) => ours['its workers (B)'] || ours['page module (B)'];

const cpu = (what, goals) => Object.entries(goals).map(([turns, most]) => ({ part: 'cpu', figure: `${what} a turn, ${turns} turns, over the floor`, of: over(`${what} a turn, ${turns} turns (ms)`), most }));

export const GOALS = [
  { part: 'sizes', figure: 'page module of the JavaScript API (B)', of: bytes('page module (B)'), most: 20_000 },
  ...cpu('page thread', { 50: 0.35, 200: 0.2, 400: 0.12 }),
  ...cpu('process', { 50: 1.3, 200: 0.75, 400: 0.42 }),
  ...cpu('wall', { 400: 0.5 }),
  { part: 'cpu', figure: 'growth: page thread a turn, 1,000 turns over 50', of: growth('page thread a turn'), most: 1.2 },
  { part: 'cpu', figure: 'growth: process a turn, 1,000 turns over 50', of: growth('process a turn'), most: 1.2 },
  { part: 'stream', figure: 'page thread, 20,000 chunks, over the floor', of: over('page thread, 20000 chunks (ms)'), most: 0.1 },
  { part: 'stream', figure: 'process, 20,000 chunks, over the floor', of: over('process, 20000 chunks (ms)'), most: 0.65 },
  { part: 'memory', figure: 'renderer after 200 turns (PSS), over the floor', of: over('renderer after 200 turns (MiB PSS)'), most: 1.2 },
  { part: 'tasks', figure: 'tasks over 50 ms, 1,000 turns and 16 sub-agents', of: own('tasks over 50 ms'), most: 0, worst: true },
  { part: 'tasks', figure: 'the longest of them (ms)', of: own('longest of them (ms)') },
  { part: 'busy', figure: 'busy page: turns a minute', of: own('turns a minute, busy page') },
  { part: 'busy', figure: 'busy page: times slower than on a quiet one', of: own('times slower on a busy page') },
  { part: 'busy', figure: 'busy page: the same, of the floor', of: (ours, floor) => floor['times slower on a busy page'] },
  { part: 'busy', figure: 'busy page: the same, with a built-in tool', of: own('times slower on a busy page, built-in tool'), most: 1.05 },
  { part: 'start', figure: 'run() to the first request, warm cache (ms)', of: own('run() to first request, second visit (ms)'), most: 150 },
  { part: 'sizes', figure: 'launcher (B)', of: bytes('launcher (B)'), most: 5_000 },
  { part: 'sizes', figure: 'opened widget, in the page (B)', of: bytes('opened widget, page (B)'), most: 40_000 },
  { part: 'sizes', figure: 'widget and its workers to the first answer (B)', of: bytes('opened widget, page (B)', 'opened widget, workers to the first answer (B)'), most: 800_000 },
  { part: 'sizes', figure: 'agent (B)', of: agent, most: 260_000 },
  { part: 'sizes', figure: 'docs worker (B)', of: bytes('docs worker (B)'), most: 480_000 },
  { part: 'sizes', figure: 'tools worker (B)', of: bytes('tools worker (B)'), most: 1_000_000 },
  { part: 'sizes', figure: 'app, its own modules (B)', of: bytes('app, its own modules (B)'), most: 600_000 },
];
