// The cache of the documentation reader between visits (IndexedDB): used while the site is unchanged, for a day, and never
// waited for indefinitely.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { page, withHost } from './lib/widget.mjs';

const text = (body) => ({ type: 'text/plain', body });
const PAGES = () => ({
  '/': page({ tag: '' }).replace(/<script.*?<\/script>/, ''),
  '/llms.txt': text('# Halden\n\n> A client for queues.\n\n## Guide\n\n- [Retries](/retries.md): the retry policy\n'),
  '/retries.md': text('# Retries\n\nA request is tried three times.\n'),
});

/** Runs `body(open, tab, pages)`; `open(stores)` reads the site to its end, and if `stores`, waits until it is stored. */
const withReader = (body) => {
  const pages = PAGES();
  return withHost({ pages }, (host) => withPage(host.url, {}, async (tab) => {
    const open = (stores = true) => tab.evaluate(async (stores) => {
      /** The time at which the cached site was stored; undefined if it was not. */
      const stored = () => new Promise((resolve) => {
        const asked = indexedDB.open('turnwise-docs', 1);
        asked.onupgradeneeded = () => asked.transaction.abort(); // only the reader may create the database
        asked.onerror = () => resolve();
        asked.onsuccess = () => {
          const all = asked.result.transaction('sites').objectStore('sites').getAll();
          all.onsuccess = () => { asked.result.close(); resolve(all.result[0]?.at); };
        };
      });
      const { default: init, DocsSite } = await import('/turnwise/turnwise.js');
      await init();
      const [began, epoch] = [performance.now(), Date.now()];
      const site = await DocsSite.open(location.href, { html: document.documentElement.outerHTML });
      while (!site.info.complete) await new Promise((resolve) => { setTimeout(resolve, 20); });
      const took = performance.now() - began;
      const { cached } = site.info;
      // The site is stored after its last page is read.
      if (stores && !cached) while (!(await stored() >= epoch)) await new Promise((resolve) => { setTimeout(resolve, 20); });
      const { hits: [{ snippet }] } = await site.search('tried times');
      site.free();
      return { cached, snippet, took };
    }, stores);
    await body(open, tab, pages);
  }));
};

/** Runs `change(entry)` in the page for every cached entry. */
const changeKept = (tab, change) => tab.evaluate((code) => new Promise((resolve, reject) => {
  const asked = indexedDB.open('turnwise-docs', 1);
  asked.onerror = reject;
  asked.onsuccess = () => {
    const store = asked.result.transaction('sites', 'readwrite').objectStore('sites');
    const all = [];
    store.openCursor().onsuccess = ({ target: { result: cursor } }) => {
      if (!cursor) {
        asked.result.close();
        return resolve(all);
      }
      const { value } = cursor;
      new Function('entry', code)(value);
      all.push(Object.fromEntries(Object.entries(value).map(([name, held]) => [name, typeof held])));
      cursor.update(value);
      return cursor.continue();
    };
  };
}), change);

test('a site is kept as text, used while it is the same, and read again when it changed or after a day', () => withReader(async (open, tab, pages) => {
  assert.equal((await open()).cached, false);
  assert.deepEqual(await changeKept(tab, ''), [{ version: 'string', text: 'string', at: 'number' }]);
  assert.equal((await open()).cached, true);
  pages['/llms.txt'].body += '- [Queues](/queues.md): names\n';
  pages['/queues.md'] = text('# Queues\n\nTried many times.\n');
  assert.equal((await open()).cached, false);
  assert.equal((await open()).cached, true);
  await changeKept(tab, 'entry.at -= 25 * 60 * 60 * 1000');
  assert.equal((await open()).cached, false);
  await changeKept(tab, 'entry.text = "{"');
  assert.match((await open()).snippet, /tried/i, 'what was kept and is damaged is read again');
}));

test('a database that does not answer is waited for three seconds at most', () => withReader(async (open, tab) => {
  await open();
  await tab.evaluate(() => new Promise((resolve) => {
    const asked = indexedDB.open('turnwise-docs', 1);
    asked.onsuccess = () => {
      const store = asked.result.transaction('sites', 'readwrite').objectStore('sites');
      // A transaction that always issues another request never ends.
      const again = () => { store.get('none').onsuccess = again; };
      again();
      resolve();
    };
  }));
  const { cached, took, snippet } = await open(false);
  assert.equal(cached, false);
  assert.match(snippet, /three times/);
  assert.ok(took > 2500 && took < 8000, `${took} ms`);
}));
