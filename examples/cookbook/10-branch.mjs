import { Agent, tool } from 'turnwise';
import { z } from 'zod';
import { model } from './model.mjs';

const agent = new Agent({
  model,
  tools: {
    getWeather: tool({ description: 'The weather in a city.', inputSchema: z.object({ city: z.string() }), execute: () => 'sunny, 24 degrees' }),
  },
});

const first = await agent.generate('Shall I take an umbrella in Lisbon today?');
const call = first.trajectory.turns[0]?.tool_calls[0];
if (!call) throw new Error('The model did not ask for the weather.');

// What if the tool had answered something else? The branch continues after the call; nothing before it is asked again.
const second = await agent.branch(first.trajectory, { edit: { callId: call.id, result: 'rain all day, 14 degrees' } });

console.log(`sunny: ${first.text}`);
console.log(`rain:  ${second.text}`);
console.log(`parent: ${second.trajectory.parent?.run_id === first.trajectory.run_id}`);
