// A folder of real documents, dropped on the page: the agent finds the answer in one of more than two hundred files (the
// documentation that the npm package mathjs 5.10.3 ships) and names it.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { WIDE, drop, runTask, shown, withApp } from './lib/app.mjs';
import { root } from './lib/site.mjs';

const docs = path.join(root, 'tests/e2e/node_modules/mathjs/docs');

test('a question is answered from a dropped folder of real files, with the file named', async () => {
  const files = readdirSync(docs, { recursive: true }).filter((name) => name.endsWith('.md'));
  assert.ok(files.length >= 100, `only ${files.length} files`);
  // The fact is where the test says it is, so that a wrong answer is the agent's fault.
  assert.match(readFileSync(path.join(docs, 'datatypes/bignumbers.md'), 'utf8'), /default precision for BigNumber is 64 digits/);
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await drop(page, [docs]);
    // The sample files are there too, except those with the same name.
    await page.waitForFunction((least) => {
      const counts = [...document.querySelectorAll('button')].map((button) => /^Files\s+(\d+)/.exec(button.innerText.trim()));
      return counts.some((count) => count && Number(count[1]) >= least);
    }, files.length);
    await runTask(page, 'What is the default precision for BigNumber? Name the file.');
    const { turns, reason } = await shown(page);
    assert.equal(reason, 'llm_complete');
    const answer = turns.at(-1).text;
    assert.match(answer, /\b64\b/);
    assert.match(answer, /docs\/datatypes\/bignumbers\.md/);
  });
});
