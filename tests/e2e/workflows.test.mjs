// The workflows in .github: which code of others runs in them, and with which rights.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root } from './lib/site.mjs';

const folder = path.join(root, '.github/workflows');
const files = readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]);
/** The code of a workflow's lines: a `#` in them begins a comment. */
const lines = (text) => text.split('\n').map((line) => line.replace(/(^|\s)#.*$/, '').trimEnd()).filter(Boolean);

/** `{ name: lines }` of the jobs. */
function jobs(text) {
  const all = lines(text);
  const found = {};
  let now;
  for (const line of all.slice(all.indexOf('jobs:') + 1)) {
    const name = /^ {2}([\w-]+):$/.exec(line)?.[1];
    if (name) now = found[name] = [];
    else now.push(line.trim());
  }
  return found;
}

/** The rights of a job: `contents: read`, … */
function rights(job) {
  const begin = job.indexOf('permissions:') + 1;
  const end = job.findIndex((line, at) => at >= begin && !/^[a-z-]+: (read|write|none)$/.test(line));
  return job.slice(begin, end);
}

test('every action is pinned by a commit, with its version beside it', () => {
  let actions = 0;
  for (const [name, text] of files) {
    for (const line of text.split('\n').filter((one) => one.includes('uses:'))) {
      actions += 1;
      assert.match(line, /^ +- uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, name);
    }
  }
  assert.ok(actions >= 6, `${actions} actions`);
});

test('a job has the rights that it needs: only what publishes may write an identity token, and nothing else is written by it', () => {
  const given = files.flatMap(([name, text]) => {
    const all = lines(text);
    assert.deepEqual(all.filter((line) => line.startsWith('permissions')), ['permissions: {}'], `${name}: no right is for all jobs`);
    return Object.entries(jobs(text)).map(([job, what]) => {
      assert.equal(what.filter((line) => line.startsWith('permissions:')).length, 1, `${name}: ${job} says its rights`);
      assert.equal(what.filter((line) => /: (write|read)$/.test(line)).length, rights(what).length, `${name}: ${job} says them in one place`);
      return [`${name} ${job}`, rights(what).join()];
    });
  });
  assert.deepEqual(Object.fromEntries(given), {
    'release.yml build': 'contents: read', 'release.yml publish': 'id-token: write', 'release.yml release': 'contents: write', 'test-all.yml test': 'contents: read', 'test.yml test': 'contents: read',
  });
  const { publish, release } = jobs(files.find(([name]) => name === 'release.yml')[1]);
  const runs = (job) => job.filter((line) => /^(- )?run:/.test(line));
  assert.equal(runs(publish).length, 1, 'nothing but npm runs beside the token');
  assert.match(runs(publish)[0], /^- run: npm publish \S+\.tgz .*--ignore-scripts$/);
  assert.match(runs(release)[0], /^run: gh release create /);
  for (const [name, text] of files) for (const [job, what] of Object.entries(jobs(text))) if (what.some((line) => line.includes('actions/checkout@'))) assert.ok(what.includes('persist-credentials: false'), `${name}: ${job} keeps no credentials`);
});

test('no text from outside becomes part of a script', () => {
  // An expression is the value of a variable, and the script reads that.
  for (const [name, text] of files) for (const line of lines(text).filter((one) => one.includes('${{'))) assert.match(line, /^ +[A-Z_]+: \$\{\{ [\w.]+ \}\}$/, name);
});
