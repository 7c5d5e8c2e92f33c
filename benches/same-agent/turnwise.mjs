// The agent with Turnwise.
import { Agent, openai, tool } from 'turnwise';
import * as z from 'zod';
import { INSTRUCTIONS, MODEL, PROMPT, priceOf, stockOf } from './shop.mjs';

export async function run({ baseUrl, signal, onText }) {
  const agent = new Agent({
    model: openai(MODEL, { baseUrl, apiKey: 'none' }),
    instructions: INSTRUCTIONS,
    tools: {
      getPrice: tool({
        description: 'The price of an article.',
        inputSchema: z.object({ article: z.string() }),
        execute: ({ article }) => priceOf(article),
      }),
      getStock: tool({
        description: 'How many pieces of an article are in stock.',
        inputSchema: z.object({ article: z.string() }),
        execute: ({ article }) => stockOf(article),
      }),
    },
    output: z.object({ total: z.number(), articles: z.array(z.string()) }),
  });
  const stream = agent.stream(PROMPT, { signal });
  for await (const text of stream.textStream) onText(text);
  return (await stream).output;
}
