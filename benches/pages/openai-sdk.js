// The official OpenAI package: its own tool loop, streaming.
import OpenAI from 'openai';
import { ECHO, MODEL, SYSTEM, TASK, echo } from './common.js';

window.runAgent = async ({ baseUrl, turns }) => {
  const client = new OpenAI({ apiKey: 'none', baseURL: baseUrl, dangerouslyAllowBrowser: true, maxRetries: 0 });
  const runner = client.chat.completions.runTools(
    {
      model: MODEL,
      stream: true,
      messages: [{ role: 'system', content: SYSTEM }, { role: 'user', content: TASK }],
      tools: [{ type: 'function', function: { ...ECHO, parse: JSON.parse, function: echo } }],
    },
    { maxChatCompletions: turns + 2 },
  );
  let results = 0;
  runner.on('functionToolCallResult', () => { results += 1; });
  runner.on('content', () => {});
  const text = await runner.finalContent();
  window.kept = runner.messages;
  return { turns: results, text };
};
