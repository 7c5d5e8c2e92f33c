// What is tried in each browser: programs and workers that look for what only one engine has, records of strangers, and addresses
// that URL parsers have read differently.
import { copy, poison } from '../e2e/lib/stranger.mjs';

// Programs.

const NAMES = [
  // Firefox
  'netscape', 'InstallTrigger', 'Components', 'ChromeUtils', 'Cu', 'content', 'dump', 'uneval', 'mozRTCPeerConnection', 'mozInnerScreenX', 'ServiceWorkerGlobalScope', 'WebSocketStream', 'newGlobal', 'os',
  // WebKit
  'webkit', 'webkitURL', 'webkitRTCPeerConnection', 'webkitRequestFileSystem', 'webkitRequestFileSystemSync', 'webkitIndexedDB', 'webkitStorageInfo', 'safari', 'WebKitNamespace', 'openDatabase', '$vm', '$262', 'ApplePaySession', 'noInline', 'ManagedMediaSource',
  // any
  'opener', 'top', 'frames', 'name', 'origin', 'DedicatedWorkerGlobalScope', 'WorkerGlobalScope', 'WorkerNavigator', 'RTCDataChannel', 'RTCRtpScriptTransformer', 'FontFace', 'fonts', 'OffscreenCanvas', 'FileReaderSync', 'ServiceWorker', 'Notification', 'PushManager', 'GPU', 'CompressionStream', 'ReadableStream', 'ShadowRealm', 'TrustedTypePolicyFactory', 'trustedTypes', 'crypto', 'reportError', 'structuredClone', 'createImageBitmap', 'scheduler', 'print', 'load', 'read', 'quit', 'std', 'bjson',
];
const ADDRESSES = ['resource://gre/modules/Services.sys.mjs', 'chrome://global/content/globalOverlay.js', 'moz-extension://a/a.js', 'webkit-extension://a/a.js', 'about:blank', 'blob:null/1', 'file:///etc/passwd', 'CANARY/module.js', '//CANARY/module.js'];

/** In the form of tests/e2e/lib/escapes.mjs. */
export const PROGRAMS = [
  { name: 'names of engines', code: `const found = ${JSON.stringify(NAMES)}.filter((n) => n in globalThis || (0, eval)('typeof ' + n) !== 'undefined'); found.length ? 'ESCAPED: ' + found : 'none'`, expect: /^=> none/ },
  { name: 'import() of addresses of engines', code: `const all = await Promise.allSettled(${JSON.stringify(ADDRESSES)}.map((a) => import(a))); all.some(({ status }) => status === 'fulfilled') ? 'ESCAPED' : all.length`, expect: new RegExp(`^=> ${ADDRESSES.length}`) },
  { name: 'SpiderMonkey: caller and arguments of a function of the prelude', code: `let who; const f = function () { try { who = f.caller } catch (e) { who = undefined } return {} }; const get = Object.getOwnPropertyDescriptor(Map.prototype, 'size').get; await tools.list_files({ get toJSON() { f(); return undefined } }).catch(() => {}); who ? 'ESCAPED ' + who : 'none'`, expect: /^=> none/ },
  { name: 'SpiderMonkey: where an error says that it was thrown', code: `try { null.x } catch (e) { for (const k of ['fileName', 'sourceURL', 'stack', 'line', 'column']) if (/https?:|blob:|resource:|wasm|sandbox/.test(String(e[k]))) console.log('ESCAPED ' + e[k]) } 'looked'`, expect: /looked/ },
  { name: 'SpiderMonkey: toSource, watch, __noSuchMethod__, __parent__', code: `[{}.toSource, {}.watch, {}.__parent__, (() => {}).__parent__, globalThis.__count__].every((x) => x === undefined) ? 'none' : 'ESCAPED'`, expect: /^=> none/ },
  { name: 'JavaScriptCore: errors of the engine around, by its stack', code: `let e; const f = () => f(); try { f() } catch (x) { e = x } const F = e.constructor.constructor; const g = F('return this')(); g === globalThis && !('fetch' in g) && e instanceof RangeError | e instanceof Error ? 'own' : 'ESCAPED'`, expect: /^=> own/ },
  { name: 'JavaScriptCore: a memory that grows and is kept', code: `const b = new ArrayBuffer(8, { maxByteLength: 1 << 20 }); b.resize(1 << 20); const v = new DataView(b); b.resize(8); let r; try { r = v.getUint8(4096) } catch (x) { r = x.name } r`, expect: /RangeError|TypeError/ },
  { name: 'JavaScriptCore: a sort that shrinks its array', code: `const a = Array.from({ length: 5000 }, (_, i) => ({ i })); a.sort((x, y) => { a.length = 0; return x.i - y.i }); a.every((x) => x === undefined || typeof x.i === 'number') ? 'own' : 'ESCAPED'`, expect: /^=> own/ },
  { name: 'a typed array of a detached buffer', code: `const b = new ArrayBuffer(64); const u = new Uint8Array(b); b.transfer?.(0); try { u[63] = 1; u.fill(7) } catch {} [...u].length <= 64`, expect: /true|detached/ },
  { name: 'a regular expression with lookbehind, sticky, in all modes', code: `'a'.repeat(1e4).replace(/(?<=(a*)*)b/gsuy, () => 'ESCAPED').length`, expect: /10000|too long|Error/, slow: true },
];

