// `turnwise proxy`: the proxy that holds a site's key (the folder key-proxy of this package), with its variables as options. The key is
// read from the environment only, and is never written anywhere.
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { proxy as handler } from './key-proxy/node.mjs';
import { needFolderOf } from './cli-files.mjs';
import { counted, whole as counter } from './cli-stats.mjs';
import { fault, interrupted, keyFrom, oneOf, plain, print, whole } from './cli-usage.mjs';

/** The servers that speak Chat Completions: address, variable of the key if they need one, kind of the tag's provider. */
const SERVERS = {
  openai: ['https://api.openai.com/v1', 'OPENAI_API_KEY', 'openai'],
  openrouter: ['https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', 'openrouter'],
  ollama: ['http://localhost:11434/v1', undefined, 'openai'],
  lmstudio: ['http://localhost:1234/v1', undefined, 'openai'],
  llamacpp: ['http://localhost:8080/v1', undefined, 'openai'],
};
const MAX_LOGGED = 100;

/** Serves until it is interrupted; returns the exit code. */
export async function proxy({ values, positionals }) {
  if (positionals.length) fault(`proxy takes options only; got ${counted(positionals.length, 'other argument')}`);
  const kinds = Object.keys(SERVERS);
  if (values.provider === undefined && values['base-url'] === undefined) fault(`say which server the key is for: --provider ${kinds.join('|')}, or --base-url with the address of another one that speaks Chat Completions`);
  if (['anthropic', 'gemini', 'openai-responses'].includes(values.provider)) fault(`--provider ${values.provider}: the proxy speaks Chat Completions; it takes ${kinds.join(', ')}, or --base-url with an address of ${values.provider} that speaks Chat Completions`);
  const [address, variable, kind] = SERVERS[oneOf(values, 'provider', kinds) ?? 'openai'];
  const baseUrl = (values['base-url'] ?? address).replace(/\/+$/, '');
  if (!isAddress(baseUrl)) fault(`--base-url takes an address that begins with https:// or http://, up to and including the version; got ${values['base-url']}`);
  if (!values.model?.split(',').some((name) => name.trim())) fault('say which models visitors may use: --model NAME, or several with commas between them');
  const origins = originsOf(values.origin);
  if (values.questions !== undefined) await needFolderOf('questions', values.questions);
  const env = {
    BASE_URL: baseUrl, ORIGINS: origins.join(','), MODELS: values.model, SALT: randomBytes(32).toString('hex'),
    API_KEY: values['api-key-env'] !== undefined || variable !== undefined || values['base-url'] !== undefined ? keyFrom(values['api-key-env'], variable ?? 'API_KEY') : 'none',
    MAX_BODY_BYTES: whole(values, 'max-body-bytes', 1000, 400_000), MAX_OUTPUT_TOKENS: whole(values, 'max-output-tokens', 1, 1500), MAX_PICTURES: whole(values, 'max-pictures', 0, 0),
    PER_MINUTE: whole(values, 'per-minute', 1, 20), PER_DAY: whole(values, 'per-day', 1, 200), SITE_PER_DAY: whole(values, 'site-per-day', 1, 5000),
    QUESTIONS: values.questions === undefined ? 'off' : 'on', QUESTIONS_FILE: values.questions,
  };
  const behind = whole(values, 'trust-proxy', 0, 0, 10);
  const host = values.host ?? '127.0.0.1';
  const serve = handler(Object.fromEntries(Object.entries(env).map(([name, given]) => [name, given === undefined ? undefined : String(given)])));
  const server = http.createServer((request, response) => {
    if (behind) request.ip = addressBehind(request, behind);
    response.on('close', () => log(request, response, origins));
    serve(request, response);
  });
  const port = await new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(whole(values, 'port', 0, 8787, 65535), host, () => resolve(server.address().port));
  }).catch((error) => fault(error.code === 'EADDRINUSE' ? `port ${values.port ?? 8787} is used by another program: choose another --port` : `--host ${host}: ${error.message}`));
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const ended = interrupted();
  print(greeting({ url, env, kind, origins, behind }));
  await ended;
  await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  return 0;
}

function isAddress(text) {
  try {
    const { protocol, username, password } = new URL(text);
    return /^https?:$/.test(protocol) && !username && !password;
  } catch {
    return false;
  }
}

function originsOf(given) {
  if (given === undefined) fault('say whose pages may ask: --origin https://docs.example.org, or several with commas between them');
  return given.split(',').map((one) => one.trim()).filter(Boolean).map((one) => {
    if (!isAddress(one)) fault(`--origin takes origins such as https://docs.example.org; got ${one}${/^[\w.-]+(:\d+)?$/.test(one) ? `; did you mean https://${one}?` : ''}`);
    const { origin } = new URL(one);
    return origin === one ? one : fault(`--origin takes origins: scheme, host and port, without a path; got ${one}; did you mean ${origin}?`);
  });
}

/** The visitor's address behind some proxies of the site: each adds the address that it sees to the end of the list. */
function addressBehind({ headers, socket }, proxies) {
  const seen = [...String(headers['x-forwarded-for'] ?? '').split(',').map((one) => one.trim()).filter(Boolean), socket.remoteAddress];
  return seen[Math.max(0, seen.length - 1 - proxies)];
}

/** One line for each request: nothing of its body, its headers but the origin, or its query. */
function log({ method, url, headers }, { statusCode, writableFinished }, origins) {
  const cut = (text) => plain(text).slice(0, MAX_LOGGED);
  const from = headers.origin === undefined ? 'no page' : cut(headers.origin);
  const hint = statusCode === 403 && headers.origin !== undefined && !origins.includes(headers.origin) ? ': not in --origin' : '';
  process.stderr.write(`${new Date().toISOString()} ${cut(method)} ${cut(url.split('?')[0])} ${writableFinished ? statusCode : 'left'} from ${from}${hint}\n`);
}

function greeting({ url, env, kind, origins, behind }) {
  const [model] = env.MODELS.split(',').map((one) => one.trim());
  const attribute = (text) => text.replace(/[&"<]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  const tag = (at) => `<turnwise-agent provider="${kind}" base-url="${at}/v1" model="${attribute(model)}"${env.QUESTIONS === 'on' ? ` questions="${at}/v1/questions"` : ''}></turnwise-agent>`;
  return [
    `The proxy listens at ${url} and forwards to ${env.BASE_URL}, for pages of ${origins.join(', ')}.`,
    `Limits: ${counted(env.PER_MINUTE, 'request')} per minute and ${counter(env.PER_DAY)} per day for each visitor, ${counter(env.SITE_PER_DAY)} per day for all; ${counter(env.MAX_OUTPUT_TOKENS)} output tokens per request.`,
    'They are counted in this process, as requests and not as money: limit the spending of the key at its provider too.',
    '', 'On your site, let your web server forward /ask/ to this address (docs/providers.md has the lines for nginx and Caddy), and put this into your pages:', '',
    '<script type="module" src="/turnwise/embed.js"></script>', tag('/ask'),
    '', `Content-Security-Policy, if your pages have one: connect-src 'self'`,
    ...(behind ? [] : ['Behind a web server, start the proxy with --trust-proxy 1, so that each visitor counts and not your web server.']),
    '', 'To try it on this machine, without a web server in front:', '',
    tag(url),
    `Content-Security-Policy: connect-src 'self' ${url}`,
  ];
}
