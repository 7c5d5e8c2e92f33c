// Many different runs, made by the package itself with a scripted model, for Insight and `stats` to count.
import path from 'node:path';
import { dist } from './site.mjs';

const TASKS = [
  'Which of our suppliers deliver within a week?', 'Summarize the notes of the last meeting', 'What did we decide about the lamps?',
  'Compare both offers', 'Find the open questions in the contract', 'How many units were returned in March?', 'Draft a reply to the complaint', 'List every date in the protocol',
];
const DAY = 86_400_000;

/** A model that first fails with each error of `fails`, then makes a tool call in each of `turns` turns, then answers with text. */
const model = (turns, fails, size) => {
  let asked = 0;
  const left = [...fails];
  return async ({ tools, messages }) => {
    const fault = left.shift();
    if (fault) throw fault;
    asked += 1;
    const usage = { prompt_tokens: 400 + size * asked, completion_tokens: Math.round(40 + (asked * size) / 8) };
    const calls = [{ id: `c${asked}`, type: 'function', function: { name: asked % 5 ? 'look' : 'break', arguments: '{}' } }];
    const more = asked <= turns && tools?.length;
    const message = more ? { content: '', tool_calls: calls } : { content: `This is what ${messages.length} messages came to.` };
    return { choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: more ? 'tool_calls' : 'stop' }], usage };
  };
};

/** Returns `count` trajectories, one every few hours, the last one just now. The same count gives the same runs, except for their times. */
export async function manyRuns(count, { every = DAY / 3 } = {}) {
  const { default: init, Agent } = await import(path.join(dist, 'turnwise/node.js'));
  await init();
  const now = Date.now();
  const trajectories = [];
  for (let n = 0; n < count; n += 1) {
    const kind = n % 10;
    const fault = (message, more) => Object.assign(new Error(message), { retryable: true, ...more });
    const fails = kind === 3 ? [fault('the server is busy')] : kind === 7 ? Array.from({ length: 3 }, () => fault('the server is busy')) : [];
    const turns = kind === 5 || kind === 8 ? 99 : (n * 7) % 11;
    const agent = new Agent({
      provider: { kind: 'custom', model: n % 4 === 1 ? 'large-2' : 'small-1', complete: model(turns, fails, 120 + ((n * 37) % 90)), price: n % 4 === 1 ? { input: 3, output: 15 } : { input: 0.4, output: 1.6 } },
      preset: n % 6 === 4 ? 'orchestrator' : 'research', tools: [], maxTurns: n % 6 === 4 ? 10 : 12, seed: n, retry: { baseMs: 1, capMs: 2 },
    });
    agent.registerTool({ name: 'look', execute: () => 'found it' });
    agent.registerTool({ name: 'break', execute: () => { throw new Error('out of order'); } });
    const signal = new AbortController();
    const trajectory = await agent.run(TASKS[n % TASKS.length], { signal: signal.signal, onEvent: ({ type, turn }) => { if (kind === 9 && type === 'turn_finished' && turn === 2) signal.abort(); } });
    agent.free();
    // Spread over days, with durations that a model would need.
    const started = now - (count - n) * every;
    const took = trajectory.requests * (900 + ((n * 53) % 700));
    Object.assign(trajectory, { started_ms: started, started_at: new Date(started).toISOString(), finished_at: new Date(started + took).toISOString() });
    trajectories.push(trajectory);
  }
  return trajectories;
}
