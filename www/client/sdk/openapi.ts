// `openapi(document, options)`: the operations of an OpenAPI document as tools. This is `turnwise/openapi`.
import { callable, describe, isSignal, missing, shape, takes, whole, wrong } from '../check.js';
import { errorText } from '../model.js';
import { BUILT_IN_TOOLS } from '../names.js';
import { answerOf, failure, readBytes } from './openapi-answer.js';
import { Credentials, readAuth } from './openapi-auth.js';
import type { Auth } from './openapi-auth.js';
import { Source, Unreadable, checkVersion, inside, isNode, parse, readUrl, serverUrl, shorten } from './openapi-document.js';
import type { Fault, Node, Place } from './openapi-document.js';
import { Skipped, WrongArguments, argumentOf, content, readBody, readParameters, target } from './openapi-request.js';
import type { Body, FileAccess, Parameter } from './openapi-request.js';
import { SchemaWriter } from './openapi-schema.js';
import type { Tool, Tools } from './tool.js';
import { toolSearch } from './tool-search.js';

export type { Answer } from './openapi-answer.js';
export type { Auth, Secret } from './openapi-auth.js';
export type { Fault } from './openapi-document.js';
export type { FileAccess } from './openapi-request.js';
export { toolSearch } from './tool-search.js';
export type { ToolSearchOptions } from './tool-search.js';

/** One operation of a document. */
export interface Operation {
  /** The name of its tool: at most 64 of A-Z, a-z, 0-9, _ and -, beginning with a letter. */
  name: string;
  operationId: string | undefined;
  /** In capitals: `GET`. */
  method: string;
  /** As the document writes it: `/pets/{petId}`. */
  path: string;
  /** The address of its server. */
  server: string;
  /** What the model reads about it. */
  description: string;
  tags: string[];
  deprecated: boolean;
  /** Whether it only reads (GET, HEAD): it asks once per host, all others ask before each call. */
  readOnly: boolean;
  tool: Tool;
}

export interface OpenApiOptions {
  /** Which operations: ids, or `GET /pets` for one without an id, patterns of either, or a function. Default: all. */
  operations?: readonly (string | RegExp)[] | ((operation: Omit<Operation, 'tool' | 'server' | 'description'>) => boolean);
  /** Credentials. They are sent to `origins` only, and are never part of a result, an error, a record or a URL that is shown. */
  auth?: Auth | readonly Auth[];
  /**
   * Origins that may receive the credentials: `['https://api.example.com']`. Default: the origin of `server`, or of the document's
   * first server. Required if the document is loaded from another origin than the one that it names, and for http.
   */
  origins?: readonly string[];
  /** The address that all calls go to, instead of the document's servers. */
  server?: string | URL;
  /** Values for the variables of the document's servers. */
  variables?: Record<string, string>;
  /** The document's own address, for relative addresses of servers. Default: the address that it was loaded from. */
  url?: string | URL;
  /** Other documents that references lead to, by the name before `#`: objects, or texts in JSON or YAML. Nothing is fetched. */
  documents?: Record<string, object | string>;
  /** Put before the name of each tool, for several documents in one agent: `github_`. */
  prefix?: string;
  /**
   * Above how many operations the tools are `search_operations` and `call_operation` instead of one tool for each. `true`: always,
   * `false`: never. Default: 20.
   */
  search?: number | boolean;
  /**
   * `declared` drops properties of an answer that its schema does not name, unless it says that there may be more, and lists them as
   * `omitted`. Default: `declared`.
   */
  answers?: 'declared' | 'whole';
  /** Files that calls can send, and where binary answers are saved. Default: the model sends text or base64, and binary answers are described. */
  files?: FileAccess;
  /** Milliseconds for one call, including the credentials. The run's `limits.toolTimeoutMs` counts as well. Default: 30,000. */
  timeoutMs?: number;
  /** The largest answer in bytes. Default: 4 MiB. */
  maxBytes?: number;
  /** Sends the requests, for example through a relay. Default: the global `fetch`. */
  fetch?: typeof fetch;
  /** Aborts the loading of the document. */
  signal?: AbortSignal;
}

