// A proxy with a site's key, so that visitors need none: the agent's base URL points here. Its variables say who may use it, how
// much, and for which models. Speaks Chat Completions; responses are streamed through. It can also collect the questions that
// were not answered. Everything here is the same on every platform; the file of a platform passes the rest to `serve`.
import { clean } from './clean.mjs';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Fields that a request may contain; any others could cost more (hosted tools, service tiers) and are removed. */
const FIELDS = ['messages', 'stream', 'stream_options', 'temperature', 'top_p', 'stop', 'seed', 'tool_choice', 'parallel_tool_calls', 'response_format'];
/** Response headers that a page may read: how long to wait, and the ids for a provider's support. */
const SHOWN = ['content-type', 'retry-after', 'retry-after-ms', 'x-request-id', 'request-id', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'];

const text = (value) => String(value ?? '').trim();
const secret = [text, 'a secret of the platform'];
const number = [(value) => /^[1-9]\d{0,14}$/.test(text(value)), 'a whole number, at least 1'];
/** The requirements for each variable. A limit that is not a number would limit nothing. */
const VARIABLES = {
  ORIGINS: [(value) => list(value).length > 0 && list(value).every((origin) => URL.parse(origin)?.origin === origin), 'a list of origins, such as https://docs.example.org'],
  MODELS: [(value) => list(value).length > 0, 'a list of model names'],
  BASE_URL: [(value) => /^https?:$/.test(URL.parse(value)?.protocol), 'an address that begins with https:// or http://'],
  API_KEY: secret, SALT: secret,
  MAX_BODY_BYTES: number, MAX_OUTPUT_TOKENS: number, PER_MINUTE: number, PER_DAY: number, SITE_PER_DAY: number,
  QUESTIONS_PER_DAY: number, QUESTIONS_SITE_PER_DAY: number,
};

/** Without these, questions are not collected; the limits are for one visitor and for all of them. */
const DEFAULTS = { QUESTIONS: 'off', QUESTIONS_PER_DAY: '20', QUESTIONS_SITE_PER_DAY: '2000', QUESTIONS_TOKEN: '' };
const MAX_REPORT_BYTES = 8_000;

/**
 * Answers one request. `env`: the variables; `address`: the visitor's network address, as the platform itself reports it;
 * `meters(name)`: the meter of that name, `{ take(limits) }` as `count` below; `questions`: where reports go, `{ add(report) }`
 * and, if they can be read back here, `list()`, the reports as JSON lines.
 */
export async function serve(request, { env: given, address, meters, questions }) {
  const env = { ...DEFAULTS, ...given };
  const host = { env, address, meters, questions };
  const asksList = request.method === 'GET' && route(request) === 'questions' && questions?.list;
  if (asksList) return listed(request, host);
  const origin = request.headers.get('origin');
  const known = list(env.ORIGINS).includes(origin);
  const wrong = Object.entries(VARIABLES).find(([name, [fits]]) => !fits(env[name]));
  // Also without an origin: a script outside a page needs its own key.
  if (!known && !wrong) return refuse(403, 'origin_not_allowed', 'This proxy serves the pages of its own site only.');
  const response = wrong ? refuse(503, 'not_configured', `This proxy is not set up: ${wrong[0]} must be ${wrong[1][1]}.`) : await answer(request, host);
  if (!known) return response;
  response.headers.set('access-control-allow-origin', origin);
  response.headers.set('access-control-expose-headers', SHOWN.join(', '));
  response.headers.append('vary', 'origin');
  return response;
}

/** The part of the address after `/v1/`, whatever the platform puts before it. */
const route = (request) => /\/v1\/(chat\/completions|questions)$/.exec(new URL(request.url).pathname)?.[1];

async function answer(request, host) {
  const { env } = host;
  if (request.method === 'OPTIONS') {
    const headers = { 'access-control-allow-methods': 'POST', 'access-control-allow-headers': 'content-type, accept', 'access-control-max-age': '7200' };
    return new Response(null, { status: 204, headers });
  }
  const wanted = request.method === 'POST' && route(request);
  if (wanted === 'questions' && env.QUESTIONS === 'on') return collect(request, host);
  if (wanted !== 'chat/completions') return refuse(404, 'not_found', 'There is POST /v1/chat/completions here, nothing else.');
  const body = await limited(request, Number(env.MAX_BODY_BYTES));
  if (body === undefined) return refuse(413, 'request_too_large', `A request may have ${env.MAX_BODY_BYTES} bytes at most: begin a new conversation.`);
  const asked = read(body);
  if (!asked) return refuse(400, 'invalid_request', 'The request is not a JSON object with messages.');
  const [models, most] = [list(env.MODELS), Number(env.MAX_OUTPUT_TOKENS)];
  if (!models.includes(asked.model)) return refuse(403, 'model_not_allowed', `This site offers these models: ${models.join(', ')}.`);
  // Counted last, so that requests that are refused anyway do not count.
  const wait = await spend(host, '', [[MINUTE, Number(env.PER_MINUTE)], [DAY, Number(env.PER_DAY)]], Number(env.SITE_PER_DAY));
  if (wait) return refuse(429, 'rate_limited', `Too many requests: try again in ${wait.seconds} seconds.`, { 'retry-after': String(wait.seconds) });
  return forward(request, env, allowed(asked, most));
}

/** Returns the request to forward: known fields, function tools only, no more tokens than the site pays for. */
function allowed(asked, most) {
  const sent = { model: asked.model };
  for (const field of FIELDS) if (asked[field] !== undefined) sent[field] = asked[field];
  if (Array.isArray(asked.tools)) sent.tools = asked.tools.filter((tool) => tool?.type === 'function');
  const name = asked.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens';
  const wanted = Number(asked[name]);
  sent[name] = wanted >= 1 ? Math.min(Math.floor(wanted), most) : most;
  return sent;
}

async function forward(request, env, body) {
  let upstream;
  try {
    upstream = await fetch(`${env.BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${env.API_KEY}` },
      body: JSON.stringify(body),
      redirect: 'manual', // the key must not be sent to another address
      signal: request.signal, // a visitor who leaves costs nothing more
    });
  } catch {
    return refuse(502, 'upstream_unreachable', 'The model server could not be reached.');
  }
  if (upstream.status >= 300 && upstream.status < 400) return refuse(502, 'upstream_redirects', 'The model server wants to redirect, which is not followed.');
  // These concern the site's key, not the visitor; some providers repeat part of the key.
  if (upstream.status === 401 || upstream.status === 403) return refuse(502, 'upstream_refused', 'The model server did not accept the key of this site.');
  const headers = new Headers({ 'cache-control': 'no-store' });
  for (const name of SHOWN) if (upstream.headers.has(name)) headers.set(name, upstream.headers.get(name));
  if (upstream.ok) return new Response(upstream.body, { status: upstream.status, headers });
  const text = await upstream.text();
  return new Response(text.replaceAll(env.API_KEY, '[key]'), { status: upstream.status, headers });
}

