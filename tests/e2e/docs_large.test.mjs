// The docs agent on a site of 400 pages, as many as it reads: how soon it answers a visitor who was there before, and that the
// host's page stays smooth while the site is read for the first time.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { root } from './lib/site.mjs';
import { longestTasks } from './lib/trace.mjs';
import { answered, ask, launcher, page, withHost } from './lib/widget.mjs';

const PAGES = 400;
/** The goal is 1500 ms, on a machine that does nothing else; other tests run beside this one, on an unoptimised build. */
const WARM_MS = 3000;
const TASK_MS = 50;
/** The page itself does little while workers read. */
const IDLE_TASKS = 30;
const SECTIONS = 6;
const WORDS = 90;

/** Pages of paragraphs from the project's own documents, in another order on each. */
function site(url) {
  const folder = path.join(root, 'docs');
  const text = readdirSync(folder).filter((name) => name.endsWith('.md')).map((name) => readFileSync(path.join(folder, name), 'utf8')).join(' ');
  const words = text.match(/[A-Za-z]{3,}/g);
  const pages = {};
  const links = [];
  for (let n = 0; n < PAGES; n += 1) {
    const at = (n * 7919) % (words.length - SECTIONS * WORDS);
    const sections = Array.from({ length: SECTIONS }, (_, s) => {
      const part = words.slice(at + s * WORDS, at + (s + 1) * WORDS);
      return `<h2 id="s${s}">${part.slice(0, 4).join(' ')}</h2><p>${part.join(' ')}</p>`;
    });
    pages[`/docs/p${n}.html`] = `<!doctype html><html lang="en"><title>Page ${n}</title><main><h1>Page ${n}: ${words[at]}</h1>${sections.join('')}</main></html>`;
    links.push(`${url}docs/p${n}.html`);
  }
  pages['/docs/p7.html'] = pages['/docs/p7.html'].replace('</main>', '<h2 id="quagga">Grooming a quagga</h2><p>A quagga is groomed with a soft brush, twice a day.</p></main>');
  pages['/docs/'] = page({ attributes: 'provider="demo"' });
  pages['/docs/sitemap.xml'] = { type: 'application/xml', body: `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${links.map((link) => `<url><loc>${link}</loc></url>`).join('')}</urlset>` };
  return pages;
}

/** Resolves once everything that the tag read is stored in the browser. */
const stored = (tab) => tab.waitForFunction(() => new Promise((resolve) => {
  const asked = indexedDB.open('turnwise-docs', 1);
  asked.onupgradeneeded = () => asked.transaction.abort(); // only the reader may create the database
  asked.onerror = () => resolve(false);
  asked.onsuccess = () => {
    const all = asked.result.transaction('sites').objectStore('sites').count();
    all.onsuccess = () => { asked.result.close(); resolve(all.result === 1); };
  };
}), undefined, { timeout: 60000, polling: 100 });

test(`${PAGES} pages: no task over ${TASK_MS} ms on the host's thread while they are read, and a returning visitor's first answer within ${WARM_MS} ms`, (t) =>
  withHost({ headers: { 'cache-control': 'max-age=86400' } }, ({ url, pages }) => withPage(new URL('docs/', Object.assign(pages, site(url)) && url).href, {}, async (tab) => {
    const tasks = await longestTasks(tab, async () => {
      await launcher(tab).click();
      await stored(tab);
    }, IDLE_TASKS);
    t.diagnostic(`first visit: longest task ${tasks.wall.toFixed(1)} ms, ${tasks.cpu.toFixed(1)} ms of processor time`);
    await ask(tab, 'How do I groom a quagga?');
    await answered(tab);
    const took = [];
    for (let visit = 0; visit < 3; visit += 1) {
      // A tab of its own: a conversation belongs to its tab.
      const later = await tab.context().newPage();
      await later.goto(tab.url());
      await launcher(later).click();
      const field = later.locator('turnwise-agent').getByRole('textbox');
      await field.fill('How do I groom a quagga?');
      const began = await later.evaluate(() => performance.now());
      await field.press('Enter');
      const run = await answered(later);
      took.push(await later.evaluate((since) => performance.now() - since, began));
      assert.match(await run.locator('[part=answer]:not(:empty)').last().textContent(), /quagga/);
      assert.ok(await run.locator('.sources a[href*="p7.html"]').count(), await run.innerHTML());
      await later.close();
    }
    t.diagnostic(`later visits: from the question to the answer ${took.map(Math.round).join(', ')} ms`);
    assert.ok(Math.min(...took) <= WARM_MS, `${took} ms`);
    assert.ok(tasks.cpu <= TASK_MS, `${tasks.cpu} ms`);
  })));
