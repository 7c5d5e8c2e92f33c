// node .ci/e2e.mjs [FILE…]: runs the end-to-end tests, several files at a time, long files first. Files that measure times run
// alone, after all others. The last lines are what was slowest. CONCURRENCY sets how many files run at a time.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { spec as Spec } from 'node:test/reporters';

const root = path.resolve(import.meta.dirname, '..');
const SLOWEST = 10;
// Half of what a test does is waiting: for a browser to start, for a stream, for a deadline. More files than cores keep the
// cores busy meanwhile.
const CONCURRENCY = Number(process.env.CONCURRENCY || 3);
// The longest files, longest first, so that the end is not a single long file while a core has nothing to do. The rest takes
// less than a quarter of a minute each; the table at the end shows when this list is outdated.
const LONG = [
  'programs', 'kill', 'kept_records', 'app_faults', 'stored', 'app_tour', 'app_plan', 'app_strict', 'app_viewer', 'app_providers', 'app_subagents', 'key_proxy_hostile', 'faults', 'app_insight', 'widget', 'exports',
  'cookbook', 'app_exports', 'widget_hosts', 'widget_care', 'preflight', 'node_api', 'widget_hostile', 'client',
];
// Even a thread's own processor time depends on what else runs on its core: opening the docs panel took 15 ms alone, and 53 ms
// beside three other files.
const ALONE = ['docs_large'];

const all = () => [
  ...readdirSync(path.join(root, 'tests/e2e')).filter((name) => name.endsWith('.test.mjs')).map((name) => path.join(root, 'tests/e2e', name)),
  // Third-party libraries have their own folder, so that their dependencies do not conflict with those of the tests.
  path.join(root, 'tests/ecosystem/ecosystem.test.mjs'),
];
const place = (file) => (LONG.indexOf(path.basename(file, '.test.mjs')) + LONG.length + 1) % (LONG.length + 1);
const given = process.argv.slice(2).map((file) => path.resolve(file));
const files = given.length ? given : all().sort((a, b) => place(a) - place(b));

const tests = [];
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(9);

const isAlone = (file) => ALONE.includes(path.basename(file, '.test.mjs'));
await runFiles(files.filter((file) => !isAlone(file)), CONCURRENCY);
await runFiles(files.filter(isAlone), 1);
const byFile = new Map();
for (const { file, ms } of tests) byFile.set(file, (byFile.get(file) ?? 0) + ms);
table('Slowest files:', [...byFile].map(([name, ms]) => ({ name, ms })));
table('Slowest tests:', tests.map(({ name, file, ms }) => ({ name: `${file}: ${name}`, ms })));

async function runFiles(files, concurrency) {
  if (!files.length) return;
  const stream = run({ files, concurrency });
  for (const type of ['test:pass', 'test:fail']) {
    stream.on(type, ({ name, nesting, file, details }) => {
      if (type === 'test:fail' && !details.todo) process.exitCode = 1;
      if (nesting === 0) tests.push({ name, file: path.basename(file ?? name), ms: details.duration_ms });
    });
  }
  const report = stream.compose(new Spec());
  report.pipe(process.stdout, { end: false });
  await once(report, 'end');
}

function table(title, rows) {
  rows.sort((a, b) => b.ms - a.ms);
  const lines = rows.slice(0, SLOWEST).map(({ name, ms }) => `${seconds(ms)}  ${name.length > 110 ? `${name.slice(0, 109)}…` : name}`);
  console.log(`\n${title}\n${lines.join('\n')}`);
}
