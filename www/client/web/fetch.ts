// One request of a tool to the web, with its redirects and limits. Who sends it differs: a page and other hosts by `fetch`, Node.js by a
// request that checks what a name means when it connects (node.ts), and a page whose target forbids CORS by the site's relay.
import { Refused, address, hostOf, ofHost } from '../../../examples/key-proxy/addresses.mjs';
import type { Rule, WebOptions } from './options';

/** A response, before its body is read. */
export interface Reply {
  status: number;
  headers: { get(name: string): string | null };
  body: AsyncIterable<Uint8Array> | null;
  /** The address that was asked, after redirects that the browser followed. */
  url: string;
  /** A redirect whose target the browser does not say. */
  hidden?: boolean;
}

export interface Question {
  url: URL;
  signal: AbortSignal;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Whether the browser follows redirects. */
  follow?: boolean;
  /** Whether the user named the origin, so that its host need not be public. */
  named: boolean;
}

/** Sends a request. No cookies, no referrer. */
export type Send = (question: Question) => Promise<Reply>;

/** What was read of an address. */
export interface Fetched {
  status: number;
  contentType: string;
  body: Uint8Array;
  /** Whether the body is longer than the limit; it is its beginning then. */
  cut: boolean;
  url: string;
}

/** An address led to a host that was not asked for. */
export class Moved extends Error {
  constructor(readonly from: string, readonly to: string) {
    super(`${from} redirects to another host. If that is what you want, call fetch_url with: ${to}`);
  }
}

export const MAX_BYTES = 10 << 20;
const TIMEOUT_MS = 20_000;
const MAX_REDIRECTS = 5;
const ACCEPT = 'text/html,application/xhtml+xml,text/markdown;q=0.9,*/*;q=0.8';

export const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status);

/** By `fetch`, in a page and on hosts other than Node.js. */
export const byFetch: Send = async ({ url, signal, method = 'GET', headers, body, follow }) => {
  const answer = await fetch(url, { method, headers, body, signal, credentials: 'omit', referrerPolicy: 'no-referrer', redirect: follow ? 'follow' : 'manual' });
  return { status: answer.status, headers: answer.headers, body: answer.body && pieces(answer.body), url: answer.url || url.href, hidden: answer.type === 'opaqueredirect' };
};

async function* pieces(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  try {
    for (let next; !(next = await reader.read()).done;) yield next.value;
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** The limits, rules and ways of one agent's requests. */
export interface Rules {
  hosts: Record<string, Rule>;
  options: WebOptions;
  send: Send;
  /** The page's own origin; `undefined` outside of pages. */
  page: string | undefined;
}

const named = ({ hosts }: Rules) => (origin: string) => Object.hasOwn(hosts, origin) && hosts[origin] !== 'deny';

/** `example.org` and `www.example.org` are one host for a redirect. */
const bare = (url: URL) => hostOf(url).replace(/^www\./, '');

/** Checks an address by the rules of the user; throws `Refused`. */
export function check(text: string, rules: Rules, base?: string): URL {
  const url = address(text, { named: named(rules), base });
  if (ofHost(rules.hosts, url) === 'deny') throw new Refused('address_not_allowed', `the user does not permit ${hostOf(url)}`);
  return url;
}

/** The address of a redirect. Another host than the one that was asked for needs a rule that allows it. */
function next(location: string, from: URL, first: URL, rules: Rules): URL {
  const to = check(location, rules, from.href);
  if (bare(to) !== bare(first) && ofHost(rules.hosts, to) !== 'allow') throw new Moved(first.href, to.href);
  if (from.protocol === 'https:' && to.protocol === 'http:') throw new Refused('address_not_allowed', `${from.href} redirects to http, which is not encrypted: ${to.href}`);
  return to;
}

/** Asks for an address. Throws `Refused`, `Moved`, or an error whose message is for the model. */
export async function ask(text: string, rules: Rules, outer: AbortSignal): Promise<Fetched> {
  const first = check(text, rules);
  // A page that is encrypted cannot ask for others, and nearly every site has both.
  if (rules.page?.startsWith('https:') && first.protocol === 'http:' && !named(rules)(first.origin)) first.protocol = 'https:';
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, relay } = rules.options;
  return within(timeoutMs, outer, hostOf(first), async (signal) => {
    let url = first;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const reply = await sent(url, first, rules, signal, relay);
      const location = isRedirect(reply.status) ? reply.headers.get('location') : null;
      if (!location) return { status: reply.status, contentType: reply.headers.get('content-type') ?? '', url: reply.url, ...(await read(reply, maxBytes)) };
      void reply.body?.[Symbol.asyncIterator]().return?.();
      url = next(location, url, first, rules);
    }
    throw new Error(`${first.href} redirects more than ${MAX_REDIRECTS} times`);
  });
}

