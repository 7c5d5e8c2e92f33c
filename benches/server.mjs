// The model that every page talks to: an OpenAI-compatible stream on loopback that calls a tool a number of times and then
// answers. The path has the scenario, so that the server need not parse the growing requests during a measurement:
//   {url}/turns=50,run=ID[,chunks=20][,write=event][,call=echo][,agents=16,agentTurns=62]/v1
// turns: the number of tool calls; chunks: the number of chunks in the answer; write: `event` sends each event separately, as
// providers do, `block` sends 16 KiB blocks that split events anywhere; call: which tool; agents: the number of sub-agents that
// the first turn starts, each of which calls `echo` agentTurns times. `taken(run)` returns what arrived, afterwards.
import http from 'node:http';

export const HEADERS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*, authorization', 'access-control-allow-methods': 'GET, POST, OPTIONS', 'access-control-max-age': '600' };
const BLOCK = 16 * 1024;
/** The first user message is within this much of a request. */
const HEAD = 64 * 1024;
const AGENT = /sub-agent (\d+) of \d+/;

const event = (value) => `data: ${JSON.stringify(value)}\n\n`;
const DONE = 'data: [DONE]\n\n';

/** Returns the events of a reply; `body(delta)` returns those in the middle. */
export function framed(id, body) {
  const frame = (choices, more) => event({ id, object: 'chat.completion.chunk', created: 1760000000, model: 'bench-1', system_fingerprint: 'fp_bench', choices, ...more });
  const delta = (value, finish = null) => frame([{ index: 0, delta: value, logprobs: null, finish_reason: finish }]);
  const usage = frame([], { usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } });
  return [delta({ role: 'assistant', content: '' }), ...body(delta), usage, DONE];
}

const CALLS = {
  echo: (n) => ({ text: `turn-${n}` }),
  calculate: (n) => ({ expression: `6 * ${n}` }),
  search_docs: () => ({ query: 'attempts' }),
};

const callReply = (n, name, args) =>
  framed(`chatcmpl-${n}`, (delta) => {
    const call = (part) => delta({ tool_calls: [{ index: 0, ...part }] });
    return [
      ...['I ', 'am ', 'calling ', `${name}.`].map((content) => delta({ content })),
      call({ id: `call_${n}`, type: 'function', function: { name, arguments: '' } }),
      ...JSON.stringify(args).match(/.{1,3}/g).map((piece) => call({ function: { arguments: piece } })),
      delta({}, 'tool_calls'),
    ];
  });

const tasks = (agents, turns) => Array.from({ length: agents }, (_, i) => ({ task: `You are sub-agent ${i + 1} of ${agents}: call echo.`, agent: 'caller', max_turns: turns + 1 }));

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

/** Returns the length of an answer of `chunks` chunks, in characters. */
export const answerLength = (chunks) => Array.from({ length: chunks }, (_, i) => ` tok${i % 1000}`.length).reduce((a, b) => a + b, 0);

/** The state of a run: its requests, those of its sub-agents, and when the first one arrived. */
class Run {
  requests = 0;
  root = 0;
  agents = new Map();
  began = performance.timeOrigin + performance.now();
  results = undefined; // of the last request, once it has been checked

  constructor({ turns, chunks = 20, write = 'event', call = 'echo', agents = 0, agentTurns = 0 }) {
    this.wanted = { turns: Number(turns), chunks: Number(chunks), write, call, agents: Number(agents), agentTurns: Number(agentTurns) };
  }

  /** Returns the reply to the next request; `who` is the sub-agent that sends it; 0 is the run itself. */
  next(who) {
    const { turns, chunks, write, call, agents, agentTurns } = this.wanted;
    this.requests += 1;
    if (who) {
      const n = (this.agents.get(who) ?? 0) + 1;
      this.agents.set(who, n);
      return { reply: n > agentTurns ? answer(20, 'event') : callReply(n, 'echo', CALLS.echo(n)) };
    }
    const n = (this.root += 1);
    if (n > turns) return { reply: answer(chunks, write), last: true };
    if (n === 1 && agents) return { reply: callReply(n, 'spawn_subagents', { tasks: tasks(agents, agentTurns) }) };
    return { reply: callReply(n, call, CALLS[call](n)) };
  }

  /** Counts the tool results that have the required length. */
  look({ messages }) {
    const least = this.wanted.call === 'echo' && !this.wanted.agents ? 1024 : 1;
    const length = ({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)).length;
    this.results = messages.filter((message) => message.role === 'tool' && length(message) >= least).length;
  }
}

/** Sends a reply and ends it. */
export async function send(response, pieces) {
  for (const name of ['drain', 'close']) response.on(name, () => response.wake?.());
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await new Promise((resolve) => { response.wake = resolve; });
  }
  response.end();
}

/** Starts the model on a free port; resolves with { url, taken, close }. */
export async function startModel() {
  const runs = new Map();
  const server = http.createServer((request, response) => {
    const scenario = /^\/([^/]+)\/v1\/chat\/completions$/.exec(decodeURIComponent(request.url))?.[1];
    if (!scenario) return response.writeHead(404, HEADERS).end();
    const given = Object.fromEntries(scenario.split(',').map((pair) => pair.split('=')));
    if (!runs.has(given.run)) runs.set(given.run, new Run(given));
    if (request.method === 'OPTIONS') return response.writeHead(204, HEADERS).end();
    const run = runs.get(given.run);
    const { turns, agents } = run.wanted;
    const body = [];
    let read = 0;
    request.on('data', (chunk) => {
      if (run.root >= turns || (agents && read < HEAD)) body.push(chunk);
      read += chunk.length;
    });
    request.on('end', async () => {
      const who = agents ? Number(AGENT.exec(firstUser(Buffer.concat(body).toString()))?.[1] ?? 0) : 0;
      const { reply, last } = run.next(who);
      request.socket.setNoDelay(true);
      response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      await send(response, reply);
      // Only the last request is checked, and only after it has been answered.
      if (last) run.look(JSON.parse(Buffer.concat(body).toString()));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    taken: (run) => runs.get(run),
    close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}

/** Returns the part of a request before the model's first reply: later messages repeat the tasks of sub-agents. */
const firstUser = (text) => text.split('"role":"assistant"')[0];
