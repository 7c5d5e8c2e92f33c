// The agent with OpenAI's Agents SDK, over chat completions.
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI from 'openai';
import * as z from 'zod';
import { INSTRUCTIONS, MODEL, PROMPT, priceOf, stockOf } from './shop.mjs';

export async function run({ baseUrl, signal, onText }) {
  const openAIClient = new OpenAI({
    baseURL: baseUrl,
    apiKey: 'none',
    dangerouslyAllowBrowser: true,
  });
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient, useResponses: false }),
    tracingDisabled: true,
  });
  const agent = new Agent({
    name: 'shop',
    model: MODEL,
    instructions: INSTRUCTIONS,
    tools: [
      tool({
        name: 'getPrice',
        description: 'The price of an article.',
        parameters: z.object({ article: z.string() }),
        execute: ({ article }) => priceOf(article),
      }),
      tool({
        name: 'getStock',
        description: 'How many pieces of an article are in stock.',
        parameters: z.object({ article: z.string() }),
        execute: ({ article }) => stockOf(article),
      }),
    ],
    outputType: z.object({ total: z.number(), articles: z.array(z.string()) }),
  });
  const stream = await runner.run(agent, PROMPT, { stream: true, signal });
  for await (const text of stream.toTextStream()) onText(text);
  await stream.completed;
  return stream.finalOutput;
}
