// The tool `fetch_url`, in Node.js and in Chromium: which pages and documents it reads, what it refuses, how it asks, and that a record with
// its answers replays without a network.
import assert from 'node:assert/strict';
import dns from 'node:dns';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { certificate } from './lib/certificate.mjs';
import { withScript } from './lib/script-server.mjs';
import { dist, withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';
import { PAGES, withPages } from './lib/web-pages.mjs';

// Names of this test; all others are looked up as ever. Set before the package is loaded.
const NAMES = { 'wiki.example': '127.0.0.1', 'rebind.example': '127.0.0.1', 'mapped.example': '::ffff:127.0.0.1', 'meta.example': '169.254.169.254', 'inside.example': '10.1.2.3', 'six.example': 'fd00::1' };
const { lookup } = dns;
dns.lookup = (host, options, done) => {
  const address = NAMES[host];
  return address ? done(null, [{ address, family: address.includes(':') ? 6 : 4 }]) : lookup(host, options, done);
};
syncBuiltinESMExports();

const TABLE = JSON.parse(readFileSync(path.join(import.meta.dirname, '../fixtures/web_addresses.json'), 'utf8'));
const node = async () => {
  const package_ = await import(path.join(dist, 'turnwise/node.js'));
  await package_.default();
  return package_;
};
const fetches = (urls) => urls.map((url, at) => ({ id: `f${at}`, name: 'fetch_url', args: typeof url === 'string' ? { url } : url }));

/** Runs in a page or in Node.js: needs only `Agent`, and is passed as text. */
const run = async ({ Agent, replay }, { baseUrl, permissions, web, answer, all }) => {
  const agent = new Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['fetch_url', 'search_web', 'read_result'], permissions, web, maxTurns: 30, retry: { baseMs: 1, capMs: 2 }, limits: { toolCallsPerTurn: 200, parallelTools: 8 }, seed: 1 });
  const asked = [];
  const approve = all ? 'all' : answer === undefined ? undefined : ({ name, args, sideEffect, host }) => {
    asked.push({ name, args, sideEffect, host });
    return answer;
  };
  const trajectory = await agent.run('go', { approve });
  agent.free();
  const calls = trajectory.turns.flatMap((turn) => turn.tool_calls);
  return { trajectory, asked, replayed: await replay(trajectory), results: calls.map(({ args, result, error, slug }) => ({ url: args?.url, result: String(result), failed: Boolean(error ?? slug), slug })) };
};

/** Runs a script of calls in Node.js. `turns`: lists of addresses or arguments. */
const inNode = (turns, given) => withScript([...turns.map((urls) => ({ calls: fetches(urls) })), { text: 'Done.' }], async (baseUrl) => {
  const found = await run(await node(), { ...given, baseUrl });
  assertValid(found.trajectory);
  assert.deepEqual(found.replayed, { ok: true });
  return found;
});

/** The same in a page. */
const inPage = (turns, given, reach = [], expect = []) => withScript([...turns.map((urls) => ({ calls: fetches(urls) })), { text: 'Done.' }], (baseUrl) => withPackage({ reach: [baseUrl, ...reach], expect }, async (page) => {
  const found = await page.evaluate(([source, given]) => eval(source)(window.turnwise, given), [`(${run})`, { ...given, baseUrl }]);
  assertValid(found.trajectory);
  assert.deepEqual(found.replayed, { ok: true });
  return found;
}));

function assertRead(results, origin, paths) {
  const faults = [];
  paths.forEach((name, at) => {
    const { result, url } = results[at];
    const { has = [], hasNot = [], error = [], at: final } = PAGES[name];
    assert.equal(url, origin + name);
    for (const words of [...has, ...error]) if (!result.includes(words.replaceAll('ORIGIN', origin))) faults.push(`${name} lacks ${JSON.stringify(words)}: ${result.slice(0, 400)}`);
    for (const words of hasNot) if (result.includes(words)) faults.push(`${name} has ${words}`);
    // It is the address to cite.
    if (has.length && result.split('\n')[0] !== origin + (final ?? name)) faults.push(`${name} begins with ${result.split('\n')[0]}`);
  });
  assert.deepEqual(faults, []);
}

const LIMITS = { timeoutMs: 4000, maxBytes: 400_000 };

test('Node.js reads pages in every encoding, documents, texts, and says what is wrong with the others', () => withPages({}, async (origin, seen) => {
  const paths = Object.keys(PAGES);
  const { results, asked, trajectory } = await inNode([paths.map((name) => origin + name)], { permissions: { hosts: { [origin]: 'allow' } }, web: LIMITS });
  assertRead(results, origin, paths);
  assert.equal(asked.length, 0, 'a host that is allowed is not asked about');
  assert.ok(trajectory.outcome === 'success');
  for (const { headers } of seen) {
    assert.deepEqual(['cookie', 'referer', 'origin', 'authorization'].filter((name) => name in headers), []);
  }
}));