/** Source of further ways out of a worker in the frame, as those of tests/e2e/lib/outside.mjs. A way that an engine does not have is refused. */
export const WAYS_OUT = (canary) => {
  const blob = (text) => `URL.createObjectURL(new Blob([${JSON.stringify(text)}], { type: 'text/javascript' }))`;
  const trusted = (url) => `(self.trustedTypes ? trustedTypes.createPolicy('turnwise', { createScriptURL: (url) => url }).createScriptURL(${url}) : ${url})`;
  // Resolves if the worker in the worker says that it came out.
  const inner = (text, kind = 'Worker') => `() => new Promise((resolve, reject) => { const worker = new ${kind}(${trusted(blob(text))}); (worker.port ?? worker).onmessage = ({ data }) => (data === 'out' ? resolve() : reject()); worker.onerror = reject; })`;
  return Object.entries({
    'importScripts of a blob with a request': `() => { importScripts(${trusted(blob(`importScripts('${canary}/blob.js')`))}); }`,
    'a worker with importScripts': inner(`try { importScripts('${canary}/nested.js'); postMessage('out') } catch { postMessage('in') }`),
    'a worker with a synchronous request': inner(`try { const x = new XMLHttpRequest(); x.open('GET', '${canary}/sync', false); x.send(); postMessage('out') } catch { postMessage('in') }`),
    'a worker with a socket': inner(`try { const s = new WebSocket('${canary.replace('http', 'ws')}/nested'); s.onopen = () => postMessage('out'); s.onerror = () => postMessage('in') } catch { postMessage('in') }`),
    'a worker with events': inner(`try { const s = new EventSource('${canary}/nested-events'); s.onopen = () => postMessage('out'); s.onerror = () => postMessage('in') } catch { postMessage('in') }`),
    'a worker in a worker in a worker': inner(`try { const w = new Worker(URL.createObjectURL(new Blob(["fetch('${canary}/deep', { mode: 'no-cors' }).then(() => postMessage('out'), () => postMessage('in'))"]))); w.onmessage = ({ data }) => postMessage(data); w.onerror = () => postMessage('in') } catch { postMessage('in') }`),
    'a module worker': `() => new Promise((resolve, reject) => { const worker = new Worker(${trusted(blob(`import '${canary}/module-worker.js'; postMessage('out')`))}, { type: 'module' }); worker.onmessage = resolve; worker.onerror = reject; })`,
    'a shared worker': inner(`onconnect = ({ ports: [port] }) => fetch('${canary}/shared', { mode: 'no-cors' }).then(() => port.postMessage('out'), () => port.postMessage('in'))`, 'SharedWorker'),
    'a data worker': `() => new Promise((resolve, reject) => { const worker = new Worker(${trusted(`'data:text/javascript,postMessage(1)'`)}); worker.onmessage = resolve; worker.onerror = reject; })`,
    'fetch that outlives': `() => fetch('${canary}/alive', { method: 'POST', body: 'x', keepalive: true, mode: 'no-cors' })`,
    'fetch of data': `() => fetch('data:text/plain,x')`,
    'fetch of a file': `() => fetch('file:///etc/hostname')`,
    'fetch of about': `() => fetch('about:blank')`,
    'fetch of a resource of the browser': `() => Promise.any([fetch('resource://gre/greprefs.js'), fetch('chrome://branding/content/icon32.png'), fetch('webkit-resource://a')])`,
    'a module with a type': `() => import('${canary}/data.json', { with: { type: 'json' } })`,
    'sendBeacon': `() => { if (!navigator.sendBeacon('${canary}/beacon', 'x')) throw 0; }`,
    'a font': `() => new FontFace('x', 'url(${canary}/font.woff2)').load()`,
    'RTCPeerConnection': `async () => { const c = new (self.RTCPeerConnection ?? self.webkitRTCPeerConnection ?? self.mozRTCPeerConnection)({ iceServers: [{ urls: 'stun:${canary.slice(7)}' }] }); }`,
    'webkitRequestFileSystem': `() => new Promise((resolve, reject) => (self.webkitRequestFileSystem ?? self.webkitRequestFileSystemSync)(0, 1, resolve, reject))`,
    'a database by another name': `() => new Promise((resolve, reject) => { const open = (self.webkitIndexedDB ?? self.mozIndexedDB).open('turnwise'); open.onsuccess = resolve; open.onerror = reject; })`,
    'names of databases': `async () => { if (!(await indexedDB.databases()).length) throw 0; }`,
    'a lock of the page': `() => navigator.locks.query()`,
    'a service worker': `() => navigator.serviceWorker.register('${canary}/sw.js')`,
    'push and notices': `() => new Promise((resolve, reject) => { const notice = new Notification('x', { icon: '${canary}/icon.png' }); notice.onshow = resolve; notice.onerror = reject; })`,
    'names of Firefox': `async () => { for (const name of ['Components', 'ChromeUtils', 'netscape', 'InstallTrigger', 'Cu']) if (typeof self[name] !== 'undefined' && self[name]) return name; throw 0; }`,
    'names of WebKit': `async () => { if (self.webkit?.messageHandlers || self.safari || self.$vm || self.openDatabase) return 1; throw 0; }`,
    'opener, top and parent': `async () => { if (self.opener || self.top || self.parent || self.frames) return 1; throw 0; }`,
    'a policy of its own': `async () => { if (!self.trustedTypes) throw 0; trustedTypes.createPolicy('default', { createScript: (x) => x }); }`,
    'a socket as a stream': `() => new WebSocketStream('${canary.replace('http', 'ws')}/stream').opened`,
    'a relayed request': `() => fetch(new Request('${canary}/request', { method: 'POST', body: new ReadableStream({ start(c) { c.close(); } }), duplex: 'half', mode: 'no-cors' }))`,
  }).map(([name, way]) => `${JSON.stringify(name)}: ${way},`).join('\n    ');
};

