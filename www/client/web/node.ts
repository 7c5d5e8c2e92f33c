// Requests to the web in Node.js. What a name means is checked when the connection looks it up, so that what was checked is what is
// connected to; the redirects are followed by fetch.ts, each checked again.
import { lookup as resolve } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import zlib from 'node:zlib';
import { Refused, resolved } from '../../../examples/key-proxy/addresses.mjs';
import type { Send } from './fetch';

const AGENT = 'Mozilla/5.0 (compatible; Turnwise)';
const UNPACK: Record<string, () => any> = {
  gzip: () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }), 'x-gzip': () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  deflate: () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH }), br: () => zlib.createBrotliDecompress(),
};
const WORDS: Record<string, string> = {
  ENOTFOUND: 'there is no such host', EAI_AGAIN: 'its name could not be looked up', ECONNREFUSED: 'it does not accept connections', ECONNRESET: 'it closed the connection',
  ETIMEDOUT: 'it does not answer', EHOSTUNREACH: 'it cannot be reached', ENETUNREACH: 'its network cannot be reached', HPE_HEADER_OVERFLOW: 'its headers are too long',
};

/** Looks a name up, and gives the connection only addresses that may be asked for. */
const lookup = (named: boolean) => (host: string, options: { all?: boolean }, done: (error: Error | null, address?: any, family?: number) => void) => {
  resolve(host, { ...options, all: true }, (error: Error | null, found: { address: string; family: number }[]) => {
    if (error) return done(error);
    try {
      resolved(host, found.map(({ address }) => address), named);
    } catch (refused) {
      return done(refused as Error);
    }
    return options.all ? done(null, found) : done(null, found[0]!.address, found[0]!.family);
  });
};

export const send: Send = ({ url, signal, method = 'GET', headers, body, named }) => new Promise((resolve, reject) => {
  const { request } = url.protocol === 'https:' ? https : http;
  const asked = request(url, { method, signal, lookup: lookup(named), agent: false, headers: { 'accept-encoding': 'gzip, deflate, br', 'user-agent': AGENT, ...headers } });
  asked.on('error', (error: Error & { code?: string }) => {
    reject(signal.aborted || error instanceof Refused ? error : new Error(`${url.host} could not be read: ${WORDS[error.code ?? ''] ?? error.code ?? error.message}`));
  });
  asked.on('response', (answer: any) => {
    // An encoding that is none, such as `UTF-8`, is a mistake of the server: the body is as it is.
    const codings = String(answer.headers['content-encoding'] ?? '').toLowerCase().split(',').map((one) => UNPACK[one.trim()]).filter(Boolean).reverse();
    resolve({
      status: answer.statusCode, url: url.href, headers: { get: (name) => answer.headers[name]?.toString() ?? null }, body: unpacked(answer, codings as (() => any)[], url.host),
    });
  });
  asked.end(body);
});

/** The body, unpacked; only as much is unpacked as is read. */
async function* unpacked(answer: any, codings: (() => any)[], host: string): AsyncIterable<Uint8Array> {
  let stream = answer;
  const all = [answer];
  let failed: Error | undefined;
  for (const coding of codings) {
    const from = stream;
    stream = coding();
    all.push(stream);
    const to = stream;
    from.on('error', (error: Error) => { failed ??= error; to.destroy(error); });
    from.pipe(to);
  }
  try {
    yield* stream;
  } catch (error) {
    throw new Error(`${host} could not be read completely: ${WORDS[(error as { code?: string }).code ?? ''] ?? (failed ?? error as Error).message}`);
  } finally {
    all.forEach((one) => one.destroy());
  }
}
