// Requests to the web in Node.js, for the relay and for the tools of agents. What a name means is checked when the connection looks it up,
// so that what was checked is what is connected to. Redirects are for the caller: each is a request of its own.
import { lookup as resolve } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import zlib from 'node:zlib';
import { Refused, resolved } from './addresses.mjs';

const AGENT = 'Mozilla/5.0 (compatible; Turnwise)';
// What a server cut off is read as far as it goes.
const LENIENT = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const UNPACK = { gzip: () => zlib.createGunzip(LENIENT), deflate: () => zlib.createInflate(LENIENT), br: () => zlib.createBrotliDecompress() };
const WORDS = {
  ENOTFOUND: 'there is no such host', EAI_AGAIN: 'its name could not be looked up', ECONNREFUSED: 'it does not accept connections', ECONNRESET: 'it closed the connection',
  ETIMEDOUT: 'it does not answer', EHOSTUNREACH: 'it cannot be reached', ENETUNREACH: 'its network cannot be reached', HPE_HEADER_OVERFLOW: 'its headers are too long',
};

/** Looks a name up, and gives the connection only addresses that may be asked for. */
const checked = (named, look) => (host, options, done) => {
  look(host, { ...options, all: true }, (error, found) => {
    if (error) return done(error);
    try {
      resolved(host, found.map(({ address }) => address), named);
    } catch (refused) {
      return done(refused);
    }
    return options.all ? done(null, found) : done(null, found[0].address, found[0].family);
  });
};

/**
 * Sends a request and resolves with `{ status, url, headers: { get }, body }`, the body unpacked as it is read. `named`: the user named the
 * origin, so its host need not be public. `look`: looks a name up, as `dns.lookup` does.
 */
export const send = ({ url, signal, method = 'GET', headers, body, named, look = resolve }) => new Promise((done, fail) => {
  const { request } = url.protocol === 'https:' ? https : http;
  const asked = request(url, { method, signal, lookup: checked(named, look), agent: false, headers: { 'accept-encoding': 'gzip, deflate, br', 'user-agent': AGENT, ...headers } });
  asked.on('error', (error) => fail(signal?.aborted || error instanceof Refused ? error : new Error(`${url.host} could not be read: ${WORDS[error.code] ?? error.code ?? error.message}`)));
  asked.on('response', (answer) => {
    // A coding that is none, such as `UTF-8`, is a mistake of the server: the body is as it is.
    const codings = String(answer.headers['content-encoding'] ?? '').toLowerCase().split(',').map((one) => UNPACK[one.trim().replace(/^x-/, '')]).filter(Boolean).reverse();
    done({ status: answer.statusCode, url: url.href, headers: { get: (name) => answer.headers[name]?.toString() ?? null }, body: unpacked(answer, codings, url.host) });
  });
  asked.end(body);
});

/** The body; only as much is unpacked as is read. */
async function* unpacked(answer, codings, host) {
  const all = [answer];
  for (const coding of codings) {
    const [from, to] = [all.at(-1), coding()];
    from.on('error', (error) => to.destroy(error));
    all.push(from.pipe(to));
  }
  try {
    yield* all.at(-1);
  } catch (error) {
    throw new Error(`${host} could not be read completely: ${WORDS[error.code] ?? error.message}`);
  } finally {
    // Nobody reads on; what they still say is not an error.
    for (const one of all) one.on('error', () => {}).destroy();
  }
}