/**
 * Runs in the frame, by WebDriver. What is left to a script of the frame is to navigate the frame itself, which no policy of its own
 * can forbid. No script of a program gets there: workers cannot navigate.
 */
export async function inFrame(canary, done) {
  // A document that is refused also loads: there, and for what says nothing, the canary tells.
  const put = (name, attributes, then) => () => new Promise((resolve, reject) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (!['iframe', 'object', 'embed'].includes(name)) element.onload = resolve;
    element.onerror = reject;
    (document.body ?? document.documentElement).append(element);
    then?.(element);
  });
  const barred = (look) => async () => { if (!look()) throw 0; };
  const ways = {
    object: put('object', { data: `${canary}/object`, type: 'text/html' }),
    embed: put('embed', { src: `${canary}/embed`, type: 'text/html' }),
    iframe: put('iframe', { src: `${canary}/iframe` }),
    img: put('img', { src: `${canary}/img` }),
    video: put('video', { src: `${canary}/video`, poster: `${canary}/poster`, autoplay: '' }),
    script: put('script', { src: `${canary}/script.js` }),
    style: put('link', { rel: 'stylesheet', href: `${canary}/style.css` }),
    prefetch: put('link', { rel: 'prefetch', href: `${canary}/prefetch` }),
    preload: put('link', { rel: 'preload', as: 'image', href: `${canary}/preload` }),
    modulepreload: put('link', { rel: 'modulepreload', href: `${canary}/modulepreload.js` }),
    icon: put('link', { rel: 'icon', href: `${canary}/icon.png` }),
    manifest: put('link', { rel: 'manifest', href: `${canary}/manifest.json` }),
    form: put('form', { action: `${canary}/form`, method: 'post', target: '_top' }, (form) => form.submit()),
    ping: put('a', { href: 'about:srcdoc#x', ping: `${canary}/ping` }, (a) => a.click()),
    'a link to the top': put('a', { href: `${canary}/top-link`, target: '_top' }, (a) => a.click()),
    'top.location': async () => { top.location = `${canary}/top`; throw 0; }, // the address is looked at afterwards
    'a window': async () => { if (!open(`${canary}/window`)) throw 0; },
    'parent.document': barred(() => parent.document),
    'top.localStorage': barred(() => top.localStorage),
    'the frame element': barred(() => frameElement),
    opener: barred(() => window.opener),
    'the name of the page': barred(() => { top.name = 'ESCAPED'; return true; }),
    localStorage: barred(() => localStorage),
    'document.cookie': barred(() => { document.cookie = 'a=b'; return document.cookie; }),
    indexedDB: () => new Promise((resolve, reject) => { const open = indexedDB.open('turnwise'); open.onsuccess = resolve; open.onerror = reject; }),
    'a shared worker': () => new Promise((resolve, reject) => { const worker = new SharedWorker(`${canary}/shared.js`); worker.port.onmessage = resolve; worker.onerror = reject; }),
    fetch: () => fetch(`${canary}/fetch`, { mode: 'no-cors' }),
    beacon: async () => { navigator.sendBeacon(`${canary}/beacon`, 'x'); throw 0; }, // it may say that it was sent
    'a stylesheet of its own': async () => { const sheet = new CSSStyleSheet(); sheet.replaceSync(`* { background: url(${canary}/sheet) }`); document.adoptedStyleSheets = [sheet]; throw 0; },
    'words for the page': async () => { parent.postMessage({ end: [true, 'ESCAPED'] }, '*'); parent.postMessage('turnwise-sandbox', '*'); throw 0; },
  };
  const late = () => new Promise((resolve) => { setTimeout(resolve, 1_500, 'no answer'); });
  const all = Object.entries(ways).map(async ([name, way]) => [name, await Promise.race([(async () => way())().then(() => 'ESCAPED', () => 'refused'), late()])]);
  done(JSON.stringify(await Promise.all(all)));
}