/** Stores the report of a question that was not answered: by day, and without anything about the visitor. */
async function collect(request, host) {
  const { env, questions } = host;
  const body = await limited(request, MAX_REPORT_BYTES);
  if (body === undefined) return refuse(413, 'request_too_large', `A report may have ${MAX_REPORT_BYTES} bytes at most.`);
  const report = clean(body);
  if (!report) return refuse(400, 'invalid_request', 'The request is not the report of a question.');
  const wait = await spend(host, 'questions ', [[DAY, Number(env.QUESTIONS_PER_DAY)]], Number(env.QUESTIONS_SITE_PER_DAY));
  if (wait) return refuse(429, 'rate_limited', `Too many reports: try again in ${wait.seconds} seconds.`, { 'retry-after': String(wait.seconds) });
  await questions.add({ day: new Date().toISOString().slice(0, 10), ...report });
  return new Response(null, { status: 204 });
}

/** Gives the collected reports to whoever has the token. */
async function listed(request, { env, questions }) {
  const token = text(env.QUESTIONS_TOKEN);
  const [, sent = ''] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
  // Digests of equal length, so that the time of the comparison says nothing.
  const [wanted, got] = await Promise.all([digest(token), digest(sent)]);
  const differs = [...wanted].reduce((sum, letter, at) => sum | (letter.charCodeAt(0) ^ got.charCodeAt(at)), 0);
  if (!token || differs) return refuse(401, 'unauthorized', 'This takes the token of the site, as Authorization: Bearer.');
  return new Response(await questions.list(), { headers: { 'content-type': 'application/jsonl; charset=utf-8', 'cache-control': 'no-store' } });
}

/** Counts the request for the visitor and for the site. Returns how long to wait if one of them is over its limit. */
async function spend({ env, address, meters }, kind, limits, sitePerDay) {
  const visitor = `${kind}visitor ${await digest(`${env.SALT} ${network(address ?? '')}`)}`;
  return (await meters(visitor).take(limits)) ?? meters(`${kind}site`).take([[DAY, sitePerDay]]);
}

/**
 * Counts a request in each window of time, `[length in ms, most]`, unless one of them is full: then it returns how long to wait.
 * `counts` is what earlier calls left.
 */
export function count(counts, limits, now = Date.now()) {
  for (const [length, most] of limits) {
    const window = Math.floor(now / length);
    const so = counts[length]?.window === window ? counts[length].count : 0;
    if (so >= most) return { seconds: Math.ceil(((window + 1) * length - now) / 1000) };
    counts[length] = { window, count: so + 1 };
  }
  return undefined;
}

/** Meters in the memory of one process. They begin anew with it, and each process has its own. */
export function inMemory(most = 10_000) {
  const all = new Map();
  return (name) => ({
    async take(limits) {
      const counts = { ...all.get(name) };
      const wait = count(counts, limits);
      if (wait) return wait;
      all.delete(name); // the last one used is last, and the first one is forgotten
      all.set(name, counts);
      if (all.size > most) all.delete(all.keys().next().value);
      return undefined;
    },
  });
}

/** Returns the network that an address counts for: the address itself, or in IPv6 its /64, all of which belongs to one customer. */
function network(address) {
  const six = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1); // in its canonical form
  if (!six) return address;
  const [head, tail] = six.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = tail ? [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail] : head;
  if (/^(0:){5}ffff:/.test(groups.join(':'))) {
    // An IPv4 address written as IPv6.
    return groups.slice(6).map((group) => parseInt(group, 16)).map((pair) => `${pair >> 8}.${pair & 255}`).join('.');
  }
  return groups.slice(0, 4).join(':');
}

/** Returns the text of a request, or `undefined` if it is too long. */
async function limited(request, most) {
  const parts = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > most) return undefined;
    parts.push(part);
  }
  return new Blob(parts).text();
}

function read(text) {
  try {
    const body = JSON.parse(text);
    return Array.isArray(body?.messages) ? body : undefined;
  } catch {
    return undefined;
  }
}

const list = (names) => text(names).split(',').map((part) => part.trim()).filter(Boolean);

async function digest(text) {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns an error in the provider's format, which every client can read. */
function refuse(status, code, message, headers = {}) {
  return Response.json({ error: { message, type: 'proxy', code } }, { status, headers: { 'cache-control': 'no-store', ...headers } });
}