/** A document that was read. */
export interface OpenApi {
  title: string;
  version: string;
  /** For `new Agent({ tools })`: one tool for each operation, or the two of a search. */
  tools: Tools;
  operations: Operation[];
  /** The addresses that calls go to, without variables. */
  servers: string[];
  /** Origins that receive the credentials. */
  origins: string[];
  /** What of the document is wrong or not supported, and what was done about it. */
  faults: Fault[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const NAME = 64;
/** Largest document that is loaded from a URL, in bytes. */
const MAX_DOCUMENT = 32 * 1024 * 1024;
/** Names that mean something to the engine. */
const ENGINE_NAMES = new Set<string>([...BUILT_IN_TOOLS, 'final_report']);
const MAX_REDIRECTS = 5;

const object = takes<any>('an object', isNode);
const url = takes<string | URL>('a URL', (value) => typeof value === 'string' || value instanceof URL);
const OPTIONS = shape({
  operations: takes('an array of ids and patterns, or a function', (value) => typeof value === 'function' || (Array.isArray(value) && value.every((one) => typeof one === 'string' || one instanceof RegExp))),
  auth: (value) => value, origins: takes('an array of origins', (value) => Array.isArray(value) && value.every((one) => typeof one === 'string')),
  server: url, url, variables: takes('an object of strings', (value) => isNode(value) && Object.values(value).every((one) => typeof one === 'string')),
  documents: object, prefix: takes('a letter, then at most 30 of A-Z, a-z, 0-9, _ and -', (value) => typeof value === 'string' && /^([A-Za-z][\w-]{0,30})?$/.test(value)),
  search: takes('true, false, or a whole number', (value) => typeof value === 'boolean' || (Number.isInteger(value) && value >= 0)),
  answers: takes('\'declared\' or \'whole\'', (value) => value === 'declared' || value === 'whole'),
  files: (value, path) => shape({ read: callable, write: callable })(value, path) && value,
  timeoutMs: whole(1, 2 ** 31 - 1), maxBytes: whole(1), fetch: callable, signal: takes('an AbortSignal', isSignal),
});

/**
 * Reads an OpenAPI 3.0 or 3.1 document and makes tools of its operations.
 * @param document An object, JSON or YAML text, or a URL (a `URL`, or a string that begins with http:// or https://).
 * @throws {Error} `OpenApiError` if the document cannot be read at all; what is wrong in parts of it is in `faults`.
 * @throws {TypeError} An option is wrong.
 * @example
 * const shop = await openapi('https://api.example.com/openapi.json', { auth: { bearer: () => getToken() } });
 * const agent = new Agent({ model, tools: shop.tools, approve });
 */
export async function openapi(document: object | string | URL, options: OpenApiOptions = {}): Promise<OpenApi> {
  const given = OPTIONS(options, 'options') as OpenApiOptions;
  const send = given.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const loaded = await load(document, given, send);
  const root = checkVersion(loaded.value);
  const documents: Record<string, Node> = {};
  for (const [name, one] of Object.entries(given.documents ?? {})) {
    const value = typeof one === 'string' ? await parse(one) : one as unknown;
    if (!isNode(value)) throw wrong(`options.documents[${JSON.stringify(name)}]`, one, 'an object, or a text in JSON or YAML');
    documents[name] = value;
  }
  return new Reader(new Source(root, documents), given, loaded, send).read();
}

interface Loaded {
  value: unknown;
  /** Its address, after redirects. */
  url?: string;
  /** The origin that the user named, if it was loaded. */
  origin?: string;
}

async function load(document: unknown, options: OpenApiOptions, send: typeof fetch): Promise<Loaded> {
  const here = (globalThis as { location?: { href?: string } }).location?.href;
  if (document instanceof URL || (typeof document === 'string' && /^\s*https?:\/\/\S+\s*$/i.test(document))) {
    const at = String(document).trim();
    const own = readUrl(at, here);
    if (typeof own === 'string') throw new Unreadable(own.replace('server address', 'address'));
    let response: Response;
    try {
      response = await send(at, { headers: { accept: 'application/json, application/yaml;q=0.9, text/yaml;q=0.9, */*;q=0.5' }, credentials: 'omit', referrerPolicy: 'no-referrer', signal: options.signal ?? null });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new Unreadable(`The document at ${own.href} cannot be loaded: ${reason(error)}`);
    }
    if (!response.ok) throw new Unreadable(`The document at ${own.href} cannot be loaded: HTTP ${response.status}`);
    const bytes = await readBytes(response, MAX_DOCUMENT).catch((error: Error) => { throw new Unreadable(`The document at ${own.href} cannot be loaded: ${error.message}`); });
    return { value: await parse(new TextDecoder().decode(bytes)), url: response.url || at, origin: own.origin };
  }
  const base = options.url === undefined ? {} : { url: String(options.url) };
  if (typeof document === 'string') {
    if (/^\s*$/.test(document)) throw new Unreadable('The document is empty.');
    return { value: await parse(document), ...base };
  }
  if (document === undefined) throw missing('document', 'an object, JSON or YAML text, or a URL');
  if (typeof document !== 'object') throw wrong('document', document, 'an object, JSON or YAML text, or a URL');
  return { value: document, ...base };
}

const reason = (error: unknown) => {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  const more = cause?.code ?? cause?.message;
  return `${message ?? describe(error)}${more ? ` (${more})` : ''}. The server cannot be reached, or does not allow requests from this page (CORS).`;
};

/** An operation before it has its tool. */
interface Draft {
  node: Node;
  place: Place;
  item: Node;
  itemPlace: Place;
  method: string;
  path: string;
  operationId: string | undefined;
  name: string;
  server: URL;
}

class Reader {
  readonly #credentials: Credentials;
  #origins: string[] = [];

  constructor(readonly source: Source, readonly options: OpenApiOptions, readonly loaded: Loaded, readonly send: typeof fetch) {
    this.#credentials = readAuth(options.auth);
  }

  read(): OpenApi {
    const { source, options } = this;
    const info: Node = isNode(source.root['info']) ? source.root['info'] : {};
    const drafts = this.#drafts();
    this.#bind(drafts);
    const operations: Operation[] = [];
    for (const draft of drafts) {
      try {
        operations.push(this.#operation(draft));
      } catch (error) {
        if (!(error instanceof Skipped)) throw error;
        source.fault(draft.place, `${draft.method.toUpperCase()} ${draft.path} is not offered: ${error.message}`, 'skipped');
      }
    }
    const tools: Tools = Object.fromEntries(operations.map(({ name, tool }) => [name, tool]));
    const { search = 20, prefix = '' } = options;
    const title = shorten(info['title'], 100);
    const many = search === true || (typeof search === 'number' && operations.length > search);
    return {
      title, version: typeof info['version'] === 'string' ? info['version'] : '', operations,
      tools: many && operations.length ? toolSearch(tools, { what: title ? `operations of ${title}` : 'operations', searchName: `${prefix}search_operations`, callName: `${prefix}call_operation` }) : tools,
      servers: [...new Set(operations.map(({ server }) => server))], origins: this.#credentials.empty ? [] : this.#origins, faults: source.faults,
    };
  }

  /** The operations that were chosen, with their names and servers. */
  #drafts(): Draft[] {
    const { source } = this;
    const place: Place = { document: '', path: '/paths' };
    const paths: unknown = source.root['paths'];
    if (!isNode(paths)) {
      source.fault(place, `the document has no paths${isNode(source.root['webhooks']) ? ': webhooks are requests of the service, not to it' : ''}`, 'ignored');
      return [];
    }
    const all: Omit<Draft, 'name' | 'server'>[] = [];
    for (const [path, given] of Object.entries(paths)) {
      if (path.startsWith('x-')) continue;
      const at = inside(place, path);
      const found = source.follow(given, at);
      const wrong = typeof found === 'string' ? `the path is not offered: ${found}` : !path.startsWith('/') ? 'a path has to begin with /' : path.split(/[/\\]/).some((part) => /^(\.|%2e){1,2}$/i.test(part)) ? 'a path cannot contain "." or ".."' : undefined;
      if (wrong !== undefined || typeof found === 'string') {
        source.fault(at, wrong!, 'skipped');
        continue;
      }
      const item = isNode(given) ? { ...found.node, ...given, $ref: undefined } : found.node;
      for (const method of METHODS) {
        const operation: unknown = item[method];
        if (operation === undefined) continue;
        const own = inside(isNode(given) && Object.hasOwn(given, method) ? at : found.place, method);
        if (!isNode(operation)) source.fault(own, 'this is not an operation', 'skipped');
        else if (method === 'trace') source.fault(own, 'browsers do not send TRACE', 'skipped');
        else all.push({ node: operation, place: own, item, itemPlace: found.place, method, path, operationId: typeof operation['operationId'] === 'string' && operation['operationId'] ? operation['operationId'] : undefined });
      }
    }
    const names = this.#names(all);
    const chosen = this.#choose(all.map((one, index) => ({ ...one, name: names[index]! })));
    const drafts: Draft[] = [];
    const lost = new Map<string, number>();
    for (const one of chosen) {
      const server = this.#server(one);
      if (typeof server === 'string') lost.set(server, (lost.get(server) ?? 0) + 1);
      else drafts.push({ ...one, server });
    }
    for (const [why, many] of lost) source.fault({ document: '', path: '/servers' }, `${why} (${many} ${many === 1 ? 'operation' : 'operations'})`, 'skipped');
    return drafts;
  }

  /** Unique names. A name depends on the operation's id, or its method and path, and on others only where they collide. */
  #names(all: readonly Omit<Draft, 'name' | 'server'>[]): string[] {
    const { prefix = '' } = this.options;
    const most = NAME - prefix.length;
    const ids = all.map(({ operationId, method, path }) => operationId ?? `${method}_${path.replace(/^\/|[{}]/g, '')}`);
    const bases = ids.map((id) => {
      const plain = id.normalize('NFKD').replace(/\p{M}+/gu, '').replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^[^A-Za-z]+/, '').replace(/_+$/, '');
      const named = plain || 'operation';
      return ENGINE_NAMES.has(`${prefix}${named}`) ? `${named}_operation` : named;
    });
    const count = new Map<string, number>();
    for (const base of bases) count.set(base.toLowerCase(), (count.get(base.toLowerCase()) ?? 0) + 1);
    const times = new Map<string, number>();
    for (const { operationId } of all) if (operationId !== undefined) times.set(operationId, (times.get(operationId) ?? 0) + 1);
    const used = new Set<string>();
    return all.map((one, index) => {
      const base = bases[index]!;
      const same = (times.get(one.operationId ?? '') ?? 0) > 1;
      if (same) this.source.fault(inside(one.place, 'operationId'), `several operations have the id ${shorten(one.operationId, 80)}; their tools have different names`, 'changed');
      const unique = count.get(base.toLowerCase()) === 1 && base.length <= most && base.length > 0;
      let name = unique ? `${prefix}${base}` : `${prefix}${base.slice(0, most - 8).replace(/[_-]+$/, '')}_${hash(`${one.method} ${one.path}`)}`;
      for (let next = 2; used.has(name); next += 1) name = `${name.slice(0, NAME - 3)}_${next}`;
      used.add(name);
      return name;
    });
  }

