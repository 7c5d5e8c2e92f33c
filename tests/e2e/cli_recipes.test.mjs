// The recipes for moving from Inspect and promptfoo (examples/evaluation): the cases that they make, and verdicts and statistics that
// equal those tools' own. What the tools said is in lib/inspect-results.json (made by lib/inspect_results.py) and
// lib/promptfoo-results.json (made by lib/promptfoo-config.mjs).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inFolder, lines, turnwise } from './lib/cli.mjs';
import { withScript } from './lib/script-server.mjs';
import { root } from './lib/site.mjs';

const example = (name) => path.join(root, 'examples/evaluation', name);
const made = (name) => path.join(import.meta.dirname, 'lib', name);
const openai = (baseUrl) => ['--provider', 'openai', '--base-url', baseUrl, '--model', 'm', '--concurrency', '1', '--json'];

for (const { scorer, cases, answers, verdicts, accuracy, stderr } of JSON.parse(readFileSync(made('inspect-results.json'), 'utf8'))) {
  test(`Inspect's ${scorer}: the same verdicts, accuracy and standard error`, () => inFolder(async (folder) => {
    writeFileSync(path.join(folder, 't.jsonl'), lines(cases));
    await withScript(answers.flatMap((row) => row.map((text, at) => ({
      text,
      check: ({ messages }) => {
        assert.equal(messages.at(-1).content, cases[at].task);
        if (cases[at].system) assert.ok(messages[0].content.includes(cases[at].system));
      },
    }))), async (baseUrl) => {
      const { out, err } = await turnwise(['run', 't.jsonl', ...openai(baseUrl), '--epochs', String(answers.length), '--scorer', example('inspect-scorer.mjs')], { cwd: folder });
      const { runs, pass_rate: rate } = JSON.parse(out || assert.fail(err));
      assert.deepEqual(runs.map(({ passed }) => passed), verdicts.flat());
      assert.ok(Math.abs(rate.mean - accuracy) < 1e-9, `${rate.mean} is not ${accuracy}`);
      // Of one sample Inspect says 0, where there is nothing to estimate.
      if (cases.length > 1) assert.ok(Math.abs(rate.stderr - stderr) < 1e-9, `${rate.stderr} is not ${stderr}`);
      else assert.equal(rate.stderr, null);
    });
  }));
}

const converted = () => execFileSync(process.execPath, [example('from-promptfoo.mjs'), made('promptfoo-results.json')], { encoding: 'utf8' });

test("promptfoo's assertions have the same verdicts", async () => {
  const { default: score } = await import(pathToFileURL(example('promptfoo-scorer.mjs')).href);
  const { results } = JSON.parse(readFileSync(made('promptfoo-results.json'), 'utf8')).results;
  const cases = converted().trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(cases.length, 300);
  const differ = [];
  for (const [at, one] of cases.entries()) {
    // The provider echoes the prompt, which is this variable.
    const given = await score({ case: one, answer: one.metadata.vars.answer });
    const { success } = results.find(({ testIdx }) => testIdx === at);
    if ((given.score === 1) !== success) differ.push([one.task, one.metadata.assert, success, given]);
  }
  assert.deepEqual(differ, []);
  assert.ok(results.some(({ success }) => success) && results.some(({ success }) => !success));
  for (const type of ['similar', 'python', 'constructor']) await assert.rejects(score({ case: { metadata: { assert: [{ type, value: 'x' }] } }, answer: 'x' }), new RegExp(`the assertion ${type} is not one of`));
});

test("promptfoo's tests run as cases, rubrics go to the grader", () => inFolder(async (folder) => {
  const all = converted().trim().split('\n').map((line) => JSON.parse(line)).slice(0, 12);
  const row = (testIdx, assertions) => ({ prompt: { raw: `Say it, ${testIdx}` }, testCase: { assert: assertions }, vars: {}, testIdx, promptIdx: 0 });
  writeFileSync(path.join(folder, 'more.json'), JSON.stringify({ results: { results: [row(1, [{ type: 'llm-rubric', value: 'It is polite.' }]), row(0, [{ type: 'assert-set', assert: [{ type: 'icontains', value: 'HI' }] }])] } }));
  const more = execFileSync(process.execPath, [example('from-promptfoo.mjs'), path.join(folder, 'more.json')], { encoding: 'utf8' });
  assert.deepEqual(more.trim().split('\n').map((line) => JSON.parse(line)).map(({ id, rubric, metadata }) => [id, rubric, metadata.assert.length]), [['test-1-prompt-1', undefined, 1], ['test-2-prompt-1', 'It is polite.', 0]]);
  writeFileSync(path.join(folder, 't.jsonl'), lines(all));
  const { results } = JSON.parse(readFileSync(made('promptfoo-results.json'), 'utf8')).results;
  await withScript(all.map(({ task }) => ({ text: task })), async (baseUrl) => {
    const { out, err } = await turnwise(['run', 't.jsonl', ...openai(baseUrl), '--scorer', example('promptfoo-scorer.mjs')], { cwd: folder });
    assert.deepEqual(JSON.parse(out || assert.fail(err)).runs.map(({ passed }) => passed), all.map((_, at) => results.find(({ testIdx }) => testIdx === at).success));
  });
  writeFileSync(path.join(folder, 'm.jsonl'), more);
  const grade = { calls: [{ id: 'g', name: 'final_report', args: { format: 'json', content: { reason: 'It is rude.', grade: 'fail' } } }], check: ({ messages }) => assert.match(messages[1].content, /It is polite\./) };
  await withScript([{ text: 'hi' }, { text: 'Go away' }, grade], async (baseUrl) => {
    const { out, err } = await turnwise(['run', 'm.jsonl', ...openai(baseUrl), '--out', 'm', '--scorer', example('promptfoo-scorer.mjs'), '--grader', 'judge'], { cwd: folder });
    assert.deepEqual(JSON.parse(out || assert.fail(err)).runs.map(({ passed, why }) => [passed, why]), [[true, null], [false, 'the grader gave 0: It is rude.']]);
  });
}));
