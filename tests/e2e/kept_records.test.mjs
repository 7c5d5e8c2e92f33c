// Records that earlier builds made (tests/fixtures/records): the app opens, draws and steps through each, and branches from one;
// the package replays each, and goes on from it with models of its own.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { WIDE, drop, showTurns, withApp } from './lib/app.mjs';
import { assertValidSession } from './lib/session.mjs';
import { dist, root } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const folder = path.join(root, 'tests/fixtures/records');
const records = readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => ({ name: name.slice(0, -5), file: path.join(folder, name), document: JSON.parse(readFileSync(path.join(folder, name), 'utf8')) }));
const of = (format) => records.filter(({ document }) => document.format === format);
const runs = of('turnwise-trajectory');
const own = runs.filter(({ document }) => !document.imported);
const plans = of('turnwise-session');
const chats = of('turnwise-chat');

// In one thread: starting a worker for each question about each record would take most of the time.
const { default: init, Agent, exportTrajectory, replay, summarize } = await import(path.join(dist, 'turnwise/core.js'));
const bytes = (name) => WebAssembly.compile(readFileSync(path.join(dist, 'turnwise', name)));
await init({ agent: await bytes('agent_bg.wasm'), worker: await bytes('worker-whole_bg.wasm') });
const { version } = JSON.parse(readFileSync(path.join(dist, 'turnwise/package.json'), 'utf8'));

/** Ends any run: with a report where one is asked for. */
const complete = ({ tools = [] }) => {
  const report = tools.find((one) => one.function.name === 'final_report');
  if (!report) return 'It goes on.';
  const { format, content } = report.function.parameters.properties;
  const rest = content ? { content: content.type === 'object' ? { trains: 3 } : 'It goes on.' } : { messages: [{ blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'It goes on.' } }] }] };
  const call = { id: 'report', type: 'function', function: { name: 'final_report', arguments: JSON.stringify({ format: format.const, ...rest }) } };
  return { choices: [{ message: { content: '', tool_calls: [call] }, finish_reason: 'tool_calls' }] };
};
const provider = { kind: 'custom', model: 'own', complete };

/** An agent with a function for each of these tools. */
function agentFor(tools, provider) {
  const agent = new Agent({ provider, tools: tools.includes('spawn_subagents') ? ['spawn_subagents'] : [], seed: 1, retry: { baseMs: 1, capMs: 2 } });
  for (const name of tools.filter((one) => !['spawn_subagents', 'final_report'].includes(one))) agent.registerTool({ name, execute: () => 'done at last' });
  return agent;
}
const toolsOf = ({ tools }) => tools.map(({ name }) => name);

test('each replays in the package, or names the version that made it, and is summarized and exported', async () => {
  assert.ok(own.length > 90 && plans.length > 4 && chats.length > 1, `${own.length} runs, ${plans.length} plans, ${chats.length} chats`);
  for (const { name, document } of own) {
    const replayed = await replay(document);
    if (document.engine_version === version || replayed.ok) assert.deepEqual(replayed, { ok: true }, name);
    else assert.deepEqual([replayed.recorded_by, typeof replayed.path], [document.engine_version, 'string'], name);
  }
  for (const { name, document } of runs) {
    assert.equal((await summarize(document)).run_id, document.run_id, name);
    assert.match(await exportTrajectory(document, 'html'), /^<!doctype html>/i, name);
  }
});

test('each interrupted one is resumed, and ends', async () => {
  const open = own.filter(({ document }) => document.outcome === null && document.provider === 'custom');
  assert.ok(open.length >= 10, `${open.length}`);
  for (const { name, document } of open) {
    const agent = agentFor(toolsOf(document), provider);
    const ended = await agent.resume(document, { approve: 'all' });
    agent.free();
    assertValid(ended);
    assert.equal(ended.run_id, document.run_id, name);
    assert.match(ended.outcome, /^(success|partial)$/, `${name}: ${ended.error}`);
    assert.deepEqual(await replay(ended), { ok: true }, name);
  }
});

test('each that was interrupted at a server is resumed at that server', async () => {
  const answers = { openai: 'llm/openai_text', 'openai-responses': 'responses/text', anthropic: 'anthropic/text', gemini: 'gemini/text' };
  const open = own.filter(({ document }) => document.outcome === null && document.provider in answers);
  assert.deepEqual(open.map(({ document }) => document.provider).sort(), Object.keys(answers).sort());
  const real = globalThis.fetch;
  try {
    for (const { name, document } of open) {
      const [{ base_url: baseUrl, kind, model }] = document.config.providers;
      const asked = [];
      // In one thread, the engine's requests are this program's: nothing has to listen at the address of long ago.
      globalThis.fetch = async (given, options) => {
        const request = new Request(given, options);
        asked.push([request.url, await request.text()]);
        return new Response(readFileSync(path.join(root, `tests/fixtures/${answers[kind]}.sse`)), { headers: { 'content-type': 'text/event-stream' } });
      };
      const agent = agentFor(toolsOf(document), { kind, model, baseUrl, apiKey: 'sk-test-0123456789abcdefghij' });
      const ended = await agent.resume(document);
      agent.free();
      assert.equal(ended.outcome, 'success', `${name}: ${ended.error}`);
      assert.equal(asked.length, 1, name);
      assert.ok(asked[0][0].startsWith(baseUrl), `${name}: ${asked[0][0]}`);
      assert.match(asked[0][1], { openai: /result for/, 'openai-responses': /gAAAAABo1first==/, anthropic: /sigA==/, gemini: /EcallSig1==/ }[kind], name);
    }
  } finally {
    globalThis.fetch = real;
  }
});