/** One hop: directly, or by the relay if the browser does not show the answer. */
async function sent(url: URL, first: URL, rules: Rules, signal: AbortSignal, relay: string | undefined): Promise<Reply> {
  const question = { url, signal, headers: { accept: ACCEPT }, named: named(rules)(url.origin) };
  let reply;
  try {
    reply = await rules.send(question);
    if (!reply.hidden) return reply;
    if (!relay) {
      // The browser says where a redirect led only after it went there, if at all.
      reply = await rules.send({ ...question, follow: true });
      const at = next(reply.url, url, first, rules);
      return { ...reply, url: at.href };
    }
  } catch (error) {
    if (signal.aborted || error instanceof Refused || error instanceof Moved || !rules.page) throw error;
    if (!relay) throw new Error(forbidden(url));
  }
  return byRelay(relay, url, signal);
}

/** The relay answers for one hop, and says what the answer was in its own headers. */
async function byRelay(relay: string, url: URL, signal: AbortSignal): Promise<Reply> {
  let reply;
  try {
    reply = await byFetch({ url: new URL(relay, globalThis.location?.href), signal, method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ url: url.href }), named: true });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error(`${hostOf(url)} does not let other pages read it, and the relay of this site cannot be reached`);
  }
  const status = Number(reply.headers.get('x-relay-status'));
  if (!status) {
    const said = new TextDecoder().decode((await read(reply, 10_000)).body);
    let message = said.slice(0, 500);
    try {
      message = JSON.parse(said).error.message;
    } catch { /* not an answer of the relay: its text is shown */ }
    throw new Error(`the relay of this site refuses ${hostOf(url)}: ${message}`);
  }
  const { headers } = reply;
  return { ...reply, url: url.href, status, headers: { get: (name) => headers.get(`x-relay-${name}`) } };
}

const forbidden = (url: URL) => `${hostOf(url)} could not be read from this page. Either it does not let other pages read it (no CORS), it is offline, or the policy of this page (connect-src) `
  + 'does not list it. A site whose agents read other sites needs a relay (the option web.relay); in Node.js none is needed. Go on without this page';

/** The body up to the limit. */
async function read({ body }: Reply, most: number): Promise<{ body: Uint8Array; cut: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    length += part.length;
    if (length > most) break;
  }
  const whole = new Uint8Array(Math.min(length, most));
  let at = 0;
  for (const part of parts) {
    whole.set(part.subarray(0, whole.length - at), at);
    at += Math.min(part.length, whole.length - at);
  }
  return { body: whole, cut: length > most };
}

/** Runs `work` with a deadline; a late answer is told from a call that was cancelled. */
export async function within<T>(ms: number, outer: AbortSignal, host: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const abort = () => own.abort();
  outer.addEventListener('abort', abort);
  if (outer.aborted) abort();
  let late = false;
  const timer = setTimeout(() => { late = true; abort(); }, ms);
  const ended = new Promise<never>((_, reject) => {
    own.signal.addEventListener('abort', () => reject(new Error(late ? `${host} did not answer completely within ${ms / 1000} s` : 'the call was cancelled')));
  });
  try {
    return await Promise.race([work(own.signal), ended]);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', abort);
    ended.catch(() => {});
    abort();
  }
}
