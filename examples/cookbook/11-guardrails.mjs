import { Agent, TurnwiseError } from 'turnwise';
import { model } from './model.mjs';

const agent = new Agent({
  model,
  instructions: 'You answer questions about lamps.',
  guardrails: {
    // Before the run: nothing is sent if one of them objects.
    input: [
      (prompt) => (/\b\d{4}( ?\d{4}){3}\b/.test(prompt) ? { slug: 'card_number', message: 'Please do not send card numbers.' } : undefined),
    ],
    // After the run: the answer is withheld if one of them objects. They may ask another model.
    output: [
      ({ text }) => (/discount/i.test(text) ? { slug: 'promise', message: 'The answer promises a discount.' } : undefined),
    ],
  },
});

for (const question of ['Do you take 4111 1111 1111 1111?', 'What do you sell?', 'May I pay less?']) {
  try {
    console.log((await agent.generate(question)).text);
  } catch (error) {
    if (!(error instanceof TurnwiseError) || error.reason !== 'guardrail') throw error;
    console.log(`${error.slugs[0]}: ${error.message}`);
  }
}
