import assert from 'node:assert/strict';
import { given } from './programs.mjs';

// What a program could do that came out of QuickJS: the worker's own script is replaced by one that tries, so only the frame is left.
// Each attempt is a name for `code`; it ends its program itself, unless it is made not to. `more`: source of further ways out, and of
// others in place of those with the same name.
export const OUT = (canary, more = '') => `
  const end = (text) => postMessage({ end: [true, String(text)] });
  const tries = {
    fetch: () => fetch('${canary}/fetch', { mode: 'no-cors' }),
    XMLHttpRequest: () => new Promise((resolve, reject) => { const request = new XMLHttpRequest(); request.onload = resolve; request.onerror = reject; request.open('POST', '${canary}/xhr'); request.send('x'); }),
    WebSocket: () => new Promise((resolve, reject) => { const socket = new WebSocket('${canary}/socket'.replace('http', 'ws')); socket.onopen = resolve; socket.onerror = reject; }),
    EventSource: () => new Promise((resolve, reject) => { const source = new EventSource('${canary}/events'); source.onopen = resolve; source.onerror = reject; }),
    WebTransport: () => new WebTransport('${canary}/transport'.replace('http:', 'https:')).ready,
    importScripts: () => importScripts('${canary}/script.js'),
    'a data script': () => importScripts('data:text/javascript,1'),
    import: () => import('${canary}/module.js'),
    eval: () => (0, eval)('1'),
    Function: () => new Function('return 1')(),
    'a text timer': () => new Promise((resolve, reject) => { self.ran = resolve; setTimeout('ran()'); setTimeout(reject, 200); }),
    'a worker elsewhere': () => new Promise((resolve, reject) => { const worker = new Worker('${canary}/worker.js'); worker.onmessage = resolve; worker.onerror = reject; }),
    // It starts, and has the same policy.
    'a worker in the worker': () => new Promise((resolve, reject) => {
      const url = URL.createObjectURL(new Blob(["fetch('${canary}/inner', { mode: 'no-cors' }).then(() => postMessage('out'), () => postMessage('in'))"]));
      const worker = new Worker(self.trustedTypes ? trustedTypes.createPolicy('turnwise', { createScriptURL: (url) => url }).createScriptURL(url) : url);
      worker.onmessage = ({ data }) => (data === 'out' ? resolve() : reject());
      worker.onerror = reject;
    }),
    indexedDB: () => new Promise((resolve, reject) => { const open = indexedDB.open('turnwise'); open.onsuccess = resolve; open.onerror = reject; }),
    caches: () => caches.keys(),
    files: () => navigator.storage.getDirectory(),
    serviceWorker: () => navigator.serviceWorker.getRegistrations(),
    cookieStore: () => cookieStore.getAll(),
    document: () => document.cookie,
    parent: () => parent.document,
    'a blob of the page': () => fetch('blob:${'http://127.0.0.1'}/1'),
    location: () => { self.location = '${canary}/location'; if (!String(self.location).startsWith('blob:')) return 1; throw 0; },
    ${more}
  };
  const forged = {
    'many calls': () => { for (let n = 0; n < 3_000; n += 1) postMessage({ ask: ['list_files', '{}'] }); },
    'long arguments': () => postMessage({ ask: ['write_file', JSON.stringify({ path: 'a.txt', content: 'x'.repeat(600_000) })] }),
    'no tool': () => { postMessage({ ask: ['__proto__', '{}'] }); setTimeout(end, 300, 'asked'); },
    'a tool that is not offered': () => { postMessage({ ask: ['run_code', '{"code":"1"}'] }); setTimeout(end, 300, 'asked'); },
    'not JSON': () => { postMessage({ ask: ['list_files', '{{{'] }); setTimeout(end, 300, 'asked'); },
    'an end that is no text': () => postMessage({ end: [true, { toString: 1 }] }),
    'two ends': () => { end('first'); end('second'); postMessage({ ask: ['write_file', '{"path":"late.txt","content":"x"}'] }); },
    'something else': () => postMessage(new Map([[1, new ArrayBuffer(8)]])),
    'a port': () => { const { port1 } = new MessageChannel(); postMessage({ end: [true, 'ported'], port1 }, [port1]); },
    'words for the page': () => { new BroadcastChannel('go').postMessage('ESCAPED'); end('said'); },
    'an error': () => setTimeout(() => { throw new Error('thrown'); }),
    'a long end': () => end('x'.repeat(5_000_000)),
    'no end': () => { for (;;); },
    'gone': () => close(),
  };
  onmessage = async ({ data: { code, answer } }) => {
    if (answer) return end('answered: ' + answer[2]);
    if (code in forged) return forged[code]();
    if (code !== 'reach out') return end('=> 42');
    const late = () => new Promise((resolve) => { setTimeout(resolve, 1_000, 'no answer'); });
    const how = Object.entries(tries).map(async ([name, out]) => [name, await Promise.race([(async () => out())().then(() => 'ESCAPED', () => 'refused'), late()])]);
    return end(JSON.stringify(await Promise.all(how)));
  };`;
/** For `more`: WebKit gives an opaque origin storage of its own, which is empty; only something in it would be an escape. */
export const EMPTY_IS_NONE = `
  caches: async () => { if (!(await caches.keys()).length) throw 0; },
  files: async () => { for await (const name of (await navigator.storage.getDirectory()).keys()) return name; throw 0; },
  serviceWorker: async () => { if (!(await navigator.serviceWorker.getRegistrations()).length) throw 0; },`;
const LATE = /^Error: timeout: the tool did not answer within/;
const FORGED = [
  ['many calls', /^Error: the program asked for more than it may/], ['long arguments', /^Error: the program could not be run/], ['no tool', /^answered: .*__proto__/], ['a tool that is not offered', /^answered: .*run_code/],
  ['not JSON', /^answered: .*JSON/], ['an end that is no text', /^Error: the program could not be run/], ['two ends', /^first$/], ['something else', /^Error: the program could not be run/], ['a port', LATE],
  ['words for the page', /^said$/], ['an error', /^Error: the program could not be run: .*thrown/], ['a long end', /^x{1000}/], ['no end', LATE], ['gone', LATE],
];

/** The turns: all ways out at once, then each forged message; after each, another program runs. */
export const outside = ['reach out', ...FORGED.map(([name]) => name)].flatMap((name) => [[name], ['fine']]);
export const outsideGiven = { ...given, options: { limits: { toolTimeoutMs: 2_000 } } };

/** Judges what came of them, and returns what was tried. */
export function judgeOutside({ trajectory, results: [reached, next, ...results], written }) {
  assert.equal(trajectory.output, 'done');
  const tried = JSON.parse(reached);
  assert.ok(tried.length > 20, reached);
  for (const [name, how] of tried) assert.notEqual(how, 'ESCAPED', name);
  assert.equal(next, '=> 42');
  FORGED.forEach(([name, expected], at) => {
    assert.match(results[2 * at].slice(0, 2_000), expected, name);
    assert.ok(results[2 * at].length < 30_000, name);
    assert.equal(results[2 * at + 1], '=> 42', `the program after: ${name}`);
  });
  assert.deepEqual(Object.keys(written), ['own.txt']);
  return tried;
}
