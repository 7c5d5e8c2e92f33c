// Places in the app: the replay shows the turn of its step, and what is open has an address that a reload, Back and Forward keep.
// SHOTS=1 keeps screenshots in tests/e2e/shots.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE, WIDE, runExample, storedToTheEnd, withApp } from './lib/app.mjs';
import { camera } from './lib/looks.mjs';

const at = (page, step) => page.getByText(new RegExp(`^Step ${step} of `)).waitFor();
const hash = (page, pattern) => page.waitForURL((url) => pattern.test(url.hash));
const transcript = (page) => page.locator('#transcript').getByRole('region', { name: 'How it ended' }).last().waitFor();
const steps = async (page) => Number(await page.getByRole('slider', { name: 'Step' }).getAttribute('max'));

/** Waits until the last turn of the staged run can be seen: its beginning, or else the end of the run. */
const follows = (page, turns) => page.waitForFunction((count) => {
  const scroller = document.querySelector('.stage > .scroll');
  const all = [...scroller.querySelectorAll('section.turn')].filter((turn) => !turn.parentElement.closest('section.turn'));
  if (count !== null && all.length !== count) return false;
  const view = scroller.getBoundingClientRect();
  const top = all.at(-1).getBoundingClientRect().top - view.top;
  const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 2;
  return (top >= 0 && top < 40) || isAtEnd;
}, turns ?? null);

test('the run of a replay follows the steps: last step, keys, Play and a click on an event', { timeout: 120_000 }, async () => {
  await withApp({ context: { viewport: { width: 1280, height: 560 }, reducedMotion: 'reduce' } }, async (page) => {
    await runExample(page, /Limit and synthesis/);
    const turns = await page.locator('section.turn').count();
    await page.getByRole('button', { name: 'Replay' }).click();
    await at(page, 0);
    const last = await steps(page);
    const top = () => page.locator('.stage > .scroll').evaluate((scroller) => scroller.scrollTop);
    await page.getByRole('button', { name: 'Last step' }).click();
    await at(page, last);
    await follows(page, turns);
    assert.ok(await top() > 300, 'a long run is scrolled');
    await camera(page, 'replay', 'wide')('last-step');
    // The reader looks at the beginning; the next step brings the run back.
    await page.locator('.stage > .scroll').evaluate((scroller) => { scroller.scrollTop = 0; });
    await page.keyboard.press('ArrowLeft');
    await at(page, last - 1);
    await follows(page);
    assert.ok(await top() > 300);
    await page.keyboard.press('Home');
    await at(page, 0);
    await follows(page, 1);
    await page.getByRole('button', { name: 'Events' }).click();
    const rows = page.getByRole('list', { name: 'Events' }).getByRole('button');
    await rows.nth(Math.floor(last / 2)).click();
    await at(page, Math.floor(last / 2));
    await follows(page);
    const place = await page.locator('.stage section.turn').count();
    assert.ok(place > 1 && place < turns, `${place} of ${turns} turns`);
    await page.getByRole('button', { name: '16×' }).click();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await at(page, last);
    await follows(page, turns);
  });
});

test('a replay has an address: a reload keeps the step, Back goes to the run', { timeout: 120_000 }, async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await runExample(page, /Tools over files/);
    await hash(page, /^#\/run\/[\w:.-]+$/);
    const run = new URL(page.url()).hash;
    await storedToTheEnd(page, 1);
    await page.getByRole('button', { name: 'Replay' }).click();
    await at(page, 0);
    await hash(page, /\/replay$/);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await at(page, 3);
    await hash(page, /\/replay\/3$/);
    await page.reload();
    await at(page, 3);
    await follows(page);
    await hash(page, /\/replay\/3$/);
    // The steps are no places of their own.
    await page.goBack();
    await transcript(page);
    assert.equal(new URL(page.url()).hash, run);
    await page.goForward();
    await at(page, 3);
    await page.getByRole('button', { name: 'Transcript' }).click();
    await transcript(page);
    await hash(page, /^#\/run\/[\w:.-]+$/);
    await page.goBack();
    await at(page, 3);
    // A step beyond the end is the last one.
    await page.goto(`${new URL(page.url()).origin}${new URL(page.url()).pathname}${run}/replay/9999`);
    await at(page, await steps(page));
  });
});

test('a comparison has an address: a reload keeps it, Back goes to the run; a run that is gone is said', { timeout: 120_000 }, async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await runExample(page, /Tools over files/);
    await storedToTheEnd(page, 1);
    await page.getByRole('button', { name: 'New run' }).first().click();
    await runExample(page, /Limit and synthesis/);
    await storedToTheEnd(page, 2);
    const run = new URL(page.url()).hash;
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Compare with: ');
    await page.keyboard.press('Enter');
    const both = page.getByRole('region', { name: 'Comparison' });
    await both.waitFor();
    await hash(page, /^#\/run\/[\w:.-]+\/compare\/run_\w+$/);
    await page.reload();
    await both.getByRole('heading', { level: 1 }).waitFor();
    await page.goBack();
    await transcript(page);
    assert.equal(new URL(page.url()).hash, run);
    await page.goForward();
    await both.waitFor();
    await page.evaluate((to) => { location.hash = to; }, `${run}/compare/run_20200101_000000_abcdef`);
    await page.getByText('The run to compare with is not in this browser any more.').waitFor();
    await transcript(page);
    await hash(page, /^#\/run\/[\w:.-]+$/);
  });
});

for (const [size, viewport] of Object.entries({ wide: WIDE, phone: PHONE })) {
  test(`Insight is a page with an address: ${size}`, { timeout: 120_000 }, async () => {
    await withApp({ context: { viewport } }, async (page) => {
      const menu = async () => {
        if (viewport.width < 1120) await page.getByRole('button', { name: 'Runs', exact: true }).click();
        return page.getByRole('navigation', { name: 'Runs', exact: true });
      };
      await runExample(page, /Tools over files/);
      const run = new URL(page.url()).hash;
      await storedToTheEnd(page, 1);
      await (await menu()).getByRole('button', { name: 'Insight' }).click();
      const insight = page.getByRole('region', { name: 'Insight' });
      await insight.getByRole('heading', { level: 1, name: 'Insight' }).waitFor();
      await hash(page, /^#\/insight$/);
      await page.reload();
      await insight.getByText('1 run', { exact: true }).first().waitFor();
      await page.goBack();
      await transcript(page);
      assert.equal(new URL(page.url()).hash, run);
      await page.goForward();
      await insight.waitFor();
      await page.goBack();
      await transcript(page);
      await (await menu()).getByRole('button', { name: 'Insight' }).click();
      await insight.getByRole('button', { name: 'Close' }).click();
      await transcript(page);
      await page.goto(`${new URL(page.url()).origin}${new URL(page.url()).pathname}#/nothing`);
      await page.getByText('This version of the app has no page with this address.').waitFor();
    });
  });
}
