// Which addresses of the web may be asked for: one table, of which the tool in pages and in Node.js and the relay have the same rule.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { send } from '../../examples/key-proxy/ask-node.mjs';
import { Refused, address, hostOf, notPublic, ofHost, resolved } from '../../examples/key-proxy/addresses.mjs';

const TABLE = JSON.parse(readFileSync(path.join(import.meta.dirname, '../fixtures/web_addresses.json'), 'utf8'));

test('hostile addresses are refused, in every notation', () => {
  const hostile = Object.entries(TABLE.refused);
  assert.ok(hostile.length >= 100, `${hostile.length} hostile addresses`);
  for (const [text, what] of hostile) assert.throws(() => address(text), Refused, `${what}: ${text}`);
});

test('public addresses are asked for as a browser writes them, without their fragment', () => {
  for (const [text, href] of Object.entries(TABLE.allowed)) assert.equal(address(text).href, href);
});

test('an origin that the user names permits its host and port, and nothing else', () => {
  const named = (origin) => origin === 'http://127.0.0.1:8123' || origin === 'http://169.254.169.254' || origin === 'https://wiki:7000';
  assert.equal(address('http://127.1:8123/a', { named }).href, 'http://127.0.0.1:8123/a');
  assert.equal(address('https://WIKI:7000', { named }).href, 'https://wiki:7000/');
  for (const other of ['http://127.0.0.1/', 'https://127.0.0.1:8123/', 'http://127.0.0.1:8124/', 'http://localhost:8123/', 'http://[::ffff:127.0.0.1]:8123/', 'http://user@127.0.0.1:8123/']) {
    assert.throws(() => address(other, { named }), Refused, other);
  }
  assert.throws(() => address('http://169.254.169.254/', { named }), /never asked for/, 'credentials of a cloud, whoever names them');
});

test('what a name means is checked, all of it', () => {
  resolved('a.example', ['93.184.216.34', '2606:2800:220:1::1']);
  resolved('a.example', ['64:ff9b::5db8:d822']); // NAT64 of a public one
  for (const found of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::1'], ['::ffff:10.0.0.1'], ['fe80::1%eth0'], ['169.254.169.254'], ['64:ff9b::a00:1'], ['no address']]) {
    assert.throws(() => resolved('a.example', found), Refused, found.join());
  }
  resolved('wiki', ['10.0.0.7'], true);
  assert.throws(() => resolved('wiki', ['169.254.169.254'], true), Refused);
});

test('the edges of every network', () => {
  const edges = { '9.255.255.255': true, '10.0.0.0': false, '126.255.255.255': true, '128.0.0.0': true, '172.15.255.255': true, '172.16.0.0': false, '172.32.0.0': true, '192.167.255.255': true, '192.169.0.0': true, '198.17.255.255': true, '198.20.0.0': true, '223.255.255.255': true, '224.0.0.0': false, '1fff::1': false, '2000::1': true, '2001:1ff::1': false, '2001:200::1': true, '2003::1': true, '3ffe::1': true, '3fff:1000::1': true, '4000::1': false, '64:ff9b::1:1:1': false };
  for (const [one, isPublic] of Object.entries(edges)) assert.equal(notPublic(one) === undefined, isPublic, one);
});

test('a rule for a host is the most exact one', () => {
  const hosts = { '*.example.org': 1, 'docs.example.org': 2, 'https://docs.example.org': 3, 'docs.example.org:8443': 4 };
  const rule = (text) => ofHost(hosts, new URL(text));
  assert.deepEqual(['https://docs.example.org/', 'http://docs.example.org/', 'https://a.b.example.org/', 'https://example.org', 'https://docs.example.org:8443', 'https://x.example.org:8443', 'https://docs.example.org./'].map(rule), [3, 2, 1, undefined, 4, undefined, 3]);
  assert.equal(hostOf(new URL('https://docs.example.org.:8443/')), 'docs.example.org:8443');
  assert.equal(ofHost({}, new URL('https://constructor/')), undefined);
});

test('Node.js connects to what was checked: a name is looked up once, and one bad address refuses it', async (t) => {
  const server = http.createServer((_, response) => response.end('the first'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => { server.close(); server.closeAllConnections(); });
  const at = `http://rebind.example:${server.address().port}/`;
  const ask = (look, named = false) => send({ url: new URL(at), signal: AbortSignal.timeout(5000), named, look });
  let looked = 0;
  // A name that means another address each time: a second look would connect elsewhere.
  const { body } = await ask((host, options, done) => done(null, [{ address: (looked += 1) > 1 ? '169.254.169.254' : '127.0.0.1', family: 4 }]), true);
  const parts = [];
  for await (const part of body) parts.push(part);
  assert.equal(Buffer.concat(parts).toString(), 'the first');
  assert.equal(looked, 1);
  let connected = 0;
  server.on('connection', () => { connected += 1; });
  for (const found of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::1']]) {
    const answer = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    await assert.rejects(ask((host, options, done) => done(null, answer)), /its name means (127\.0\.0\.1|::1), which is loopback/);
  }
  assert.equal(connected, 0);
});
