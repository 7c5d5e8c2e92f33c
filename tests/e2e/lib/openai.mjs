// OpenAI's own address, answered by the test: with the key that a page sends, and how the app asks for one that is missing.
import { reply } from './script-server.mjs';

/** What the app says if a key is missing. */
export const MISSING = 'Nothing was sent: OpenAI needs a key, and this page has none. Enter it here.';

/**
 * Answers requests to OpenAI with these replies, one after another; one that is undefined never comes, and `waits` is called
 * instead. Returns the keys that were sent, a list that grows.
 */
export async function answerAsOpenAi(page, replies, waits = () => {}) {
  const keys = [];
  await page.context().route('https://api.openai.com/**', (route) => {
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
    if (route.request().method() === 'OPTIONS') return route.fulfill({ status: 204, headers: cors });
    const answer = replies[keys.length];
    keys.push(route.request().headers().authorization);
    return answer ? route.fulfill({ headers: { ...cors, 'content-type': 'text/event-stream' }, body: reply(answer).join('') }) : waits();
  });
  return keys;
}

/** Enters a key into the dialog that is open, the settings or the one that connects a model, and closes it. */
export async function enterKey(page, key) {
  const settings = page.getByRole('dialog', { name: /^(Settings|Connect a model)$/ });
  await settings.getByLabel('API key').fill(key);
  await settings.getByText('OpenAI needs a key.').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await settings.waitFor({ state: 'detached' });
}
