// Third-party code judges the exports: Harbor's models, OTLP's own messages, html-validate, a browser.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { withContext } from './lib/browser.mjs';
import { missing, printed, python } from './lib/python.mjs';
import { root } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const dist = path.resolve(root, process.env.SITE ?? 'dist');
const { default: init, Agent, replay, exportTrajectory, importTrajectory } = await import(path.join(dist, 'turnwise/node.js'));
await init();

const ROWS = JSON.parse(readFileSync(path.join(import.meta.dirname, 'lib/rows.json'), 'utf8')).exports;
const SUFFIX = Object.fromEntries(ROWS.map(({ format, suffix }) => [format, suffix]));
const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-exports-'));
/** The exported runs, by what is special about them. */
const runs = {};

async function run(name, options, task) {
  const agent = new Agent({ provider: { kind: 'demo' }, seed: 3, retry: { baseMs: 1, capMs: 5 }, ...options });
  try {
    runs[name] = await agent.run(task ?? 'What do three lamps cost?');
    return agent;
  } finally {
    agent.free();
  }
}

before(async () => {
  await Promise.all([
    run('normal', {}),
    run('endless', { provider: { kind: 'demo', demo: 'endless' }, maxTurns: 4 }),
    ...[1, 8].map((seed) => run(`chaos-${seed}`, { provider: { kind: 'demo', demo: 'chaos' }, seed, maxTurns: 6 })),
    run('strict', { preset: 'strict', report: { format: 'markdown' } }),
    run('subagents', { tools: ['search_files', 'read_file', 'list_files', 'spawn_subagents'] }, 'Compare the three largest files.'),
  ]);
  for (const [name, trajectory] of Object.entries(runs)) {
    for (const [format, suffix] of Object.entries(SUFFIX)) {
      writeFileSync(path.join(folder, name + suffix), await exportTrajectory(trajectory, format));
    }
  }
});

after(() => rmSync(folder, { recursive: true }));

const files = (format, where = folder) => readdirSync(where).filter((name) => name.endsWith(SUFFIX[format])).map((name) => path.join(where, name));

for (const kind of ['atif', 'otlp', 'openai-jsonl', 'mini-swe-agent']) {
  test(`${kind} is what its own code takes`, { skip: missing }, () => {
    const golden = path.join(root, `tests/golden/export/run${SUFFIX[kind]}`);
    const foreign = kind === 'atif' ? files('native', path.join(root, 'tests/fixtures/atif')) : [];
    const all = [...files(kind), golden, ...foreign];
    assert.ok(all.length > Object.keys(runs).length);
    const { status, stdout, stderr } = spawnSync(python, [path.join(import.meta.dirname, 'lib/check_exports.py'), kind, ...all], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, new RegExp(`^${all.length} checked, 0 faults`));
  });
}

test('the judges refuse what is wrong', { skip: missing }, async () => {
  const bad = path.join(folder, 'bad');
  mkdirSync(bad);
  const wrong = {
    atif: (text) => text.replace('"source": "agent"', '"source": "robot"'),
    otlp: (text) => text.replace('"kind"', '"sort"'),
    'openai-jsonl': (text) => text.replace('"role":"user"', '"role":"person"'),
    'mini-swe-agent': (text) => text.replace('mini-swe-agent-1.1', 'mini-swe-agent-0.1'),
  };
  for (const [kind, spoil] of Object.entries(wrong)) {
    const text = await exportTrajectory(runs.normal, kind);
    assert.notEqual(spoil(text), text, kind);
    const file = path.join(bad, `x${SUFFIX[kind]}`);
    writeFileSync(file, spoil(text));
    const { status } = spawnSync(python, [path.join(import.meta.dirname, 'lib/check_exports.py'), kind, file], { encoding: 'utf8' });
    assert.equal(status, 1, kind);
  }
});

test('what is exported can be imported again, and says whether it replays', async () => {
  for (const trajectory of Object.values(runs)) {
    assert.deepEqual(await importTrajectory(await exportTrajectory(trajectory, 'native')), trajectory);
    assert.deepEqual(await importTrajectory(await exportTrajectory(trajectory, 'html')), trajectory);
    const read = await importTrajectory(await exportTrajectory(trajectory, 'atif'));
    assertValid(read);
    assert.deepEqual([read.turns, read.segments, read.children.length], [trajectory.turns, trajectory.segments, trajectory.children.length]);
    await assert.rejects(replay(read), { name: 'TypeError', message: /it was imported \(turnwise .*\) and has no events, so it cannot be replayed/ });
  }
  await assert.rejects(importTrajectory('hello'), { name: 'TypeError', message: /text: This is neither JSON nor an HTML report\. Turnwise opens/ });
  await assert.rejects(importTrajectory({}), { name: 'TypeError', message: /text: got/ });
});

/** The calls in a step of an ATIF file with their results, then the results that name no call. */
function callsOf({ tool_calls: calls = [], observation }) {
  const results = observation?.results ?? [];
  const only = calls.length === 1 && results.length === 1;
  const isOf = (call, result) => only && result.source_call_id === undefined || result.source_call_id === call.tool_call_id;
  const asked = calls.map((call) => [call.function_name, call.arguments, results.find((result) => isOf(call, result))?.content]);
  const rest = results.filter((result) => !calls.some((call) => isOf(call, result)));
  return [...asked, ...rest.map((result) => ['observation', {}, result.content])];
}