test('each that has ended is followed up and branched from', async () => {
  for (const { name, document } of own.filter(({ document }) => document.outcome !== null)) {
    const agent = agentFor(toolsOf(document), provider);
    const next = await agent.run('And then?', { after: document });
    assert.deepEqual([next.session_id, next.outcome], [document.session_id, 'success'], name);
    const branch = await agent.branch(document, { turn: document.turns[0].turn, say: 'Go another way.', approve: 'all' });
    agent.free();
    assert.equal(branch.parent.run_id, document.run_id, name);
    assert.match(branch.outcome, /^(success|partial)$/, `${name}: ${branch.error}`);
    assert.deepEqual(await replay(branch), { ok: true }, name);
  }
});

test('plans are resumed', async () => {
  for (const { name, document } of plans) {
    const agent = agentFor(['search', 'search_files', 'read_file', 'calculate'], provider);
    const again = await agent.runPlan(document.plan, { after: document, from: document.plan.steps[1].order });
    agent.free();
    assertValidSession(again);
    assert.equal(again.session_id, document.session_id, name);
    assert.equal(again.steps[1].status, document.steps[1].status === 'blocked' ? 'blocked' : 'completed', name);
  }
});

/** Whether the viewer says that the record replays. A record of another engine version may differ, and the viewer says which. */
async function verify(page, { engine_version: by }) {
  await page.getByRole('button', { name: 'Verify' }).click();
  const verdict = page.getByText(/^(Replays exactly: |Does not replay\. )/);
  await verdict.waitFor();
  const words = await verdict.innerText();
  if (by === version) assert.match(words, /^Replays exactly: /);
  else assert.match(words, new RegExp(`^Replays exactly: |It was recorded by engine ${by.replaceAll('.', '\\.')}`));
}

/** One of each kind of run: the native tests draw and step through all. */
const kind = ({ document: { provider, outcome, imported } }) => JSON.stringify([provider, outcome, Boolean(imported)]);
const SHOWN = runs.filter((run, at) => runs.findIndex((other) => kind(other) === kind(run)) === at);

test('the app draws one of each kind, and its viewer steps through it', () => withApp({ context: { viewport: WIDE } }, async (page) => {
  assert.ok(SHOWN.length > 15, `${SHOWN.length}`);
  for (const { name, file, document } of SHOWN) {
    await drop(page, [file]);
    await page.getByText(`Opened ${name}.json (read-only).`).first().waitFor();
    if (document.outcome) await page.getByRole('region', { name: 'How it ended' }).first().waitFor();
    await page.locator('section.turn').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Dismiss' }).first().click();
    const { length } = document.events;
    if (!length) continue;
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText(`Step 0 of ${length}`).first().waitFor();
    await page.keyboard.press('End');
    await page.getByText(`Step ${length} of ${length}`).first().waitFor();
    await verify(page, document);
  }
}));

test('the app draws each plan', () => withApp({ context: { viewport: WIDE } }, async (page) => {
  for (const { name, file, document } of plans) {
    await drop(page, [file]);
    await page.getByText(`Opened ${name}.json. The file itself is not changed.`).first().waitFor();
    await page.getByRole('region', { name: 'Result of the plan' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^Step \d+ ?, / }).count(), document.steps.length, name);
    await page.getByRole('button', { name: 'Dismiss' }).first().click();
  }
}));

for (const name of ['dialect-anthropic', 'interrupted-tools', 'dialect-demo']) {
  test(`a branch from a record goes on with the model of the settings: ${name}`, () => withApp({ context: { viewport: WIDE } }, async (page) => {
    const { file, document } = records.find((one) => one.name === name);
    await drop(page, [file]);
    await page.getByText(`Opened ${name}.json (read-only).`).first().waitFor();
    await showTurns(page);
    await page.locator('section.turn').first().hover();
    await page.getByRole('button', { name: /^Branch: Turn 1/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Branch' });
    await dialog.getByText(/^Model from Settings/).click();
    await dialog.getByRole('button', { name: 'Start the branch' }).click();
    await page.getByText(new RegExp(`branch of ${document.run_id} before turn 1`)).first().waitFor();
    await page.getByRole('region', { name: 'How it ended' }).last().waitFor();
  }));
}

test('chats go on', async () => {
  // After everything else: from here on, the engine runs in a thread.
  const sdk = await import(path.join(dist, 'turnwise/index.node.js'));
  for (const { name, document } of chats) {
    const storage = sdk.inMemory();
    storage.set('chat', JSON.stringify(document));
    const agent = new sdk.Agent({ model: sdk.custom(complete, { model: 'own' }), tools: { search: sdk.tool({ execute: () => 'found' }) }, seed: 1 });
    const chat = agent.chat({ storage });
    await chat.load();
    const { runs } = document;
    assert.equal(chat.isInterrupted, runs.at(-1).outcome === null, name);
    if (chat.isInterrupted) assert.equal((await chat.resume()).text, 'It goes on.', name);
    assert.equal((await chat.send('And then?')).text, 'It goes on.', name);
    assert.equal(chat.trajectories.length, runs.length + 1, name);
    chat.close();
  }
});
