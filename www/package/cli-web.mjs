// The options of `turnwise run` for what reaches the web: pages, a search service, the operations of an OpenAPI document. Nobody is asked
// during a run, so what a flag names is allowed, and everything else is refused. Keys come from the environment only.
import { readFile, stat } from 'node:fs/promises';
import { message, notThere } from './cli-files.mjs';
import { fault, meant, plain } from './cli-usage.mjs';
import { SAFE_TOOLS } from './node.js';

/** How services of the search are named on the command line; those with a key have its usual variable. */
const SERVICES = { searxng: undefined, brave: 'BRAVE_API_KEY', tavily: 'TAVILY_API_KEY' };

const fromEnvironment = (name, option) => {
  if (!/^[A-Za-z_]\w*$/.test(name)) fault(`${option} takes the name of an environment variable, such as SHOP_KEY; a key itself is no argument`);
  return process.env[name] || fault(`${option}: the environment variable ${name} is not set`);
};

/** The options of an agent that the flags and the configuration give. `allowed`: operations of a document that may be called. */
export function reach(values, { tools, permissions, web }, allowed) {
  const { apiKeyEnv: name, ...search } = web?.search ?? {};
  if (search.apiKey !== undefined) fault('the key of a search service is read from the environment only: take "apiKey" out of "web.search", and name the variable in "apiKeyEnv"');
  if (name !== undefined && !process.env[name]) fault(`the environment variable ${name} is not set`);
  const configured = web?.search && { ...search, ...(name !== undefined && { apiKey: process.env[name] }) };
  const service = values.search === undefined ? configured : serviceOf(values.search, values['search-key-env']);
  if (values.search === undefined && values['search-key-env'] !== undefined) fault('--search-key-env is for a search service: add --search brave or --search tavily');
  const offered = [...(values.web === undefined ? [] : ['fetch_url']), ...(values.search === undefined ? [] : ['search_web'])];
  const rules = Object.fromEntries([...(values.search === undefined ? [] : ['search_web']), ...allowed].map((one) => [one, 'allow']));
  const hosts = Object.fromEntries((values.web?.split(',') ?? []).map((host) => [host.trim(), 'allow']));
  const some = (map) => Object.keys(map).length > 0;
  return {
    ...(service && { web: { ...web, search: service } }),
    ...(offered.length && { tools: [...new Set([...(tools ?? SAFE_TOOLS), ...offered])] }),
    ...((some(rules) || some(hosts)) && {
      // A rule of the configuration is more than the flag that offers the tool.
      permissions: { ...permissions, ...(some(rules) && { tools: { ...rules, ...permissions?.tools } }), ...(some(hosts) && { hosts: { ...permissions?.hosts, ...hosts } }) },
    }),
  };
}

function serviceOf(given, keyEnv) {
  const [kind, ...rest] = given.split('=');
  const baseUrl = rest.join('=');
  const kinds = Object.keys(SERVICES);
  if (!Object.hasOwn(SERVICES, kind)) fault(`--search takes searxng=URL, brave or tavily; got ${plain(given)}${meant(kind, kinds)}`);
  if (baseUrl && !(URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol))) fault(`--search ${plain(given)}: the address has to begin with http:// or https://`);
  if (kind === 'searxng' && !baseUrl) fault('--search searxng: which one? --search searxng=http://localhost:8888');
  const variable = keyEnv ?? SERVICES[kind];
  return { kind, ...(baseUrl && { baseUrl }), ...(variable !== undefined && { apiKey: fromEnvironment(variable, keyEnv === undefined ? `--search ${kind}` : '--search-key-env') }) };
}

/**
 * The tools of the document that `--openapi` names, as `registerTool` takes them, and the names of the operations that may be called.
 * Without `--openapi-operations` they are those that only read.
 */
export async function operations(values) {
  const { openapi: given } = values;
  const other = ['openapi-operations', 'openapi-auth', 'openapi-server'].find((name) => values[name] !== undefined);
  if (given === undefined) return other === undefined ? { tools: [], allowed: [] } : fault(`--${other} is for an OpenAPI document: add --openapi FILE`);
  const { openapi } = await import('./openapi.js');
  const address = /^https?:/i.test(given);
  if (!address && !(await stat(given).catch(() => undefined))?.isFile()) fault(`--openapi ${given}: ${await notThere(given)}`);
  const chosen = values['openapi-operations']?.split(',').map((one) => one.trim()).filter(Boolean);
  const auth = values['openapi-auth'] === undefined ? undefined : credentials(values['openapi-auth']);
  let api;
  try {
    api = await openapi(address ? given : await readFile(given, 'utf8'), {
      operations: chosen ?? (({ readOnly }) => readOnly), ...(auth && { auth }), ...(values['openapi-server'] !== undefined && { server: values['openapi-server'] }),
    });
  } catch (error) {
    fault(`--openapi ${given}: ${inFlags(message(error))}`);
  }
  for (const { path: place, message: why, action } of api.faults) process.stderr.write(`turnwise: --openapi ${given}: ${plain(place)}: ${inFlags(plain(why))} (${action})\n`);
  const skipped = api.faults.some(({ action }) => action === 'skipped');
  if (!api.operations.length) fault(`--openapi ${given}: it has no operation ${chosen !== undefined || skipped ? 'that can be called' : 'that only reads; name those that may be called in --openapi-operations'}`);
  const tools = Object.entries(api.tools).map(([name, { description, inputSchema, touches = [], execute }]) => ({ name, description, parameters: inputSchema, sideEffect: touches.includes('network') ? 'network' : 'none', execute }));
  return { tools, allowed: tools.filter(({ sideEffect }) => sideEffect === 'network').map(({ name }) => name) };
}

/** What `openapi()` says of its options, of the flags. */
const inFlags = (text) => text.replace(/options\.operations\[\d+\]/, '--openapi-operations').replace(/options\.origins: missing; expected \['([^']*)'\] if/, 'name --openapi-server $1 if').replace(/options\.(server|auth)\b/g, '--openapi-$1');

/** `VARIABLE`, `X-Name=VARIABLE` or `?name=VARIABLE`. */
function credentials(given) {
  const [, place, variable] = /^(?:([^=]+)=)?(.*)$/s.exec(given);
  const value = fromEnvironment(variable, '--openapi-auth');
  if (place === undefined) return { bearer: value };
  return place.startsWith('?') ? { query: place.slice(1), value } : { header: place, value };
}
