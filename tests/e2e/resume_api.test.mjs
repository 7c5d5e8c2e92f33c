// Resume through the API: a Node.js process with a chat in a file is killed at random moments, again and again, and another
// one resumes, until the run has ended. KILLS sets how often (6; make test-long: 40), KILL_SEED the first seed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { reply } from './lib/script-server.mjs';
import { dist } from './lib/site.mjs';

const entry = path.join(dist, 'turnwise/index.node.js');
const { Agent, openai, replay } = await import(entry);

const TURNS = 8;
const KILLS = Number(process.env.KILLS ?? 6);
const SEED = Number(process.env.KILL_SEED ?? 1);

const PROGRAM = `
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, openai, tool } from ${JSON.stringify(entry)};
const [baseUrl, file] = process.argv.slice(2);
let stored;
const whole = new Promise((done) => { stored = done; });
const storage = {
  get: () => { try { return readFileSync(file, 'utf8'); } catch { return undefined; } },
  set: (key, text) => {
    writeFileSync(file + '.new', text);
    renameSync(file + '.new', file);
    if (JSON.parse(text).runs.at(-1)?.outcome) stored();
  },
  delete: () => {},
};
const agent = new Agent({ model: openai('steady', { baseUrl }), tools: { step: tool({ execute: () => new Promise((done) => setTimeout(done, 15, 'stepped')) }) }, retry: { baseMs: 1, capMs: 2 } });
const chat = agent.chat({ storage });
await chat.load();
process.stdout.write(chat.isInterrupted ? 'resume\\n' : 'begin\\n');
const { text } = await (chat.isInterrupted ? chat.resume() : chat.send('Take eight steps'));
process.stdout.write('end ' + text + '\\n');
await whole;
chat.close();
`;

/** Runs `body` with a model that asks for a step until it has had enough; `seen` lists, per request, the number of steps before it. */
async function withSteps(body) {
  const seen = [];
  const server = http.createServer(async (request, response) => {
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    const steps = JSON.parse(Buffer.concat(bytes).toString()).messages.filter(({ role }) => role === 'tool').length;
    seen.push(steps);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of reply(steps < TURNS ? { calls: [{ id: `s${steps}`, name: 'step', args: {} }] } : { text: `Took ${steps} steps.` })) {
      response.write(chunk);
      await new Promise((resolve) => { setTimeout(resolve, 5); });
    }
    response.end();
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(`http://127.0.0.1:${server.address().port}/v1`, seen);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Seeded random numbers from 0 to 1. */
function random(seed) {
  let state = seed * 2654435761 >>> 0;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) >>> 0;
    return state / 2 ** 32;
  };
}

/** Runs the program; with `ms`, kills it that long after its first output. Resolves with what it printed. */
function run(program, args, ms) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (data) => {
      if (!printed && ms !== undefined) setTimeout(() => child.kill('SIGKILL'), ms);
      printed += data;
    });
    child.on('close', () => resolve(printed));
  });
}

test(`a run whose process is killed at ${KILLS} random moments goes on from its chat, within its bound, and replays`, { timeout: 600_000 }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-resume-'));
  const program = path.join(folder, 'program.mjs');
  writeFileSync(program, PROGRAM);
  const next = random(SEED);
  let kills = 0;
  let resumed = 0;
  try {
    for (let round = 0; kills < KILLS; round += 1) {
      await withSteps(async (baseUrl, seen) => {
        const file = path.join(folder, `chat-${round}.json`);
        let killed = 0;
        let printed = '';
        while (!printed.includes('end ')) {
          const spare = kills >= KILLS || killed >= 4;
          printed = await run(program, [baseUrl, file], spare ? undefined : Math.floor(next() * 900));
          if (printed.startsWith('resume')) resumed += 1;
          if (!printed.includes('end ')) { killed += 1; kills += 1; }
          assert.ok(killed || printed.includes('end '), `seed ${SEED}, round ${round}: it neither ended nor was killed`);
        }
        assert.match(printed, new RegExp(`end Took ${TURNS} steps\\.`));
        const { runs } = JSON.parse(readFileSync(file, 'utf8'));
        assert.equal(runs.length, 1, 'one run, however often it was resumed');
        const [record] = runs;
        assert.equal(record.outcome, 'success');
        assert.deepEqual(await replay(record), { ok: true });
        // A request that may have been sent counts as sent. A kill between a request and its checkpoint can repeat that request.
        const bound = record.config.max_turns * record.config.max_attempts + 3;
        assert.ok(record.requests <= bound && seen.length <= bound, `${seen.length} requests, ${record.requests} counted, at most ${bound}`);
        assert.ok(seen.length <= record.requests + killed, `${seen.length} requests of which ${record.requests} were counted, ${killed} kills`);
        assert.deepEqual(new Set(seen), new Set(Array.from({ length: TURNS + 1 }, (_, at) => at)), 'no step was skipped');
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.ok(resumed > KILLS / 3, `${resumed} of ${kills} killed runs were resumed: the moments are too early`);
});

test('an agent of another model does not resume it', async () => {
  await assert.rejects(new Agent({ model: openai('x', { baseUrl: 'http://127.0.0.1:9/v1' }) }).resume({ format: 'turnwise-trajectory', version: 1 }), TypeError);
});
