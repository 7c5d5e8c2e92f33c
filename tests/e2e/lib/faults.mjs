// The table of faults: what a server does, and what a run must make of it.
//
// `answer` answers every request, so a retried fault uses up the attempts of the turn. `slugs` are the attempts' slugs, in
// order; `says` are fragments of what the user sees. `ends` is how the run ends. `recovers: false`: no second run in which
// only the first response fails.
import { chunk, head, LAST, STREAM } from './fault-server.mjs';
import { reply } from './script-server.mjs';

const TEXT = 'The answer is forty-two.';
const WHOLE = reply({ text: TEXT });
const FINISH = WHOLE.findIndex((part) => part.includes('"finish_reason":"stop"'));
const CALL = reply({ calls: [{ id: 'call_0', name: 'lookup', args: { word: 'alphabet soup' } }] });
const json = (value) => JSON.stringify(value);

/** A response that is not a stream. */
const plain = (status, body = '', headers = {}, options) => (wire) => {
  const type = body.trimStart().startsWith('<') ? 'text/html; charset=utf-8' : 'application/json';
  wire.write(head(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers }, options), body);
  wire.end();
};
const said = (message, type, code) => json({ error: { message, type, param: null, code: code ?? null } });
/** A stream of these chunks; `how` is the way it ends: properly, cut, or silent. */
const stream = (parts, how = 'end', headers = {}) => async (wire) => {
  wire.write(head(200, { ...STREAM, ...headers }), ...parts.map(chunk));
  if (how === 'end') wire.write(LAST);
  if (how === 'end') wire.end();
  if (how === 'cut') await wire.cut();
};
/** The dates that were sent, as `{ sent, until }`: when, and which date (whole seconds). */
const named = [];
function date(ms) {
  const text = new Date(Date.now() + ms).toUTCString();
  named.push({ sent: Date.now(), until: Date.parse(text) });
  return text;
}
const event = (value) => `data: ${json(value)}\n\n`;

/** The response of a good server: the second response in a run that recovers. */
export const good = stream(WHOLE);
export const ANSWER = TEXT;
/** A wait that is too long for any test. */
export const busy = plain(429, said('Slow down', 'rate_limit_error'), { 'retry-after': 30 });

const fatal = (slug, says) => ({ slugs: [slug], says, ends: 'llm_error' });
const retried = (slug, says, more) => ({ slugs: [slug, slug, slug], says: [...says, 'No attempts left (3 of 3)', 'try again later'], ends: 'llm_error', ...more });
const accepted = (says = [TEXT]) => ({ slugs: [], says, ends: 'llm_complete' });
/** When the conversation is too long, the run concludes with a synthesis; here that fails in the same way. */
const overflow = (says) => ({ slugs: ['context_guard', 'context_guard'], says, ends: 'context_synthesis_failed', recovers: false });

const row = (id, name, answer, expected) => ({ id, name, answer, ...expected });

