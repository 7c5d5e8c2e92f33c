// The docs reader in Node.js on sites over loopback: 2,010 pages in ten languages and three versions, encodings other than UTF-8,
// a page for missing ones, and pages that a header hides.
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { dist } from './lib/site.mjs';

const { DocsSite } = await import(path.join(dist, 'turnwise/node.js'));

/** Serves `answer(path)`, which gives `{ body, status, headers }` or nothing: `body(url, asked)`. */
async function withHost(answer, body) {
  const asked = [];
  const server = http.createServer(({ url }, response) => {
    const { pathname } = new URL(url, 'http://x');
    asked.push(pathname);
    const { body: text = 'Not found', status = 404, headers = {} } = answer(pathname) ?? {};
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(text);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(`http://127.0.0.1:${server.address().port}`, asked);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Opens the site of a page and waits until all is read: `body(call, info, ready)`, with the time in ms until it could be searched. */
async function withSite(page, body) {
  const from = performance.now();
  let progress;
  let whole;
  const site = await DocsSite.open(page, { cache: false, onProgress: (next) => { progress = next; if (next.stage === 'ready' && next.done >= next.total) whole?.(); } });
  const ready = performance.now() - from;
  try {
    const end = new Promise((resolve) => { whole = resolve; });
    if (!site.info.complete) await Promise.race([end, new Promise((_, reject) => { setTimeout(() => reject(new Error(`still reading: ${JSON.stringify(progress)}`)), 60_000).unref(); })]);
    const call = (name, args) => site.tools.find((tool) => tool.name === name).execute(args).then(({ text }) => text);
    return await body(call, () => site.info, ready, performance.now() - from);
  } finally {
    site.free();
  }
}

const LANGUAGES = ['en', 'da', 'de', 'el', 'fi', 'fr', 'ja', 'nb', 'pt-br', 'zh-cn'];
const VERSIONS = ['', 'v1/', 'v2/'];
const TOPICS = 67;
const folder = (language, version) => `/${language === 'en' ? '' : `${language}/`}${version}`;

/** A topic of a language and version; every one has a word that no other page has. */
function topic(language, version, n) {
  const word = `lever${language.replace('-', '')}${version.replace('/', '')}x${n}`;
  const links = LANGUAGES.map((other) => `<link rel="alternate" hreflang="${other}" href="https://docs.example.org${folder(other, version)}t${n}">`).join('');
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="generator" content="VitePress v1.6.4"><link rel="stylesheet" href="/assets/a.css">${links}<title>Topic ${n}</title></head><body><main><h1>Topic ${n}</h1><p>About the ${word}, in the words of a manual that says what it does and when.</p></main></body></html>`;
}

test('2,010 pages in ten languages and three versions: the visitor’s own are read, the others are known by their titles', (t) => withHost((at) => {
  if (at === '/sitemap.xml') {
    const paths = LANGUAGES.flatMap((language) => VERSIONS.flatMap((version) => Array.from({ length: TOPICS }, (_, n) => `${folder(language, version)}t${n}`))).sort();
    return { status: 200, headers: { 'content-type': 'application/xml' }, body: `<urlset>${paths.map((one) => `<url><loc>https://docs.example.org${one}</loc></url>`).join('')}</urlset>` };
  }
  const [, language = 'en', version = '', n] = /^\/(?:(da|de|el|fi|fr|ja|nb|pt-br|zh-cn)\/)?(v1\/|v2\/)?t(\d+)$/.exec(at) ?? [];
  return n && Number(n) < TOPICS ? { status: 200, body: topic(language, version, n) } : undefined;
}, async (url, asked) => {
  for (const [start, own, words] of [['/fi/v1/t3', /^\/fi\/v1\//, 'leverfiv1x60'], ['/t3', /^\/t\d/, 'leverenx60']]) {
    const before = asked.length;
    await withSite(url + start, async (call, info, ready, whole) => {
      const requests = asked.slice(before);
      const read = requests.filter((one) => /t\d+$/.test(one));
      assert.ok(read.length <= 401, `${read.length} pages`);
      const first = read.slice(0, TOPICS).filter((one) => own.test(one));
      assert.ok(first.length >= TOPICS - 2, `of the first ${TOPICS} pages, ${first.length} are the visitor's`);
      const found = await call('search_docs', { query: words });
      assert.match(found, new RegExp(`^1\\. ${url}${own.source.slice(1).replaceAll('\\d', '\\d+').replaceAll('\\/', '/')}`));
      assert.match(found, /\[400 of 2010 pages of this site were read, the nearest to the visitor's page first, among them all 67 in the visitor's language and version\./);
      const early = asked.length;
      const nothing = await call('search_docs', { query: 'zeppelin' });
      assert.match(nothing, /No section of the pages read so far matches/);
      assert.match(nothing, /\[Words that occur nowhere in the pages read so far: zeppelin\]/);
      assert.match(await call('read_page', { url: `${url}/ja/v2/t66` }), /leverjav2x66/);
      t.diagnostic(`${start}: searched after ${Math.round(ready)} ms, read after ${Math.round(whole)} ms; ${requests.length} requests, ${read.length} of them pages; ${asked.length - early} more for a search without a match and a page; ${JSON.stringify(info())}`);
    });
  }
}));

