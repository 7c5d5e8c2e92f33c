// OpenAI's Agents SDK with its smallest set of imports, over chat completions; tracing is off.
import { Agent, Runner, setTracingDisabled, tool } from '@openai/agents-core';
import { OpenAIChatCompletionsModel } from '@openai/agents-openai';
import OpenAI from 'openai';
import { ECHO, MODEL, SYSTEM, TASK, echo } from './common.js';

setTracingDisabled(true);

window.runAgent = async ({ baseUrl, turns }) => {
  const client = new OpenAI({ apiKey: 'none', baseURL: baseUrl, dangerouslyAllowBrowser: true, maxRetries: 0 });
  const agent = new Agent({
    name: 'bench',
    instructions: SYSTEM,
    model: new OpenAIChatCompletionsModel(client, MODEL),
    tools: [tool({ ...ECHO, strict: true, execute: async (args) => echo(args) })],
  });
  const stream = await new Runner({ tracingDisabled: true }).run(agent, TASK, { stream: true, maxTurns: turns + 2 });
  let results = 0;
  for await (const event of stream) if (event.type === 'run_item_stream_event' && event.name === 'tool_output') results += 1;
  await stream.completed;
  window.kept = stream.history;
  return { turns: results, text: stream.finalOutput };
};
