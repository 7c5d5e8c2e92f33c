import { Agent, tool } from 'turnwise';
import { z } from 'zod';
import { model } from './model.mjs';

const agent = new Agent({
  model,                   // its price has to be known: see model.mjs
  instructions: 'You read the book page by page, then you say what it is about.',
  tools: {
    readPage: tool({
      description: 'The text of one page.',
      inputSchema: z.object({ page: z.number().int().min(1).max(300) }),
      execute: ({ page }) => `Page ${page}. It was a dark and stormy night.`,
    }),
  },
  budget: { usd: 0.02 },
  maxTurns: 100,
});

const { text, ending, usage, cost } = await agent.generate('What is the book about?');
console.log(text);
if (ending.outcome === 'partial') console.log(`Incomplete: the limit "${ending.trigger}" was reached in turn ${ending.turns}.`);
console.log(`${usage.totalTokens} tokens, $${cost?.toFixed(4)}`);
