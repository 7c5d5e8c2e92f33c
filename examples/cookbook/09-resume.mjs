import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, tool } from 'turnwise';
import { z } from 'zod';
import { model } from './model.mjs';

const agent = new Agent({
  model,
  tools: {
    count: tool({
      description: 'Counts the lamps in a hall.',
      inputSchema: z.object({ hall: z.string() }),
      execute: async ({ hall }) => {
        console.log(`counting in ${hall}`);
        await sleep(500);
        return '40 lamps';
      },
    }),
  },
});

const saved = await readFile('run.json', 'utf8').then(JSON.parse, () => undefined);
const unfinished = saved?.outcome === null;        // a run that has ended has an outcome
if (unfinished) console.log(`going on in turn ${saved.turns.length}`);
const run = unfinished ? agent.resume(saved) : agent.stream('How many lamps are in the halls A and B together? Count one hall per turn.');

// Kill the program at any time and start it again: replies and results that were saved are not requested a second time.
for await (const part of run) {
  if (part.type !== 'turn-start' && part.type !== 'tool-result') continue;
  await writeFile('run.json.new', JSON.stringify(await run.checkpoint()));
  await rename('run.json.new', 'run.json');
}

console.log((await run).text);
await rm('run.json');
