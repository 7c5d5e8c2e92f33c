// The attribute `skills` of <turnwise-agent>: the visitor's question is answered with a skill of the site, whose script ends the run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answered, ask, events, launcher, listen, page, scripted, withWidget } from './lib/widget.mjs';

const SKILL = `---
name: count
description: Counts the words of a text.
metadata:
  may-finish: scripts/submit.js
---
Call count_submit with the text, as in \`scripts/submit.js\`.
`;

test('a question is answered with a skill of the site', () => withWidget({
  steps: [
    { check: ({ messages: [{ content }], tools }) => {
      assert.match(content, /\n- count: Counts the words of a text\.$/);
      assert.ok(tools.some((tool) => tool.function.name === 'count_submit'));
    },
    calls: [{ id: 'a', name: 'read_skill', args: { name: 'count' } }] },
    { check: ({ messages }) => assert.match(messages.at(-1).content, /call the tool count_submit/), calls: [{ id: 'b', name: 'count_submit', args: { text: 'one two three' } }] },
  ],
  pages: (baseUrl) => ({
    '/': page({ attributes: `${scripted(baseUrl)} skills="skills/count/SKILL.md"` }),
    '/skills/count/SKILL.md': { type: 'text/markdown', body: SKILL },
    '/skills/count/scripts/submit.js': { type: 'text/javascript', body: '`<<<FINAL_RESULT>>>${input.text.split(" ").length} words<<<END_FINAL_RESULT>>>`' },
  }),
}, async (tab, { asked }) => {
  await launcher(tab).click();
  assert.ok(!asked.includes('/turnwise/skills.js') && !asked.includes('/skills/count/SKILL.md'), 'nothing loads before a question');
  await ask(tab, 'How many words?');
  const run = await answered(tab);
  assert.match(await run.locator('[part=answer]:not(:empty)').innerText(), /3 words/);
}));

test('a skill whose address is wrong: the question fails, and the event names the address', () => withWidget({
  pages: (baseUrl) => ({ '/': page({ attributes: `${scripted(baseUrl)} skills="skills/missing/SKILL.md"` }) }),
  options: { expect: [/404/] },
}, async (tab) => {
  await listen(tab);
  await launcher(tab).click();
  await ask(tab, 'How many words?');
  await tab.locator('turnwise-agent').getByRole('alert').waitFor();
  const { message } = (await events(tab)).find(({ name }) => name === 'error');
  assert.match(message, /skills\/missing\/SKILL\.md/);
}));
