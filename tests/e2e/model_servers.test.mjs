// Servers as public bug reports show them, over real HTTP: each refuses what the real one refuses. The package in Node.js.
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { root } from './lib/site.mjs';

const dist = path.resolve(root, process.env.SITE ?? 'dist');
const { Agent, tool, openai, openaiResponses, anthropic, gemini, replay } = await import(path.join(dist, 'turnwise/index.node.js'));

const PRICE = { type: 'object', properties: { article: { type: 'string' } }, required: ['article'], additionalProperties: false };
const ANSWER = 'Three lamps cost 36 euros.';

const sse = (events) => events.map((event) => (typeof event === 'string' ? event : `${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)).join('');
const chat = (delta, finish = null) => ({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] });
const chatText = (text) => sse([chat({ role: 'assistant', content: text }), chat({}, 'stop'), 'data: [DONE]\n\n']);
const chatCall = (id = 'call_1', more = {}) => sse([
  chat({ role: 'assistant', content: null, ...more, tool_calls: [{ index: 0, id, type: 'function', function: { name: 'price', arguments: '{"article":"lamp"}' } }] }),
  chat({}, 'tool_calls'), 'data: [DONE]\n\n',
]);
const refusal = (message, status = 400, more = {}) => ({ status, body: { error: { message, type: 'invalid_request_error', ...more } } });
const roles = (body) => body.messages.map(({ role }) => role);
const asked = (body) => body.messages.filter((message) => message.tool_calls);

/** A call, then the answer, from a server that refuses what `refuses` says. */
const turns = (refuses, call = chatCall()) => (body, url) => refuses(body, url) ?? (roles(body).includes('tool') ? chatText(ANSWER) : call);

/** Serves `answer(body, url)` and runs an agent there. Returns the result and the bodies of all requests. */
async function run(answer, options, prompt = 'What do three lamps cost?') {
  const bodies = [];
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const body = JSON.parse(text);
    bodies.push(body);
    const said = answer(body, request.url);
    if (typeof said === 'string') return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(said);
    response.writeHead(said.status, { 'content-type': 'application/json' }).end(JSON.stringify(said.body));
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    const price = tool({ description: 'The price of an article.', inputSchema: PRICE, execute: () => ({ euros: 12 }) });
    const agent = new Agent({ tools: { price }, retry: { baseMs: 1, capMs: 2 }, ...options(`http://127.0.0.1:${server.address().port}`) });
    const result = await agent.generate(prompt).catch((error) => error);
    const { trajectory } = result;
    assert.deepEqual(await replay(trajectory), { ok: true });
    const corrections = trajectory.turns.flatMap(({ attempts }) => attempts).flatMap(({ correction }) => correction ?? []);
    return { result, trajectory, bodies, corrections };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const NO_TOOLS = 'Function tools with reasoning_effort are not supported for m in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to \'none\'.';

/** The server, the model's name, settings; how many corrections it takes (0: known beforehand). */
const servers = {
  'DeepSeek wants the thoughts of calls back (continue#9720)': [turns((body) => (asked(body).some((message) => !message.reasoning_content) ? refusal('The `reasoning_content` in the thinking mode must be passed back to the API.') : undefined), chatCall('call_1', { reasoning_content: 'Hm.' })), 'deepseek-chat', {}, 0],
  'an unknown model wants them back too': [turns((body) => (asked(body).some((message) => !message.reasoning_content) ? refusal('thinking is enabled but reasoning_content is missing in assistant tool call message at index 2') : undefined), chatCall('call_1', { reasoning_content: 'Hm.' })), 'm', {}, 1],
  'Kimi reads the function from its own ids (kimchi#1063)': [turns((body) => (asked(body).some((message) => message.tool_calls[0].id !== 'functions.price:0') ? refusal('tool call id is not one of ours') : undefined), chatCall('functions.price:0', { reasoning_content: 'Hm.' })), 'kimi-k2', {}, 0],
  'GPT-5.6 takes tools here only without thoughts (litellm#34569)': [turns((body) => (body.tools && body.reasoning_effort !== 'none' ? refusal(NO_TOOLS, 400, { param: 'reasoning_effort' }) : undefined)), 'gpt-5.6-terra', {}, 0],
  'a gateway of unknown name that passes that on': [turns((body) => (body.tools && body.reasoning_effort !== 'none' ? refusal(NO_TOOLS) : undefined)), 'm', { reasoning: 'low' }, 1],
  'a model that takes no temperature (pi#7961)': [turns((body) => ('temperature' in body ? refusal('`temperature` is deprecated for this model.') : undefined)), 'm', { temperature: 0.2 }, 1],
  'two refusals in a row': [turns((body) => {
    if ('stream_options' in body) return { status: 422, body: { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] } };
    return 'temperature' in body ? refusal('Unsupported value: \'temperature\' does not support 0.2 with this model.') : undefined;
  }), 'm', { temperature: 0.2 }, 2],
  'a server without references in schemas': [turns((body) => (JSON.stringify(body.tools).includes('additionalProperties') ? refusal('Invalid schema for function \'price\': additionalProperties is not supported') : undefined)), 'm', {}, 1],
  'a template without system messages (Gemma)': [turns((body) => (roles(body).includes('system') ? { status: 500, body: { error: { code: 500, message: 'Jinja Exception: System role not supported', type: 'server_error' } } } : undefined)), 'm', { instructions: 'Be brief.' }, 1],
  'Azure\'s address has its version at its end (oh-my-pi#782)': [turns((body, url) => (url === '/v1/chat/completions?api-version=2024-10-21' ? undefined : refusal('Resource not found', 404))), 'm', { query: '?api-version=2024-10-21' }, 0],
};

for (const [name, [answer, model, { query = '', ...settings }, corrected]] of Object.entries(servers)) {
  test(name, async () => {
    const { result, bodies, corrections } = await run(answer, (url) => ({ model: openai(model, { baseUrl: `${url}/v1${query}` }), ...settings }));
    assert.equal(result.text, ANSWER, result.message);
    assert.equal(corrections.length, corrected, JSON.stringify(corrections));
    assert.equal(bodies.length, 2 + corrected);
  });
}

test('Mistral takes no user message after a result: the synthesis comes all the same (zed#37021)', async () => {
  const answer = (body) => {
    const all = roles(body);
    if (all.some((role, at) => role === 'user' && all[at - 1] === 'tool')) return { status: 400, body: { object: 'error', message: 'Unexpected role \'user\' after role \'tool\'', code: '3230' } };
    return body.tools && body.tool_choice !== 'none' ? chatCall('aBcDeFg12') : chatText(ANSWER);
  };
  for (const [model, corrected] of [['mistral-small-latest', 0], ['m', 1]]) {
    const { trajectory, corrections } = await run(answer, (url) => ({ model: openai(model, { baseUrl: `${url}/v1` }), maxTurns: 2 }));
    assert.deepEqual([trajectory.termination_reason, trajectory.output, corrections.length], ['max_turns_synthesized', ANSWER, corrected]);
  }
});

test('a refusal that names nothing of ours is final, and one of an option of the user keeps the option', async () => {
  const refuses = () => refusal('`temperature` is deprecated for this model.');
  for (const settings of [(url) => ({ model: openai('m', { baseUrl: `${url}/v1` }) }), (url) => ({ model: openai('m', { baseUrl: `${url}/v1`, providerOptions: { temperature: 0.3 } }) })]) {
    const { trajectory, bodies } = await run(refuses, settings);
    assert.deepEqual([trajectory.outcome, bodies.length], ['failed', 1]);
  }
});

test('the other formats learn from a refusal as well', async () => {
  const responses = (body) => {
    if (body.temperature !== undefined) return refusal('Unsupported parameter: \'temperature\' is not supported with this model.', 400, { param: 'temperature' });
    return sse([{ type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: ANSWER }] } }, { type: 'response.completed', response: { id: 'r', status: 'completed', output: [], usage: { input_tokens: 1, output_tokens: 1 } } }]);
  };
  const messages = (body) => {
    if (body.tool_choice?.type === 'any') return { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message: 'tool_choice: forcing a tool is not supported with this model.' } } };
    return sse([
      { type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ANSWER } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }, { type: 'message_stop' },
    ]);
  };
  const google = (body) => {
    if (body.systemInstruction) return { status: 400, body: { error: { code: 400, message: 'Developer instruction is not enabled for models/gemma-3-27b-it', status: 'INVALID_ARGUMENT' } } };
    return sse([{ candidates: [{ content: { role: 'model', parts: [{ text: ANSWER }] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } }]);
  };
  for (const [make, answer, settings] of [[openaiResponses, responses, { temperature: 0.1 }], [anthropic, messages, { toolChoice: 'required' }], [gemini, google, { instructions: 'Be brief.' }]]) {
    const { result, corrections } = await run(answer, (url) => ({ model: make('m', { baseUrl: `${url}/v1` }), ...settings }));
    assert.equal(result.text, ANSWER, result.message);
    assert.equal(corrections.length, 1);
  }
});
