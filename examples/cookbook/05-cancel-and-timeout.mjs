import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, TurnwiseError, tool } from 'turnwise';
import { model } from './model.mjs';

const tools = {
  measure: tool({
    description: 'Measures the temperature. It takes a minute.',
    execute: async (_, { signal }) => {
      await sleep(60_000, undefined, { signal });   // the signal ends the wait when the run ends
      return '21 degrees';
    },
  }),
};

// A signal cancels the run: it ends at once, without an answer.
const agent = new Agent({ model, tools });
try {
  await agent.generate('How warm is it?', { signal: AbortSignal.timeout(1000) });
} catch (error) {
  if (!(error instanceof TurnwiseError) || error.reason !== 'cancelled') throw error;
  console.log(`Cancelled in turn ${error.trajectory?.total_turns}.`);
}

// A budget of time makes the run conclude: there is an answer, from what is known by then.
const hurried = new Agent({ model, tools, budget: { ms: 1000 } });
const { text, ending } = await hurried.generate('How warm is it?');
console.log(`${ending.outcome}, because of ${ending.trigger}: ${text}`);

// The same by hand: `stop()` when somebody clicks a button.
const run = agent.stream('How warm is it?');
for await (const part of run) if (part.type === 'tool-call') run.stop();
console.log(`${(await run).ending.outcome}, because of ${(await run).ending.trigger}`);
