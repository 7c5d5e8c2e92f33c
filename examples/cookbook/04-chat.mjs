import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'turnwise';
import { model } from './model.mjs';

/** @type {import('turnwise').ChatStorage} */
const inFiles = {
  get: (id) => readFile(`${id}.json`, 'utf8').catch(() => undefined),
  set: async (id, text) => {
    await writeFile(`${id}.json.new`, text);
    await rename(`${id}.json.new`, `${id}.json`);   // never half a file
  },
  delete: (id) => rm(`${id}.json`, { force: true }),
};

const agent = new Agent({ model, instructions: 'Be brief.' });
const chat = agent.chat({ id: 'chat-with-ada', storage: inFiles });   // in a page: storage: inBrowser()

await chat.load();
for (const { role, text } of chat.messages) console.log(`${role}: ${text}`);

const question = process.argv[2] ?? 'I am Ada.';
console.log(`user: ${question}`);
const { text } = await chat.send(question);
console.log(`assistant: ${text}`);
