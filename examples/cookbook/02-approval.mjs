import { createInterface } from 'node:readline/promises';
import { Agent, tool } from 'turnwise';
import { z } from 'zod';
import { model } from './model.mjs';

const agent = new Agent({
  model,
  instructions: 'You are the support of a lamp shop. Orders: 17 (desk lamp, 12 euros), 18 (floor lamp, 80 euros).',
  tools: {
    refund: tool({
      description: 'Pays the price of an order back.',
      inputSchema: z.object({ order: z.number().int(), euros: z.number() }),
      touches: ['network'],                        // a call changes something outside of this program
      needsApproval: ({ euros }) => euros > 15,    // small amounts need no approval
      execute: async ({ order, euros }) => ({ order, refunded: euros }),
    }),
  },
  limits: { parallelTools: 1 },                    // one question at a time
});

const terminal = createInterface({ input: process.stdin, output: process.stdout });
const { text } = await agent.generate('Refund the orders 17 and 18.', {
  approve: async ({ toolName, input }) => {
    const answer = await terminal.question(`Allow ${toolName} ${JSON.stringify(input)}? [y/n] `);
    return answer === 'y';
  },
});
terminal.close();
console.log(text);
