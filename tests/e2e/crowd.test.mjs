// Two hundred runs at once in one page: all finish, with exactly the requests that their scripts need, never more than four
// of them open. `make bench` measures what they cost: the page's tasks, and the memory that they leave behind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPEN_AT_MOST, check, crowd, withModel } from './lib/crowd.mjs';
import { withPackage } from './lib/site.mjs';

const RUNS = 200;

test(`${RUNS} runs at once in one page`, () => withModel((baseUrl, seen) => withPackage({ reach: [baseUrl] }, async (page) => {
  seen.crowd = true;
  check(await crowd(page, baseUrl, RUNS), RUNS, seen);
  assert.equal(seen.most, OPEN_AT_MOST, 'requests open at one origin at a time');
})));