// Records.

/** Runs in a page: an agent with the user's model and key takes a record up and refuses every call. */
export async function takeUp(way, record, provider, send, done) {
  const all = { ran: 0, asked: 0, refused: '' };
  const agent = new window.turnwise.Agent({ provider, tools: ['now'], seed: 1, maxTurns: 12 });
  agent.registerTool({ ...send, execute: () => { all.ran += 1; return 'sent'; } });
  const options = { approve: () => { all.asked += 1; return false; } };
  try {
    if (way === 'resume') await agent.resume(record, options);
    else if (way === 'branch') await agent.branch(record, { turn: 1, ...options });
    else await agent.run('And now?', { after: record, ...options });
  } catch (error) {
    all.refused = String(error.message || error);
  }
  agent.free();
  done(JSON.stringify(all));
}

/**
 * By what the stranger tried: a record in the middle of its run and one of the whole run. For the app's form, `names`: what it has to
 * show; `form`: whether the record's model is chosen (`true`) or not; `invalid`: it has no address.
 */
export async function strangersRecords({ evil, home, honest, hostile, byEvent, strangers }) {
  const of = (change, from = honest) => {
    const all = { halfway: copy(from.halfway), whole: copy(from.whole) };
    Object.values(all).forEach((record) => change(record.config.providers[0], record.config, record));
    return all;
  };
  const { host } = new URL(evil.url);
  const at = (base_url) => of((provider) => Object.assign(provider, { base_url }));
  const led = await byEvent();
  const { whole: { config } } = honest;
  const began = strangers();
  const second = (place) => of((provider, { providers }) => { providers.splice(place, 0, { ...copy(provider), base_url: evil.url }); });
  const started = of((provider, its, record) => { record.started_with = { ...copy(config), providers: [{ ...provider, base_url: evil.url }] }; });
  return {
    'its own address': { ...at(evil.url), names: [evil.url] },
    'an address in the events only': { halfway: led, whole: led },
    'an address that it began with': { halfway: started.halfway, whole: began, names: ['https://api.openai.com/v1', 'theirs'], form: [false] },
    'a second model': { ...second(1), names: [evil.url, home.url] },
    'a first model': { ...second(0), names: [evil.url, home.url] },
    'options, headers and a key': { ...of((provider) => { Object.assign(provider, { base_url: evil.url, headers: { 'x-theirs': 'yes' }, provider_options: { service_tier: 'theirs' } }); }), names: [evil.url, 'theirs'] },
    'all that an agent decides': { ...hostile, form: [] },
    'permissions': { ...of((provider, its, record) => { poison(record); Object.assign(provider, { base_url: evil.url }); }), names: [evil.url] },
    'one slash and a backslash': { ...at(`http:/\\${host}/://api.openai.com/v1`), names: [host, 'not a valid address'], invalid: true },
    'a backslash before the user\'s host': { ...at(`http://${host}\\@${new URL(home.url).host}/v1`), names: [host, 'not a valid address'], invalid: true },
    // Names and passwords are removed when a record is read: what is left is the address that is asked.
    'the user\'s host as a name': { ...at(`http://${new URL(home.url).host}@${host}/v1`), names: [evil.url] },
    'no slashes': { ...at(`http:${host}/v1`), names: [host, 'not a valid address'], invalid: true },
    'a tab and a line break': { ...at(`http:/\t/\n${host}/v1`), names: [host, 'not a valid address'], invalid: true },
    'the scheme of the page': { ...at(`//${host}/v1`), names: [host], invalid: true },
    'a path with a backslash': { ...at(`/\\${host}/v1`), names: [host], invalid: true },
  };
}