  #choose<T extends Omit<Draft, 'server'>>(all: T[]): T[] {
    const { operations } = this.options;
    if (operations === undefined) return all;
    if (typeof operations === 'function') return all.filter((one) => operations(summary(one)));
    const keys = (one: T) => [one.operationId, one.name, `${one.method.toUpperCase()} ${one.path}`].filter((key) => key !== undefined);
    for (const [at, wanted] of operations.entries()) {
      if (all.some((one) => keys(one).some((key) => matches(wanted, key)))) continue;
      const known = all.flatMap((one) => keys(one)[0] ?? []).slice(0, 12).join(', ');
      throw new TypeError(`options.operations[${at}]: got ${typeof wanted === 'string' ? describe(wanted) : String(wanted)}; the document has no such operation. It has ${known}${all.length > 12 ? ', …' : ''}`);
    }
    return all.filter((one) => keys(one).some((key) => operations.some((wanted) => matches(wanted, key))));
  }

  #server({ node, place, item, itemPlace }: Omit<Draft, 'server'>): URL | string {
    const { server, variables = {} } = this.options;
    const [list, at] = [[node, place], [item, itemPlace], [this.source.root, { document: '', path: '' }]].find(([one]) => Array.isArray((one as Node)['servers']) && (one as Node)['servers'].length > 0) as [Node, Place] | undefined ?? [undefined, undefined];
    if (server !== undefined) {
      const found = readUrl(String(server), this.loaded.url);
      if (typeof found === 'string') throw new TypeError(`options.server: ${found}`);
      if (list && list !== this.source.root) this.source.fault(inside(at!, 'servers'), 'it has a server of its own; its calls go to options.server', 'changed');
      return found;
    }
    // The default of the specification is "/", the root of the document's own server.
    const servers = (list?.['servers'] ?? [{ url: '/' }]) as unknown[];
    const own = servers.map((one) => serverUrl(one, this.loaded.url, variables));
    const found = own.find((one) => typeof one !== 'string');
    own.forEach((one, index) => { if (found && typeof one === 'string' && index < own.indexOf(found)) this.source.fault(inside(at!, 'servers', index), one, 'ignored'); });
    return found ?? (list ? own[0]! : 'the document names no server; set options.server');
  }

  /** Decides where the credentials go, before anything of the document is used for a call. */
  #bind(drafts: readonly Draft[]) {
    const { origins, server } = this.options;
    if (origins) {
      this.#origins = origins.map((one, at) => {
        const found = readUrl(one, undefined);
        if (typeof found === 'string') throw new TypeError(`options.origins[${at}]: got ${describe(one)}; expected an origin such as 'https://api.example.com'`);
        return found.origin;
      });
      return;
    }
    if (this.#credentials.empty || !drafts.length) return;
    const list: unknown = this.source.root['servers'];
    const first = server === undefined && Array.isArray(list) && list.length ? this.#server({ node: {}, item: {}, place: { document: '', path: '' }, itemPlace: { document: '', path: '' } } as unknown as Draft) : drafts[0]!.server;
    if (typeof first === 'string') return;
    const { origin } = first;
    const name = `options.origins: missing; expected ['${origin}'] if your credentials may be sent there`;
    // Whoever can change the document at its address, or where that redirects to, could otherwise have them sent anywhere.
    const { origin: from } = this.loaded;
    if (server === undefined && from !== undefined && from !== origin) throw new TypeError(`${name}. The document was loaded from ${from} and names another server`);
    if (first.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(first.hostname) && server === undefined) throw new TypeError(`${name}. The connection is not encrypted`);
    this.#origins = [origin];
  }

  #operation(draft: Draft): Operation {
    const { source, options } = this;
    const { node, place, item, itemPlace, method, path } = draft;
    const writer = new SchemaWriter(source, 'request');
    const reserved = this.#credentials.names;
    const parameters = readParameters(source, writer, [[item['parameters'], inside(itemPlace, 'parameters')], [node['parameters'], inside(place, 'parameters')]], path, reserved);
    let body: Body | undefined;
    if (node['requestBody'] !== undefined) {
      if (method === 'get' || method === 'head') source.fault(inside(place, 'requestBody'), `a request with ${method.toUpperCase()} has no body`, 'ignored');
      else body = readBody(source, writer, node['requestBody'], inside(place, 'requestBody'), parameters.map(({ argument }) => argument), options.files?.read !== undefined);
    }
    const schema = argumentsSchema(parameters, body, writer);
    const words = [shorten(node['summary'] ?? item['summary'], 200), shorten(node['description'] ?? item['description'], 400)];
    if (words[0] && words[1]?.startsWith(words[0].replace(/[.…]$/, ''))) words.shift();
    const description = [
      words.filter(Boolean).map((one) => (/[.!?…:]$/.test(one) ? one : `${one}.`)).join(' '), node['deprecated'] === true ? 'Deprecated.' : '', `(${method.toUpperCase()} ${shorten(path, 200)})`,
    ].filter(Boolean).join(' ');
    const about = { ...summary(draft), server: draft.server.href.replace(/\/$/, ''), description };
    if (!this.#credentials.empty && !isPublic(node) && !this.#origins.includes(draft.server.origin)) source.fault(place, `its calls carry no credentials: ${draft.server.origin} is not among options.origins`, 'changed');
    const tool: Tool = {
      description, inputSchema: schema, touches: ['network'], destination: draft.server.host, needsApproval: about.readOnly ? 'once' : true,
      execute: (input, { signal }) => this.#call(draft, parameters, body, input as Node, signal),
    };
    return { ...about, tool };
  }

  async #call(draft: Draft, parameters: readonly Parameter[], body: Body | undefined, input: Node, signal: AbortSignal): Promise<unknown> {
    const { options, source } = this;
    const method = draft.method.toUpperCase();
    const where = `${method} ${draft.server.host}${draft.path}`;
    const limit = AbortSignal.timeout(options.timeoutMs ?? 30_000);
    const both = AbortSignal.any([signal, limit]);
    let redact = (shown: string) => shown;
    try {
      const { path, query, headers } = target(draft.path, parameters, input);
      const send = new Headers(headers);
      send.set('accept', accepted(draft.node['responses']));
      const value = body && argumentOf(input, body.argument);
      const data = body && value !== undefined && (value !== null || body.kind === 'json') ? await content(body, value, options.files ?? {}) : undefined;
      if (data?.type !== undefined) send.set('content-type', data.type);
      const url = new URL(draft.server.href.replace(/\/$/, '') + path);
      // What the arguments add stays below the server's own path.
      if (url.origin !== draft.server.origin || !url.pathname.startsWith(draft.server.pathname.replace(/\/$/, ''))) throw new WrongArguments('the arguments lead outside of the server\'s path');
      if (!isPublic(draft.node) && this.#origins.includes(url.origin)) {
        const applied = await this.#credentials.apply(send, query, both);
        redact = applied.redact;
      }
      url.search = query.map((pair) => pair.join('=')).join('&');
      const response = await this.#send(url, { method, headers: send, body: data?.data ?? null, signal: both, credentials: 'omit', referrerPolicy: 'no-referrer' });
      const bytes = await readBytes(response, options.maxBytes ?? 4 * 1024 * 1024);
      if (!response.ok && response.status !== 304) throw new Error(failure(response, bytes, redact));
      return await answerOf(response, bytes, { source, responses: draft.node['responses'], place: inside(draft.place, 'responses'), whole: options.answers === 'whole', files: options.files ?? {}, name: draft.name, redact });
    } catch (error) {
      if (signal.aborted) throw error;
      if (limit.aborted) throw new Error(`${where}: no complete answer within ${(options.timeoutMs ?? 30_000) / 1000} s`);
      if (error instanceof WrongArguments) throw new Error(`Not sent: ${error.message}`);
      throw new Error(redact(`${where}: ${errorText(error)}`));
    }
  }

  /** Sends a request. Redirects are followed within the origin only, so that nothing reaches another host unasked. */
  async #send(url: URL, init: RequestInit): Promise<Response> {
    let at = url;
    let { method, body } = init as { method: string; body: BodyInit | null };
    const headers = new Headers(init.headers);
    for (let left = MAX_REDIRECTS; ; left -= 1) {
      const response = await this.send(at.href, { ...init, method, body, headers, redirect: 'manual' }).catch((error: unknown) => { throw new Error(reason(error)); });
      if (response.type === 'opaqueredirect') throw new Error('the server redirects, and a page cannot see where to; it is not followed');
      const { status } = response;
      const location = response.headers.get('location');
      if (![301, 302, 303, 307, 308].includes(status) || location === null) return response;
      void response.body?.cancel().catch(() => {});
      let next: URL;
      try {
        next = new URL(location, at);
      } catch {
        throw new Error('the server redirects to something that is not a URL');
      }
      if (next.origin !== at.origin || next.username || next.password) throw new Error(`the server redirects to another origin, ${next.protocol === 'data:' ? 'data:' : next.host}; it is not followed`);
      if (left === 0) throw new Error(`the server redirects more than ${MAX_REDIRECTS} times`);
      if (status === 303 ? method !== 'HEAD' && method !== 'GET' : (status === 301 || status === 302) && method === 'POST') {
        method = 'GET';
        body = null;
        headers.delete('content-type');
      }
      // A query that carries credentials is not part of the redirect unless the server repeats it.
      at = next;
    }
  }
}

