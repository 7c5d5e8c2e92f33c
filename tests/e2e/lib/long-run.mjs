// A long run of the real engine, in Node.js through the package, against a server that calls tools turn after turn, with
// Markdown text, failed calls and an occasional retry.
import assert from 'node:assert/strict';
import path from 'node:path';
import { withScript } from './script-server.mjs';
import { dist } from './site.mjs';

const word = (n) => ['cache', 'origin', 'header', 'region', 'replica', 'quota', 'token', 'shard'][n % 8];
const lines = (n, count) => Array.from({ length: count }, (_, line) => `${line + 1}  ${word(n + line)} ${n * 31 + line}: the value of ${word(line)} in chapter ${n}`).join('\n');
const said = (n) => `Part **${n}**: I look at the ${word(n)} rules.\n\n- what ${word(n + 1)} says\n- what \`${word(n + 2)}\` does\n\n${'The rules are matched in order, and the first one that matches wins. '.repeat(1 + (n % 3))}`;

const call = (index, name, args) => ({ id: `c${index}`, name, args });

/** The model's response to its request `n`, from 1. */
function step(n) {
  if (n % 97 === 0) return { status: 503, headers: { 'retry-after-ms': '1' }, body: '{"error":{"message":"overloaded"}}' };
  const calls = [call(0, 'look_up', { word: word(n), n })];
  if (n % 4 === 0) calls.push(call(1, n % 40 === 0 ? 'nothing' : 'look_up', { word: word(n + 1), n: n + 1 }));
  return { text: n % 3 === 0 ? '' : said(n), calls };
}

/** The steps of `turns` turns: a failed request is sent again. */
function script(turns) {
  const steps = [];
  for (let done = 0; done < turns;) {
    const next = step(steps.length + 1);
    steps.push(next);
    done += next.status ? 0 : 1;
  }
  return steps;
}

/** Returns the record of a run of `turns` turns, as text. */
export async function longRun(turns) {
  const { default: init, Agent } = await import(path.join(dist, 'turnwise/node.js'));
  await init();
  return withScript(script(turns), async (baseUrl) => {
    const agent = new Agent({
      provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: [], seed: 1, maxTurns: turns, synthesis: false,
      retry: { baseMs: 1, capMs: 1 },
    });
    agent.registerTool({
      name: 'look_up', description: 'Looks a word up',
      parameters: { type: 'object', properties: { word: { type: 'string' }, n: { type: 'integer' } }, required: ['word', 'n'] },
      execute: async ({ n: of }) => lines(of, of % 25 === 0 ? 60 : 9),
    });
    try {
      const trajectory = await agent.run('Read every chapter of the handbook and note each rule.');
      assert.equal(trajectory.total_turns, turns, `${trajectory.termination_reason}: ${trajectory.error}`);
      return JSON.stringify(trajectory);
    } finally {
      agent.free();
    }
  });
}
