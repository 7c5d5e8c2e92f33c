// The agent with the AI SDK and its OpenAI-compatible provider.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Output, ToolLoopAgent, tool } from 'ai';
import * as z from 'zod';
import { INSTRUCTIONS, MODEL, PROMPT, priceOf, stockOf } from './shop.mjs';

export async function run({ baseUrl, signal, onText }) {
  const provider = createOpenAICompatible({
    name: 'shop',
    baseURL: baseUrl,
    apiKey: 'none',
    supportsStructuredOutputs: true,
  });
  const agent = new ToolLoopAgent({
    model: provider(MODEL),
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
    output: Output.object({ schema: z.object({ total: z.number(), articles: z.array(z.string()) }) }),
  });
  const stream = await agent.stream({ prompt: PROMPT, abortSignal: signal });
  for await (const text of stream.textStream) onText(text);
  return stream.output;
}
