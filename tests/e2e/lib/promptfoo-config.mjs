// A configuration for promptfoo whose answers are its prompts, with answers that each assertion accepts and refuses.
// What promptfoo 0.123.1 made of it is in promptfoo-results.json:
//   node promptfoo-config.mjs > c.json; npx promptfoo eval -c c.json --providers echo --no-cache -o all.json; node promptfoo-config.mjs all.json > promptfoo-results.json
import { readFileSync } from 'node:fs';

const ANSWERS = ['Hello world', 'hello WORLD', 'Hello', '42', '{"a":1}', 'one, two and three', 'Hello world\nsecond line', '[1,2]', '"text"', '{a:1}'];
const ASSERTIONS = [
  { type: 'equals', value: 'Hello world' }, { type: 'equals', value: 42 }, { type: 'equals', value: { a: 1 } }, { type: 'not-equals', value: 'Hello' },
  { type: 'contains', value: 'world' }, { type: 'not-contains', value: 'world' }, { type: 'icontains', value: 'WORLD' }, { type: 'contains', value: 4 },
  { type: 'contains-all', value: ['Hello', 'world'] }, { type: 'contains-any', value: ['42', 'three'] }, { type: 'icontains-all', value: ['HELLO', 'world'] }, { type: 'icontains-any', value: ['THREE', 'x'] },
  { type: 'contains-all', value: 'one, two' }, { type: 'not-contains-any', value: ['Hello', '42'] },
  { type: 'starts-with', value: 'Hello' }, { type: 'not-starts-with', value: 'Hello' }, { type: 'regex', value: '^\\w+ \\w+$' }, { type: 'not-regex', value: '\\d' },
  { type: 'is-json' }, { type: 'not-is-json' }, { type: 'javascript', value: 'output.length > 5' }, { type: 'javascript', value: 'output.length / 20' }, { type: 'javascript', value: 'output.length / 20', threshold: 0.5 },
  { type: 'javascript', value: "const n = output.split(' ').length;\nreturn n === 2;" }, { type: 'javascript', value: 'context.vars.answer === output' }, { type: 'not-javascript', value: 'output.length > 5' },
  { type: 'javascript', value: '({ pass: output.length > 5, score: 0.7, reason: "length" })' },
];

if (process.argv[2] === undefined) {
  const pairs = { contains: [{ type: 'contains', value: 'Hello' }, { type: 'contains', value: 'world', weight: 3 }] };
  const tests = ANSWERS.flatMap((answer) => [
    ...ASSERTIONS.map((one) => ({ vars: { answer }, assert: [one] })),
    { description: 'two assertions', vars: { answer }, assert: pairs.contains },
    { description: 'a threshold', vars: { answer }, assert: pairs.contains, threshold: 0.25 },
    { description: 'a set', vars: { answer }, assert: [{ $ref: '#/assertionTemplates/polite' }] },
  ]);
  console.log(JSON.stringify({ prompts: ['{{answer}}'], providers: ['echo'], tests, assertionTemplates: { polite: { type: 'icontains', value: 'hello' } } }));
} else {
  // Only what the conversion and its test read.
  const { results } = JSON.parse(readFileSync(process.argv[2], 'utf8')).results;
  const rows = results.map(({ prompt: { raw }, testCase: { description, assert, threshold }, vars, testIdx, promptIdx, success, response }) => ({ prompt: { raw }, testCase: { description, assert, threshold }, vars, testIdx, promptIdx, success, response: { output: response.output } }));
  console.log(JSON.stringify({ results: { results: rows } }).replaceAll('},{"prompt"', '},\n{"prompt"'));
}