test('ATIF that Harbor makes of the logs of other agents is imported whole', { skip: missing }, async () => {
  const made = printed('harbor_atif.py');
  const brief = {};
  for (const [name, file] of Object.entries(made)) {
    const read = await importTrajectory(JSON.stringify(file));
    assertValid(read);
    const { agent, steps, final_metrics: whole } = file;
    assert.deepEqual([read.imported.format, read.imported.agent, read.imported.agent_version, read.imported.notes ?? undefined],
      [file.schema_version, agent.name, agent.version, file.notes], name);
    assert.deepEqual([read.session_id, read.model], [file.session_id, agent.model_name], name);
    const turns = steps.filter((step) => step.source === 'agent');
    assert.deepEqual(read.turns.map((turn) => turn.turn), turns.map((_, at) => at + 1), name);
    assert.deepEqual(read.turns.map((turn) => turn.tool_calls.map((call) => [call.name, call.args, call.result ?? undefined])), turns.map(callsOf), name);
    assert.deepEqual(read.turns.map((turn) => turn.reasoning ?? ''), turns.map((turn) => turn.reasoning_content ?? ''), name);
    assert.deepEqual([read.tokens.input, read.tokens.output], [whole.total_prompt_tokens, whole.total_completion_tokens], name);
    // Messages of other sources: before the first turn the task and the instructions, later quoted in the turn that follows.
    let place = 0;
    const quoted = turns.map(() => []);
    for (const step of steps) {
      if (step.source === 'agent') place += 1;
      else if (place === 0) assert.equal(step.source === 'user' ? read.input : read.config.system, step.message, name);
      else quoted[place].push(`**The user:**\n\n> ${step.message}`);
    }
    assert.deepEqual(read.turns.map((turn) => turn.content), turns.map((turn, at) => [...quoted[at], turn.message].join('\n\n')), name);
    assert.ok(read.output.endsWith(turns.at(-1).message), name);
    const stamps = steps.filter((step) => step.timestamp).map((step) => Date.parse(step.timestamp));
    if (stamps.length > 0) assert.deepEqual([read.started_ms, Date.parse(read.finished_at)], [stamps[0], stamps.at(-1)], name);
    assert.equal(read.events.length, 0, name);
    await assert.rejects(replay(read), { name: 'TypeError', message: /it was imported/ });
    brief[name] = [file.schema_version, turns.length, turns.flatMap(callsOf).length];
  }
  // Exported again, they are accepted by Harbor's models.
  const again = mkdtempSync(path.join(folder, 'again-'));
  for (const [name, file] of Object.entries(made)) {
    writeFileSync(path.join(again, name + SUFFIX.atif), await exportTrajectory(await importTrajectory(JSON.stringify(file)), 'atif'));
  }
  const { stdout } = spawnSync(python, [path.join(import.meta.dirname, 'lib/check_exports.py'), 'atif', ...files('atif', again)], { encoding: 'utf8' });
  assert.equal(stdout.trim(), '4 checked, 0 faults');
  // Makes sure that the files were not empty.
  assert.deepEqual(brief, {
    swe_agent: ['ATIF-v1.5', 3, 3], hermes: ['ATIF-v1.2', 3, 2], cline: ['ATIF-v1.6', 2, 2], mini_swe_agent: ['ATIF-v1.7', 4, 7],
  });
});

test('the HTML report is valid', async () => {
  const { HtmlValidate } = await import('html-validate');
  const judge = new HtmlValidate({ extends: ['html-validate:standard'], rules: { 'no-inline-style': 'error', 'long-title': 'off', 'no-trailing-whitespace': 'off', 'require-sri': 'off' } });
  for (const file of files('html')) {
    const report = await judge.validateFile(file);
    const faults = report.results.flatMap((result) => result.messages.map((message) => `${message.line}:${message.column} ${message.ruleId} ${message.message}`));
    assert.deepEqual(faults, [], path.basename(file));
  }
});

test('the HTML report opens from disk, loads nothing, says nothing in the console, and prints whole', { timeout: 120000 }, async () => {
  const lastWords = [...files('html'), path.join(root, 'tests/golden/export/run.html')];
  await withContext({ viewport: { width: 1280, height: 800 } }, async (context) => {
    for (const file of lastWords) {
      const page = await context.newPage();
      const said = [];
      page.on('console', (message) => said.push(message.text()));
      page.on('pageerror', (error) => said.push(String(error)));
      page.on('request', (request) => { if (request.url() !== `file://${file}`) said.push(request.url()); });
      await page.goto(`file://${file}`);
      assert.deepEqual(said, [], file);
      const { turns, wide, shown } = await page.evaluate(() => ({
        turns: document.querySelectorAll('.turn').length,
        wide: document.documentElement.scrollWidth > innerWidth,
        shown: document.querySelectorAll('main .turn .n').length,
      }));
      assert.ok(turns > 0 && shown === turns && !wide, `${file}: ${turns} turns, too wide: ${wide}`);
      // In print, collapsed calls are expanded, and nothing is wider than the page.
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 688, height: 900 });
      const cut = await page.evaluate(() => [...document.querySelectorAll('.detail pre, .prose, .task, dd')]
        .filter((element) => !element.checkVisibility({ contentVisibilityAuto: true }) || element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline')
        .map((element) => element.textContent.slice(0, 60)));
      assert.deepEqual(cut, [], `${file}: cut on paper`);
      const pdf = await page.pdf({ format: 'A4' });
      const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g).length;
      assert.ok(pages >= 1 && pages < 60, `${pages} pages`);
      await page.close();
    }
  });
});