test('a page reads the same, as far as the browser lets it', () => withPages({ cors: true }, async (origin, seen) => {
  const paths = Object.keys(PAGES).filter((name) => !['/cut-off', '/loop', '/bogus-coding'].includes(name)); // the browser judges these
  const { results } = await inPage([paths.slice(0, 20).map((name) => origin + name), paths.slice(20).map((name) => origin + name)], { permissions: { hosts: { [origin]: 'allow' } }, web: LIMITS }, [origin], [/status of 404/, /status of 401/]);
  assertRead(results, origin, paths);
  for (const { headers } of seen) assert.deepEqual(['cookie', 'referer', 'authorization'].filter((name) => name in headers), []);
}));

test('a page that forbids CORS is answered with the way out', () => withPages({}, async (origin) => {
  const { results: [{ result }] } = await inPage([[`${origin}/page`]], { permissions: { hosts: { [origin]: 'allow' } } }, [origin], [/blocked by CORS policy/, /net::ERR_FAILED/]);
  assert.match(result, /no CORS.*relay/s);
}));

test('hostile addresses are refused where they are asked for, also if all calls are allowed', async () => {
  const urls = Object.keys(TABLE.refused).filter(Boolean);
  const turns = Array.from({ length: Math.ceil(urls.length / 32) }, (_, at) => urls.slice(32 * at, 32 * (at + 1)));
  for (const { results } of [await inNode(turns, { all: true }), await inPage(turns, { all: true })]) {
    assert.equal(results.length, urls.length);
    results.forEach(({ result, url }) => assert.match(result, /not asked for/, url));
  }
});

test('redirects and names that lead to addresses that are not public are refused', () => withPages({}, async (origin, seen) => {
  const to = (url) => `${origin}/to?${encodeURIComponent(url)}`;
  const targets = ['http://127.0.0.1:1/', 'http://169.254.169.254/latest/', 'http://0x7f.1/', 'http://[::ffff:7f00:1]/', 'http://localhost/', 'file:///etc/passwd', 'http://user:pw@example.org/', 'http://2130706433:6379/', '//metadata.google.internal/', 'http://10.0.0.1/'];
  const names = ['http://rebind.example/', 'http://mapped.example/', 'http://meta.example/', 'http://inside.example/', 'http://six.example/'];
  const { results } = await inNode([[...targets.map(to), ...names]], { all: true, permissions: { hosts: { [origin]: 'allow', 'http://wiki.example': 'allow' } } });
  results.forEach(({ result, url }) => assert.match(result, /not asked for/, url));
  assert.equal(seen.length, targets.length, 'one request for each redirect, none after it');
}));

