// The app by its keys alone: a person without a mouse presses, types, and sees where the focus is.
import assert from 'node:assert/strict';
import { contextOf } from './looks.mjs';
import { task, withScripted } from './scripted.mjs';

const palette = (page) => page.getByRole('dialog', { name: 'Find an action or a run' });

/** Options of Playwright's context for a window of the size that laptops have. */
export const laptopContext = (more = {}) => contextOf('wide', { viewport: { width: 1366, height: 800 }, ...more });

/** `withScripted` on a laptop. */
export const withKeys = (steps, body, options) => withScripted(laptopContext, steps, body, options);

/** Waits until what matches this has the focus. */
export async function hasFocus(page, locator) {
  try {
    await locator.and(page.locator(':focus')).waitFor();
  } catch {
    assert.fail(`the focus is on ${await page.evaluate(() => document.activeElement.outerHTML.slice(0, 160))}`);
  }
}

/** Presses these keys, one after the other. */
export async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

/** Presses Tab, or another key, until what matches this has the focus: at least once, and at most `most` times. Nobody goes to what is not to be seen yet. */
export async function tabTo(page, locator, { most = 12, key = 'Tab' } = {}) {
  await locator.first().waitFor();
  const passed = [];
  for (let tabs = 0; tabs < most; tabs += 1) {
    await page.keyboard.press(key);
    if (await locator.and(page.locator(':focus')).count()) return;
    passed.push(await page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.slice(0, 40)));
  }
  assert.fail(`${most} times ${key} did not lead to ${locator}, but to ${passed.join(' | ')}`);
}

/** Goes to a button or the like by Tab, and presses it. `options` are those of `tabTo`. */
export async function pressOn(page, locator, options) {
  await tabTo(page, locator, options);
  await page.keyboard.press('Enter');
}

/** Goes to a field by Tab, and types. */
export async function writeIn(page, field, text, options) {
  await tabTo(page, field, options);
  await page.keyboard.type(text);
}

/** Types, and presses Enter. */
export async function enter(page, text) {
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

/** Begins a new run with this task: in the task box, N would be typed, and Escape leaves the box. */
export async function ask(page, text) {
  await press(page, 'Escape', 'n');
  await hasFocus(page, task(page));
  await enter(page, text);
}

/** Finds the entry of the palette with this name by these words, and chooses it as soon as it is the one that Enter takes. */
export async function choose(page, words, name) {
  await page.keyboard.press('Control+k');
  await hasFocus(page, palette(page).getByRole('combobox'));
  await page.keyboard.type(words);
  await palette(page).getByRole('option', { name, selected: true }).waitFor();
  await page.keyboard.press('Enter');
}

/** Does what makes the browser ask for files, and gives it these. */
export async function chooseFiles(page, files, act) {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), act()]);
  await chooser.setFiles(files);
}
