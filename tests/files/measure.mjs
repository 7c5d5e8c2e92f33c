// node tests/files/measure.mjs FOLDER PDF: measures in Chromium, with the site in SITE (dist by default), how a long PDF, a CSV of 50 MB
// and a sheet of 100,000 rows are read and searched: the time of each call, the longest task on the page's thread, and the
// memory of the largest renderer.
import { execFileSync } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { xlsx } from '../e2e/lib/documents.mjs';
import { withScript } from '../e2e/lib/script-server.mjs';
import { withPackage } from '../e2e/lib/site.mjs';

const [folder, pdf] = process.argv.slice(2);
const big = path.resolve(folder, 'big');
mkdirSync(big, { recursive: true });
writeFileSync(path.join(big, 'long.pdf'), readFileSync(pdf));
writeFileSync(path.join(big, 'rows.xlsx'), xlsx({ Rows: Array.from({ length: 100_000 }, (_, row) => [`order ${row}`, row * 7 % 1_000, row / 4, 'north', `note ${row % 97}`]) }));
const csv = createWriteStream(path.join(big, 'table.csv'));
for (let row = 0, size = 0; size < 50_000_000; row += 1) {
  const line = `${row},order ${row},${row * 7 % 1_000},north,some words that stand for a note\n`;
  size += line.length;
  if (!csv.write(line)) await once(csv, 'drain');
}
csv.end();
await once(csv, 'finish');

/** The memory of the largest renderer, in MB. */
function renderer() {
  const lines = execFileSync('ps', ['-eo', 'rss,args'], { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\n');
  return Math.max(0, ...lines.filter((line) => line.includes('--type=renderer')).map((line) => Number.parseInt(line, 10) / 1000));
}

for (const [name, calls] of [
  ['long.pdf', [['read_file', { path: 'long.pdf', limit: 20 }], ['search_files', { query: 'terminal window' }]]],
  ['table.csv', [['read_file', { path: 'table.csv', offset: 400_000, limit: 20 }], ['search_files', { query: 'order' }]]],
  ['rows.xlsx', [['read_file', { path: 'rows.xlsx', limit: 20 }], ['search_files', { query: 'order 77777' }]]],
]) {
  const steps = [...calls.map(([tool, args], at) => ({ calls: [{ id: `${at}`, name: tool, args }] })), { text: 'Done.' }];
  await withScript(steps, (baseUrl) => withPackage({ reach: [baseUrl] }, async (page) => {
    const before = renderer();
    let most = before;
    const watch = setInterval(() => { most = Math.max(most, renderer()); }, 100);
    const { longest, results } = await page.evaluate(async ({ baseUrl, name }) => {
      const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['read_file', 'search_files'], maxTurns: 10, limits: { toolTimeoutMs: 120_000 } });
      agent.files.put(name, await (await fetch(`/big/${name}`)).blob());
      let longest = 0;
      new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) longest = Math.max(longest, duration); }).observe({ type: 'longtask' });
      const trajectory = await agent.run('Go.');
      return { longest, results: trajectory.turns.flatMap((turn) => turn.tool_calls.map(({ result, duration_ms: ms }) => [ms, result.slice(0, 120)])) };
    }, { baseUrl, name });
    clearInterval(watch);
    console.log(`${name}: calls ${results.map(([ms]) => Math.round(ms)).join(', ')} ms; longest task on the page's thread ${longest ? `${longest.toFixed(0)} ms` : 'under 50 ms'}; renderer ${before.toFixed(0)} → ${most.toFixed(0)} MB`);
    for (const [, result] of results) console.log(`   ${JSON.stringify(result)}`);
  }, { mounts: { '/big/': big } }));
}
