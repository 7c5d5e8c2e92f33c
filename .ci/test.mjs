// node .ci/test.mjs [--all] [STEP…]: runs the checks of `make test`, or the given ones: build format deny clippy docs native wasm
// plain e2e packages. With --all, those of `make test-all`: the same and what takes long.
// A failed step does not stop the others. The last lines are what was slowest end to end, what is left for `make test-all`, each
// step's time, the slowest step first, and the totals of all runners; the exit code is 0 only if everything passed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const WASM = 'wasm32-unknown-unknown';
// The site that is tested. It is built without LTO, which takes a third of the time; `make dist` builds and measures what is shipped.
const SITE = 'target/site/quick';
const EMPTY_CARGO_HOME = path.join(root, 'target/empty-cargo-home');
const ALL = process.argv.includes('--all');
// The end-to-end tests read it (tests/e2e/lib/tier.mjs).
if (ALL) delete process.env.TURNWISE_SHORT;
else process.env.TURNWISE_SHORT = '1';
/** Commands of `make test-all`. */
const onlyAll = (...commands) => (ALL ? commands : []);
const clippy = (...args) => ['cargo', 'clippy', '--locked', '--quiet', ...args, '--', '--deny', 'warnings'];

const doc = (...args) => ['cargo', 'doc', '--workspace', '--locked', '--quiet', '--no-deps', ...args];

/** The figures of nextest and of cargo's runner. */
// Summary [ 3.1s] 10 tests run: 9 passed (1 slow), 1 failed, 2 skipped
// test result: ok. 12 passed; 0 failed; 0 ignored; 0 filtered out
const ofCargo = (line) => /tests? run:|^test result:/.test(line) && {
  passed: figure(line, 'passed'), failed: figure(line, 'failed') + figure(line, 'timed out'), skipped: figure(line, 'skipped') + figure(line, 'ignored'),
};

// name -> commands, run in sequence. `all`: a step of `make test-all`. `beside`: the next steps do not wait for it, except those with
// `waits`, and its output is shown when it has ended. `count` finds a runner's figures in a line of its output.
const steps = {
  // Mostly single-threaded: the steps that do not need its output run in parallel.
  build: {
    beside: true,
    commands: [
      ['.ci/build', 'quick', SITE],
      ...onlyAll(
        // Two real documentation sites for the docs agent; make test-sites has all seventeen.
        [process.execPath, 'tests/sites/build.mjs', 'mdbook', 'mkdocs'],
        // Every download, into an empty cache: a warm one would hide what fails. `make bare` also builds from an empty cache.
        ['cargo', 'fetch', '--locked', '--quiet'],
      ),
    ],
    env: [{ EXTRA_FEATURES: 'test-tools' }, {}, { CARGO_HOME: EMPTY_CARGO_HOME }],
  },
  format: { commands: [['cargo', 'fmt', '--check']] },
  deny: {
    commands: [[process.execPath, '.ci/deny.mjs']],
    // dependencies: 1 passed, 0 failed, 1 skipped
    count: (line) => /^dependencies: /.test(line) && { passed: figure(line, 'passed'), failed: figure(line, 'failed'), skipped: figure(line, 'skipped') },
  },
  clippy: {
    commands: [
      clippy('--workspace', '--all-targets'),
      // What is for browsers only is compiled by the steps `build` and `wasm`.
      ...onlyAll(clippy('--workspace', '--target', WASM, '--lib', '--bins', '--examples', '--test', 'wasm_*')),
    ],
  },
  docs: {
    all: true,
    commands: [doc(), doc('--target', WASM)],
    env: [{ RUSTDOCFLAGS: '--deny warnings' }, { RUSTDOCFLAGS: '--deny warnings' }],
  },
  native: {
    commands: [hasNextest()
      ? ['cargo', 'nextest', 'run', '--workspace', '--locked', '--cargo-quiet', '--status-level', 'fail', '--final-status-level', 'fail', '--no-fail-fast']
      : ['cargo', 'test', '--workspace', '--locked', '--quiet', '--no-fail-fast', '--tests'],
    ['cargo', 'test', '--workspace', '--locked', '--quiet', '--doc'],
    ['cargo', 'run', '--locked', '--quiet', '--example', 'scripted_model']],
    count: ofCargo,
  },
  // As users type it: it also compiles everything else that is there, for wasm32.
  wasm: {
    commands: [['wasm-pack', 'test', '--headless', '--chrome']],
    count: ofCargo,
  },
  // The other plain commands, as users type them, but for the folder of trunk: dist/ may have a release.
  plain: {
    all: true,
    commands: [
      ['cargo', 'test'], ['cargo', 'doc'], ['trunk', 'build', '--dist', 'target/site/trunk'],
      ['cargo', 'publish', '--dry-run', '--allow-dirty', '--quiet', '--package', 'turnwise-engine', '--package', 'turnwise-llm'],
    ],
    count: ofCargo,
  },
  e2e: {
    waits: true,
    // No test measures time or memory, which `make bench` does, so several files run at once.
    commands: [[process.execPath, '.ci/e2e.mjs']],
    env: [{ SITE }],
    count: counted,
  },
  // The tarball and the zips in bundlers and frameworks.
  packages: {
    waits: true,
    commands: [
      [process.execPath, '.ci/pack.mjs', SITE],
      existsSync(path.join(root, 'tests/packages/node_modules/.installed'))
        ? [process.execPath, '.ci/e2e.mjs', 'tests/packages/packages.test.mjs', 'tests/packages/zips.test.mjs']
        : [process.execPath, '-e', 'console.log("The frameworks could not be installed here, so the package is not tested in them.\\nℹ skipped 1")'],
      [process.execPath, '.ci/e2e.mjs', 'tests/packages/runtimes.test.mjs'],
    ],
    env: [{}, { SITE }, { SITE }],
    count: counted,
  },
};

