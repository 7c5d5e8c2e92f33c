// A run in a process that is stopped in the middle, as by a machine that sleeps. It prints READY when the middle has come, and at its end
// one line of JSON. Deadlines are two seconds, the work itself takes half a second.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [mode, baseUrl] = process.argv.slice(2);
const { Agent, custom, openai, tool } = await import(pathToFileURL(path.resolve(process.env.SITE ?? 'dist', 'turnwise/index.node.js')).href);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const ready = () => console.log('READY');
const WORK_MS = 500;

const call = (name, args = {}) => ({ choices: [{ message: { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name, arguments: JSON.stringify(args) } }] }, finish_reason: 'tool_calls' }] });
const words = (...parts) => (async function* () { for (const part of parts) { yield part; await sleep(WORK_MS); } })();
const afterTool = (name, args) => ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'done' : call(name, args));
let requests = 0;
let ran = 0;
const look = tool({ execute: async () => { ran += 1; ready(); await sleep(WORK_MS); return 'seen'; } });

const modes = {
  tool: { answer: afterTool('look'), tools: { look } },
  // Both, one after the other.
  'tool and stream': { answer: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? (ready(), words('do', 'ne')) : call('look')), tools: { look } },
  headers: { answer: async () => { ready(); await sleep(WORK_MS); return 'done'; } },
  stream: { answer: async () => { ready(); return words('do', 'ne'); } },
  wait: { answer: () => { if (requests > 1) return 'done'; setTimeout(ready, 20); throw Object.assign(new Error('busy'), { status: 503, retryAfterMs: 1000 }); } },
  wall: { answer: afterTool('look'), tools: { look }, budget: { ms: 2000 } },
  program: {
    answer: afterTool('run_code', { code: 'await tools.begin({}); let n = 0; for (let at = 0; at < 3e6; at += 1) n += at % 7; n' }),
    tools: { begin: tool({ execute: () => { ran += 1; ready(); return 'go'; } }) }, builtIn: ['run_code'],
  },
  // Its worker has not started yet.
  'built in': { answer: (request) => { if (requests === 1) ready(); return afterTool('calculate', { expression: '6*7' })(request); }, builtIn: ['calculate'] },
  start: { answer: () => 'done' },
  http: { model: () => openai('m', { baseUrl, apiKey: 'k' }) },
};
const { answer, model = () => custom((request) => { requests += 1; return answer(request); }), tools, builtIn, limits } = modes[mode];
const agent = new Agent({
  model: model(), tools: { ...tools }, ...(builtIn && { builtInTools: builtIn }), retry: { baseMs: 1, capMs: 5 },
  limits: { toolTimeoutMs: 2000, idleMs: 2000, firstTokenMs: 2000, headersMs: 2000, ...limits },
});
const run = agent.stream('go');
if (mode === 'start') ready();
const { text, trajectory, ending } = await run.then((result) => result, (error) => ({ text: error.message, trajectory: error.trajectory }));
const turns = trajectory?.turns ?? [];
const slugs = turns.flatMap(({ tool_calls: made, attempts }) => [...made.map(({ slug }) => slug), ...attempts.flatMap(({ slugs: all }) => all)]).filter((slug) => slug && !(mode === 'wait' && slug !== 'timeout'));
console.log(JSON.stringify({ text, reason: ending?.reason, slugs, ran }));
process.exit(0);
