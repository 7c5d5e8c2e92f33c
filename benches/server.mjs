// The model that every page talks to: an OpenAI-compatible stream on loopback that asks for `echo` so many times and
// then answers. What it is to do stands in the path, so that it need not read the growing requests while time is taken:
//   {url}/turns=50,run=ID[,chunks=20][,write=event]/v1
// turns: how often `echo` is called; chunks: pieces of the answer; write: `event` sends each event on its own, as
// providers do, `block` sends 16 KiB pieces that cut events anywhere. `taken(run)` says afterwards what arrived.
import http from 'node:http';

const HEADERS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*, authorization', 'access-control-allow-methods': 'GET, POST, OPTIONS', 'access-control-max-age': '600' };
const BLOCK = 16 * 1024;

const event = (value) => `data: ${JSON.stringify(value)}\n\n`;
const DONE = 'data: [DONE]\n\n';

function framed(id, body) {
  const frame = (choices, more) => event({ id, object: 'chat.completion.chunk', created: 1760000000, model: 'bench-1', system_fingerprint: 'fp_bench', choices, ...more });
  const delta = (value, finish = null) => frame([{ index: 0, delta: value, logprobs: null, finish_reason: finish }]);
  const usage = frame([], { usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } });
  return [delta({ role: 'assistant', content: '' }), ...body(delta), usage, DONE];
}

const toolReply = (n) =>
  framed(`chatcmpl-${n}`, (delta) => {
    const call = (part) => delta({ tool_calls: [{ index: 0, ...part }] });
    const args = JSON.stringify({ text: `turn-${n}` });
    return [
      ...['I ', 'am ', 'calling ', 'echo.'].map((content) => delta({ content })),
      call({ id: `call_${n}`, type: 'function', function: { name: 'echo', arguments: '' } }),
      ...args.match(/.{1,3}/g).map((piece) => call({ function: { arguments: piece } })),
      delta({}, 'tool_calls'),
    ];
  });

const answers = new Map();
function answer(chunks, write) {
  const key = `${chunks} ${write}`;
  if (!answers.has(key)) {
    const events = framed('chatcmpl-last', (delta) => [
      ...Array.from({ length: chunks }, (_, i) => delta({ content: ` tok${i % 1000}` })),
      delta({}, 'stop'),
    ]);
    const whole = Buffer.from(events.join(''));
    const blocks = () => Array.from({ length: Math.ceil(whole.length / BLOCK) }, (_, i) => whole.subarray(i * BLOCK, (i + 1) * BLOCK));
    answers.set(key, write === 'block' ? blocks() : events);
  }
  return answers.get(key);
}

/** How long the answer of `chunks` pieces is, in characters. */
export const answerLength = (chunks) => Array.from({ length: chunks }, (_, i) => ` tok${i % 1000}`.length).reduce((a, b) => a + b, 0);

async function send(response, pieces) {
  for (const name of ['drain', 'close']) response.on(name, () => response.wake?.());
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await new Promise((resolve) => { response.wake = resolve; });
  }
  response.end();
}

/** Starts it on a free port; resolves with { url, taken, close }. */
export async function startModel() {
  const runs = new Map();
  const server = http.createServer((request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, HEADERS).end();
    const scenario = /^\/([^/]+)\/v1\/chat\/completions$/.exec(decodeURIComponent(request.url))?.[1];
    if (!scenario) return response.writeHead(404, HEADERS).end();
    const { turns, run, chunks = 20, write = 'event' } = Object.fromEntries(scenario.split(',').map((pair) => pair.split('=')));
    const state = runs.get(run) ?? { requests: 0, bytes: 0, results: undefined };
    runs.set(run, state);
    const n = (state.requests += 1);
    const last = n > Number(turns);
    const body = [];
    request.on('data', (chunk) => {
      state.bytes += chunk.length;
      if (last) body.push(chunk);
    });
    request.on('end', async () => {
      request.socket.setNoDelay(true);
      response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      await send(response, last ? answer(Number(chunks), write) : toolReply(n));
      // Only the last request is looked at, and only after it was answered.
      if (last) {
        const { messages } = JSON.parse(Buffer.concat(body).toString());
        state.results = messages.filter((message) => message.role === 'tool').filter(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)).length >= 1024).length;
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    taken: (run) => runs.get(run),
    close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}
