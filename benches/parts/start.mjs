// Measures the time from run() to the first request at the server (or its preflight), in a browser with a profile on disk:
// on the first visit, and on the second and third, which find the files, and eventually their compiled code, in the cache.
// Each visit has its own tab and renderer, and starts the run as soon as its modules have run.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchAt } from '../browser.mjs';
import { limited, newRun, taken } from '../target.mjs';

const VISITS = ['first', 'second', 'third'];
const SETTLE_MS = 1000; // until the browser has written its caches

/** Runs in the page, before its scripts: starts a run once `runAgent` is set. */
function runAtOnce(options) {
  let agent;
  window.begun = new Promise((resolve, reject) => {
    Object.defineProperty(window, 'runAgent', {
      configurable: true,
      get: () => agent,
      set(given) {
        agent = given;
        // Waits until the module that sets it has finished.
        setTimeout(async () => {
          const at = performance.now();
          try {
            const { turns } = await agent(options);
            resolve({ opened: performance.timeOrigin, at: performance.timeOrigin + at, turns });
          } catch (error) {
            reject(error);
          }
        });
      },
    });
  });
}

async function visit(context, { model, url }) {
  const page = await context.newPage();
  const run = newRun();
  await page.addInitScript(runAtOnce, { baseUrl: `${model.url}/turns=1,run=${run}/v1`, turns: 1 });
  await page.goto(url);
  const { opened, at, turns } = await limited(page.evaluate(() => window.begun));
  if (turns !== 1) throw new Error(`wrong run: ${turns} turns instead of 1`);
  const { began } = await taken(model, run);
  return { page, start: began - at, opening: began - opened };
}

export async function measure(given) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'turnwise-bench-'));
  const context = await launchAt(folder); // its first tab stays open: without any tab, the browser would exit
  try {
    const figures = {};
    for (const name of VISITS) {
      const { page, start, opening } = await visit(context, given);
      figures[`run() to first request, ${name} visit (ms)`] = start;
      figures[`opening to first request, ${name} visit (ms)`] = opening;
      if (name === VISITS.at(-1)) break;
      await sleep(SETTLE_MS);
      await page.close();
    }
    return figures;
  } finally {
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
