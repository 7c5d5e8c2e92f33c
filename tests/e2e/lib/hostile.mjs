// A server that sends what no model sends, and what a page does with it.
import http from 'node:http';

export const MIB = 2 ** 20;
const GIB = 2 ** 30;

const sse = (event) => `data: ${JSON.stringify(event)}\n\n`;
const delta = (delta) => sse({ choices: [{ delta }] });
const END = `${sse({ choices: [{ delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`;

/** Writes chunks until there are no more or the client hangs up. Returns the number of bytes written. */
async function pour(response, chunks) {
  let bytes = 0;
  let gone = false;
  const closed = new Promise((resolve) => { response.on('close', () => { gone = true; resolve(); }); });
  response.on('error', () => {});
  for (const chunk of chunks) {
    if (gone) break;
    bytes += chunk.length;
    if (!response.write(chunk)) await Promise.race([closed, new Promise((resolve) => { response.once('drain', resolve); })]);
  }
  response.end();
  return bytes;
}

/** Yields a gigabyte from one buffer. */
function* gigabyte(start, buffer = Buffer.alloc(MIB, 'a')) {
  yield start;
  for (let n = 0; n < GIB / MIB; n += 1) yield buffer;
}

function* calls() {
  for (let n = 0; n < 100_000; n += 100) {
    yield Array.from({ length: 100 }, (_, i) => delta({ tool_calls: [{ index: n + i, id: `c${n + i}`, function: { name: 'lookup', arguments: '{}' } }] })).join('');
  }
  yield END;
}

/** Yields a megabyte of key characters, 8 bytes per event. */
function* keys() {
  yield delta({ content: 'sk-' });
  const piece = delta({ content: 'abcdefgh' }).repeat(1024);
  for (let n = 0; n < MIB / 8 / 1024; n += 1) yield piece;
  yield END;
}

function* repeated(event, times) {
  const piece = event.repeat(16);
  for (let n = 0; n < times; n += 16) yield piece;
  yield END;
}

const BODIES = {
  calls,
  line: () => gigabyte('data: {"choices":[{"delta":{"content":"'),
  comment: () => gigabyte(': '),
  json: () => gigabyte('{"choices":"'),
  keys,
  text: () => repeated(delta({ content: 'word '.repeat(2000) }), 4096),
  arguments: () => repeated(delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'lookup', arguments: 'x'.repeat(1000) } }] }), 16384),
};

/** Runs `body(url, sent)`; `sent` holds, by name, a promise of how many bytes the server wrote until it had no more or saw the client hang up. */
export async function withHostile(body) {
  const sent = {};
  const server = http.createServer((request, response) => {
    const [, name, ...rest] = request.url.split('/');
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
    if (request.method === 'OPTIONS') return response.writeHead(204, cors).end();
    request.resume();
    if (name === 'docs') {
      if (rest[0] === 'sitemap.xml') {
        response.writeHead(200, { ...cors, 'content-type': 'application/xml' });
        sent.docs = pour(response, gigabyte('<urlset>'));
        return undefined;
      }
      return response.writeHead(rest[0] ? 404 : 200, { ...cors, 'content-type': 'text/html' }).end('<title>D</title><main><h1>D</h1><p>Text.</p></main>');
    }
    const list = name === 'models';
    if (!list && !BODIES[name]) return response.writeHead(404, cors).end();
    response.writeHead(200, { ...cors, 'content-type': list ? 'application/json' : 'text/event-stream' });
    sent[name] = pour(response, list ? gigabyte('{"data":[{"id":"') : BODIES[name]());
    return undefined;
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const url = `http://127.0.0.1:${server.address().port}`;
  try {
    return await body(url, sent);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Defines `window.hostile`: functions that receive the package and their argument. */
export const WORK = `window.hostile = {
  async run({ Agent }, { baseUrl, huge }) {
    const agent = new Agent({ provider: { kind: 'openai', baseUrl, model: 'hostile' }, tools: [], seed: 1, maxAttempts: 1, maxTurns: 2, synthesis: false });
    let streamed = 0;
    agent.registerTool({ name: 'lookup', description: 'd', execute: () => 'x'.repeat(huge ?? 1) });
    try {
      const { outcome, termination_reason, output, turns, events } = await agent.run('Go.', { onEvent: (event) => { if (event.type === 'text_delta') streamed += event.text.length; } });
      return { outcome, termination_reason, output: output.slice(0, 300), length: output.length, streamed, slugs: turns[0].attempts[0].slugs, record: JSON.stringify(events).length };
    } finally { agent.free(); }
  },
  async models({ listModels }, { baseUrl }) {
    return listModels({ kind: 'openai', baseUrl }).then(() => 'a list', (error) => ({ message: error.message }));
  },
  async docs({ DocsSite }, { url }) {
    return DocsSite.open(url, { cache: false }).then((site) => { const { pages } = site.info; site.free(); return { pages }; }, (error) => ({ message: error.message }));
  },
  async tool({ Agent }, { huge }) {
    let n = 0;
    const complete = () => (n += 1) === 1
      ? { choices: [{ message: { tool_calls: [{ id: 'a', function: { name: 'lookup', arguments: '{}' } }] }, finish_reason: 'tool_calls' }] }
      : 'Done.';
    const agent = new Agent({ provider: { kind: 'custom', complete }, tools: [], seed: 1 });
    agent.registerTool({ name: 'lookup', description: 'd', execute: () => 'x'.repeat(huge) });
    try {
      const { outcome, turns, events } = await agent.run('Go.');
      return { outcome, told: turns[0].tool_calls[0].result.length, record: JSON.stringify(events).length };
    } finally { agent.free(); }
  },
  async record({ Agent, importTrajectory, exportTrajectory, summarize, insight, replay }) {
    const agent = new Agent({ provider: { kind: 'demo' }, seed: 1 });
    const record = await agent.run('What is 12 * 12?').finally(() => agent.free());
    const raise = (value, most) => {
      for (const [key, of] of Object.entries(value ?? {})) {
        if (typeof of === 'number' && key !== 'version' && key !== 'seq') value[key] = most(key);
        else if (typeof of === 'object' && key !== 'parameters') raise(of, most);
      }
    };
    raise(record, (key) => (/_ms$|^at$|^(input|output|cached|reasoning)$|^tokens$/.test(key) ? Number.MAX_SAFE_INTEGER : 4294967295));
    const read = await importTrajectory(JSON.stringify(record));
    const summary = await summarize(read);
    const shared = await insight([summary, summary]);
    const texts = [];
    for (const format of ['html', 'markdown', 'atif', 'otlp', 'openai-jsonl', 'mini-swe-agent', 'native']) texts.push((await exportTrajectory(read, format)).length);
    const replayed = await replay(read).catch((error) => ({ error: error.message }));
    return { max_turns: read.effective_max_turns, runs: shared.runs, texts, replayed: Object.keys(replayed) };
  },
};`;

/** [name, function of WORK, argument]: what is done with the server at `url`, in order. */
export const works = (url) => [
  ...['calls', 'line', 'comment', 'json', 'text', 'arguments', 'keys'].map((name) => [name, 'run', { baseUrl: `${url}/${name}/v1` }]),
  ['models', 'models', { baseUrl: `${url}/models/v1` }],
  ['docs', 'docs', { url: `${url}/docs/` }],
  ['tool', 'tool', { huge: 64 * MIB }],
  ['record', 'record', {}],
];
