// node .ci/serve.mjs FOLDER [COMMAND…]: serves a folder on http://127.0.0.1:8080 (PORT overrides) until interrupted. COMMAND builds the
// rest of the folder meanwhile: a request for a file that is not there yet waits for it.
import { spawn } from 'node:child_process';
import { serve } from './static.mjs';

const [folder, ...command] = process.argv.slice(2);
const port = Number(process.env.PORT || 8080);

/** Runs the command in a process group of its own, which ends with this process. */
function build() {
  const child = spawn('nice', ['-n', '10', ...command], { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  let running = true;
  process.on('exit', () => {
    if (running) process.kill(-child.pid, 'SIGTERM');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
  return new Promise((resolve) => child.on('close', (code) => {
    running = false;
    if (code) console.error('The readers of documents and of jq filters could not be built; the rest works.');
    resolve();
  }));
}

let begin;
const built = command.length ? new Promise((resolve) => { begin = () => build().then(resolve); }) : undefined;
try {
  const { url } = await serve(folder, { port, built });
  console.log(`Turnwise is at ${url}  (Ctrl+C ends it)`);
  begin?.();
} catch (error) {
  if (error.code !== 'EADDRINUSE') throw error;
  console.error(`port ${port} is taken: choose another with  make run PORT=${port + 1}`);
  process.exit(1);
}
