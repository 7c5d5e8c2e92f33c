// Measures sizes after brotli: the code that a page and its workers load to run an agent; the docs agent from its launcher to
// its first answer; the modules of the package by name.
import { newRun, once, taken, withTarget } from '../target.mjs';
import { weighFiles, weighLoaded } from '../weigh.mjs';

export const rounds = 1; // sizes do not change

async function module(given) {
  const { name, ours, site, url } = given;
  site.asked.length = 0;
  const under = new URL(name === ours ? '../turnwise/' : 'bundle.js', url).pathname;
  const loaded = await withTarget(given, async (target) => {
    await once(target, { turns: 3 });
    return weighLoaded(target.page, site.asked, under);
  });
  return { 'page module (B)': loaded.page, 'its workers (B)': loaded.workers };
}

/** Measures the tag in the book of our own documentation, with a model that searches once and answers. */
async function widget({ browser, model, site, ours, dist }) {
  const run = newRun();
  const at = `/${ours}/demo/measured.html`;
  const tag = /<turnwise-agent [^>]*>/;
  const html = String(await site.file(`/${ours}/demo/index.html`));
  if (!tag.test(html)) throw new Error('the book has no tag');
  site.pages[at] = html.replace(tag, `<turnwise-agent provider="openai" base-url="${model.url}/turns=1,run=${run},call=search_docs/v1" model="bench-1" docs="auto">`);
  const context = await browser.newContext();
  try {
    site.asked.length = 0;
    const page = await context.newPage();
    await page.goto(new URL(at, site.url).href);
    await page.waitForLoadState('networkidle');
    const package_ = `/${ours}/turnwise/`;
    const launcher = await weighLoaded(page, site.asked, package_);
    if (launcher.workers) throw new Error('a worker began before it was opened');
    const { outcome } = await page.evaluate(() => document.querySelector('turnwise-agent').ask('How many attempts has a turn?'));
    const { requests, results } = await taken(model, run);
    if (outcome !== 'success' || requests !== 2 || results !== 1) throw new Error(`wrong run: ${JSON.stringify({ outcome, requests, results })}`);
    const loaded = await weighLoaded(page, site.asked, package_);
    return {
      'launcher (B)': launcher.page,
      'opened widget, page (B)': loaded.page,
      'opened widget, workers to the first answer (B)': loaded.workers,
      'docs worker (B)': weighFiles(dist, /^turnwise\/docs-worker.*\.(js|wasm)$/),
      'tools worker (B)': weighFiles(dist, /^turnwise\/worker.*\.(js|wasm)$/),
      'app, its own modules (B)': weighFiles(dist, /^[^/]*\.(js|wasm)$/),
    };
  } finally {
    delete site.pages[at];
    await context.close();
  }
}

export const measure = async (given) => ({ ...await module(given), ...(given.name === given.ours && await widget(given)) });
