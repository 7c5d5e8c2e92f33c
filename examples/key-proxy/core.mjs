// A proxy with a site's key, so that visitors need none: the agent's base URL points here. Its variables say who may use it, how
// much, and for which models. Speaks Chat Completions; responses are streamed through. It can also collect the questions that
// were not answered. Everything here is the same on every platform; the file of a platform passes the rest to `serve`.
import { clean } from './clean.mjs';
import { Refused, allowed, limitOf } from './content.mjs';
import { network, parsed } from './limits.mjs';
import { RELAYED, RELAY_DEFAULTS, RELAY_VARIABLES, relay } from './relay.mjs';

export { count, inMemory } from './limits.mjs';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Response headers that a page may read: how long to wait, and the ids for a provider's support. */
const SHOWN = ['content-type', 'retry-after', 'retry-after-ms', 'x-request-id', 'request-id', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'];

const text = (value) => String(value ?? '').trim();
const secret = [text, 'a secret of the platform'];
const number = [(value) => /^[1-9]\d{0,14}$/.test(text(value)), 'a whole number, at least 1'];
const numberOrNone = [(value) => /^\d{1,15}$/.test(text(value)), 'a whole number'];
/** The requirements for each variable. A limit that is not a number would limit nothing. */
const VARIABLES = {
  ORIGINS: [(value) => list(value).length > 0 && list(value).every((origin) => parsed(origin)?.origin === origin), 'a list of origins, such as https://docs.example.org'],
  MODELS: [(value) => list(value).length > 0, 'a list of model names'],
  BASE_URL: [(value) => /^https?:$/.test(parsed(value)?.protocol), 'an address that begins with https:// or http://'],
  API_KEY: secret, SALT: secret,
  MAX_BODY_BYTES: number, MAX_OUTPUT_TOKENS: number, PER_MINUTE: number, PER_DAY: number, SITE_PER_DAY: number,
  LIMIT_FIELD: [(value) => ['', 'max_tokens', 'max_completion_tokens'].includes(text(value)), 'max_tokens or max_completion_tokens'],
  MAX_PICTURES: numberOrNone, QUESTIONS_PER_DAY: number, QUESTIONS_SITE_PER_DAY: number,
  ...RELAY_VARIABLES,
};

/** Without these, the name of the limit is that of the model, no pictures are sent and questions are not collected; the limits are for one visitor and for all of them. */
const DEFAULTS = { LIMIT_FIELD: '', MAX_PICTURES: '0', QUESTIONS: 'off', QUESTIONS_PER_DAY: '20', QUESTIONS_SITE_PER_DAY: '2000', QUESTIONS_TOKEN: '', ...RELAY_DEFAULTS };
const MAX_REPORT_BYTES = 8_000;
/** A model server's error is a few lines. */
const MAX_ERROR_BYTES = 100_000;

/**
 * Answers one request, whatever it is: it never throws. `env`: the variables; `address`: the visitor's network address, as the
 * platform itself reports it; `meters(name, { keep })`: the meter of that name, `{ take(limits) }` as `count` does it, which must not
 * be forgotten with `keep`; `questions`: where reports go, `{ add(report) }` and, if they can be read back here, `list()`, the
 * reports as JSON lines; `send`: sends the requests of the relay, if the platform has something better than `fetch`.
 */
export async function serve(request, { env: given, address, meters, questions, send }) {
  const env = { ...DEFAULTS, ...given };
  const host = { env, address, meters, questions, send };
  const asksList = request.method === 'GET' && route(request) === 'questions' && questions?.list;
  const origin = request.headers.get('origin');
  const known = !asksList && list(env.ORIGINS).includes(origin);
  let response;
  try {
    response = asksList ? await listed(request, host) : await admit(request, host, known);
  } catch (error) {
    // Also a meter that fails: a request that cannot be counted is not forwarded.
    console.error(withoutKey(`key proxy: ${error?.message}`, env));
    response = refuse(500, 'internal', 'The proxy failed to answer this request.');
  }
  if (!known) return response;
  response.headers.set('access-control-allow-origin', origin);
  response.headers.set('access-control-expose-headers', [...SHOWN, ...(env.RELAY === 'on' ? RELAYED : [])].join(', '));
  response.headers.append('vary', 'origin');
  return response;
}

async function admit(request, host, known) {
  const wrong = Object.entries(VARIABLES).find(([name, [fits]]) => !fits(host.env[name]));
  if (wrong) return refuse(503, 'not_configured', `This proxy is not set up: ${wrong[0]} must be ${wrong[1][1]}.`);
  // Also without an origin: a script outside a page needs its own key.
  return known ? answer(request, host) : refuse(403, 'origin_not_allowed', 'This proxy serves the pages of its own site only.');
}

/** The part of the address after `/v1/`, whatever the platform puts before it. */
const route = (request) => /\/v1\/(chat\/completions|questions|relay)$/.exec(new URL(request.url).pathname)?.[1];

async function answer(request, host) {
  const { env } = host;
  if (request.method === 'OPTIONS') {
    const headers = { 'access-control-allow-methods': 'POST', 'access-control-allow-headers': 'content-type, accept', 'access-control-max-age': '7200' };
    return new Response(null, { status: 204, headers });
  }
  const wanted = request.method === 'POST' && route(request);
  if (wanted === 'questions' && env.QUESTIONS === 'on') return collect(request, host);
  if (wanted === 'relay' && env.RELAY === 'on') return relay(request, { ...host, limited, refuse, spend: (...limits) => spend(host, ...limits) });
  if (wanted !== 'chat/completions') return refuse(404, 'not_found', 'There is POST /v1/chat/completions here, nothing else.');
  const body = await limited(request, Number(env.MAX_BODY_BYTES));
  if (body === undefined) return refuse(413, 'request_too_large', `A request may have ${env.MAX_BODY_BYTES} bytes at most: begin a new conversation.`);
  const asked = read(body);
  if (!asked) return refuse(400, 'invalid_request', 'The request is not a JSON object with messages.');
  const models = list(env.MODELS);
  if (!models.includes(asked.model)) return refuse(403, 'model_not_allowed', `This site offers these models: ${models.join(', ')}.`);
  let sent;
  try {
    const limit = text(env.LIMIT_FIELD) || limitOf(asked.model, env.BASE_URL);
    sent = allowed(asked, { maxTokens: Number(env.MAX_OUTPUT_TOKENS), maxPictures: Number(env.MAX_PICTURES), limit });
  } catch (error) {
    if (error instanceof Refused) return refuse(error.code === 'invalid_request' ? 400 : 403, error.code, error.message);
    throw error;
  }
  // Counted last, so that requests that are refused anyway do not count.
  const wait = await spend(host, '', [[MINUTE, Number(env.PER_MINUTE)], [DAY, Number(env.PER_DAY)]], Number(env.SITE_PER_DAY));
  if (wait) return refuse(429, 'rate_limited', `Too many requests: try again in ${wait.seconds} seconds.`, { 'retry-after': String(wait.seconds) });
  return forward(request, env, JSON.stringify(sent));
}

async function forward(request, env, body) {
  let upstream;
  try {
    upstream = await fetch(`${env.BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${text(env.API_KEY)}` },
      body,
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
  const error = await limited(upstream, MAX_ERROR_BYTES);
  if (error === undefined || upstream.status > 599) return refuse(502, 'upstream_failed', 'The model server answered with an error that cannot be read.');
  return new Response(withoutKey(error, env), { status: upstream.status, headers });
}

const withoutKey = (message, env) => (text(env.API_KEY) ? message.replaceAll(text(env.API_KEY), '[key]') : message);

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
  const visitor = `${kind}visitor ${await digest(`${env.SALT} ${network(address)}`)}`;
  return (await meters(visitor).take(limits)) ?? meters(`${kind}site`, { keep: true }).take([[DAY, sitePerDay]]);
}

/** Returns the text of a request or response, or `undefined` if it is too long or breaks off. */
async function limited({ body }, most) {
  const parts = [];
  let length = 0;
  try {
    for await (const part of body ?? []) {
      length += part.length;
      if (length > most) return undefined;
      parts.push(part);
    }
  } catch {
    return undefined;
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
export function refuse(status, code, message, headers = {}) {
  return Response.json({ error: { message, type: 'proxy', code } }, { status, headers: { 'cache-control': 'no-store', ...headers } });
}
