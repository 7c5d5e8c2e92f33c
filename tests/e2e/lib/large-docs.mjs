// A site of 400 pages, as many as the docs agent reads: 399 and the one that is open, with the tag and its demo model; one page has the answer to the question.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withPage } from './browser.mjs';
import { root } from './site.mjs';
import { longestTasks } from './trace.mjs';
import { answered, input, launcher, page, withHost } from './widget.mjs';

export const PAGES = 400;
export const QUESTION = 'How do I groom a quagga?';
const STORED_MS = 60_000;
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
  for (let n = 1; n < PAGES; n += 1) {
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

/** Whether everything that the tag read is stored in the browser. */
const isStored = (tab) => tab.evaluate(() => new Promise((resolve) => {
  const asked = indexedDB.open('turnwise-docs', 1);
  asked.onupgradeneeded = () => asked.transaction.abort(); // only the reader may create the database
  asked.onerror = () => resolve(false);
  asked.onsuccess = () => {
    const all = asked.result.transaction('sites').objectStore('sites').count();
    all.onsuccess = () => { asked.result.close(); resolve(all.result === 1); };
  };
}));

/** Resolves once it is. `waitForFunction` would not wait for a promise. */
async function stored(tab) {
  const late = performance.now() + STORED_MS;
  while (!await isStored(tab)) {
    if (performance.now() > late) throw new Error(`the site was not stored within ${STORED_MS / 1000} s`);
    await sleep(100);
  }
}

/** Opens the site in a fresh browser: `body(tab, host)`. */
export const withLargeDocs = (body) => withHost({ headers: { 'cache-control': 'max-age=86400' } }, (host) => {
  Object.assign(host.pages, site(host.url));
  return withPage(new URL('docs/', host.url).href, {}, (tab) => body(tab, host));
});

/** A first visit: the page's longest tasks while the panel opens, and from then on until the whole site is read and stored. */
export async function firstVisit(tab) {
  const opening = await longestTasks(tab, async () => {
    await launcher(tab).click();
    await input(tab).waitFor();
  }, IDLE_TASKS);
  return { opening, reading: await longestTasks(tab, () => stored(tab), IDLE_TASKS) };
}

/** A later visit, in a tab of its own because a conversation belongs to its tab: `body(run)` with the answer; resolves with the milliseconds from the question to the end of the answer. */
export async function laterVisit(tab, body = () => {}) {
  const later = await tab.context().newPage();
  await later.goto(tab.url());
  await launcher(later).click();
  const field = later.locator('turnwise-agent').getByRole('textbox');
  await field.fill(QUESTION);
  const began = await later.evaluate(() => performance.now());
  await field.press('Enter');
  const run = await answered(later);
  const took = await later.evaluate((since) => performance.now() - since, began);
  await body(run);
  await later.close();
  return took;
}
