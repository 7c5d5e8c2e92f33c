// The requests of the docs reader: no credentials unless told to send them, nothing that may end a session, and no redirect
// to elsewhere, in a browser and in Node.js.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { dist } from './lib/site.mjs';

const TYPES = { '.js': 'text/javascript', '.wasm': 'application/wasm' };
const page = (title, links = '') => `<!doctype html><title>${title}</title><link rel="icon" href="data:,"><main><h1>${title}</h1><p>About ${title}.</p>${links}</main>`;
const LINKS = '<a href="/docs/open">o</a><a href="/docs/private">p</a><a href="/docs/moved">m</a><a href="/docs/away">a</a>'
  + '<a href="/docs/logout">out</a><a href="/docs/quiet" rel="nofollow">q</a><a href="/docs/out">x</a>';

const tagged = (include) => `${page('Tag', LINKS)}<script type="module" src="/turnwise/embed.js"></script><turnwise-agent provider="demo"${include ? ' docs-credentials="include"' : ''}></turnwise-agent>`;

/** Serves a site with a page behind a login, and the package. `away`: where `/docs/away` redirects. */
async function withDocs(away, body) {
  const asked = Object.assign([], { arrivals: new EventEmitter() });
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    if (pathname.startsWith('/turnwise/')) {
      const file = await readFile(path.join(dist, pathname)).catch(() => undefined);
      return response.writeHead(file ? 200 : 404, { 'content-type': TYPES[path.extname(pathname)] ?? 'text/plain' }).end(file);
    }
    asked.push([pathname, request.headers.cookie ?? '']);
    asked.arrivals.emit('request');
    const html = (status, text, headers = {}) => response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(text);
    switch (pathname) {
      case '/docs/': return html(200, page('Home', LINKS), { 'set-cookie': 'session=secret; HttpOnly; Path=/' });
      case '/docs/open': case '/docs/moved/': case '/docs/logout': case '/docs/quiet': return html(200, page(pathname.replaceAll('/', ' ')));
      case '/docs/moved': return html(302, '', { location: '/docs/moved/' });
      case '/docs/tag': case '/docs/tag-include': return html(200, tagged(pathname.endsWith('include')));
      case '/docs/out': return html(302, '', { location: '/login' });
      case '/login': return html(200, page('Login'));
      case '/docs/away': return html(302, '', { location: away });
      case '/docs/private': return request.headers.cookie ? html(200, page('Private')) : html(401, 'Log in first.');
      default: return html(404, '');
    }
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(`http://127.0.0.1:${server.address().port}/docs/`, asked);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Serves a page inside a private network, which the reader must never request. */
async function withInside(body) {
  let asked = 0;
  const server = http.createServer((request, response) => {
    asked += 1;
    response.writeHead(200, { 'content-type': 'text/html', 'access-control-allow-origin': '*' }).end(page('Inside'));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(`http://127.0.0.1:${server.address().port}/admin`, () => asked);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Reads the site to its end, and returns which of its pages are found. */
const READ = async ([module, url, options]) => {
  const { default: init, DocsSite } = await import(module);
  await init();
  const site = await DocsSite.open(url, { cache: false, ...options });
  for (const until = Date.now() + 60_000; !site.info.complete && Date.now() < until;) await new Promise((resolve) => { setTimeout(resolve, 25); });
  const found = {};
  for (const word of ['Home', 'open', 'moved', 'Private', 'Inside', 'Login', 'logout', 'quiet']) {
    found[word] = (await site.search(`About ${word}`, { limit: 20 })).hits.some((hit) => hit.page.trim().endsWith(word));
  }
  site.free();
  return Object.keys(found).filter((word) => found[word]);
};

const paths = (asked) => new Set(asked.map(([name]) => name));

test('a browser sends no cookies unless asked, and leaves logging out alone', () => withInside((inside, visits) => withDocs(inside, async (url, asked) => {
  await withPage(url, { reach: [new URL(inside).origin] }, async (tab) => {
    const module = new URL('/turnwise/turnwise.js', url).href;
    asked.length = 0;
    assert.deepEqual(await tab.evaluate(READ, [module, url, {}]), ['Home', 'open', 'moved']);
    assert.ok(asked.length >= 5 && asked.every(([, cookie]) => cookie === ''), JSON.stringify(asked));
    assert.ok(paths(asked).has('/docs/private') && !paths(asked).has('/docs/logout') && !paths(asked).has('/docs/quiet'), JSON.stringify(asked));
    asked.length = 0;
    assert.deepEqual(await tab.evaluate(READ, [module, url, { credentials: 'include' }]), ['Home', 'open', 'moved', 'Private']);
    assert.ok(asked.every(([, cookie]) => cookie === 'session=secret'), JSON.stringify(asked));
    assert.ok(!paths(asked).has('/docs/logout'), JSON.stringify(asked));
    const wrong = await tab.evaluate(([module, url]) => import(module).then(({ DocsSite }) => DocsSite.open(url, { credentials: 'all' })).catch(({ message }) => message), [module, url]);
    assert.match(wrong, /credentials.*'omit' or 'include'/);
  });
  assert.equal(visits(), 0, 'a redirect to elsewhere was followed');
})));

test('the tag sends cookies only where its attribute asks for them', () => withInside((inside) => withDocs(inside, async (url, asked) => {
  await withPage(url, { reach: [new URL(inside).origin] }, async (tab) => {
    const reads = async (name, cookie) => {
      asked.length = 0;
      await tab.goto(new URL(name, url).href);
      // On the second page the panel may already be open, as it was on the first.
      await tab.evaluate(async () => {
        await customElements.whenDefined('turnwise-agent');
        await document.querySelector('turnwise-agent').open();
      });
      const signal = AbortSignal.timeout(60_000);
      while (!asked.some(([path, sent]) => path === '/docs/private' && sent === cookie)) {
        await once(asked.arrivals, 'request', { signal }).catch(() => assert.fail(`${name}: ${JSON.stringify(asked)}`));
      }
      return asked.filter(([path]) => path !== `/docs/${name}`); // the visitor's own request has the cookie
    };
    const without = await reads('tag', '');
    assert.ok(without.every(([, sent]) => sent === ''), JSON.stringify(without));
    await reads('tag-include', 'session=secret');
  });
})));

test('Node.js follows no redirect to another origin', () => withInside((inside, visits) => withDocs(inside, async (url, asked) => {
  const found = await READ([path.join(dist, 'turnwise/node.js'), url, {}]);
  assert.deepEqual(found, ['Home', 'open', 'moved']);
  assert.equal(visits(), 0, 'a private address was asked');
  assert.ok(!paths(asked).has('/docs/logout'));
})));