test('a name of the own network that the user named is read, unless it means a link-local address', () => withPages({}, async (origin, seen) => {
  const { port } = new URL(origin);
  NAMES['moved.example'] = '169.254.169.254';
  const [wiki, moved] = [`http://wiki.example:${port}`, `http://moved.example:${port}`];
  const { results } = await inNode([[`${wiki}/page`, `${moved}/page`]], { permissions: { hosts: { [wiki]: 'allow', [moved]: 'allow' } } });
  assert.match(results[0].result, /# Garden/);
  assert.match(results[1].result, /not asked for/);
  assert.equal(seen.length, 1);
}));

test('a redirect to another host needs a rule of its own, and is told to the model', () => withPages({}, (a) => withPages({}, async (b, seen) => {
  const over = `${a}/to?${encodeURIComponent(`${b}/page`)}`;
  const asking = await inNode([[over]], { permissions: { hosts: { [a]: 'allow', [b]: 'ask' } } });
  assert.match(asking.results[0].result, /redirects to another host/);
  assert.ok(asking.results[0].result.includes(`${b}/page`));
  assert.equal(seen.length, 0);
  const allowed = await inNode([[over]], { permissions: { hosts: { [a]: 'allow', [b]: 'allow' } } });
  assert.match(allowed.results[0].result, /# Garden/);
  const denied = await inNode([[over]], { all: true, permissions: { hosts: { [a]: 'allow', [b]: 'deny' } } });
  assert.match(denied.results[0].result, /not asked for|does not permit/);
  assert.equal(seen.length, 1);
})));

test('each host is asked about once, if the answer is for the host; the question shows the whole address', () => withPages({}, (a) => withPages({}, async (b) => {
  const hosts = { [a]: 'ask', [b]: 'ask' };
  const long = `${a}/page?secret=${'x'.repeat(300)}`;
  const turns = [[long], [`${a}/notes.txt`, `${b}/page`], [`${b}/notes.txt`]];
  const { asked, results, trajectory } = await inNode(turns, { answer: { allow: true, for: 'host' }, permissions: { hosts } });
  assert.deepEqual(asked.map(({ host }) => `http://${host}`), [a, b]);
  assert.equal(asked[0].args.url, long);
  assert.deepEqual([asked[0].name, asked[0].sideEffect], ['fetch_url', 'network']);
  assert.ok(results.every(({ result }) => /Garden|Line one/.test(result)));
  assert.deepEqual(trajectory.events.map(({ event }) => event).filter(({ type }) => type === 'permitted').map(({ scope }) => scope), ['host', 'host']);
  const each = await inNode(turns, { answer: true, permissions: { hosts } });
  assert.equal(each.asked.length, 4);
  const refused = await inNode(turns, { answer: { allow: false, for: 'host' }, permissions: { hosts } });
  assert.equal(refused.asked.length, 2);
  assert.ok(refused.results.every(({ slug }) => slug === 'refused'));
  const nobody = await inNode([[`${a}/page`]], { permissions: { hosts } });
  assert.equal(nobody.results[0].slug, 'refused');
})));

test('a long text is read on without a second request', () => withPages({}, async (origin, seen) => {
  const url = `${origin}/huge`;
  const { results } = await inNode([[url], [{ url, offset: 16_000 }], [{ url, offset: 900_000_000 }]], { permissions: { hosts: { [origin]: 'allow' } }, web: LIMITS });
  const [first, second, beyond] = results.map(({ result }) => result.split('\n\n').slice(1).join('\n\n'));
  assert.match(first, /Read on with fetch_url and offset 16000/);
  assert.ok(second.length > 15_000 && !second.includes(first.slice(0, 200)));
  assert.match(results[2].result, /characters only/, beyond);
  assert.equal(seen.length, 1);
}));

test('the policy of a page that does not list an address is named', () => withPages({ cors: true }, async (origin) => {
  const elsewhere = origin.replace('127.0.0.1', 'localhost');
  const { results: [{ result }] } = await inPage([[`${elsewhere}/page`]], { permissions: { hosts: { [elsewhere]: 'allow' } } }, [elsewhere], [/violates the following Content Security Policy|Refused to connect/]);
  assert.match(result, /connect-src/);
}));

test('the tool is off unless it is named', () => withScript([{ calls: fetches(['https://example.org/']) }, { text: 'Done.', check: ({ messages }) => assert.match(messages.at(-1).content, /no tool|unknown|not offered|There is no/i) }], async (baseUrl) => {
  const { Agent } = await node();
  const agent = new Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' } });
  const trajectory = await agent.run('go', { approve: 'all' });
  assert.ok(!trajectory.turns[0].tool_calls[0].result?.startsWith('https://'));
  agent.free();
}));

test('wrong options are named', async () => {
  const { Agent } = await node();
  const wrong = [
    [{ permissions: { hosts: { 'example.org/a': 'allow' } } }, /options\.permissions\.hosts/], [{ permissions: { hosts: { '*.example.org:80': 'allow' } } }, /hosts/], [{ permissions: { hosts: { 'example.org': 'maybe' } } }, /hosts\.example\.org/],
    [{ web: { search: { kind: 'altavista' } } }, /web\.search\.kind/], [{ web: { search: { kind: 'brave' } } }, /web\.search\.apiKey/], [{ web: { search: { kind: 'searxng' } } }, /web\.search\.baseUrl/], [{ web: { maxBytes: 0 } }, /maxBytes/],
  ];
  for (const [options, message] of wrong) assert.throws(() => new Agent(options), (error) => error instanceof TypeError && message.test(error.message), JSON.stringify(options));
});

test('a rule that denies a host holds in every spelling, whatever else is allowed', async () => {
  const urls = ['https://example.org/', 'https:/\\example.org/', 'https://EXAMPLE.org./', 'https://%65xample.org/', 'https://example.org:443/', 'https://sub.example.org/'];
  const { results } = await inNode([urls], { all: true, permissions: { network: 'allow', hosts: { 'Example.ORG': 'deny', '*.example.org': 'deny' } } });
  results.forEach(({ result, url }) => assert.match(result, /not run|does not permit/, url));
});

test('a certificate that nobody vouches for is an error, and so is a host that is not there', async () => {
  const server = https.createServer(certificate('127.0.0.1'), (_, response) => response.end('secret'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const origin = `https://127.0.0.1:${server.address().port}`;
    const { results } = await inNode([[`${origin}/`, 'http://127.0.0.1:1/', 'https://nobody.invalid/']], { all: true, permissions: { hosts: { [origin]: 'allow', 'http://127.0.0.1:1': 'allow' } } });
    assert.match(results[0].result, /could not be read.*(SELF_SIGNED|certificate|CERT)/i);
    assert.match(results[1].result, /does not accept connections/);
    assert.match(results[2].result, /there is no such host|could not be looked up/);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('nothing of it is loaded before a tool is called', () => withPages({ cors: true }, async (origin) => {
  const loaded = [];
  await withScript([{ text: 'Not yet.' }, { calls: fetches([`${origin}/page`]) }, { text: 'Done.' }], (baseUrl) => withPackage({ reach: [baseUrl, origin] }, async (page) => {
    const go = () => page.evaluate(async ([baseUrl, origin]) => {
      const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['fetch_url'], permissions: { hosts: { [origin]: 'allow' } } });
      const { outcome } = await agent.run('go');
      agent.free();
      return outcome;
    }, [baseUrl, origin]);
    assert.equal(await go(), 'success');
    assert.deepEqual(loaded.filter((name) => name.endsWith('/web.js')), []);
    assert.equal(await go(), 'success');
    assert.equal(loaded.filter((name) => name.endsWith('/web.js')).length, 1);
  }, { seen: (name) => loaded.push(name) }));
}));
