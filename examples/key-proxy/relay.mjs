// The relay: reads a page of the web for the agents of the site's pages, where the page's server does not let other pages read it (CORS). Off
// unless the site turns it on. It asks by the same rule of addresses as the tool in Node.js, sends nothing of the visitor, answers for one hop (a
// redirect is for the page to judge), and is no place for scripts of others: what it returns is never shown as a page of the site.
import { Refused, address, ofHost } from './addresses.mjs';

const TIMEOUT_MS = 20_000;
const MAX_QUESTION = 8_000;
const DAY = 24 * 60 * 60_000;
/** Headers of an answer that the page reads. */
export const RELAYED = ['x-relay-status', 'x-relay-location', 'x-relay-content-type'];
const ACCEPT = 'text/html,application/xhtml+xml,text/markdown;q=0.9,*/*;q=0.8';

const number = [(value) => /^[1-9]\d{0,14}$/.test(String(value ?? '').trim()), 'a whole number, at least 1'];
const names = (text) => String(text ?? '').split(',').map((part) => part.trim().toLowerCase()).filter(Boolean);
const NAME = /^(\*|(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?|https?:\/\/[a-z0-9.[\]:-]+)$/;

/** The requirements for the relay's variables, and what they are without the site's own. */
export const RELAY_VARIABLES = {
  RELAY: [(value) => ['on', 'off'].includes(value), 'on or off'],
  RELAY_HOSTS: [(value) => names(value).every((name) => NAME.test(name)), 'a list of hosts, such as docs.example.org, *.example.org, or * for all public ones'],
  RELAY_PER_DAY: number, RELAY_SITE_PER_DAY: number, RELAY_MAX_BYTES: number,
};
export const RELAY_DEFAULTS = { RELAY: 'off', RELAY_HOSTS: '', RELAY_PER_DAY: '100', RELAY_SITE_PER_DAY: '2000', RELAY_MAX_BYTES: String(10 << 20) };

/** By `fetch`, where the platform has nothing that can check what a name means. */
const byFetch = async ({ url, signal, headers }) => {
  const answer = await fetch(url, { signal, headers, redirect: 'manual' });
  return { status: answer.status, headers: answer.headers, body: answer.body };
};

/**
 * Answers one request: `POST { url }`. `limited(request, most)` reads a body, `spend(kind, limits, site)` counts and says how long to wait,
 * `refuse(status, code, message, headers)` makes an error; `send` asks, as `ask-node.mjs` does.
 */
export async function relay(request, { env, send = byFetch, limited, spend, refuse }) {
  const asked = read(await limited(request, MAX_QUESTION));
  if (asked === undefined) return refuse(400, 'invalid_request', 'The request is not {"url": "…"}.');
  const hosts = Object.fromEntries(names(env.RELAY_HOSTS).map((name) => [name, true]));
  const named = (origin) => Object.hasOwn(hosts, origin);
  let url;
  try {
    url = address(asked, { named });
  } catch (error) {
    if (error instanceof Refused) return refuse(403, error.code, `${error.message}.`);
    throw error;
  }
  if (!hosts['*'] && !ofHost(hosts, url)) return refuse(403, 'host_not_allowed', `This relay does not read ${url.hostname}, only hosts that its site lists.`);
  // Counted last, so that requests that are refused anyway do not count.
  const wait = await spend('relay ', [[DAY, Number(env.RELAY_PER_DAY)]], Number(env.RELAY_SITE_PER_DAY));
  if (wait) return refuse(429, 'rate_limited', `Too many pages: try again in ${wait.seconds} seconds.`, { 'retry-after': String(wait.seconds) });
  let reply;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    reply = await send({ url, signal, named: named(url.origin), headers: { accept: ACCEPT } });
  } catch (error) {
    if (error instanceof Refused) return refuse(403, error.code, `${error.message}.`);
    return refuse(502, 'unreachable', `${url.hostname} could not be read.`);
  }
  const headers = new Headers({
    'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff', 'content-security-policy': "default-src 'none'; sandbox", 'cache-control': 'no-store',
    'x-relay-status': String(reply.status), 'x-relay-content-type': reply.headers.get('content-type') ?? '',
  });
  const location = reply.headers.get('location');
  // Only what a header can carry; a location is an address.
  if (location && URL.canParse(location, url.href)) headers.set('x-relay-location', new URL(location, url.href).href);
  return new Response(reply.body && upTo(reply.body, Number(env.RELAY_MAX_BYTES)), { headers });
}

function read(text) {
  try {
    const { url } = JSON.parse(text);
    return typeof url === 'string' ? url : undefined;
  } catch {
    return undefined;
  }
}

/** The beginning of a body. A server that breaks off ends it. */
function upTo(body, most) {
  const parts = body[Symbol.asyncIterator]();
  let left = most;
  return new ReadableStream({
    async pull(controller) {
      const next = await parts.next().catch(() => ({ done: true }));
      if (next.done || left <= 0) {
        void parts.return?.();
        return controller.close();
      }
      const part = next.value.subarray(0, left);
      left -= part.length;
      return controller.enqueue(new Uint8Array(part));
    },
    cancel() {
      void parts.return?.();
    },
  });
}
