// A run with 16 sub-agents in Chromium, against a server over HTTP: reports, stop and cancel. `make bench` measures how
// responsive the page is meanwhile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIZE, ended, start, withCrew } from './lib/crew-server.mjs';
import { withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

test('sixteen sub-agents reach their limit, conclude and report', async () => {
  await withCrew({ size: SIZE }, (baseUrl, asked) => withPackage({ reach: [baseUrl] }, async (page) => {
    await start(page, baseUrl);
    const trajectory = await ended(page);
    assertValid(trajectory);
    const reports = JSON.parse(trajectory.turns[0].tool_calls[0].result.split('\n')[0]);
    assert.deepEqual(reports.map(({ status, synthesized, turns }) => [status, synthesized, turns]), Array(SIZE).fill(['success', true, 8]));
    assert.deepEqual(reports.map(({ task_id }) => task_id), Array.from({ length: SIZE }, (_, index) => index + 1));
    assert.match(trajectory.turns[0].tool_calls[0].result, /\n\[Turn 1\/15\]$/);
    assert.equal(asked.length, 2 + SIZE * 8);
    assert.equal(trajectory.requests, asked.length);
    assert.equal(trajectory.children.length, SIZE);
    assert.deepEqual(await page.evaluate(async () => window.turnwise.replay(await window.run)), { ok: true });
    // The number that users see only shrinks, and every sub-agent reports its own end.
    const told = await page.evaluate(() => window.events.map(({ type, callsLeft, event }) => ({ type, callsLeft, inner: event?.type })));
    assert.ok(told.every(({ callsLeft }, index) => index === 0 || callsLeft <= told[index - 1].callsLeft), 'the bound grew');
    assert.equal(told.filter(({ type, inner }) => type === 'child' && inner === 'agent_finished').length, SIZE);
  }));
});

test('after stop only conclusions are asked for, and each sub-agent that began has its report', async () => {
  // No sub-agent is faster than the stop: its third reply begins, and continues once stop is requested.
  let goOn;
  const stopped = new Promise((resolve) => { goOn = resolve; });
  const gate = (who, nth) => (who && nth === 3 ? stopped : undefined);
  await withCrew({ size: SIZE, pause: 5, gate }, (baseUrl, asked) => withPackage({ reach: [baseUrl] }, async (page) => {
    await start(page, baseUrl);
    await page.waitForFunction(() => window.events.filter(({ event }) => event?.type === 'tool_finished').length > 5);
    const starts = (from, to) => page.evaluate(([from, to]) => window.events.slice(from, to)
      .filter(({ type, event }) => type === 'attempt_started' || event?.type === 'attempt_started').length, [from, to]);
    await page.evaluate(() => window.agent.stop());
    goOn();
    const trajectory = await ended(page);
    assertValid(trajectory);
    // The worker receives the stop while it works: its effects begin with the first conclusion.
    const before = await page.evaluate(() => window.events.findIndex(({ type, event }) => type === 'synthesis_started' || event?.type === 'synthesis_started'));
    assert.ok(before > 0, `${before}`);
    // Requests under way at the stop may reach the server after it.
    assert.ok(asked.filter(({ tools }) => tools).length <= await starts(0, before), 'only conclusions');
    assert.equal(await starts(before), 1 + trajectory.children.length, 'one conclusion of each sub-agent and one of the run');
    assert.equal(trajectory.termination_reason, 'stop_synthesized');
    for (const child of trajectory.children) {
      assert.equal(child.termination_reason, 'stop_synthesized');
      assert.match(child.output, /^What \d+ found\.$/);
    }
    const reports = JSON.parse(trajectory.turns[0].tool_calls[0].result.split('\n')[0]);
    assert.equal(reports.length, SIZE);
    assert.ok(reports.slice(trajectory.children.length).every(({ report }) => report === 'stopped before it began'));
  }));
});

test('cancel ends all sub-agents, whose replies would never end', async () => {
  const gate = (who) => (who ? new Promise(() => {}) : undefined);
  await withCrew({ size: SIZE, gate }, (baseUrl) => withPackage({ reach: [baseUrl] }, async (page) => {
    await start(page, baseUrl, { limits: { parallelTools: SIZE } });
    await page.waitForFunction((size) => window.events.filter(({ event }) => event?.type === 'attempt_started').length >= size, SIZE);
    await page.evaluate(() => window.agent.cancel());
    const trajectory = await ended(page);
    assert.deepEqual([trajectory.outcome, trajectory.children.length], ['cancelled', SIZE]);
    assert.ok(trajectory.children.every(({ outcome }) => outcome === 'cancelled'));
    assertValid(trajectory);
  }));
});
