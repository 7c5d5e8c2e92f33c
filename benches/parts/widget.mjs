// Compares the docs agent with deep-chat and with a page that has neither. "Open" is the time from the click until the field
// accepts text; deep-chat is open from the start.
import { weighLoaded } from '../weigh.mjs';

export const DEEP_CHAT = 'deep-chat';
const NOTHING = 'no widget';
const QUIET_MS = 1500;

export const names = ({ ours }) => [NOTHING, ours, DEEP_CHAT];

const host = (inside) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Docs</title><link rel="icon" href="data:,"><body><h1>Docs</h1>${'<p>A page of documentation, with some text in it.</p>'.repeat(40)}${inside}</body></html>`;

const field = (name) => (name === DEEP_CHAT
  ? () => window.ready && window.field()
  : () => document.querySelector('turnwise-agent').shadowRoot.querySelector('textarea, input[type=text]'));

function page(name, ours) {
  if (name === NOTHING) return { html: host(''), under: '/nothing/' };
  if (name === ours) return { html: host(`<script type="module" src="/${ours}/turnwise/embed.js"></script><turnwise-agent provider="openai" base-url="/v1" model="none" docs="off"></turnwise-agent>`), under: `/${ours}/turnwise/` };
  return { html: host(`<script type="module" src="/${name}/bundle.js"></script>`), under: `/${name}/` };
}

export async function measure({ browser, site, name, ours }) {
  const { html, under } = page(name, ours);
  site.pages['/host.html'] = html;
  site.asked.length = 0;
  const context = await browser.newContext();
  try {
    const tab = await context.newPage();
    const cdp = await context.newCDPSession(tab);
    await tab.addInitScript(() => {
      window.longest = 0;
      new PerformanceObserver((list) => { for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.startTime + task.duration); }).observe({ type: 'longtask', buffered: true });
    });
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    const cpu = async () => (await cdp.send('Performance.getMetrics')).metrics.find((metric) => metric.name === 'TaskDuration').value * 1000;
    await tab.goto(`${site.url}host.html`);
    if (name === DEEP_CHAT) await tab.waitForFunction(field(name));
    await tab.waitForTimeout(QUIET_MS);
    const figures = {
      'loaded before opening, page (B)': (await weighLoaded(tab, site.asked, under)).page,
      'interactive (ms)': await tab.evaluate(() => Math.max(performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd, window.longest, window.ready ?? 0)),
      'CPU before opening (ms)': await cpu(),
    };
    if (name !== NOTHING) Object.assign(figures, await open(tab, name, ours));
    if (name === NOTHING) return figures;
    await tab.waitForTimeout(QUIET_MS);
    const loaded = await weighLoaded(tab, site.asked, under);
    return { ...figures, 'loaded once open, page (B)': loaded.page, 'loaded once open, workers (B)': loaded.workers, 'CPU once open (ms)': await cpu() };
  } finally {
    delete site.pages['/host.html'];
    await context.close();
  }
}

async function open(tab, name, ours) {
  const began = await tab.evaluate(() => performance.now());
  if (name === ours) await tab.getByRole('button', { name: 'Ask the docs' }).click();
  await tab.waitForFunction(field(name), undefined, { polling: 'raf' });
  const opened = await tab.evaluate(async (of) => {
    const element = new Function(`return (${of})()`)();
    element.focus();
    document.execCommand('insertText', false, 'hello');
    await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
    return { at: performance.now(), typed: element.value ?? element.textContent };
  }, field(name).toString());
  if (!opened.typed.includes('hello')) throw new Error(`${name}: its field takes no text`);
  return { 'open (ms)': name === DEEP_CHAT ? 0 : opened.at - began };
}
