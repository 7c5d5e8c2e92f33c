// The user's credentials for a service: how they are sent, and how they are kept out of everything that is shown or recorded.
import { shape, takes, text } from '../check.js';
import { encode } from './openapi-request.js';

/** A value, or a function that returns one; it is called before each request. */
export type Secret = string | ((options: { signal: AbortSignal }) => string | undefined | Promise<string | undefined>);

/** Credentials: a bearer token, HTTP Basic, or a key in a header or in the query. */
export type Auth =
  | { bearer: Secret }
  | { basic: { username: string; password: Secret } }
  | { header: string; value: Secret }
  | { query: string; value: Secret };

interface Read {
  in: 'header' | 'query';
  name: string;
  /** The value to send, and the texts that must not be shown. */
  get(signal: AbortSignal): Promise<{ value: string; secrets: string[] }>;
}

const FORMS = '{ bearer }, { basic: { username, password } }, { header, value } or { query, value }';
const secret = (value: unknown, path: string): Secret => {
  // The value itself is not repeated.
  if (typeof value !== 'string' && typeof value !== 'function') throw new TypeError(`${path}: got ${value === undefined ? 'nothing' : `a value of type ${typeof value}`}; expected a string or a function`);
  return value as Secret;
};
const headerName = takes<string>('the name of a header', (value) => typeof value === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(value));

export function readAuth(auth: unknown): Credentials {
  if (auth === undefined) return new Credentials([]);
  return new Credentials((Array.isArray(auth) ? auth : [auth]).map((one: unknown, at) => read(one, Array.isArray(auth) ? `options.auth[${at}]` : 'options.auth')));
}

function read(one: unknown, path: string): Read {
  const keys = typeof one === 'object' && one !== null ? Object.keys(one).sort().join() : '';
  const call = async (from: Secret, signal: AbortSignal) => {
    const value: unknown = typeof from === 'function' ? await from({ signal }) : from;
    if (typeof value !== 'string' || value === '' || /[\r\n\0]/.test(value)) throw new Error('it is not a text of one line');
    return value;
  };
  switch (keys) {
    case 'bearer': {
      const given = secret((one as { bearer: unknown }).bearer, `${path}.bearer`);
      return { in: 'header', name: 'authorization', get: async (signal) => call(given, signal).then((value) => ({ value: `Bearer ${value}`, secrets: [value] })) };
    }
    case 'basic': {
      const { username, password } = shape({ username: text, password: secret })((one as { basic: unknown }).basic, `${path}.basic`) as { username: string; password: Secret };
      if (username === undefined || username.includes(':')) throw new TypeError(`${path}.basic.username: expected a string without a colon`);
      if (password === undefined) throw new TypeError(`${path}.basic.password: missing; expected a string or a function`);
      return {
        in: 'header', name: 'authorization',
        get: async (signal) => {
          const value = await (typeof password === 'string' && password === '' ? '' : call(password, signal));
          const encoded = btoa(String.fromCharCode(...new TextEncoder().encode(`${username}:${value}`)));
          return { value: `Basic ${encoded}`, secrets: [encoded, ...(value ? [value] : [username])] };
        },
      };
    }
    case 'header,value': {
      const { header, value: given } = one as { header: unknown; value: unknown };
      const name = headerName(header, `${path}.header`);
      const from = secret(given, `${path}.value`);
      // With a scheme in front, as in "Token abc", the key alone is secret too.
      return { in: 'header', name: name.toLowerCase(), get: async (signal) => call(from, signal).then((value) => ({ value, secrets: [value, ...value.split(' ').slice(1)] })) };
    }
    case 'query,value': {
      const { query, value: given } = one as { query: unknown; value: unknown };
      const name = takes<string>('the name of a parameter', (value) => typeof value === 'string' && value !== '')(query, `${path}.query`);
      const from = secret(given, `${path}.value`);
      return { in: 'query', name, get: async (signal) => call(from, signal).then((value) => ({ value, secrets: [value] })) };
    }
    default: throw new TypeError(`${path}: got ${keys ? `an object with ${keys}` : `a value of type ${typeof one}`}; expected ${FORMS}`);
  }
}

/** All credentials of a document. */
export class Credentials {
  /** The headers, in small letters, and query parameters that they use: the model does not set these. */
  readonly names: { headers: Set<string>; query: Set<string> };

  constructor(readonly all: readonly Read[]) {
    const of = (where: Read['in']) => new Set(all.filter((one) => one.in === where).map(({ name }) => name));
    this.names = { headers: of('header'), query: of('query') };
  }

  get empty() {
    return this.all.length === 0;
  }

  /** Adds them to a request. The function that it returns removes them from a text. */
  async apply(headers: Headers, query: [string, string][], signal: AbortSignal): Promise<{ redact(shown: string): string }> {
    const secrets: string[] = [];
    for (const one of this.all) {
      let got: Awaited<ReturnType<Read['get']>>;
      try {
        got = await until(signal, one.get(signal));
        if (one.in === 'header') headers.set(one.name, got.value);
      } catch {
        if (signal.aborted) throw signal.reason;
        // What a function of the user throws may contain them, and so may the error about an invalid header.
        throw new Error(`the credentials for the ${one.in === 'header' ? 'header' : 'query parameter'} ${one.name} could not be obtained; nothing was sent`);
      }
      if (one.in === 'query') {
        const key = encode(one.name);
        if (query.some(([other]) => other === key)) throw new Error(`the arguments contain the query parameter ${one.name}, which the credentials use; nothing was sent`);
        query.push([key, encode(got.value)]);
      }
      secrets.push(...got.secrets);
    }
    const forms = [...new Set(secrets.filter((value) => value.length >= 4).flatMap((value) => [
      value, encode(value), encodeURIComponent(value), new URLSearchParams({ a: value }).toString().slice(2), JSON.stringify(value).slice(1, -1),
      value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'), ...base64(value),
    ]))].sort((a, b) => b.length - a.length);
    return { redact: (shown) => forms.reduce((all, form) => all.replaceAll(form, '[redacted]'), shown) };
  }
}

/** Of a value that is long enough not to be found by chance. */
const base64 = (value: string) => {
  if (value.length < 8) return [];
  const encoded = btoa(String.fromCharCode(...new TextEncoder().encode(value))).replace(/=+$/, '');
  return [encoded, encoded.replaceAll('+', '-').replaceAll('/', '_')];
};

function until<V>(signal: AbortSignal, value: Promise<V>): Promise<V> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    return value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
