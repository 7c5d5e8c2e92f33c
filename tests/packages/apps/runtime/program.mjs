import { Agent, custom, demo, inMemory, replay, exportTrajectory, tool } from 'turnwise';

const call = { choices: [{ message: { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"city":"Oslo"}' } }] }, finish_reason: 'tool_calls' }] };
const model = custom(({ messages }) => (messages.at(-1).role === 'tool' ? `fine: ${messages.at(-1).content.split('\n')[0]}` : call));
const agent = new Agent({ model, tools: { look: tool({ inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }, execute: async ({ city }) => new Response(`${city}: sun`) }) }, files: { 'a.md': '# A' } });
const { text, trajectory } = await agent.generate('x');
console.log(text, (await replay(trajectory)).ok, (await exportTrajectory(trajectory, 'markdown')).includes('Oslo'));

const storage = inMemory();
await agent.chat({ storage, id: 'room' }).send('one');
const chat = agent.chat({ storage, id: 'room' });
await chat.load();
console.log(chat.messages.map(({ role }) => role).join(), (await chat.send('two')).text, chat.messages.length);

const program = custom(({ messages }) => (messages.at(-1).role === 'tool' ? messages.at(-1).content.split('\n')[0] : { choices: [{ message: { role: 'assistant', content: null, tool_calls: [{ id: 'b', type: 'function', function: { name: 'run_code', arguments: JSON.stringify({ code: '6 * 7' }) } }] }, finish_reason: 'tool_calls' }] }));
console.log((await new Agent({ model: program, builtInTools: ['run_code'] }).generate('x')).text.includes('42'));

const run = new Agent({ model: custom((_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))) }).stream('x');
setTimeout(() => run.cancel(), 50);
console.log(await run.then(() => 'answered', ({ reason }) => reason));
console.log((await new Agent({ model: demo(), files: { 'a.md': '# A' } }).generate('x')).ending.outcome);
console.log((await agent.stream('x').toUIMessageStreamResponse().text()).includes('[DONE]'));
