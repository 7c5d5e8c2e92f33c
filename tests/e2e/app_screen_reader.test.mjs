// A run followed without seeing the page: by what live regions announce and by Chromium's accessibility tree, with the keyboard.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answered, showTurns } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';

const call = (id, expression) => ({ id, name: 'calculate', args: { expression } });

/** The names of the nodes of a role in Chromium's accessibility tree. */
async function named(session, role) {
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  return nodes.filter((node) => !node.ignored && node.role?.value === role).map((node) => node.name?.value ?? '');
}

let conclude;
const heardIt = new Promise((resolve) => { conclude = resolve; });

test('turns, urgency, the limit, a permission and the end are heard, and found in the tree', () => withSite((site) => withScript([
  { text: 'One.', calls: [call('a', '1 + 1')] },
  { text: 'Two.', calls: [{ id: 'b', name: 'write_file', args: { path: 'sum.md', content: 'two' } }] },
  { text: 'In short: **two**.', until: heardIt },
], (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted', max_turns: '2', file_changes: 'ask', moderate_at: '1', urgent_at: '0' });
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
  return withPage(site.app, { reach: [baseUrl], context: { storageState, reducedMotion: 'reduce' } }, async (page) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Accessibility.enable');
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    // What a screen reader would say: a live region whose text has changed.
    await page.evaluate(() => {
      window.heard = [];
      const listen = new MutationObserver((changes) => {
        for (const { target } of changes) {
          const region = (target.nodeType === 1 ? target : target.parentElement)?.closest('[role=status], [role=alert], [aria-live]');
          const text = region?.innerText.replace(/\s+/g, ' ').trim();
          if (text && window.heard.at(-1) !== text) window.heard.push(text);
        }
      });
      listen.observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    const hears = async (pattern) => {
      const found = await page.waitForFunction((source) => window.heard.some((text) => new RegExp(source).test(text)), pattern.source).catch(() => undefined);
      assert.ok(found, `${pattern} is not among what is heard: ${await page.evaluate(() => window.heard.join(' | '))}`);
    };

    // One key leads to the only field.
    await page.keyboard.press('/');
    await page.locator('textarea:focus').waitFor();
    assert.deepEqual(await named(session, 'textbox'), ['Task']);
    await page.keyboard.type('Add one and one, and write it down.');
    await page.keyboard.press('Enter');
    await hears(/^Turn 2 of 2, nearly out of turns\.$/);
    await hears(/write_file wants to create sum\.md/);
    // The focus is on the safe answer; Tab leads to the other.
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Refuse');
    // It can be pressed only after a moment, so that a key meant for something else does not allow it.
    await page.getByRole('button', { name: 'Allow', exact: true }).and(page.locator(':enabled')).waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Allow');
    await page.keyboard.press('Enter');
    await hears(/^The turn limit was reached: writing the synthesis\.$/);
    conclude();
    await hears(/^Run ended: The turn limit was reached, so it concluded from what it had gathered\. .*\.$/);
    const heard = await page.evaluate(() => window.heard.filter((text) => /^(Turn|The turn limit|Run ended)/.test(text)));
    assert.match(heard[0], /^Turn 1 of 2/);
    assert.ok(heard.length <= 6, `no more than one announcement for each step: ${heard.join(' | ')}`);

    await page.waitForFunction(() => !document.querySelector('section.turn .prose.plain'));
    // Of a run with an answer, the turns before are folded, and the answer alone is a landmark.
    await answered(page);
    const folded = await named(session, 'region');
    assert.ok(folded.includes('Answer') && !folded.some((region) => /^Turn/.test(region)), folded.join(' | '));
    await showTurns(page);
    const regions = await named(session, 'region');
    for (const name of [/^Turn 1 of 2/, /^Turn 2 of 2, nearly out of turns/, /^Synthesis/, /^How it ended$/]) assert.ok(regions.some((region) => name.test(region)), `${name}: ${regions.join(' | ')}`);
    assert.ok((await named(session, 'heading')).includes('Add one and one, and write it down.'));
    // A key leads from turn to turn; each is read from its beginning.
    await page.evaluate(() => { document.activeElement.blur(); document.querySelector('#transcript').scrollTop = 0; });
    await page.keyboard.press('j');
    assert.match(await page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? ''), /^Turn 1 of 2/);
  });
})));
