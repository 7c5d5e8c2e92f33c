// The model for the shop: an OpenAI-compatible stream on loopback. It writes some text, requests a price and a stock, and
// returns the result once it has both: through the tool that a library offers for it, otherwise as JSON if that was requested.
//   {url}/run=ID[,hold=1]/v1
// hold: the first reply stops after its first words, and stays open. `taken(run)` returns what arrived.
import http from 'node:http';
import { HEADERS, framed, send } from '../server.mjs';

const FIRST_WORDS = 'One moment.';
export const RESULT = { total: 36, articles: ['lamp'] };
export const CALLS = ['getPrice', 'getStock'];
const ARGUMENTS = JSON.stringify({ article: 'lamp' });

const words = (delta) => FIRST_WORDS.match(/\S+ ?/g).map((content) => delta({ content }));
const callOf = (delta, index, name, args) => [
  delta({ tool_calls: [{ index, id: `call_${name}`, type: 'function', function: { name, arguments: '' } }] }),
  ...args.match(/.{1,3}/g).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
];

const ask = () => framed('chatcmpl-1', (delta) => [
  ...words(delta), ...CALLS.flatMap((name, index) => callOf(delta, index, name, ARGUMENTS)), delta({}, 'tool_calls'),
]);

/** Returns the reply with the result, in the form that the library expects: a call of the library's own tool, or text. */
function result({ tools, response_format: format }) {
  const own = tools.map((tool) => tool.function.name).find((name) => !CALLS.includes(name));
  const value = JSON.stringify(own === 'final_report' ? { format: 'json', content: RESULT } : RESULT);
  if (own) return framed('chatcmpl-2', (delta) => [...callOf(delta, 0, own, value), delta({}, 'tool_calls')]);
  if (format?.type !== 'json_schema') return framed('chatcmpl-2', (delta) => [delta({ content: 'Nothing asked for a result.' }), delta({}, 'stop')]);
  return framed('chatcmpl-2', (delta) => [...value.match(/.{1,4}/g).map((content) => delta({ content })), delta({}, 'stop')]);
}

const answered = ({ messages }) => messages.filter(({ role }) => role === 'tool').length;

async function read(request) {
  const body = [];
  for await (const chunk of request) body.push(chunk);
  return JSON.parse(Buffer.concat(body).toString());
}

/** Starts the model on a free port; resolves with { url, taken, close }. A run has `requests` (their bodies) and `dropped`. */
export async function startShop() {
  const runs = new Map();
  const server = http.createServer(async (request, response) => {
    const scenario = /^\/([^/]+)\/v1\/chat\/completions$/.exec(decodeURIComponent(request.url))?.[1];
    if (!scenario) return response.writeHead(404, HEADERS).end();
    if (request.method === 'OPTIONS') return response.writeHead(204, HEADERS).end();
    const { run, hold } = Object.fromEntries(scenario.split(',').map((pair) => pair.split('=')));
    if (!runs.has(run)) runs.set(run, { requests: [], dropped: 0 });
    const kept = runs.get(run);
    const body = await read(request);
    kept.requests.push(body);
    response.on('close', () => { kept.dropped += response.writableEnded ? 0 : 1; });
    request.socket.setNoDelay(true);
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    if (hold) return ask().slice(0, 3).forEach((event) => response.write(event));
    return send(response, answered(body) ? result(body) : ask());
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    taken: (run) => runs.get(run),
    close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}
