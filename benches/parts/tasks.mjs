// Counts tasks over 50 ms on the page's thread since it was opened, in a run of 1,000 turns whose first turn starts 16
// sub-agents at once, with 62 turns each (992 in total). Other loops have no sub-agents.
import { limited, newRun, taken, withTarget } from '../target.mjs';

const TURNS = 1000;
const AGENTS = 16;
const AGENT_TURNS = 62;
const SETTLE_MS = 200;

export const names = ({ ours }) => [ours];

async function crew({ page, model }) {
  const run = newRun();
  const baseUrl = `${model.url}/turns=${TURNS},run=${run},agents=${AGENTS},agentTurns=${AGENT_TURNS}/v1`;
  const got = await limited(page.evaluate((options) => window.runCrew(options), { baseUrl, turns: TURNS, agents: AGENTS, agentTurns: AGENT_TURNS }));
  const { requests } = await taken(model, run);
  const wanted = { outcome: 'success', turns: TURNS, agents: AGENTS, agentTurns: AGENTS * AGENT_TURNS, requests: TURNS + 1 + AGENTS * (AGENT_TURNS + 1) };
  if (JSON.stringify({ ...got, requests }) !== JSON.stringify(wanted)) throw new Error(`wrong run: ${JSON.stringify({ ...got, requests })} instead of ${JSON.stringify(wanted)}`);
}

export const measure = (given) => withTarget(given, async (target) => {
  const began = performance.now();
  await crew(target);
  const ms = performance.now() - began;
  const tasks = await target.page.evaluate((settle) => new Promise((resolve) => {
    const found = [];
    new PerformanceObserver((list) => found.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true });
    setTimeout(() => resolve(found), settle);
  }), SETTLE_MS);
  return { 'tasks over 50 ms': tasks.length, 'longest of them (ms)': Math.max(0, ...tasks), 'that run (s)': ms / 1000 };
});
