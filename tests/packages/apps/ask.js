// The same use of the package in each app: an agent that answers with a tool of the app and a built-in one, which runs in a
// worker started by the engine.
import { Agent, jsonSchema, openai, tool } from 'turnwise';

export async function ask(baseUrl) {
  const price = tool({
    description: 'The price of an article.',
    inputSchema: jsonSchema({ type: 'object', properties: { article: { type: 'string' } }, required: ['article'] }),
    execute: ({ article }) => ({ article, euros: 12 }),
  });
  const agent = new Agent({ model: openai('scripted', { baseUrl }), tools: { price }, builtInTools: ['calculate'], retry: { baseMs: 1, capMs: 2 } });
  const { text } = await agent.generate('What do three lamps cost?');
  return text;
}

let asked = false;

/** Runs in a page: the model's address comes in the page's URL, the answer goes to <output>. Only once: React runs effects twice. */
export async function askInPage() {
  if (asked) return;
  asked = true;
  const baseUrl = new URLSearchParams(location.search).get('model');
  if (!baseUrl) return;
  document.querySelector('output').textContent = await ask(baseUrl).catch((error) => `${error.stack}`);
}
