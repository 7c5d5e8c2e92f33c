// The app in the hands of a person with a phone: what is touched with a finger, and what the keyboard on the screen types. That
// keyboard comes up only where a field was touched, and it has neither shortcuts nor Control.
import assert from 'node:assert/strict';
import { contextOf } from './looks.mjs';
import { withScripted } from './scripted.mjs';

/** Options of Playwright's context for a phone. */
export const touchContext = (more = {}) => contextOf('phone', { hasTouch: true, isMobile: true, ...more });

/** `withScripted` on a phone. */
export const withPhone = (steps, body, options) => withScripted(touchContext, steps, body, options);

/** Touches the button with this name, in all of the page or a part of it. */
export const tap = (within, name) => within.getByRole('button', { name, exact: true }).tap();

/** Touches the field and types. */
export async function write(page, field, text) {
  await field.tap();
  await field.and(page.locator(':focus')).waitFor();
  await page.keyboard.type(text);
}

/** Touches the field behind its text, where a search has its cross, takes away letter by letter what is still there, and types. */
export async function rewrite(page, field, text) {
  const { width, height } = await field.boundingBox();
  await field.tap({ position: { x: width - 14, y: Math.min(20, height / 2) } });
  await field.and(page.locator(':focus')).waitFor();
  for (let left = (await field.inputValue()).length; left > 0; left -= 1) await page.keyboard.press('Backspace');
  assert.equal(await field.inputValue(), '', 'a touch behind the text does not put the caret there');
  await page.keyboard.type(text);
}

/** Touches a button that asks for files, and gives it these. */
export async function choose(page, button, files) {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button.tap()]);
  await chooser.setFiles(files);
}
