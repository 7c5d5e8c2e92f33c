// The demo model imitates the pace of a real one. Its pauses are no part of what most tests check, but most of the time that
// they take. This shortens them where they are waited for: in the workers that drive runs.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const WORKERS = ['app-worker.js', 'engine-worker.js'];

/** Runs in a worker, before its own script: timers up to `most` ms fire `times` as early. */
function hurry(times, most) {
  const { setTimeout } = self;
  self.setTimeout = (then, ms, ...rest) => setTimeout(then, ms <= most ? ms / times : ms, ...rest);
}

/**
 * Mounts for `withSite`: the workers of the build in `site`, in which timers up to `most` ms are `times` as short. Longer
 * ones are deadlines, for which a busy machine needs its time.
 */
export function hurriedWorkers(site, { times = 10, most = 2000 } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-hurried-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return Object.fromEntries(WORKERS.filter((name) => existsSync(path.join(site, 'turnwise', name))).map((name) => {
    const file = path.join(folder, name);
    writeFileSync(file, `(${hurry})(${times}, ${most});\n${readFileSync(path.join(site, 'turnwise', name), 'utf8')}`);
    return [`/turnwise/${name}`, file];
  }));
}
