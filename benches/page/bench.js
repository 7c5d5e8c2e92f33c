// The package as the benchmarks run it: the page's contract is window.runAgent({ baseUrl, turns }), see benches/bench.mjs.
import init, { Agent } from '../turnwise/turnwise.js';

await init();

const ECHO = {
  name: 'echo',
  description: 'Returns the text, padded',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  execute: async ({ text }) => String(text).padEnd(1024, '.'),
};

const agentFor = (baseUrl, turns, tools) =>
  new Agent({
    provider: { kind: 'openai', baseUrl, model: 'bench-1', apiKey: 'none' },
    system: 'You are measured.',
    maxTurns: turns + 2,
    counter: false,
    tools,
  });

window.runAgent = async ({ baseUrl, turns }) => {
  const agent = agentFor(baseUrl, turns, []);
  agent.registerTool(ECHO);
  const trajectory = await agent.run('Call echo until you are told to answer.');
  window.kept = trajectory;
  const results = trajectory.turns.flatMap((turn) => turn.tool_calls).filter((call) => call.result && !call.error).length;
  agent.free();
  return { turns: results, text: trajectory.output };
};
