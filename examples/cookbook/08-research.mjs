import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Agent } from 'turnwise';
import { model } from './model.mjs';

const [folder = '.', question = 'What is in these files?'] = process.argv.slice(2);
const names = (await readdir(folder, { recursive: true })).filter((name) => /\.(md|txt)$/.test(name) && !name.includes('node_modules'));
const files = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(path.join(folder, name), 'utf8')])));

// With `files`, the agent gets the built-in tools that search, list, read and write them.
const agent = new Agent({
  model, files,
  instructions: 'Answer from the files alone, and name the file for each statement. Write your answer into answer.md too.',
});

const run = agent.stream(question);
for await (const part of run) {
  if (part.type === 'tool-call') console.log(`${part.toolName} ${JSON.stringify(part.input)}`);
}

const result = await run;
console.log(result.text);
const answer = result.files.get('answer.md');    // the run's copy; your folder is unchanged
if (answer) await writeFile('answer.md', Buffer.from(await answer.arrayBuffer()));
