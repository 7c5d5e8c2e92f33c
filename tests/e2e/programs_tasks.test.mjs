// Five tasks, each solved twice by a scripted model that does it the natural way: with tools one by one, and with `run_code`. Both
// get the same answer; the programs need fewer turns and fewer tokens. A token is taken as four characters of the messages and tools that
// are sent, and of the replies. The table is printed, and it is the one in docs/tools.md.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { dist } from './lib/site.mjs';

const { default: init, Agent } = await import(path.join(dist, 'turnwise/node.js'));
await init();

const TOOLS = ['search_files', 'list_files', 'read_file', 'write_file', 'edit_file', 'calculate'];
/** What models call in one reply. */
const AT_ONCE = 5;
const chunks = (list, n) => Array.from({ length: Math.ceil(list.length / n) }, (_, i) => list.slice(i * n, i * n + n));
const paths = (listing) => listing.split('\n').map((line) => line.trim().split(/\s+/)[0]).filter((one) => /\.\w+$/.test(one));
const sum = (numbers) => numbers.reduce((total, n) => total + n, 0);
const call = (name, args) => ({ name, args });

/** A file comes in parts, as for a model. */
const WHOLE = `const whole = async (path) => { let text = ''; for (let offset = 1; offset;) { const part = await tools.read_file({ path, offset, limit: 2000 }); text += part + '\\n'; offset = Number(/continue with offset (\\d+)\\]$/.exec(part)?.[1] ?? 0) } return text };`;

/**
 * `files`; `oneByOne`: a generator that yields lists of calls, receives their results, and returns the answer; `code`: the
 * program that does the same, whose value is the answer.
 */
const tasks = [
  {
    name: 'the sum of 40 invoices',
    files: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`invoices/${String(i + 1).padStart(3, '0')}.txt`, `Invoice ${i + 1}\nFor: Halden & Sons, Pier 4\n${'A line of small print about terms of payment.\n'.repeat(12)}Total: ${(i + 1) * 37} EUR\n`])),
    * oneByOne() {
      const [listing] = yield [call('list_files', { prefix: 'invoices/' })];
      const totals = [];
      for (const some of chunks(paths(listing), AT_ONCE)) {
        const texts = yield some.map((name) => call('read_file', { path: name }));
        totals.push(...texts.map((text) => Number(/Total: (\d+)/.exec(text)[1])));
      }
      const [total] = yield [call('calculate', { expression: totals.join(' + ') })];
      return /\d+/.exec(total)[0];
    },
    code: `const names = (await tools.list_files({ prefix: 'invoices/' })).split('\\n').map((l) => l.trim().split(/\\s+/)[0]).filter((n) => n.endsWith('.txt'));
let total = 0;
for (const path of names) total += Number(/Total: (\\d+)/.exec(await tools.read_file({ path }))[1]);
String(total)`,
  },
  {
    name: 'the best month of a CSV of 1,500 rows',
    files: { 'sales.csv': `date,region,amount\n${Array.from({ length: 1500 }, (_, i) => `2026-${String((i % 12) + 1).padStart(2, '0')}-${String((i % 28) + 1).padStart(2, '0')},${['north', 'south', 'west'][i % 3]},${(i * 7919) % 997}`).join('\n')}\n` },
    * oneByOne() {
      const months = new Map();
      for (let offset = 1; offset <= 1501; offset += 400) {
        const [text] = yield [call('read_file', { path: 'sales.csv', offset })];
        for (const [, month, amount] of text.matchAll(/2026-(\d\d)-\d\d,\w+,(\d+)/g)) months.set(month, (months.get(month) ?? 0) + Number(amount));
      }
      return [...months].sort((a, b) => b[1] - a[1])[0].join(': ');
    },
    code: `${WHOLE}
const months = {};
for (const [, m, a] of (await whole('sales.csv')).matchAll(/2026-(\\d\\d)-\\d\\d,\\w+,(\\d+)/g)) months[m] = (months[m] ?? 0) + Number(a);
Object.entries(months).sort((a, b) => b[1] - a[1])[0].join(': ')`,
  },
  {
    name: 'a term replaced in 15 files',
    files: Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`docs/page-${i + 1}.md`, `# Page ${i + 1}\n\n${'Some text of the handbook that stays as it is. '.repeat(20)}\n\nAsk the Support Desk ${i + 1} for help.\n`])),
    * oneByOne() {
      const [listing] = yield [call('list_files', { prefix: 'docs/' })];
      let changed = 0;
      for (const some of chunks(paths(listing), AT_ONCE)) {
        const texts = yield some.map((name) => call('read_file', { path: name }));
        const results = yield texts.map((text, i) => call('edit_file', { path: some[i], old: /Support Desk \d+/.exec(text)[0], new: /Support Desk \d+/.exec(text)[0].replace('Support Desk', 'Help Team') }));
        changed += results.filter((result) => !result.startsWith('Error')).length;
      }
      return `${changed} files`;
    },
    code: `const names = (await tools.list_files({ prefix: 'docs/' })).split('\\n').map((l) => l.trim().split(/\\s+/)[0]).filter((n) => n.endsWith('.md'));
let changed = 0;
for (const path of names) { const [old] = /Support Desk \\d+/.exec(await tools.read_file({ path })); await tools.edit_file({ path, old, new: old.replace('Support Desk', 'Help Team') }); changed += 1; }
changed + ' files'`,
  },
  {
    name: 'two lists of 300 entries compared',
    files: { 'before.json': JSON.stringify(Array.from({ length: 300 }, (_, i) => ({ id: i, name: `part ${i}`, price: 10 + (i % 17) })), undefined, 1), 'after.json': JSON.stringify(Array.from({ length: 300 }, (_, i) => ({ id: i, name: `part ${i}`, price: 10 + (i % 17) + (i % 71 === 0 ? 3 : 0) })), undefined, 1) },
    * oneByOne() {
      const read = { 'before.json': '', 'after.json': '' };
      for (const name of Object.keys(read)) {
        for (let offset = 1; offset <= 1502; offset += 400) {
          const [text] = yield [call('read_file', { path: name, offset })];
          read[name] += `\n${text}`;
        }
      }
      const prices = (text) => [...text.matchAll(/"id": (\d+),[^}]*?"price": (\d+)/g)].map(([, id, price]) => [id, price]);
      const before = new Map(prices(read['before.json']));
      return prices(read['after.json']).filter(([id, price]) => before.get(id) !== price).map(([id]) => id).join();
    },
    code: `${WHOLE}
const read = async (path) => { const text = await whole(path); return [...text.matchAll(/"id": (\\d+),[^}]*?"price": (\\d+)/g)].map((m) => [m[1], m[2]]) };
const before = new Map(await read('before.json'));
(await read('after.json')).filter(([id, price]) => before.get(id) !== price).map(([id]) => id).join()`,
  },
  {
    name: 'who is in which of 12 notes',
    files: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`notes/day-${i + 1}.md`, `# Day ${i + 1}\n\n${i % 3 ? '' : 'Mara came by. '}${i % 4 ? 'Quiet day.' : 'Tomas called about the boat.'}\n`])),
    * oneByOne() {
      const [listing] = yield [call('list_files', { prefix: 'notes/' })];
      const both = [];
      for (const some of chunks(paths(listing), AT_ONCE)) {
        const texts = yield some.map((name) => call('read_file', { path: name }));
        both.push(...some.filter((_, i) => /Mara/.test(texts[i]) && /Tomas/.test(texts[i])));
      }
      return both.sort().join();
    },
    code: `const names = (await tools.list_files({ prefix: 'notes/' })).split('\\n').map((l) => l.trim().split(/\\s+/)[0]).filter((n) => n.endsWith('.md'));
const both = [];
for (const path of names) { const text = await tools.read_file({ path }); if (/Mara/.test(text) && /Tomas/.test(text)) both.push(path) }
both.sort().join()`,
  },
];

