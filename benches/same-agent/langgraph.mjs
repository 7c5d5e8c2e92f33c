// The agent with LangGraph: the agent of its package langchain, with LangChain's OpenAI model.
import { ChatOpenAI } from '@langchain/openai';
import { AIMessageChunk, createAgent, tool } from 'langchain';
import * as z from 'zod';
import { INSTRUCTIONS, MODEL, PROMPT, priceOf, stockOf } from './shop.mjs';

export async function run({ baseUrl, signal, onText }) {
  const model = new ChatOpenAI({
    model: MODEL,
    apiKey: 'none',
    configuration: { baseURL: baseUrl, dangerouslyAllowBrowser: true },
  });
  const agent = createAgent({
    model,
    systemPrompt: INSTRUCTIONS,
    tools: [
      tool(({ article }) => priceOf(article), {
        name: 'getPrice',
        description: 'The price of an article.',
        schema: z.object({ article: z.string() }),
      }),
      tool(({ article }) => stockOf(article), {
        name: 'getStock',
        description: 'How many pieces of an article are in stock.',
        schema: z.object({ article: z.string() }),
      }),
    ],
    responseFormat: z.object({ total: z.number(), articles: z.array(z.string()) }),
  });
  const messages = [{ role: 'user', content: PROMPT }];
  const stream = await agent.stream({ messages }, { signal, streamMode: ['messages', 'values'] });
  let state;
  for await (const [mode, value] of stream) {
    if (mode === 'values') state = value;
    else if (AIMessageChunk.isInstance(value[0]) && value[0].text) onText(value[0].text);
  }
  return state.structuredResponse;
}
