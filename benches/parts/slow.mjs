// Measures the app on a slow machine: the page's processor time is slowed four times. When it is painted and takes a task, when
// the demo has answered, and how long the page's tasks are while an answer of 30,000 characters arrives within 1.5 seconds.
import os from 'node:os';
import { reply, withScript } from '../../tests/e2e/lib/script-server.mjs';
import { withSite } from '../../tests/e2e/lib/site.mjs';
import { longestTasks } from '../../tests/e2e/lib/trace.mjs';

const SLOWER = 4;
const CHARACTERS = 30_000;
const STREAM_MS = 1500;
/** The server writes this often; its timers are about a millisecond late. */
const WRITE_MS = 15;
/** What a test does in the page would count as the page's own, so nothing is asked of it for as long as the run takes at most. */
const RUN_MS = 9000;
/** A person types quickly. */
const KEY_MS = 50;
/** After this time without news, nothing of the click is left to be drawn. */
const SETTLED_MS = 1000;
/** A task that a person may notice. */
const LONG_MS = 50;
const LAST = '\n\nThis is the last line.';

export const names = ({ ours }) => [ours];

/** A part of a long answer, with code in two languages, a table and lists. */
const section = (n) => `## Part ${n}: what the service does

The service reads **every order** of the day, adds up what each customer pays, and writes one line for each of them. Part ${n} takes the
rows as they come, so that a day with *many* orders needs no more memory than a quiet one. See \`orders.rs\` for the names.

\`\`\`rust
fn total(rows: &[Row]) -> u64 {
    rows.iter().filter(|row| row.paid).map(|row| row.price * row.count).sum() // part ${n}
}
\`\`\`

| customer | orders | total | note |
|---|---:|---:|---|
| North ${n} | ${n * 3} | ${n * 311} | pays late |
| South ${n} | ${n * 2} | ${n * 87} | new |
| East ${n} | ${n} | ${n * 45} | asked for a bill |

- rows without a price are left out
- rows of *yesterday* count for yesterday
  - unless their bill is of today

\`\`\`python
def bills(rows, day=${n}):
    for row in sorted(rows, key=lambda row: row["customer"]):
        yield f"{row['customer']}: {row['price'] * row['count']:.2f}"
\`\`\`

1. read the rows
2. add them up
3. write the bills

`;

function longAnswer() {
  let text = '';
  for (let n = 1; text.length < CHARACTERS; n += 1) text += section(n);
  return `${text.slice(0, CHARACTERS - LAST.length)}${LAST}`;
}

/** The answer as the server writes it: as many blocks as fit into the time. */
function blocks() {
  const events = reply({ text: longAnswer() });
  const count = Math.floor(STREAM_MS / (WRITE_MS + 1));
  const size = Math.ceil(events.length / count);
  return Array.from({ length: Math.ceil(events.length / size) }, (_, n) => events.slice(n * size, (n + 1) * size).join(''));
}

async function slowed(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
}

/** Notes in the page, without being asked: when the task box takes text, and every long task. */
function watch() {
  const noted = { long: [], interactive: undefined };
  window.noted = noted;
  new PerformanceObserver((list) => noted.long.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
  const look = setInterval(() => {
    const box = document.querySelector('textarea');
    if (!box || box.disabled) return;
    clearInterval(look);
    // What the page still has to do first may be in its queue already.
    requestAnimationFrame(() => setTimeout(() => { noted.interactive = performance.now(); }));
  }, 20);
}

/** Opens the app slowed, on a scripted model if there is an address, otherwise on the demo. */
const opened = (browser, baseUrl, body) => withSite(async (site) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
  const origins = baseUrl ? [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] : [];
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, storageState: { cookies: [], origins } });
  try {
    const page = await context.newPage();
    await page.addInitScript(watch);
    await slowed(page);
    await page.goto(site.app);
    return await body(page);
  } finally {
    await context.close();
  }
});

