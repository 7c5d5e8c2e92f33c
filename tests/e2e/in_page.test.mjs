// Models that live in the page: a function of the page, and Chrome's built-in model, here a strict stand-in for it (this
// Chromium has the API but no model): an unexpected prompt fails the test, and so does a missing one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const LOOKUP = `({
  name: 'lookup', description: 'Looks a word up',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  execute: async ({ word }) => word.toUpperCase(),
})`;

/** Runs an agent whose provider is `complete`, the source of a function that receives `n`, the number of the request. */
const custom = (complete, { expect = [], options = {} } = {}) => withPackage({ expect }, (page) =>
  page.evaluate(async ({ complete, options, lookup }) => {
    const requests = [];
    const answer = eval(complete);
    const agent = new window.turnwise.Agent({
      provider: { kind: 'custom', model: 'mine', complete: (request, given) => { requests.push(request); return answer(requests.length, request, given); } },
      tools: [], seed: 1, retry: { baseMs: 5, capMs: 10 }, ...options,
    });
    agent.registerTool(eval(lookup));
    const deltas = [];
    const trajectory = await agent.run('Look up alpha.', { onEvent: (event) => { if (event.type === 'text_delta') deltas.push(event.text); } });
    const replayed = await window.turnwise.replay(trajectory);
    return { trajectory, requests, deltas, replayed };
  }, { complete, options, lookup: LOOKUP })).then((result) => {
    assertValid(result.trajectory);
    assert.deepEqual(result.replayed, { ok: true });
    return result;
  });

test('a function that streams chunks is a model like any other', async () => {
  const { trajectory, requests, deltas } = await custom(`(n) => (async function* () {
    if (n === 1) {
      yield { choices: [{ delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'lookup', arguments: '{"word":' } }] } }] };
      yield { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '"alpha"}' } }] }, finish_reason: 'tool_calls' }] };
    } else {
      for (const word of ['It ', 'is ', 'ALPHA.']) yield { choices: [{ delta: { content: word } }] };
      yield { choices: [{ delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 20, completion_tokens: 3 } };
    }
  })()`);
  assert.deepEqual([trajectory.output, trajectory.outcome, trajectory.total_turns], ['It is ALPHA.', 'success', 2]);
  assert.equal(deltas.join(''), 'It is ALPHA.');
  assert.equal(requests[0].stream, true);
  assert.equal(requests[0].tools[0].function.name, 'lookup');
  assert.deepEqual(requests[1].messages.at(-1), { role: 'tool', tool_call_id: 'c1', content: 'ALPHA\n[Turn 1/15]' });
});

test('a text, texts, a whole completion and a Response are answers too', async () => {
  for (const complete of [
    `async () => 'ALPHA.'`,
    `() => (async function* () { yield 'AL'; yield 'PHA.'; })()`,
    `() => ({ choices: [{ message: { content: 'ALPHA.' }, finish_reason: 'stop' }] })`,
    `() => new Response('data: {"choices":[{"delta":{"content":"ALPHA."},"finish_reason":"stop"}]}\\n\\ndata: [DONE]\\n\\n')`,
  ]) {
    const { trajectory } = await custom(complete);
    assert.equal(trajectory.output, 'ALPHA.', complete);
  }
});

test('a stream without its end is no answer, what is thrown is retried, a status decides', async () => {
  const broken = await custom(`(n) => n === 1
    ? (async function* () { yield { choices: [{ delta: { content: 'AL' } }] }; })()
    : n === 2 ? Promise.reject(new Error('out of memory')) : 'ALPHA.'`,
    { expect: [/stream_cut/, /provider_error.*/] });
  assert.deepEqual(broken.trajectory.turns[0].attempts.map(({ slugs }) => slugs[0]), ['stream_cut', 'provider_error', undefined]);
  const fatal = await custom(`() => { throw Object.assign(new Error('no key'), { status: 401 }); }`, { expect: [/auth_error/, /error: /] });
  assert.deepEqual([fatal.trajectory.outcome, fatal.requests.length], ['failed', 1]);
  const nothing = await custom(`() => undefined`, { expect: [/provider_error/, /error: /] });
  assert.match(nothing.trajectory.error, /must return a string/);
});

test('cancel reaches the function', async () => {
  const aborted = await withPackage({ expect: [] }, (page) => page.evaluate(() => new Promise((resolve) => {
    const agent = new window.turnwise.Agent({
      provider: { kind: 'custom', complete: (request, { signal }) => {
        signal.addEventListener('abort', () => resolve(true));
        agent.cancel();
        return new Promise(() => {});
      } },
      tools: [],
    });
    agent.run('Wait.');
  })));
  assert.equal(aborted, true);
});

/** Runs an agent on a scripted Prompt API: [{ prompt?, answer | stream | error }], one entry per session. */
const prompted = ({ availability = 'available', tools = 'available', script, options = {} }, expect = []) => withPackage({ expect }, (page) =>
  page.evaluate(async ({ availability, tools, script, options, lookup }) => {
    const created = [];
    const left = [...script];
    window.LanguageModel = {
      availability: async (asked) => (asked?.expectedInputs?.length > 1 ? tools : availability),
      create: async (asked) => {
        if (asked.tools && tools !== 'available') throw new DOMException('no tools here', 'NotSupportedError');
        const step = left.shift();
        if (!step) throw new DOMException('an unexpected session', 'InvalidStateError');
        const { signal, ...rest } = asked;
        const session = { ...rest };
        created.push(session);
        const ask = (input, given) => {
          session.input = input;
          session.responseConstraint = given.responseConstraint;
          if (step.error) throw new DOMException(step.error, step.name);
        };
        return {
          prompt: async (input, given) => { ask(input, given); return step.answer; },
          promptStreaming: (input, given) => {
            ask(input, given);
            return new ReadableStream({ start(controller) { step.stream.forEach((text) => controller.enqueue(text)); controller.close(); } });
          },
          destroy: () => { session.destroyed = true; },
        };
      },
    };
    const agent = new window.turnwise.Agent({ provider: { kind: 'prompt-api' }, tools: [], seed: 1, retry: { baseMs: 5, capMs: 10 }, ...options });
    agent.registerTool(eval(lookup));
    const trajectory = await agent.run('Look up alpha.');
    return { trajectory, created, left };
  }, { availability, tools, script, options, lookup: LOOKUP })).then((result) => {
    assertValid(result.trajectory);
    assert.deepEqual(result.left, [], 'not every answer was asked for');
    assert.ok(result.created.every(({ destroyed }) => destroyed), 'every session is given back');
    return result;
  });

test('the built-in model: native tools, and a synthesis that streams', async () => {
  const { trajectory, created } = await prompted({
    script: [
      { answer: [{ type: 'text', value: 'I look.' }, { type: 'tool-call', value: { callID: 'a', name: 'lookup', arguments: { word: 'alpha' } } }] },
      { stream: ['It is ', 'ALPHA.'] },
    ],
    options: { maxTurns: 1 },
  });
  assert.deepEqual([trajectory.output, trajectory.termination_reason], ['It is ALPHA.', 'max_turns_synthesized']);
  assert.equal(created[0].tools[0].name, 'lookup');
  assert.deepEqual(created[0].input, [{ role: 'user', content: [{ type: 'text', value: 'Look up alpha.' }] }]);
  // The synthesis has no tools: earlier calls and results are text in it.
  assert.deepEqual(created[1].initialPrompts.map(({ role }) => role), ['system', 'user', 'assistant']);
  const [found, asked] = created[1].input[0].content.map(({ value }) => value);
  assert.match(found, /^Result of lookup:\nALPHA\n\[Turn 1\/1 - Only 0 turns left!/);
  assert.match(asked, /maximum number of reasoning steps/);
});

test('the built-in model: an answer to a native call goes back as one', async () => {
  const { trajectory, created } = await prompted({
    script: [
      { answer: [{ type: 'tool-call', value: { callID: 'a', name: 'lookup', arguments: { word: 'alpha' } } }] },
      { answer: 'It is ALPHA.' },
    ],
  });
  assert.deepEqual([trajectory.output, trajectory.outcome, trajectory.total_turns], ['It is ALPHA.', 'success', 2]);
  assert.deepEqual(created[1].initialPrompts.map(({ role }) => role), ['system', 'user', 'assistant']);
  assert.deepEqual(created[1].initialPrompts[2].content, [{ type: 'tool-call', value: { callID: 'a', name: 'lookup', arguments: { word: 'alpha' } } }]);
  assert.deepEqual(created[1].input[0].content, [{ type: 'tool-response', value: { callID: 'a', name: 'lookup', result: [{ type: 'text', value: 'ALPHA\n[Turn 1/15]' }] } }]);
});

test('the built-in model without native tools: they are described, and the reply is held to a schema', async () => {
  const { trajectory, created } = await prompted({
    tools: 'unavailable',
    script: [{ answer: '{"tool":"lookup","arguments":{"word":"alpha"}}' }, { answer: '{"answer":"It is ALPHA."}' }],
  });
  assert.deepEqual([trajectory.output, trajectory.outcome, trajectory.total_turns], ['It is ALPHA.', 'success', 2]);
  assert.equal(created[0].tools, undefined);
  assert.match(created[0].initialPrompts[0].content, /lookup: Looks a word up/);
  assert.equal(created[0].responseConstraint.anyOf.length, 2);
  assert.match(created[1].input[0].content[0].value, /^Result of lookup:\nALPHA/);
});

test('the built-in model: what is not there is said in words that tell what to do', async () => {
  const expect = [/provider_error/, /error: /];
  const cases = [['unavailable', /not available on this device/], ['downloadable', /download it in the settings/]];
  for (const [availability, words] of cases) {
    const { trajectory } = await prompted({ availability, script: [] }, expect);
    assert.match(trajectory.error, words);
    assert.equal(trajectory.requests, 1, 'it is not tried again');
  }
  const full = await prompted({ tools: 'unavailable', script: [{ error: 'too large', name: 'QuotaExceededError' }], options: { synthesis: false } }, [/context_guard/]);
  assert.equal(full.trajectory.turns[0].attempts[0].slugs[0], 'context_guard');
});
