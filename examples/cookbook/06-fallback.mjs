import { Agent, ollama } from 'turnwise';
import { model } from './model.mjs';

const agent = new Agent({
  model: [ollama('qwen3'), model],   // the one on this computer; if it does not answer, the other one
  maxAttempts: 2,                    // per turn: one with each model
});

const run = agent.stream('What is the capital of France?');
for await (const part of run) {
  if (part.type === 'attempt-failed') console.log(`Attempt ${part.attempt} failed: ${part.slugs[0]}`);
}

const { text, trajectory } = await run;
console.log(text);
const asked = trajectory.turns[0]?.attempts.map(({ provider }) => trajectory.config.providers[provider]?.kind);
console.log(`Asked: ${asked?.join(', ')}`);