export const FAULTS = [
  ['Answers with an error status', [
    row('400', '400, a request that the server does not take', plain(400, said('Unsupported value: temperature', 'invalid_request_error')), fatal('provider_error', ['refused the request (400)', 'Unsupported value', 'Check the options'])),
    row('400-context', '400, the conversation is too long', plain(400, said("This model's maximum context length is 8192 tokens.", 'invalid_request_error', 'context_length_exceeded')), overflow(['too long for', 'larger context window'])),
    row('401', '401, a wrong key', plain(401, said('Incorrect API key provided: sk-x***1.', 'invalid_request_error', 'invalid_api_key')), fatal('auth_error', ['did not accept the key (401)', 'Check that the key'])),
    row('402', '402, no credit', plain(402, said('Insufficient balance', 'billing')), fatal('quota_error', ['no quota or credit left (402)', 'Add credit'])),
    row('403', '403, a key that may not do this', plain(403, said('Your key lacks scopes', 'permission_error')), fatal('auth_error', ['does not allow this (403)', 'Check that the key may use'])),
    row('404-model', '404, a model that is not there', plain(404, said('The model `scripted` does not exist', 'invalid_request_error', 'model_not_found')), fatal('provider_error', ['has no model', "Check the model's name"])),
    row('404', '404, a path that is not there', plain(404, said('Not Found', 'not_found')), fatal('provider_error', ['has nothing at', 'Check the base URL'])),
    row('405', '405', plain(405, said('Method Not Allowed', 'error')), fatal('provider_error', ['has nothing at', 'Check the base URL'])),
    row('408', '408', plain(408, said('Request timed out', 'timeout')), retried('timeout', ['timed out (408)'])),
    row('409', '409', plain(409, said('Try again', 'conflict')), retried('provider_error', ['(409)'])),
    row('413', '413, a request that is too large', plain(413, said('Request too large', 'invalid_request_error')), overflow(['too long for', 'larger context window'])),
    row('422', '422', plain(422, said('tools: extra fields not permitted', 'invalid_request_error')), fatal('provider_error', ['refused the request (422)', 'extra fields', 'Check the options'])),
    row('500', '500', plain(500, said('The server had an error', 'server_error')), retried('provider_error', ['has a problem (500)'])),
    row('502', '502, a web page of a proxy', plain(502, '<!doctype html><html><head><title>502 Bad Gateway</title></head><body></body></html>'), retried('provider_error', ['web page (502)', '502 Bad Gateway'])),
    row('503', '503', plain(503, said('Service unavailable', 'server_error')), retried('provider_error', ['has a problem (503)'])),
    row('504', '504, an empty body', plain(504), retried('provider_error', ['has a problem (504)'])),
    row('529', '529', plain(529, said('Overloaded', 'overloaded_error')), retried('provider_error', ['has a problem (529)'])),
    row('401-no-cors', '401 without CORS headers', plain(401, said('Incorrect API key', 'invalid_request_error'), {}, { cors: false }), retried('network_error', ['may not read its answer (CORS)', 'check the key'])),
  ]],
  ['Too many requests', [
    row('429', '429, no wait named', plain(429, said('Rate limit reached', 'rate_limit_error')), retried('rate_limited', ['too many requests (429)'])),
    row('429-seconds', '429, `Retry-After: 1`', plain(429, said('Rate limit reached', 'rate_limit_error'), { 'retry-after': 1 }), retried('rate_limited', ['too many requests (429)'], { waits: [1000, 1000] })),
    row('429-ms', '429, `retry-after-ms: 120`', plain(429, said('Rate limit reached', 'rate_limit_error'), { 'retry-after': 1, 'retry-after-ms': 120 }), retried('rate_limited', ['too many requests (429)'], { waits: [120, 120] })),
    row('429-date', '429, `Retry-After` as a date two seconds ahead', (wire, request) => plain(429, said('Rate limit reached', 'rate_limit_error'), { 'retry-after': date(2000) })(wire, request), retried('rate_limited', ['too many requests (429)'], { until: named })),
    row('429-long', '429, `Retry-After: 3600`', plain(429, said('Rate limit reached', 'rate_limit_error'), { 'retry-after': 3600 }), fatal('rate_limited', ['too many requests (429)', 'wait 3600 s', 'longer than this run waits', 'Start it again'])),
    row('429-quota', '429, `insufficient_quota`', plain(429, said('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'), { 'retry-after': 1 }), fatal('quota_error', ['no quota or credit left (429)', 'Add credit'])),
  ]],
  ['No answer at all', [
    row('refused', 'nobody listens at the port', undefined, retried('network_error', ['Nothing answers at', 'Start the model server'], { requests: 0, target: 'dead', recovers: false })),
    row('dns', 'a host that does not exist', undefined, retried('network_error', ['cannot be reached', 'Check the base URL'], { requests: 0, target: 'nowhere', recovers: false })),
    row('offline', 'the browser is offline', good, retried('network_error', ['offline'], { requests: 0, target: 'offline', recovers: false })),
    row('no-cors', 'a server that does not allow other origins', Object.assign(plain(200, '{}', {}, { cors: false }), { preflight: false }), retried('network_error', ['may not read its answer (CORS)'], { requests: 0, recovers: false })),
    row('shut', 'connection closed before the headers', (wire) => wire.end(), retried('network_error', ['Nothing answers at', 'Start the model server'])),
    row('reset', 'connection reset before the headers', (wire) => wire.cut(), retried('network_error', ['Nothing answers at', 'Start the model server'])),
    row('no-http', 'bytes that are not HTTP', (wire) => { wire.write('SSH-2.0-OpenSSH_9.6\r\n\r\n'); wire.end(); }, retried('network_error', ['Nothing answers at'])),
    row('redirect-login', 'a redirect to a login page', plain(302, '', { location: '/login' }), fatal('provider_error', ['redirects the request', 'Set the base URL'])),
    row('redirect-away', 'a redirect to another origin', (wire, { origin }) => plain(307, '', { location: `${origin.replace('127.0.0.1', 'localhost')}/away/v1/chat/completions` })(wire), fatal('provider_error', ['redirects the request', 'Set the base URL'])),
  ]],
  ['Streams that break off', [
    row('cut-head', 'cut after the headers', stream([], 'cut'), retried('stream_cut', ['The connection ended before any data arrived'])),
    row('end-head', 'ends after the headers', stream([]), retried('stream_cut', ['The connection ended before any data arrived'])),
    row('cut-text', 'cut inside a text', stream([...WHOLE.slice(0, 3), WHOLE[3].slice(0, 60)], 'cut'), retried('stream_cut', ['before the reply was complete', 'characters had arrived'])),
    row('end-text', 'ends inside a text', stream(WHOLE.slice(0, 3)), retried('stream_cut', ['before the reply was complete'])),
    row('cut-args', 'cut inside the arguments of a tool call', stream(CALL.slice(0, 4), 'cut'), retried('stream_cut', ['before the reply was complete'])),
    row('end-args', 'ends inside the arguments of a tool call', stream(CALL.slice(0, 4)), retried('stream_cut', ['before the reply was complete'])),
    row('end-no-finish', 'ends after the whole text, without `finish_reason`', stream(WHOLE.slice(0, FINISH)), retried('stream_cut', ['before the reply was complete'])),
    row('done-no-finish', '`[DONE]`, but no `finish_reason`', stream([...WHOLE.slice(0, FINISH), 'data: [DONE]\n\n']), retried('stream_cut', ['before the reply was complete'])),
    row('cut-after-finish', 'cut after `finish_reason`, before `[DONE]`', stream(WHOLE.slice(0, FINISH + 1), 'cut'), accepted()),
    row('end-after-finish', 'ends after `finish_reason`, before `[DONE]`', stream(WHOLE.slice(0, FINISH + 1)), accepted()),
    row('short-body', 'shorter than its `content-length`', (wire) => { wire.write(head(200, { 'content-type': 'text/event-stream', 'content-length': 9000 }), ...WHOLE.slice(0, 3)); return wire.stopShort(); }, retried('stream_cut', ['before the reply was complete'])),
    row('bad-gzip', 'says gzip, and is not', stream(WHOLE, 'end', { 'content-encoding': 'gzip' }), retried('stream_cut', ['The connection ended before any data arrived'])),
  ]],
  ['Silence', [
    row('mute', 'no headers', () => {}, retried('timeout', ['did not begin to answer', '(headersMs)'], { limits: { headersMs: 1000 } })),
    row('mute-stream', 'headers, then nothing', stream([], 'hold'), retried('timeout', ['was silent', '(idleMs)'], { limits: { idleMs: 1000 } })),
    row('keep-alive', 'comments that keep the connection alive, and no token', async (wire) => { wire.write(head(200, STREAM)); await wire.drip(chunk(': keep-alive\n\n'), 25); }, retried('timeout', ['sent no part of a reply', '(firstTokenMs)'], { limits: { firstTokenMs: 1000, idleMs: 5000 } })),
    row('role-only', 'empty deltas, and no token', async (wire) => { wire.write(head(200, STREAM)); await wire.drip(chunk(WHOLE[0]), 25); }, retried('timeout', ['sent no part of a reply', '(firstTokenMs)'], { limits: { firstTokenMs: 1000, idleMs: 5000 } })),
    row('stall', 'silence inside the stream', stream(WHOLE.slice(0, 3), 'hold'), retried('timeout', ['was silent', '(idleMs)'], { limits: { idleMs: 1000 } })),
    row('stall-after-finish', 'silence after `finish_reason`', stream(WHOLE.slice(0, FINISH + 1), 'hold'), { ...accepted(), limits: { idleMs: 1000 } }),
    row('drip', 'a drip that never ends', async (wire) => { wire.write(head(200, STREAM), chunk(WHOLE[0])); await wire.drip(chunk(WHOLE[1]), 25); }, retried('timeout', ['was not complete', '(requestMs)'], { limits: { requestMs: 1000 } })),
    row('mute-error', '503, then its body never comes', (wire) => wire.write(head(503, { 'content-type': 'application/json', 'content-length': 100 }), '{"error"'), retried('provider_error', ['has a problem (503)'], { limits: { idleMs: 1000 } })),
  ]],
  ['Answers that are not what they should be', [
    row('page', '200, a web page', plain(200, '<!doctype html><html><head><title>Welcome to nginx!</title></head></html>'), fatal('provider_error', ['web page (200)', 'Welcome to nginx!', 'Check the base URL'])),
    row('page-mislabelled', 'a web page that says it is a stream', stream(['<!doctype html><html><head><title>Sign in</title></head></html>']), fatal('provider_error', ['web page', 'Sign in', 'Check the base URL'])),
    row('empty', '200, an empty body', plain(200), retried('stream_cut', ['The connection ended before any data arrived'])),
    row('204', '204', (wire) => { wire.write(head(204)); wire.end(); }, retried('stream_cut', ['The connection ended before any data arrived'])),
    row('error-200', '200, an error in JSON', plain(200, said('The model is loading', 'server_error')), retried('provider_error', ['reported an error', 'The model is loading'])),
    row('error-event', 'an error inside the stream', stream([...WHOLE.slice(0, 3), event({ error: { message: 'The engine has died', type: 'server_error', code: 500 } })]), retried('provider_error', ['reported an error', 'The engine has died'])),
    row('error-finish', '`finish_reason: "error"`', stream([...WHOLE.slice(0, FINISH), WHOLE[FINISH].replace('"stop"', '"error"')]), retried('provider_error', ['ended the reply with "error"'])),
    row('error-after', 'an error after `finish_reason`', stream([...WHOLE.slice(0, FINISH + 1), event({ error: { message: 'Too late' } })]), accepted()),
    row('no-json', 'a chunk that is not JSON', stream([...WHOLE.slice(0, 3), 'data: {"choices":[{"del\n\n', ...WHOLE.slice(3)]), retried('provider_error', ['not a chunk of a reply'])),
    row('garbage', 'random bytes', stream([Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 151 + 128) % 256))]), retried('provider_error', ['neither an event stream nor JSON', 'Check the base URL'])),
    row('garbage-line', 'a line of 3 MB outside a stream', stream([`${'x'.repeat(3_000_000)}\n`]), retried('provider_error', ['neither an event stream nor JSON', 'Check the base URL'])),
    row('bad-utf8', 'a text with bytes that are not UTF-8', stream([WHOLE[0], Buffer.concat([Buffer.from(WHOLE[1].split('The')[0]), Buffer.from([0xff, 0xc3]), Buffer.from(`The${WHOLE[1].split('The')[1]}`)]), ...WHOLE.slice(2)]), accepted(['The answer is forty-two.'])),
    row('long-line', 'a chunk of 1.5 MB in one line', stream([event({ choices: [{ index: 0, delta: { content: `${TEXT} ${'x'.repeat(1_500_000)}` }, finish_reason: 'stop' }] }), 'data: [DONE]\n\n']), accepted()),
    row('too-large', 'a line of 5 MB', stream([event({ choices: [{ index: 0, delta: { content: `${TEXT} ${'x'.repeat(5_000_000)}` }, finish_reason: 'stop' }] }), 'data: [DONE]\n\n']), retried('reply_too_large', ['too large', '4 MiB'])),
    row('text-plain', 'a stream that says it is text', stream(WHOLE, 'end', { 'content-type': 'text/plain' }), accepted()),
    row('no-type', 'a stream that says nothing of itself', (wire) => { wire.write(head(200, { 'transfer-encoding': 'chunked' }), ...WHOLE.map(chunk), LAST); wire.end(); }, accepted()),
    row('json', 'one JSON answer instead of a stream', plain(200, json({ choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }] })), accepted()),
    row('crlf-bom', 'a byte order mark and CRLF, one byte at a time', stream(Array.from(`\ufeff${WHOLE.join('').replaceAll('\n', '\r\n')}`)), accepted()),
  ]],
];
