// What the compiler has to accept, and what it has to refuse.
import { Agent, demo, jsonSchema, openai, tool, type RunResult } from 'turnwise';
import { Agent as LowLevel } from 'turnwise/turnwise.js';
import type { TurnwiseAgentElement } from 'turnwise/element';
import 'turnwise/element';
import 'turnwise/embed.js';
import { useAgent } from 'turnwise/react';
import { Agent as CoreAgent } from 'turnwise/core';

const price = tool({
  inputSchema: jsonSchema<{ article: string }>({ type: 'object', properties: { article: { type: 'string' } }, required: ['article'] }),
  execute: async ({ article }, { signal }) => (signal.aborted ? '' : article.toUpperCase()),
});
const agent = new Agent({ model: [openai('scripted', { baseUrl: '/v1' }), demo()], tools: { price } });
export const result: RunResult<string> = await agent.generate('What do three lamps cost?');
// @ts-expect-error An option that there is not.
export const wrong = new Agent({ model: demo(), turns: 3 });
export const low = new LowLevel({ provider: { kind: 'demo' } });
export const core = CoreAgent;

const element: TurnwiseAgentElement = document.createElement('turnwise-agent');
element.addEventListener('turnwise-contact', (event) => { event.preventDefault(); console.log(event.detail.url.length, event.detail.conversation.length); });
export const answer: Promise<unknown> = element.ask('2+3?');

export function Page() {
  const { messages, send } = useAgent(agent);
  return <button type="button" onClick={() => { void send('More'); }}>{messages.length}<turnwise-agent provider="demo" docs="off" launcher="none" /></button>;
}
