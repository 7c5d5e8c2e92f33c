// node .ci/e2e.mjs [FILE…]: runs the end-to-end tests, several files at a time, long files first. Files that measure times run
// alone, after all others. The last lines are what was slowest, and what is left for `make test-all` if TURNWISE_SHORT is set
// (tests/e2e/lib/tier.mjs). CONCURRENCY sets how many files run at a time.
// node .ci/e2e.mjs --failed: runs the files that failed the last time.
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { spec as Spec } from 'node:test/reporters';
import { LEFT, SHORT } from '../tests/e2e/lib/tier.mjs';

const root = path.resolve(import.meta.dirname, '..');
const SLOWEST = Number(process.env.SLOWEST || 10);
// Half of what a test does is waiting: for a browser to start, for a stream, for a deadline. More files than cores keep the
// cores busy meanwhile.
const CONCURRENCY = Number(process.env.CONCURRENCY || 3);
// The longest files, longest first, so that the end is not a single long file while a core has nothing to do. The rest takes
// less than a quarter of a minute each; the table at the end shows when this list is outdated.
const LONG = [
  'programs', 'kill', 'kept_records', 'app_faults', 'stored', 'app_tour', 'app_plan', 'app_strict', 'app_viewer', 'app_providers', 'app_subagents', 'key_proxy_hostile', 'faults', 'app_insight', 'widget', 'exports',
  'cookbook', 'app_exports', 'widget_host_pages', 'widget_hosts', 'widget_care', 'preflight', 'node_api', 'widget_hostile', 'client',
];
// Even a thread's own processor time depends on what else runs on its core: opening the docs panel took 15 ms alone, and 53 ms
// beside three other files.
const ALONE = ['docs_large', 'app_large'];
// `make test` does not install the packages of others that these files try.
const ECOSYSTEM = path.join(root, 'tests/ecosystem');
// The further files that `make test` leaves for `make test-all`. Parts of further files are left too, each file says which.
const ONLY_ALL = [
  // Servers, hosts of others, real sites, hostile files and indexes.
  'aimock', 'fleet', 'hostile', 'hostile_docs', 'llamacpp', 'llmock', 'sites',
  // Sizes that differ from those of other tests in number only.
  'app_growth', 'app_large', 'crowd', 'docs_large', 'long_trajectory',
  // Second walks through the app: make test walks once through each of its parts (app_answer, app_demo, app_plan, app_viewer,
  // app_trajectory, app_settings, app_providers, app_permissions, app_folder, stored, app_tasks_phone, app_axe).
  'app_again', 'app_branches', 'app_draft', 'app_exports', 'app_faults', 'app_focus', 'app_insight', 'app_offline', 'app_openrouter',
  'app_plans_stored', 'app_return', 'app_tasks_keys', 'app_tour', 'app_viewer_work', 'preflight',
  // What is drawn: formulas, diagrams, charts; their rules are tested natively (formulas, figure).
  'app_drawing', 'app_figures', 'app_programs',
  // Further models and pages of the same paths: chaos of the demo model, all faults, all recipes, the ten languages of the panel,
  // further host pages, each of the panel's states under axe (app_axe and widget_phone stay).
  'chaos', 'cookbook', 'faults', 'formats', 'widget_axe', 'widget_care', 'widget_host_pages', 'widget_hosts', 'widget_languages',
];

const all = () => [
  ...readdirSync(path.join(root, 'tests/e2e')).filter((name) => name.endsWith('.test.mjs')).map((name) => path.join(root, 'tests/e2e', name)),
  // Third-party libraries have their own folder, so that their dependencies do not conflict with those of the tests.
  ...readdirSync(ECOSYSTEM).filter((name) => name.endsWith('.test.mjs')).map((name) => path.join(ECOSYSTEM, name)),
];
const nameOf = (file) => path.basename(file, '.test.mjs');
const place = (file) => (LONG.indexOf(nameOf(file)) + LONG.length + 1) % (LONG.length + 1);
// One path per line.
const FAILED = path.join(root, 'target/e2e-failed');
const given = process.argv[2] === '--failed' ? lastFailed() : process.argv.slice(2).map((file) => path.resolve(file));
const isLeft = (file) => SHORT && !given.length && (path.dirname(file) === ECOSYSTEM || ONLY_ALL.includes(nameOf(file)));
const wanted = given.length ? given : all().sort((a, b) => place(a) - place(b));
const files = wanted.filter((file) => !isLeft(file));

const tests = [];
const failed = new Set();
const left = { files: wanted.filter(isLeft).map(nameOf), tests: 0, cases: new Map() };
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(9);

const isAlone = (file) => ALONE.includes(nameOf(file));
await runFiles(files.filter((file) => !isAlone(file)), CONCURRENCY);
await runFiles(files.filter(isAlone), 1);
mkdirSync(path.dirname(FAILED), { recursive: true });
writeFileSync(FAILED, [...failed].join('\n'));
// Before the tables, after which .ci/test.mjs reads no figures. Node's own count these tests as skipped.
if (SHORT) console.log(`ℹ left ${left.tests}`);
const byFile = new Map();
for (const { file, ms } of tests) byFile.set(file, (byFile.get(file) ?? 0) + ms);
if (files.length > 1) table('Slowest files:', [...byFile].map(([name, ms]) => ({ name, ms })));
table('Slowest tests:', tests.map(({ name, file, ms }) => ({ name: `${file}: ${name}`, ms })));
if (SHORT) sayLeft();

async function runFiles(files, concurrency) {
  if (!files.length) return;
  const stream = run({ files, concurrency });
  for (const type of ['test:pass', 'test:fail']) {
    stream.on(type, ({ name, nesting, file, details, skip }) => {
      if (type === 'test:fail' && !details.todo) {
        process.exitCode = 1;
        if (file) failed.add(file);
      }
      if (skip === LEFT) left.tests += 1;
      if (nesting === 0) tests.push({ name, file: path.basename(file ?? name), ms: details.duration_ms });
    });
  }
  stream.on('test:diagnostic', ({ message }) => {
    const [, n, what] = new RegExp(`^(\\d+) (.*) ${LEFT}$`).exec(message) ?? [];
    if (n) left.cases.set(what, (left.cases.get(what) ?? 0) + Number(n));
  });
  const report = stream.compose(new Spec());
  report.pipe(process.stdout, { end: false });
  await once(report, 'end');
}

/** The files of which a test failed when this command ran last. */
function lastFailed() {
  let files = [];
  try {
    files = readFileSync(FAILED, 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  if (!files.length) {
    console.log('e2e: no file failed the last time');
    process.exit();
  }
  return files;
}

/** Says what was left out. */
function sayLeft() {
  const said = [`${left.tests} tests`, ...[...left.cases].map(([what, n]) => `${n} ${what}`)];
  if (left.files.length) said.push(`the files ${left.files.join(', ')}`);
  console.log(`\nLeft for make test-all: ${said.join('; ')}`);
}

function table(title, rows) {
  rows.sort((a, b) => b.ms - a.ms);
  const lines = rows.slice(0, SLOWEST).map(({ name, ms }) => `${seconds(ms)}  ${name.length > 110 ? `${name.slice(0, 109)}…` : name}`);
  console.log(`\n${title}\n${lines.join('\n')}`);
}
