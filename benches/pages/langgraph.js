// LangGraph's prebuilt agent with LangChain's OpenAI model, streaming messages.
import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { ECHO, MODEL, SYSTEM, TASK, echo } from './common.js';

window.runAgent = async ({ baseUrl, turns }) => {
  const llm = new ChatOpenAI({
    model: MODEL, apiKey: 'none', streaming: true, maxRetries: 0, useResponsesApi: false,
    configuration: { baseURL: baseUrl, dangerouslyAllowBrowser: true },
  });
  const agent = createReactAgent({ llm, prompt: SYSTEM, tools: [tool(async (args) => echo(args), { name: ECHO.name, description: ECHO.description, schema: ECHO.parameters })] });
  const stream = await agent.stream({ messages: [{ role: 'user', content: TASK }] }, { streamMode: ['messages', 'values'], recursionLimit: 2 * turns + 10 });
  let state;
  for await (const [mode, value] of stream) if (mode === 'values') state = value;
  window.kept = state.messages;
  return { turns: state.messages.filter((message) => message.getType() === 'tool').length, text: state.messages.at(-1).text };
};
