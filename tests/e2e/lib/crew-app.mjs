// The app, set to a run with a crew of sub-agents.
import { withPage } from './browser.mjs';
import { SIZE, withCrew } from './crew-server.mjs';
import { contextOf } from './looks.mjs';
import { withSite } from './site.mjs';

/** Runs `body` in the app, set to a run of the crew's model that may spawn sub-agents. */
export const withCrewApp = (crew, look, body) => withSite((site) => withCrew({ size: SIZE, ...crew }, (baseUrl, asked) => {
  const stored = { provider: 'openai', base_url: baseUrl, model: 'scripted', tools_off: 'spawn_subagents' };
  const origins = [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value: JSON.stringify(stored) }] }];
  const context = contextOf(look, { storageState: { cookies: [], origins } });
  return withPage(site.app, { reach: [baseUrl], context }, async (page) => {
    await page.getByRole('textbox', { name: 'Task' }).waitFor();
    return body(page, asked);
  });
}));