/** Plays a task; `steps` is the generator that stands for the model. */
async function play(task, steps, tools) {
  let last;
  let tokens = 0;
  const count = (data) => { tokens += Math.ceil(JSON.stringify(data).length / 4); };
  const complete = ({ messages, tools: offered }) => {
    count([messages, offered]);
    const asked = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1).filter(({ role }) => role === 'tool');
    const { value, done } = last ? steps.next(asked.map(({ content }) => content.replace(/\n\[Turn .*\]$/, ''))) : steps.next();
    last = true;
    count(value);
    if (done) return value;
    const calls = value.map(({ name, args }, i) => ({ id: `c${messages.length}_${i}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }));
    return { choices: [{ message: { content: '', tool_calls: calls }, finish_reason: 'tool_calls' }] };
  };
  const agent = new Agent({ provider: { kind: 'custom', model: 'natural', complete }, tools, seed: 1, maxTurns: 30 });
  for (const [name, text] of Object.entries(task.files)) agent.files.put(name, text);
  const trajectory = await agent.run(`Find out: ${task.name}.`);
  agent.free();
  assert.equal(trajectory.outcome, 'success', trajectory.output);
  return { answer: trajectory.output, turns: trajectory.turns.length, tokens };
}

function* withProgram({ code }) {
  const [result] = yield [call('run_code', { code })];
  return result.replace(/^=> /, '');
}

test('the same five tasks with tools one by one and with run_code', async () => {
  const rows = [];
  for (const task of tasks) {
    const apart = await play(task, task.oneByOne(), TOOLS);
    const program = await play(task, withProgram(task), [...TOOLS, 'run_code']);
    assert.equal(program.answer, apart.answer, task.name);
    assert.ok(apart.answer.length > 0 && program.turns < apart.turns && program.tokens < apart.tokens, JSON.stringify({ apart, program }));
    rows.push([task.name, apart.turns, apart.tokens, program.turns, program.tokens]);
  }
  const total = rows.reduce((all, row) => all.map((n, i) => n + row[i + 1]), [0, 0, 0, 0]);
  const line = (cells) => `| ${cells.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en-US') : cell)).join(' | ')} |`;
  console.log([line(['task', 'turns', 'tokens', 'turns with `run_code`', 'tokens']), ...rows.map(line), line(['all', ...total])].join('\n'));
});
