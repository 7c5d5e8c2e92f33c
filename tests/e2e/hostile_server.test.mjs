// A server that sends what no model sends: each request ends, with a message and a slug, before the server has sent all of it.
// `make bench` measures how soon, how long the page stands still, and how much memory it takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIB, WORK, withHostile, works } from './lib/hostile.mjs';
import { withPackage } from './lib/site.mjs';

/** The client hung up: a socket buffers some megabytes. Documents may be larger than replies. */
const SENT_AT_MOST = { line: 64 * MIB, comment: 64 * MIB, json: 64 * MIB, models: 64 * MIB, docs: 128 * MIB };

test('each ends in words and a slug, and the client hangs up', () => withHostile((url, sent) =>
  withPackage({ reach: [url], expect: [/reply_too_large/, /error: .*/] }, async (page) => {
    await page.evaluate(WORK);
    const results = {};
    for (const [name, work, argument] of works(url)) {
      results[name] = await page.evaluate(([work, argument]) => window.hostile[work](window.turnwise, argument), [work, argument]);
      if (SENT_AT_MOST[name]) {
        const bytes = await sent[name]; // The page may be done before the server sees that it hung up.
        assert.ok(bytes < SENT_AT_MOST[name], `${name}: ${bytes} bytes`);
      }
    }
    for (const name of ['calls', 'line', 'comment', 'json', 'text', 'arguments']) {
      const { outcome, slugs, output } = results[name];
      assert.deepEqual([outcome, slugs], ['failed', ['reply_too_large']], JSON.stringify(results[name]));
      assert.match(output, /too large/);
    }
    const { keys, models, docs, tool, record } = results;
    assert.deepEqual([keys.outcome, keys.length, keys.streamed], ['success', MIB + 3, MIB + 3]);
    assert.match(models.message, /list of models was too large/);
    assert.deepEqual(docs, { pages: 1 });
    assert.equal(tool.outcome, 'success');
    assert.ok(tool.told < 30_000 && tool.record < 6 * MIB, JSON.stringify(tool));
    assert.equal(record.runs, 2);
    assert.ok(record.max_turns <= 1e9 && record.texts.every((length) => length < MIB), JSON.stringify(record));
  })));
