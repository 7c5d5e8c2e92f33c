// The benchmarks' page for our package. It implements window.runAgent({ baseUrl, turns }), see benches/target.mjs.
import init, { Agent } from '../turnwise/turnwise.js';

await init();

const ECHO = {
  name: 'echo',
  description: 'Returns the text, padded',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  execute: async ({ text }) => String(text).padEnd(1024, '.'),
};

const agentFor = (baseUrl, turns, more) =>
  new Agent({
    provider: { kind: 'openai', baseUrl, model: 'bench-1', apiKey: 'none' },
    system: 'You are measured.',
    maxTurns: turns + 2,
    counter: false,
    ...more,
  });

/** Runs the agent with a listener, like a page that shows the run; the streamed text must have the length that the record has. */
async function run(agent) {
  let told = 0; // characters streamed in this turn
  const onEvent = ({ type, text }) => {
    if (type === 'turn_started') told = 0;
    if (type === 'text_delta') told += text.length;
  };
  const trajectory = await agent.run('Call echo until you are told to answer.', { onEvent });
  window.kept = trajectory;
  agent.free();
  if (told !== trajectory.output?.length) throw new Error(`the listener heard ${told} characters of ${trajectory.output?.length}`);
  return trajectory;
}

const answered = ({ turns }) => turns.flatMap((turn) => turn.tool_calls).filter((call) => call.result && !call.error).length;

/** `tool`: the name of a built-in tool to use instead of the page's own `echo`. */
window.runAgent = async ({ baseUrl, turns, tool = ECHO.name }) => {
  const agent = agentFor(baseUrl, turns, { tools: tool === ECHO.name ? [] : [tool] });
  if (tool === ECHO.name) agent.registerTool(ECHO);
  const trajectory = await run(agent);
  return { turns: answered(trajectory), text: trajectory.output };
};

/** The first turn starts `agents` sub-agents, all at once. */
window.runCrew = async ({ baseUrl, turns, agents, agentTurns }) => {
  const agent = agentFor(baseUrl, turns, {
    tools: ['spawn_subagents'],
    agents: { caller: { description: 'calls echo', system: 'You are measured.', tools: [ECHO.name], maxTurns: agentTurns + 2 } },
    limits: { children: agents, parallelTools: agents },
  });
  agent.registerTool(ECHO);
  const trajectory = await run(agent);
  const { outcome, children } = trajectory;
  return { outcome, turns: answered(trajectory), agents: children.length, agentTurns: children.map(answered).reduce((a, b) => a + b, 0) };
};