const summary = ({ node, method, path, operationId, name }: Omit<Draft, 'server'>) => ({
  name, operationId, method: method.toUpperCase(), path,
  tags: Array.isArray(node['tags']) ? node['tags'].filter((one) => typeof one === 'string') as string[] : [], deprecated: node['deprecated'] === true, readOnly: method === 'get' || method === 'head',
});
const matches = (wanted: string | RegExp, key: string) => (typeof wanted === 'string' ? wanted === key : key.search(wanted) >= 0);
/** `security: []`: the operation needs no credentials. */
const isPublic = (node: Node) => Array.isArray(node['security']) && node['security'].length === 0;

function accepted(responses: unknown): string {
  const types = isNode(responses) ? Object.entries(responses).filter(([status]) => /^2/.test(status)).flatMap(([, one]) => (isNode(one) && isNode(one['content']) ? Object.keys(one['content']) : [])) : [];
  const known = [...new Set(types)].filter((type) => /^[\w*.+-]+\/[\w*.+-]+(;\s*[\w-]+=[\w."-]+)*$/.test(type)).slice(0, 4);
  known.sort((a, b) => Number(/json/.test(b)) - Number(/json/.test(a)));
  return [...known, ...(known.includes('*/*') ? [] : [known.length ? '*/*;q=0.1' : 'application/json, */*;q=0.8'])].join(', ');
}

function argumentsSchema(parameters: readonly Parameter[], body: Body | undefined, writer: SchemaWriter): Node {
  const all = [...parameters.map(({ argument, schema, required }) => ({ argument, schema, required })), ...(body ? [body] : [])];
  writer.finish(all.map(({ schema }) => schema));
  const properties = Object.fromEntries(all.map(({ argument, schema }) => [argument, schema]));
  const required = all.filter((one) => one.required).map(({ argument }) => argument);
  const used = reachable(properties, writer.defs);
  return { type: 'object', properties, ...(required.length && { required }), additionalProperties: false, ...(Object.keys(used).length && { $defs: used }) };
}

/** The definitions that are still referred to. */
function reachable(from: unknown, defs: Record<string, unknown>): Record<string, unknown> {
  const found = new Set<string>();
  const visit = (value: unknown) => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    const { $ref: ref } = value;
    if (typeof ref === 'string' && ref.startsWith('#/$defs/') && !found.has(ref.slice(8))) {
      found.add(ref.slice(8));
      visit(defs[ref.slice(8)]);
    }
    Object.values(value).forEach(visit);
  };
  visit(from);
  return Object.fromEntries(Object.entries(defs).filter(([name]) => found.has(name)));
}

/** A short hash (FNV-1a) that stays the same between versions. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(36).padStart(7, '0').slice(-6);
}
