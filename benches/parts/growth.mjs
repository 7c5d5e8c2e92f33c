// Measures how the app's work grows with a stream: the processor time of 300,000 characters over that of 30,000, which arrive at the
// same pace. Each kind of text is one that a model can make as long as it likes: an answer of all kinds of blocks, the same in tiny
// deltas, one block that never ends, its reasoning, the arguments of one call.
import { setTimeout as sleep } from 'node:timers/promises';
import { reply, withScript } from '../../tests/e2e/lib/script-server.mjs';
import { withSite } from '../../tests/e2e/lib/site.mjs';
import { countable, rendererOf } from '../renderer.mjs';
import { KINDS } from './growth/texts.mjs';

export const SHORT = 30_000;
export const LONG = 300_000;
/** The server writes so many characters this often; its timers are about a millisecond late. */
const WRITE = 300;
const WRITE_MS = 15;
/** After the run has ended, what is left to be drawn and stored. */
const SETTLED_MS = 1500;
const LIMIT_MS = 180_000;

export const rounds = 3;
export const names = ({ ours }) => [ours];

/** The events of a reply as the server writes them: each write has about as many characters of the text. */
function writes(events, characters) {
  const size = Math.ceil(events.length / Math.ceil(characters / WRITE));
  return Array.from({ length: Math.ceil(events.length / size) }, (_, n) => events.slice(n * size, (n + 1) * size).join(''));
}

const cpuMs = async (session) => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value * 1000;

/** The processor time of one run in a new page, in milliseconds: of the page's thread, and of its process with all workers. */
export async function spent(browser, kind, characters) {
  const { events, shown } = KINDS[kind](characters);
  let release;
  const until = new Promise((resolve) => { release = resolve; });
  // After a call that fails, the model answers once more.
  const steps = [{ chunks: writes(events, characters), pace: WRITE_MS, until }, ...(kind === 'arguments' ? [{ chunks: reply({ text: 'Done.' }) }] : [])];
  return withScript(steps, (baseUrl) => withSite(async (site) => {
    const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
    const origins = [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }];
    const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, storageState: { cookies: [], origins } });
    try {
      const page = await context.newPage();
      const session = await context.newCDPSession(page);
      await session.send('Performance.enable', { timeDomain: 'threadTicks' });
      await page.goto(site.app);
      await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
      const renderer = countable ? await rendererOf(browser, page, () => cpuMs(session)) : undefined;
      await page.getByRole('textbox', { name: 'Task' }).fill('Describe the service, part by part.');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('Waiting for the model').first().waitFor();
      await sleep(SETTLED_MS);
      const before = { page: await cpuMs(session), process: renderer?.mark() };
      release();
      await page.waitForFunction(() => document.querySelector('.page[data-ended]'), undefined, { polling: 500, timeout: LIMIT_MS });
      await sleep(SETTLED_MS);
      const figures = { page: (await cpuMs(session)) - before.page, process: renderer?.since(before.process) };
      const text = await page.locator('.page[data-ended] .turn').first().evaluate((turn) => turn.textContent);
      if (!text.includes(shown)) throw new Error(`${kind}, ${characters}: the run has ended, but not with '${shown}'`);
      return figures;
    } finally {
      await context.close();
    }
  }));
}

export async function measure({ browser }) {
  const figures = {};
  for (const kind of Object.keys(KINDS)) {
    const [short, long] = [await spent(browser, kind, SHORT), await spent(browser, kind, LONG)];
    figures[`${kind}: page thread, ${SHORT} characters (ms)`] = short.page;
    figures[`${kind}: page thread, ${LONG} characters (ms)`] = long.page;
    figures[`${kind}: page thread, ten times the text`] = long.page / short.page;
    if (!countable) continue;
    figures[`${kind}: process, ${SHORT} characters (ms)`] = short.process;
    figures[`${kind}: process, ${LONG} characters (ms)`] = long.process;
    figures[`${kind}: process, ten times the text`] = long.process / short.process;
  }
  return figures;
}