const firstMinute = (browser) => opened(browser, undefined, async (page) => {
  const example = page.getByRole('button', { name: /Tools over files/ });
  await page.waitForFunction(() => window.noted.interactive, undefined, { polling: 50 });
  await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
  await example.click();
  const answered = await page.waitForFunction(() => document.querySelector('.page[data-ended]') && performance.now(), undefined, { polling: 50, timeout: 60_000 });
  return {
    'first paint (ms)': await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime),
    'interactive (ms)': await page.evaluate(() => window.noted.interactive),
    'the demo has answered (ms)': await answered.jsonValue(),
  };
});

/**
 * Sends a task, and runs `body(page, stream)` once the app waits for the model: the click is over. `stream()` lets the answer come, and
 * waits until its run must have ended.
 */
async function streaming(browser, body) {
  let release;
  const until = new Promise((resolve) => { release = resolve; });
  return withScript([{ chunks: blocks(), pace: WRITE_MS, until }], (baseUrl) => opened(browser, baseUrl, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    await page.getByRole('textbox', { name: 'Task' }).pressSequentially('Describe the service, part by part.', { delay: KEY_MS });
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Waiting for the model').first().waitFor();
    await page.waitForTimeout(SETTLED_MS);
    const result = await body(page, async () => {
      release();
      await page.waitForTimeout(RUN_MS);
    });
    const shown = await page.locator('.page[data-ended] .turn').first().textContent();
    if (!shown.includes(LAST.trim())) throw new Error(`the run has not ended after ${RUN_MS} ms`);
    return result;
  }));
}

/**
 * Lets the threads that run pages go first. The server, the test and the browser's other processes share the machine's cores with
 * them, and Chromium measures by the clock how long a slowed page has worked: a part of its waiting for a core counts, too.
 * Returns whether the system allowed it.
 */
async function putFirst(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  try {
    // On Linux, that is the priority of a process's first thread alone.
    processInfo.filter(({ type }) => type === 'renderer').forEach(({ id }) => os.setPriority(id, os.constants.priority.PRIORITY_HIGHEST));
    return true;
  } catch (error) {
    console.log(`the page cannot be put first, which only root may do: ${error.message}`);
    return false;
  }
}

async function longByTheClock(page, stream) {
  await page.evaluate(() => { window.noted.long.length = 0; });
  await stream();
  const long = (await page.evaluate(() => window.noted.long)).filter((ms) => ms > LONG_MS);
  return [long.length, Math.max(0, ...long)];
}

const byTheClock = (browser) => streaming(browser, async (page, stream) => {
  const [count, longest] = await longByTheClock(page, stream);
  return { 'tasks over 50 ms while streaming, by the clock': count, 'the longest of them (ms)': longest };
});

/** The same with the page first; no figure if it is not. */
const byTheClockFirst = (browser) => streaming(browser, async (page, stream) => {
  const isFirst = await putFirst(browser);
  const [count, longest] = await longByTheClock(page, stream);
  return isFirst ? { 'the page first: tasks over 50 ms, by the clock': count, 'the longest of those (ms)': longest } : {};
});

/** No figure if the page is not first. */
const byItself = (browser) => streaming(browser, async (page, stream) => {
  const isFirst = await putFirst(browser);
  const { cpu } = await longestTasks(page, stream);
  return isFirst ? { 'the page first: longest task, its own time (ms)': cpu } : {};
});

/** How fast the machine is: what is four times slower depends on it. */
async function machine(browser) {
  const page = await browser.newPage();
  try {
    return {
      'the machine, not slowed: a million entries of a Map (ms)': await page.evaluate(() => {
        const begun = performance.now();
        const map = new Map();
        for (let n = 0; n < 1_000_000; n += 1) map.set(`key ${n}`, { n });
        return map.size && performance.now() - begun;
      }),
    };
  } finally {
    await page.close();
  }
}

export const measure = async ({ browser }) => ({ ...await machine(browser), ...await firstMinute(browser), ...await byTheClock(browser), ...await byTheClockFirst(browser), ...await byItself(browser) });
