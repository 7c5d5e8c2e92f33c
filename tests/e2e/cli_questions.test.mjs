// `turnwise stats --questions`: unanswered questions from reports and records, grouped.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { dist } from './lib/site.mjs';

const stats = (folder, ...args) => spawnSync(process.execPath, [path.join(dist, 'turnwise/cli.mjs'), 'stats', '--questions', ...args], { cwd: folder, encoding: 'utf8' });
const report = (question, more = {}) => ({ day: '2026-11-25', question, why: 'not_found', missing: [], page: '/start', lang: 'en', ...more });
const WEAK = '1. http://a/b\n   B\n   c\n[Weak match: no section is about all of this.]\n[Words that occur nowhere in this documentation: Emacs, plugin]';
const record = (task, results, more = {}) => ({ format: 'turnwise-trajectory', task, outcome: 'success', termination_reason: 'llm_complete', turns: [{ tool_calls: results.map((result) => ({ name: 'search_docs', result })) }, { tool_calls: [] }], ...more });

function inFolder(body) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-questions-'));
  try {
    return body(folder, (name, content) => writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('questions that ask the same are one group, whatever the order of the files', () => inFolder((folder, write) => {
  const lines = [
    report('How do I rotate the key?', { missing: ['rotate'], page: '/guide/keys' }),
    report('how to rotate keys', { missing: ['rotate'] }),
    report('rotate the key', { why: 'bad_answer', comment: 'It worked in\nversion 2.\u001b[2J', page: '/guide/keys' }),
    report('How do I delete a queue?'),
  ];
  write('questions.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
  write('reversed.jsonl', [...lines].reverse().map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { status, stdout, stderr } = stats(folder, 'questions.jsonl');
  assert.deepEqual([status, stderr], [0, '']);
  assert.equal(stdout, `4 questions without an answer, in 2 groups

   3  How do I rotate the key?
      not found 2, bad answer 1
      not in the docs: rotate
      asked on /guide/keys, /start
      “It worked in version 2. [2J”

   1  How do I delete a queue?
      not found 1
      asked on /start
`);
  assert.equal(stats(folder, 'reversed.jsonl').stdout, stdout);
  const json = JSON.parse(stats(folder, 'questions.jsonl', '--json').stdout);
  assert.deepEqual(json.questions[0].whys, { not_found: 2, bad_answer: 1 });
}));

test('records count by the rule of the panel', () => inFolder((folder, write) => {
  mkdirSync(path.join(folder, 'runs'));
  write('runs/weak.json', record('Is there a plugin for Emacs?', [WEAK]));
  write('runs/found.json', record('How many retries?', [WEAK, '1. http://a/b\n   B\n   c']));
  write('runs/limit.json', record('Where is the size set?', ['1. http://a/b\n   B\n   c'], { outcome: 'partial', termination_reason: 'max_turns_synthesized' }));
  write('runs/failed.json', record('Who?', [WEAK], { outcome: 'failed', termination_reason: 'llm_error' }));
  write('runs/none.json', record('6*7', []));
  write('runs/plan.json', { format: 'turnwise-session', version: 1, steps: [{ run: record('And for Vim, which extension is there?', ['No section of the documentation matches "vim".']) }, {}] });
  const { status, stdout } = stats(folder, 'runs');
  assert.equal(status, 0);
  const groups = [...stdout.matchAll(/^ +\d+ {2}(.*)\n +(.*)/gm)].map(([, question, whys]) => [question, whys]);
  assert.deepEqual(groups, [['And for Vim, which extension is there?', 'not found 1'], ['Is there a plugin for Emacs?', 'not found 1'], ['Where is the size set?', 'at the limit 1']]);
  assert.match(stdout, /not in the docs: Emacs, plugin/);
}));

test('other files and options are named, the rest is read', () => inFolder((folder, write) => {
  write('other.json', { a: 1 });
  write('broken.jsonl', `${JSON.stringify(report('Why?'))}\n{`);
  write('good.jsonl', `${JSON.stringify(report('Why so slow?'))}\n`);
  const { status, stdout, stderr } = stats(folder, 'other.json', 'broken.jsonl', 'good.jsonl', 'gone.jsonl');
  assert.equal(status, 1);
  assert.match(stdout, /^1 question without an answer, in 1 group\n/);
  assert.match(stderr, /other\.json: This is neither a record nor/);
  assert.match(stderr, /broken\.jsonl: Line 2 is not JSON/);
  assert.match(stderr, /gone\.jsonl: No such file/);
  assert.equal(stats(folder, 'good.jsonl', '--by', 'model').status, 2);
  write('empty.json', record('6*7', []));
  assert.match(stats(folder, 'empty.json').stdout, /^No unanswered questions found\.\n/);
}));
