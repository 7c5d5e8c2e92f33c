// The app next to a scripted model, and where its main things are, for tests that walk through it as a person does.
import { withPage } from './browser.mjs';
import { withScript } from './script-server.mjs';
import { withSite } from './site.mjs';

/** The sample files arrive a moment after the page; a run that begins before has none. */
export const filesThere = (page) => page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });

/**
 * Opens the app next to a scripted model, which is chosen already, unless the test connects it itself. `contextWith(more)` gives the
 * options of Playwright's context; `expect` is that of `withPage`, `reach` further addresses that the page may ask.
 */
export const withScripted = (contextWith, steps, body, { connected = true, expect = [], reach = [] } = {}) => withSite((site) => withScript(steps, (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
  const localStorage = connected ? [{ name: 'turnwise.settings', value }] : [];
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage }] };
  return withPage(site.app, { reach: [baseUrl, ...reach], context: contextWith({ storageState }), expect }, async (page) => {
    await filesThere(page);
    return body(page, { site, baseUrl });
  });
}));

export const task = (page) => page.getByRole('textbox', { name: 'Task' });
export const rail = (page) => page.getByRole('navigation', { name: 'Runs' });
export const dialog = (page, name) => page.getByRole('dialog', { name, exact: true });
/** What can be done with the answer of run `n` of the conversation. */
export const acts = (page, n = 1) => page.getByRole('group', { name: 'This answer' }).nth(n - 1);
export const said = (page, text) => page.locator('#transcript').getByText(text).first().waitFor();

/** Waits until the answer of run `n` of the conversation says this, and can be worked with. */
export async function answered(page, text, n = 1) {
  await said(page, text);
  await acts(page, n).waitFor();
}

/** The content of the last message that the model was sent. */
export const last = ({ messages }) => messages.at(-1).content;
