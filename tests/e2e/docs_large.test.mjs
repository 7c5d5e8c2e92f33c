// The docs agent on a site of as many pages as it reads: the host's page stays smooth while the site is read, and a visitor who was
// there before is answered from what the browser kept. `make bench ONLY=docs` measures how soon.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGES, QUESTION, firstVisit, laterVisit, withLargeDocs } from './lib/large-docs.mjs';
import { answered, ask } from './lib/widget.mjs';

const TASK_MS = 50;
/** Pages that are fetched once more for an answer, because `read_page` returns them whole. */
const QUOTED = 12;

test(`${PAGES} pages: no task of the host's page takes over ${TASK_MS} ms of processor time while they are read, and a returning visitor does not wait for them`, (t) =>
  withLargeDocs(async (tab, { asked }) => {
    const { opening, reading } = await firstVisit(tab);
    t.diagnostic(`longest task, processor time: opening ${opening.cpu.toFixed(1)} ms, reading ${reading.cpu.toFixed(1)} ms`);
    for (const { cpu } of [opening, reading]) assert.ok(cpu <= TASK_MS, `${cpu} ms`);
    const read = () => asked.filter((path) => /^\/docs\/p\d+\.html$/.test(path)).length;
    assert.equal(read(), PAGES - 1, 'all but the page that is open');
    await ask(tab, QUESTION);
    await answered(tab);
    const before = read();
    await laterVisit(tab, async (run) => {
      assert.match(await run.locator('[part=answer]:not(:empty)').last().textContent(), /quagga/);
      assert.ok(await run.locator('.sources a[href*="p7.html"]').count(), await run.innerHTML());
    });
    assert.ok(read() - before <= QUOTED, `${read() - before} pages were read again`);
  }));
