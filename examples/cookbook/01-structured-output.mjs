import { Agent } from 'turnwise';
import { z } from 'zod';
import { model } from './model.mjs';

const agent = new Agent({
  model,
  instructions: 'You read orders that customers send by mail.',
  output: z.object({
    customer: z.string(),
    items: z.array(z.object({ article: z.string(), count: z.number().int().positive() })),
    urgent: z.boolean().describe('whether the customer asks for fast delivery'),
  }),
});

const mail = 'Hi, please send two desk lamps and a floor lamp as soon as you can. Best, Ada Lovelace';
const { output } = await agent.generate(mail);

// `output` has the type of the schema: { customer: string, items: { article: string, count: number }[], urgent: boolean }.
console.log(`${output.customer}${output.urgent ? ' (urgent)' : ''}`);
for (const { article, count } of output.items) console.log(`${count} x ${article}`);
