// node .ci/bare.mjs [run|test|test-all|dist]…: runs the first commands on a bare machine, from the last commit, and times each step.
// Bare means: empty HOME, CARGO_HOME and caches, a fresh clone, and only programs of the system, rustup and Python on PATH.
// RUSTUP_HOME is a copy of this machine's without the wasm32 target, so that your own is not changed. Debian packages that
// are already installed stay. `run` (the default) opens the app in Chromium and runs an example.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const WASM = 'wasm32-unknown-unknown';
const wanted = process.argv.slice(2).length ? process.argv.slice(2) : ['run'];
const unknown = wanted.filter((name) => !['run', 'test', 'test-all', 'dist'].includes(name));
if (unknown.length) {
  console.error(`unknown command ${unknown.join(', ')}: it takes run, test, test-all and dist`);
  process.exit(2);
}

const said = (program, ...args) => {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error ?? stderr}`);
  return stdout.trim();
};

/** Creates a bare machine in a folder: environment and clone. */
function bareMachine() {
  const at = mkdtempSync(path.join(process.env.BARE_DIR ?? os.tmpdir(), 'turnwise-bare-'));
  const [home, bin, rustup] = ['home', 'bin', 'rustup'].map((name) => path.join(at, name));
  for (const folder of [home, bin, path.join(home, 'tmp')]) mkdirSync(folder, { recursive: true });

  const from = said('rustup', 'show', 'home');
  const toolchain = said('rustup', 'show', 'active-toolchain').split(/\s/)[0];
  for (const name of ['settings.toml', 'update-hashes', `toolchains/${toolchain}`]) {
    if (existsSync(path.join(from, name))) cpSync(path.join(from, name), path.join(rustup, name), { recursive: true, verbatimSymlinks: true });
  }
  // All of rustup's proxies are the rustup program under another name.
  const proxy = path.join(process.env.CARGO_HOME ?? path.join(os.homedir(), '.cargo'), 'bin/rustup');
  for (const name of ['rustup', 'cargo', 'rustc', 'rustdoc', 'rustfmt', 'cargo-fmt', 'cargo-clippy', 'clippy-driver']) symlinkSync(proxy, path.join(bin, name));
  const python = path.dirname(said('python3', '-c', 'import sys; print(sys.executable)'));

  const env = {
    ...process.env, HOME: home, CARGO_HOME: path.join(home, '.cargo'), RUSTUP_HOME: rustup, RUSTUP_TOOLCHAIN: toolchain,
    PATH: [bin, '/usr/bin', '/bin', '/usr/sbin', '/sbin', python].join(':'),
    XDG_CACHE_HOME: path.join(home, '.cache'), XDG_CONFIG_HOME: path.join(home, '.config'), XDG_DATA_HOME: path.join(home, '.local'),
    npm_config_cache: path.join(home, '.npm'), PIP_CACHE_DIR: path.join(home, '.pip'), TMPDIR: path.join(home, 'tmp'),
  };
  for (const name of ['CARGO_TARGET_DIR', 'TURNWISE_TOOLS', 'MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'VIRTUAL_ENV']) delete env[name];
  const removed = spawnSync('rustup', ['target', 'remove', '--toolchain', toolchain, WASM], { env, encoding: 'utf8' });
  if (readdirSync(path.join(rustup, 'toolchains', toolchain, 'lib/rustlib')).includes(WASM)) throw new Error(`${WASM} is still there: ${removed.stderr}`);
  const clone = path.join(at, 'turnwise');
  said('git', 'clone', '--quiet', root, clone);
  return { at, env, clone };
}

const freePort = () => new Promise((resolve, reject) => {
  const probe = net.createServer().on('error', reject).listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});

const table = [];
const seconds = (since) => (performance.now() - since) / 1000;

/** Runs `make WHAT` and prints each line with the time. `matched` resolves when `until` matches a line, `ended` at its end. */
function make(machine, what, args, until) {
  const began = performance.now();
  const child = spawn('make', [what, ...args], { cwd: machine.clone, env: machine.env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const steps = [];
  let last = '';
  const ended = new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
  const matched = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream.setEncoding('utf8').on('data', (chunk) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop();
        for (const line of lines) {
          console.log(`${seconds(began).toFixed(0).padStart(5)} s  ${line}`);
          if (/^(setup|build) \[/.test(line)) steps.push([seconds(began), line.replace(/^(setup|build) \[ *\d+s\]/, '$1:')]);
          if (line.trim()) last = line;
          const found = until?.exec(line);
          if (found) resolve(found);
        }
      });
    }
  });
  /** Ends make and its child processes, which are a separate process group. */
  const end = () => {
    if (child.exitCode === null) process.kill(-child.pid, 'SIGINT');
    return ended;
  };
  return { began, steps, ended, matched, end, last: () => last };
}

function report(what, made, took) {
  table.push(`make ${what}: ${took.toFixed(0)} s`);
  made.steps.forEach(([at, step], i) => {
    const next = made.steps[i + 1]?.[0] ?? took;
    if (next - at >= 1) table.push(`  ${(next - at).toFixed(0).padStart(5)} s  ${step}`);
  });
}

async function run(machine) {
  const made = make(machine, 'run', [`PORT=${await freePort()}`], /Turnwise is at (\S+)/);
  try {
    const found = await Promise.race([made.matched, made.ended]);
    if (!Array.isArray(found)) throw new Error(`make run ended with ${found}`);
    const { withPage } = await import('../tests/e2e/lib/browser.mjs');
    const { runExample, shown } = await import('../tests/e2e/lib/app.mjs');
    await withPage(found[1], {}, async (page) => {
      await page.getByRole('textbox', { name: 'Task' }).waitFor({ timeout: 60_000 });
      await runExample(page, /Tools over files/);
      const { outcome, turns } = await shown(page);
      if (outcome !== 'success') throw new Error(`the example ended with ${outcome}`);
      console.log(`The example was answered in ${turns.length} turns.`);
    });
    report('run, from nothing to an answered example', made, seconds(made.began));
  } finally {
    await made.end();
  }
}

async function finish(machine, what) {
  const made = make(machine, what, []);
  const code = await made.ended;
  report(what, made, seconds(made.began));
  table.push(`         ${made.last()}`);
  if (code !== 0) throw new Error(`make ${what} ended with ${code}`);
}

let failed = false;
for (const what of wanted) {
  const machine = bareMachine();
  console.log(`make ${what} in ${machine.clone}, at ${said('git', '-C', machine.clone, 'log', '-1', '--format=%h %s')}`);
  try {
    await (what === 'run' ? run(machine) : finish(machine, what));
  } catch (error) {
    failed = true;
    table.push(`make ${what} FAILED: ${error.message}`);
    console.error(error);
  } finally {
    rmSync(machine.at, { recursive: true, force: true });
  }
}
console.log(`\n${table.join('\n')}\n\n${failed ? 'FAILED' : 'passed'}`);
process.exit(failed ? 1 : 0);