/** Whether nextest is installed. It runs the native tests faster, but building it for one run would take longer than it saves. */
function hasNextest() {
  return spawnSync('cargo', ['nextest', '--version'], { stdio: 'ignore' }).status === 0;
}

function figure(line, word) {
  return Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
}

/** Reads the figures of node's runner: ℹ pass 3. What is left for `make test-all` is not skipped. */
function counted(line) {
  const found = /^ℹ (pass|fail|cancelled|skipped|todo|left) (\d+)$/.exec(line);
  if (!found) return undefined;
  if (found[1] === 'left') return { skipped: -Number(found[2]) };
  const kind = { pass: 'passed', fail: 'failed', cancelled: 'failed', skipped: 'skipped', todo: 'skipped' }[found[1]];
  return { [kind]: Number(found[2]) };
}

const total = { passed: 0, failed: 0, skipped: 0 };

// Repeats node's report of failed tests at the very end, because a truncated log keeps its end.
const FAILING = /^✖ failing tests:/;
const failures = [];
const MOST_LINES = 120;
// Repeats the tables of .ci/e2e.mjs at the end, and what it left out.
const SLOWEST = /^(Slowest (files|tests)|Left for make test-all):/;
const slowest = [];

/** Runs one command; `say` receives the lines of its output. Resolves with its exit code. */
function run([program, ...args], env, count, say) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, env: { ...process.env, CARGO_TERM_COLOR: 'never', ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let [failing, slow] = [false, false];
    const onText = lines((line) => {
      say(line);
      if (SLOWEST.test(line) || slow) {
        slow = true;
        slowest.push(line);
        return;
      }
      failing ||= FAILING.test(line.replace(/\x1b\[[0-9;]*m/g, '').trim());
      if (failing && failures.length < MOST_LINES) failures.push(line.slice(0, 300));
      for (const [kind, n] of Object.entries(count?.(line.replace(/\x1b\[[0-9;]*m/g, '').trim()) || {})) total[kind] += n;
    });
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onText());
    child.on('error', (error) => { say(String(error)); resolve({ code: 1, processor: 0 }); });
    child.on('close', (code) => resolve({ code: code ?? 1, processor: processorSinceLast() }));
  });
}

let childrenBefore = 0;
/**
 * The processor time, in seconds, of the children that ended since the last call, with all their own children that they waited for: a
 * measure that does not depend on what else the machine does. 0 where the system does not say.
 */
function processorSinceLast() {
  try {
    // Fields 16 and 17 of proc(5), in hundredths of a second; the name in parentheses may have spaces.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    const all = (Number(fields[13]) + Number(fields[14])) / 100;
    const since = all - childrenBefore;
    childrenBefore = all;
    return since;
  } catch {
    return 0;
  }
}

/** Returns a function that creates listeners which split a stream's chunks into lines. */
function lines(onLine) {
  return () => {
    let rest = '';
    return (chunk) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop();
      parts.forEach(onLine);
    };
  };
}

const wanted = process.argv.slice(2).filter((word) => word !== '--all');
const unknown = wanted.filter((name) => !(name in steps));
if (unknown.length) {
  console.error(`unknown step ${unknown.join(', ')}; there are ${Object.keys(steps).join(' ')}`);
  process.exit(2);
}
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(0)} s`;
const began = performance.now();
const table = [];
let ok = true;
async function perform(name, { commands, count, beside, env = [] }) {
  const stepBegan = performance.now();
  const failedBefore = total.failed;
  const kept = [];
  const say = beside ? (line) => kept.push(line) : console.log;
  let passed = true;
  let processor = 0;
  for (const [i, command] of commands.entries()) {
    say(`\n=== ${name}: ${command.join(' ')}`);
    const ended = await run(command, env[i], count, say);
    passed = ended.code === 0 && passed;
    processor += ended.processor;
  }
  if (beside) console.log(kept.join('\n'));
  if (!passed) ok = false;
  // A failed step without a runner, or one that crashed before its runner could count, counts as one failure.
  if (!passed && (!count || total.failed === failedBefore)) total.failed += 1;
  if (passed && !count) total.passed += 1;
  table.push({ ms: performance.now() - stepBegan, text: `${name.padEnd(8)} ${passed ? 'passed' : 'FAILED'} ${seconds(stepBegan).padStart(7)}, processor ${processor.toFixed(0).padStart(5)} s${beside ? ', beside the others' : ''}` });
}

rmSync(EMPTY_CARGO_HOME, { recursive: true, force: true });
// A full disk shows itself late, as a failure of whatever writes next.
const NEEDED_GB = 15;
const { bavail, bsize } = statfsSync(root);
const freeGb = (bavail * bsize) / 1e9;
if (freeGb < NEEDED_GB) console.log(`Only ${freeGb.toFixed(1)} GB of disk are free; all checks from nothing need up to ${NEEDED_GB} GB.`);
const going = [];
for (const [name, step] of Object.entries(steps)) {
  if (wanted.length ? !wanted.includes(name) : step.all && !ALL) continue;
  if (step.waits) await Promise.all(going);
  const performed = perform(name, step);
  if (step.beside) going.push(performed);
  else await performed;
}
await Promise.all(going);
if (failures.length) console.log(`\nWhat failed end to end:\n${failures.join('\n')}`);
if (slowest.length) console.log(`\n${slowest.join('\n').trimEnd()}`);
table.sort((a, b) => b.ms - a.ms);
console.log(`\n${table.map(({ text }) => text).join('\n')}\ntotal time ${seconds(began)}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(ok ? 0 : 1);
