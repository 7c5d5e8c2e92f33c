// A proxy with a site's key, so that visitors need none: the agent's base URL points here. wrangler.jsonc configures who may use
// it, how much, and for which models. Speaks Chat Completions; responses are streamed through.
import { DurableObject } from 'cloudflare:workers';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Fields that a request may contain; any others could cost more (hosted tools, service tiers) and are removed. */
const FIELDS = ['messages', 'stream', 'stream_options', 'temperature', 'top_p', 'stop', 'seed', 'tool_choice', 'parallel_tool_calls', 'response_format'];
/** Response headers that a page may read: how long to wait, and the ids for a provider's support. */
const SHOWN = ['content-type', 'retry-after', 'retry-after-ms', 'x-request-id', 'request-id', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'];

const text = (value) => String(value ?? '').trim();
const secret = [text, 'a secret, set with wrangler secret put'];
const count = [(value) => /^[1-9]\d{0,14}$/.test(text(value)), 'a whole number, at least 1'];
/** The requirements for each variable. A limit that is not a number would limit nothing. */
const VARIABLES = {
  ORIGINS: [(value) => list(value).length > 0 && list(value).every((origin) => URL.parse(origin)?.origin === origin), 'a list of origins, such as https://docs.example.org'],
  MODELS: [(value) => list(value).length > 0, 'a list of model names'],
  BASE_URL: [(value) => /^https?:$/.test(URL.parse(value)?.protocol), 'an address that begins with https:// or http://'],
  API_KEY: secret, SALT: secret,
  MAX_BODY_BYTES: count, MAX_OUTPUT_TOKENS: count, PER_MINUTE: count, PER_DAY: count, SITE_PER_DAY: count,
};

export default {
  async fetch(request, env) {
    const origin = request.headers.get('origin');
    const known = list(env.ORIGINS).includes(origin);
    const wrong = Object.entries(VARIABLES).find(([name, [fits]]) => !fits(env[name]));
    // Also without an origin: a script outside a page needs its own key.
    if (!known && !wrong) return refuse(403, 'origin_not_allowed', 'This proxy serves the pages of its own site only.');
    const response = wrong ? refuse(503, 'not_configured', `This proxy is not set up: ${wrong[0]} must be ${wrong[1][1]}.`) : await answer(request, env);
    if (!known) return response;
    response.headers.set('access-control-allow-origin', origin);
    response.headers.set('access-control-expose-headers', SHOWN.join(', '));
    response.headers.append('vary', 'origin');
    return response;
  },
};

async function answer(request, env) {
  if (request.method === 'OPTIONS') {
    const headers = { 'access-control-allow-methods': 'POST', 'access-control-allow-headers': 'content-type, accept', 'access-control-max-age': '7200' };
    return new Response(null, { status: 204, headers });
  }
  const { pathname } = new URL(request.url);
  if (request.method !== 'POST' || pathname !== '/v1/chat/completions') return refuse(404, 'not_found', 'There is POST /v1/chat/completions here, nothing else.');
  const body = await limited(request, Number(env.MAX_BODY_BYTES));
  if (body === undefined) return refuse(413, 'request_too_large', `A request may have ${env.MAX_BODY_BYTES} bytes at most: begin a new conversation.`);
  const asked = read(body);
  if (!asked) return refuse(400, 'invalid_request', 'The request is not a JSON object with messages.');
  const [models, most] = [list(env.MODELS), Number(env.MAX_OUTPUT_TOKENS)];
  if (!models.includes(asked.model)) return refuse(403, 'model_not_allowed', `This site offers these models: ${models.join(', ')}.`);
  // Counted last, so that requests that are refused anyway do not count.
  const wait = await spend(request, env);
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

/** Counts the request for the visitor and for the site. Returns how long to wait if one of them is over its limit. */
async function spend(request, env) {
  const visitor = env.METERS.getByName(`visitor ${await digest(`${env.SALT} ${network(request.headers.get('cf-connecting-ip') ?? '')}`)}`);
  const refused = await visitor.take([[MINUTE, Number(env.PER_MINUTE)], [DAY, Number(env.PER_DAY)]]);
  return refused ?? env.METERS.getByName('site').take([[DAY, Number(env.SITE_PER_DAY)]]);
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

/** Counts the requests of one visitor, or of all, in windows of time. */
export class Meter extends DurableObject {
  async take(limits) {
    const now = Date.now();
    const counts = (await this.ctx.storage.get('counts')) ?? {};
    for (const [length, most] of limits) {
      const window = Math.floor(now / length);
      const count = counts[length]?.window === window ? counts[length].count : 0;
      if (count >= most) return { seconds: Math.ceil(((window + 1) * length - now) / 1000) };
      counts[length] = { window, count: count + 1 };
    }
    await this.ctx.storage.put('counts', counts);
    // Data about a visitor who does not return is deleted.
    await this.ctx.storage.setAlarm(now + 2 * DAY);
    return undefined;
  }

  async alarm() {
    await this.ctx.storage.deleteAll();
  }
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
