// node .ci/progress.mjs WHAT COMMAND…: runs cargo and reports its progress: crates built, crates to build, time left.
// On a terminal, it rewrites one line; elsewhere (a log), it prints a line every 15 seconds. The command's output is shown
// only if it fails. Cargo's own bar would be enough on a terminal, but `cargo install` and logs have none.
import { spawn } from 'node:child_process';

const [what, program, ...args] = process.argv.slice(2);
const EVERY_MS = process.stderr.isTTY ? 500 : 15_000;
/** The last crate, ours, takes about this fraction of the total time. */
const LAST = 0.2;
const KEPT_LINES = 60;

const began = performance.now();
const seconds = () => Math.round((performance.now() - began) / 1000);
const kept = [];
let done = 0;
let total = 0;

const child = spawn(program, args, {
  stdio: ['ignore', 'pipe', 'pipe'],
  env: { ...process.env, CARGO_TERM_PROGRESS_WHEN: 'always', CARGO_TERM_PROGRESS_WIDTH: '100', CARGO_TERM_COLOR: 'never' },
});
for (const stream of [child.stdout, child.stderr]) {
  let rest = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split(/[\r\n]/);
    rest = lines.pop();
    for (const line of lines) hear(line);
  });
}

function hear(line) {
  const bar = /^\s*(?:Building|Downloading|Fetching) \[[=> ]*\] (\d+)\/(\d+)/.exec(line);
  if (bar) [done, total] = [Number(bar[1]), Number(bar[2])];
  else if (line.trim() && !/^\s*(Compiling|Downloaded|Downloading|Adding|Locking|Blocking|Updating|Fetch|Building)\b/.test(line)) {
    kept.push(line);
    if (kept.length > KEPT_LINES) kept.shift();
  }
}

function state() {
  if (!total) return 'downloading';
  const part = (done / total) * (1 - LAST);
  const left = part > 0.05 ? `, about ${clock(Math.max(1, (seconds() * (1 - part)) / part))} left` : '';
  return `${done} of ${total} crates${left}`;
}

const clock = (s) => (s < 90 ? `${Math.round(s)} s` : `${Math.round(s / 60)} min`);
const say = process.stderr.isTTY
  ? (text) => process.stderr.write(`\r\x1b[K${text}`)
  : (text) => process.stderr.write(`${text}\n`);

const ticking = setInterval(() => say(`  ${what} [${String(seconds()).padStart(3)} s] ${state()}`), EVERY_MS);
child.on('error', (error) => {
  kept.push(String(error));
  end(1);
});
child.on('close', (code) => end(code ?? 1));

let ended = false;
function end(code) {
  if (ended) return;
  ended = true;
  clearInterval(ticking);
  if (process.stderr.isTTY) say('');
  if (code !== 0) process.stderr.write(`${kept.join('\n')}\n`);
  process.exit(code);
}
