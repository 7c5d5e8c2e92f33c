import { Agent } from 'turnwise';
import { model } from './model.mjs';

const agent = new Agent({
  model,
  instructions: 'You compare reports. Give each file to a reader of its own, all at once, and compare what they say.',
  files: {
    'north.md': '# North\n\nIn the north, 120 lamps were sold and 4 came back.',
    'south.md': '# South\n\nIn the south, 80 lamps were sold and 9 came back.',
    'west.md': '# West\n\nIn the west, 200 lamps were sold and 2 came back.',
  },
  subagents: {
    reader: { description: 'Reads one file and gives its figures.', tools: ['read_file'], maxTurns: 3 },
  },
});

const run = agent.stream('Let readers work in parallel on north.md, south.md and west.md. Where did most lamps come back?');
for await (const part of run) {
  if (part.type === 'child' && part.part.type === 'tool-call') console.log(`reader ${part.child}: ${part.part.toolName}`);
}

const { text, requests, trajectory } = await run;
console.log(text);
console.log(`${trajectory.children.length} sub-agents, ${requests} requests`);