const CYRILLIC = (text) => Buffer.from(Array.from(text, (letter) => { const code = letter.codePointAt(0); return code < 128 ? code : code - 0x410 + 0xc0; }));
const SJIS = { レバー: [0x83, 0x8c, 0x83, 0x6f, 0x81, 0x5b] };

for (const [name, head, headers] of [
  ['a meta element', '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">'],
  ['the header', '', { 'content-type': 'text/html; charset=windows-1251' }],
  ['nothing: the usual encoding of the language', ''],
]) {
  test(`windows-1251, declared by ${name}`, () => withHost((at) => {
    const page = (title, text) => ({ status: 200, headers, body: CYRILLIC(`<html lang="ru"><head>${head}<title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p><a href="/a.html">1</a></main>`) });
    return { '/': page('Начало', 'Добро пожаловать'), '/a.html': page('Запуск', 'Потяните рычаг') }[at];
  }, (url) => withSite(`${url}/`, async (call) => {
    assert.match(await call('search_docs', { query: 'рычаг' }), /a\.html\n {3}Запуск\n {3}Потяните рычаг/);
    const page = await call('read_page', { url: '/a.html' });
    assert.match(page, /Потяните рычаг/);
    assert.equal(/\[The page does not declare its encoding; it was read as windows-1251\.\]/.test(page), !head && !headers);
  })));
}

test('Shift_JIS, declared by a meta element, and a label that no decoder knows', () => withHost((at) => {
  const page = (charset, text) => ({ status: 200, body: Buffer.concat([Buffer.from(`<html><head><meta charset="${charset}"><title>T</title></head><body><main><h1>T</h1><p>`), Buffer.from(text), Buffer.from('</p><a href="/a.html">1</a> <a href="/b.html">2</a></main>')]) });
  return { '/': page('shift_jis', 'Home of it'), '/a.html': page('Shift_JIS', SJIS.レバー), '/b.html': page('klingon', 'Überall') }[at];
}, (url) => withSite(`${url}/`, async (call) => {
  assert.match(await call('search_docs', { query: 'レバー' }), /a\.html/);
  assert.match(await call('read_page', { url: '/b.html' }), /Überall/);
})));

test('a book is searched from its page for missing ones, and a page that the header hides is not found', () => withHost((at) => {
  const index = JSON.stringify({ doc_urls: ['a.html#start'], index: { documentStore: { docs: { 0: { title: 'Start', body: 'Pull the green lever.' } } } } });
  if (at === '/book/searchindex-1.js') return { status: 200, body: `window.search = JSON.parse('${index}');` };
  if (at.startsWith('/book/old/')) return { body: '<!-- Book generated using mdBook --><html><head><base href="/book/"><title>Page not found</title><script>var path_to_root = ""; window.path_to_searchindex_js = "searchindex-1.js";</script></head><body><main><h1>Document not found (404)</h1></main></body></html>' };
  const page = (text, headers) => ({ status: 200, headers, body: `<html lang="en"><title>P</title><main><h1>P</h1><p>${text}</p></main>` });
  return { '/site/': page('Home. <a href="a">a</a> <a href="b">b</a>'), '/site/a': page('A zebra.'), '/site/b': page('A quagga.', { 'x-robots-tag': 'noindex' }) }[at];
}, async (url) => {
  await withSite(`${url}/book/old/deep/gone.html`, async (call) => assert.match(await call('search_docs', { query: 'green lever' }), /book\/a\.html#start/));
  await withSite(`${url}/site/`, async (call) => {
    assert.match(await call('search_docs', { query: 'zebra' }), /site\/a/);
    assert.doesNotMatch(await call('search_docs', { query: 'quagga' }), /site\/b/);
  });
}));
