// Programs of `run_code` played by a scripted model, attempts to escape (escapes.mjs) and the judgement of what came of them: for the
// tests in Chromium, in Node.js and in other browsers.
import assert from 'node:assert/strict';
import http from 'node:http';

/**
 * Runs in a page and in Node.js: each turn calls `run_code` with the programs of one entry; the last answers `done`. Another agent has a
 * key and files (`others`) that no program may see.
 */
export async function play({ Agent: Made, replay: check }, turns, { files = {}, options = {}, others = {}, approve } = {}) {
  let turn = 0;
  const complete = () => {
    const codes = turns[turn];
    turn += 1;
    if (!codes) return 'done';
    const calls = codes.map((code, i) => ({ id: `c${turn}_${i}`, type: 'function', function: { name: 'run_code', arguments: JSON.stringify({ code }) } }));
    return { choices: [{ message: { content: '', tool_calls: calls }, finish_reason: 'tool_calls' }] };
  };
  const tools = ['list_files', 'read_file', 'write_file', 'read_result', 'calculate', 'run_code'];
  const agent = new Made({ provider: { kind: 'custom', model: 'script', complete }, tools, seed: 5, maxTurns: turns.length + 2, ...options });
  for (const [name, text] of Object.entries(files)) agent.files.put(name, text);
  const other = new Made({ provider: { kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'other', apiKey: 'sk-test-0123456789abcdefghij' }, tools, seed: 6 });
  for (const [name, text] of Object.entries(others)) other.files.put(name, text);
  const trajectory = await agent.run('Play.', approve && { approve });
  const replayed = await check(trajectory);
  const written = await Promise.all(agent.files.list().map(async (name) => [name, await agent.files.get(name).text()]));
  agent.free();
  other.free();
  const results = trajectory.turns.flatMap(({ tool_calls: calls }) => calls.map(({ result }) => result.replace(/\n\[Turn .*\]$/, '')));
  return { trajectory, replayed, results, written: Object.fromEntries(written) };
}

/** Runs `body(url)` with a server that must not be asked anything. */
export async function withCanary(body) {
  const seen = [];
  const server = http.createServer((request, response) => { seen.push(request.url); response.writeHead(200, { 'access-control-allow-origin': '*' }).end(); });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await body(`http://127.0.0.1:${server.address().port}`);
    assert.deepEqual(seen, [], 'the canary was asked');
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

export const given = { files: { 'own.txt': 'mine' }, others: { 'other.txt': 'other run' }, options: { limits: { toolTimeoutMs: 15_000 } } };

/** The result of a program that the deadline ended. */
const LATE = `Error: timeout: the tool did not answer within ${given.options.limits.toolTimeoutMs / 1000} s`;

/** After each attempt another program runs; it has to work as if nothing had happened. */
export const attempts = (list, canary) => list.flatMap(({ code }) => [[code.replaceAll('CANARY', canary)], ['6 * 7']]);

export function judge(list, { trajectory, results, written, replayed }) {
  assert.equal(trajectory.output, 'done');
  assert.equal(results.length, list.length * 2);
  list.forEach(({ name, expect, slow }, at) => {
    const [result, next] = results.slice(at * 2, at * 2 + 2);
    assert.doesNotMatch(result, /ESCAPED/, name);
    if (expect && !(slow && result === LATE)) assert.match(result, expect, name);
    assert.equal(next, '=> 42', `the program after: ${name}`);
  });
  assert.deepEqual(Object.keys(written), ['own.txt'], 'nothing was written');
  assert.equal(written['own.txt'], 'mine');
  assert.deepEqual(replayed, { ok: true });
}