// Links.

/** What Markdown has no link for, or cannot write in one line. */
export const linked = ({ text, href }) => text.trim() && !/[\n<>]/.test(text + href);

/** More than tests/fixtures/link_targets.json has: what URL parsers have read differently. */
export const OTHERS = [
  ['openai.com', 'https://evil.example\\@openai.com/'], ['openai.com', 'https:/\\evil.example/openai.com'], ['openai.com', 'https:evil.example'], ['openai.com', 'https:///evil.example/'], ['openai.com', 'https:\\\\evil.example\\openai.com'],
  ['openai.com', 'https://openai.com%2eevil.example/'], ['openai.com', 'https://openai.com%40evil.example/'], ['openai.com', 'https://openai.com%23@evil.example/'], ['openai.com', 'https://openai.com:443@evil.example/'], ['openai.com', 'https://openai.com%00.evil.example/'],
  ['openai.com', 'https://openai.com\u3002evil.example/'], ['openai.com', 'https://openai\uff0ecom/'], ['openai.com', 'https://openai.com\uff0fevil.example/'], ['openai.com', 'https://openai.com\u2044evil.example/'], ['openai.com', 'https://\uff4fpenai.com/'],
  ['openai.com', 'https://op\u00adenai.com/'], ['openai.com', 'https://op\u200denai.com/'], ['openai.com', 'https://op\u200benai.com/'], ['openai.com', 'https://\u2126penai.com/'], ['openai.com', 'https://openai.\u212aom/'],
  ['fass.example', 'https://fa\u00df.example/'], ['fass.example', 'https://fa\u1e9e.example/'], ['i.example', 'https://\u0130.example/'], ['xn--a.example', 'https://xn--a.example/'], ['xn--.example', 'https://xn--.example/'],
  ['127.0.0.1', 'http://0x7f.1/'], ['127.0.0.1', 'http://2130706433/'], ['127.0.0.1', 'http://0177.0.0.1/'], ['127.0.0.1', 'http://127.1/'], ['[::1]', 'http://[::ffff:127.0.0.1]/'],
  ['openai.com', 'https://openai.com./'], ['openai.com', 'https://openai.com:0443/'], ['openai.com', 'https://openai.com:/'], ['openai.com:80', 'https://openai.com:80/'], ['openai.com', 'http://openai.com:443/'],
  ['openai.com', 'HTTPS://OPENAI.COM@evil.example/'], ['openai.com/a', 'https://openai.com\\a'], ['openai.com/..', 'https://openai.com/..'], ['https://openai.com', 'https://openai.com?@evil.example'], ['https://openai.com', 'https://openai.com#@evil.example'],
].map(([text, href]) => ({ text, href }));
