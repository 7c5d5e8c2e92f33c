// The services that the app's user added with OpenAPI documents: reads them, and makes the tools of the runs. Loads with the first one.
import { errorText } from './model';
import type { HostedAgent } from './host';
import { openapi } from './sdk/openapi';
import type { Auth, Fault, OpenApi, Operation } from './sdk/openapi';
import { isNode, parse, serverUrl, shorten } from './sdk/openapi-document';
import type { Tools } from './sdk/tool';
import { toolSearch } from './sdk/tool-search';

/** A service as the app keeps it (crates/view/src/services.rs), and its key. */
interface Kept {
  id: string;
  off: boolean;
  chosen?: string[];
  reads_unasked: boolean;
  auth: { kind: 'none' | 'bearer' | 'header' | 'query'; name?: string };
  server: number;
  own_server: string;
  variables: Record<string, string>;
}

interface Server {
  url: string;
  description: string;
  variables: { name: string; value: string; description: string; values: string[] }[];
}

interface Read {
  id: string;
  title: string;
  version: string;
  operations: (Omit<Operation, 'tool' | 'operationId' | 'tags'>)[];
  servers: Server[];
  address: string;
  faults: Fault[];
  error: string;
}

/** Largest document, in bytes. */
const MAX_DOCUMENT = 16 << 20;
/** Above so many operations, two tools search them and call them. */
const MOST_TOOLS = 20;
const MAX_FAULTS = 200;

const keyOf = ({ method, path }: Operation) => `${method} ${path}`;

export class Services {
  readonly #guest: HostedAgent;
  #documents = new Map<string, { text: string; url: string | undefined; root?: unknown }>();
  #read = new Map<string, Promise<OpenApi>>();
  #keys: Record<string, string> = {};
  #offered: Promise<unknown> = Promise.resolve();

  constructor(guest: HostedAgent) {
    this.#guest = guest;
  }

  /** Takes in a document: a file, or the one at an address. Returns what is known of it, and its text. */
  async add({ id, url }: { id: string; url?: string }, [file]: Blob[]): Promise<[{ url: string; title: string; suggested: Kept['auth'] }, Blob]> {
    if (file && file.size > MAX_DOCUMENT) throw new Error(`it has ${Math.ceil(file.size / (1 << 20))} MiB, and at most ${MAX_DOCUMENT >> 20} MiB are read`);
    const at = file ? url ?? '' : withScheme(url!);
    const [text, from] = file ? [await file.text(), at] : await load(at);
    this.#documents.set(id, { text, url: from || undefined });
    try {
      const { title } = await openapi(text, { search: false, ...(from && { url: from }), operations: () => false });
      return [{ url: from, title, suggested: suggested(await parse(text)) }, new Blob([text])];
    } catch (error) {
      this.#documents.delete(id);
      throw error;
    }
  }

  /** Takes in a document of an earlier visit. */
  async put({ id, url }: { id: string; url?: string }, [file]: Blob[]): Promise<[object]> {
    this.#documents.set(id, { text: await file!.text(), url });
    return [{}];
  }

  /** What each of these services has, and the tools that runs get. They run here from now on, and no others. Answers come in order. */
  offer(given: { services: Kept[]; keys: Record<string, string> }): Promise<[object]> {
    this.#keys = given.keys;
    const offered = this.#offered.then(() => this.#offer(given.services));
    this.#offered = offered.catch(() => {});
    return offered;
  }

  async #offer(services: Kept[]): Promise<[object]> {
    const used = new Set<string>();
    const offered: Tools = {};
    const unasked: string[] = [];
    const read: Read[] = [];
    for (const kept of services) {
      const { shown, operations } = await this.#service(kept, used);
      read.push(shown);
      const chosen = operations.filter((one) => !kept.off && (kept.chosen?.includes(keyOf(one)) ?? one.readOnly));
      for (const { name, tool, readOnly } of chosen) {
        offered[name] = { ...tool, execute: (input, options) => this.#call(kept, shown.title, () => tool.execute(input, options) as unknown) };
        if (kept.reads_unasked && readOnly) unasked.push(name);
      }
    }
    const searched = Object.keys(offered).length > MOST_TOOLS;
    const tools = searched ? toolSearch(offered, { what: 'operations', searchName: 'search_operations', callName: 'call_operation' }) : offered;
    const all = Object.entries(tools);
    this.#guest.tools = new Map(all.map(([name, tool]) => [name, { execute: (input: unknown, options: { signal: AbortSignal }) => tool.execute(input, options) as unknown }]));
    return [{
      services: read, unasked,
      tools: all.map(([name, { description = '', inputSchema: parameters, touches = [] }]) => ({
        name, description, parameters, side_effect: touches.includes('network') ? 'network' : 'none', ...(searched && name === 'call_operation' && { tool_argument: 'name' }),
      })),
    }];
  }

  async #call(kept: Kept, title: string, execute: () => unknown): Promise<unknown> {
    if (kept.auth.kind !== 'none' && !this.#keys[kept.id]) throw new Error(`not sent: ${title} needs a key, and this page has none. The user can enter it in the settings, under Services`);
    return execute();
  }

  /** Reads a service with the settings of the user; names that another one has get a prefix. */
  async #service(kept: Kept, used: Set<string>): Promise<{ shown: Read; operations: Operation[] }> {
    const shown: Read = { id: kept.id, title: '', version: '', operations: [], servers: [], address: '', faults: [], error: '' };
    const document = this.#documents.get(kept.id);
    if (!document) return { shown: { ...shown, error: 'Its document is not there.' }, operations: [] };
    try {
      const root = document.root ??= await parse(document.text);
      Object.assign(shown, { servers: serversOf(root), title: titleOf(root) });
      let api = await this.#open(kept, root);
      if (api.operations.some(({ name }) => used.has(name))) api = await this.#open(kept, root, prefixOf(shown.title, used));
      for (const { name } of api.operations) used.add(name);
      Object.assign(shown, {
        title: api.title || shown.title || 'A service', version: api.version, address: api.operations[0]?.server ?? '', faults: api.faults.slice(0, MAX_FAULTS),
        operations: api.operations.map(({ name, method, path, server, description, readOnly, deprecated }) => ({ name, method, path, server, description, readOnly, deprecated })),
      });
      return { shown, operations: api.operations };
    } catch (error) {
      return { shown: { ...shown, error: errorText(error) }, operations: [] };
    }
  }

  /** Opens a document; the same one with the same settings once. */
  #open(kept: Kept, root: unknown, prefix = ''): Promise<OpenApi> {
    const { id, server, own_server: own, variables, auth } = kept;
    const name = JSON.stringify([id, server, own, variables, auth, prefix]);
    const known = this.#read.get(name);
    if (known) return known;
    // Others of this document are not needed again.
    for (const other of this.#read.keys()) if (other.startsWith(JSON.stringify([id]).slice(0, -1))) this.#read.delete(other);
    const opened = this.#make(kept, root, prefix);
    this.#read.set(name, opened);
    return opened;
  }

  async #make({ id, server, own_server: own, variables, auth }: Kept, root: unknown, prefix: string): Promise<OpenApi> {
    const { text, url } = this.#documents.get(id)!;
    const declared = serversOf(root).length;
    const at = declared && server >= declared ? withScheme(own) : server ? serverUrl((root as { servers: unknown[] }).servers[server], url, variables) : declared || !own ? undefined : withScheme(own);
    if (typeof at === 'string' && !/^https?:\/\//i.test(at)) throw new Error(at ? `Its server cannot be used: ${at}` : 'Enter the address of the server.');
    const how = { search: false, variables, prefix, ...(url && { url }), ...(at && { server: at }) } as const;
    const plain = await openapi(text, how);
    const [first] = plain.operations;
    if (auth.kind === 'none' || !first) return plain;
    const { origin } = new URL(first.server);
    const value = () => this.#keys[id];
    const given: Auth = auth.kind === 'bearer' ? { bearer: value } : auth.kind === 'header' ? { header: auth.name ?? '', value } : { query: auth.name ?? '', value };
    // The user entered the key for this address.
    return openapi(text, { ...how, auth: given, origins: [origin] });
  }
}

const withScheme = (text: string) => {
  const given = text.trim();
  if (!given || /^[a-z][a-z0-9+.-]*:\/\//i.test(given)) return given;
  return `${/^(localhost|127\.0\.0\.1)\b/i.test(given) ? 'http' : 'https'}://${given}`;
};

async function load(at: string): Promise<[text: string, url: string]> {
  // Chromium escapes spaces in a host.
  if (/\s/.test(at) || !URL.canParse(at) || !/^https?:/.test(new URL(at).protocol)) throw new Error('this is no address: give a whole one, such as https://example.org/openapi.json');
  let response;
  try {
    response = await fetch(at, { headers: { accept: 'application/json, application/yaml;q=0.9, text/yaml;q=0.9, */*;q=0.5' }, credentials: 'omit', referrerPolicy: 'no-referrer', signal: AbortSignal.timeout(30_000) });
  } catch (error) {
    throw new Error((error as Error).name === 'TimeoutError' ? `${new URL(at).host} did not answer within 30 s` : `${new URL(at).host} could not be read: it cannot be reached, or does not let this page read it (CORS). Save the document, and choose the file`);
  }
  if (!response.ok) throw new Error(`${new URL(at).host} answers with status ${response.status}`);
  const body = await response.blob();
  if (body.size > MAX_DOCUMENT) throw new Error(`it has more than ${MAX_DOCUMENT >> 20} MiB`);
  return [await body.text(), response.url || at];
}

const titleOf = (root: unknown) => (isNode(root) && isNode(root['info']) ? shorten(root['info']['title'], 80) : '');

function serversOf(root: unknown): Server[] {
  const list: unknown = isNode(root) ? root['servers'] : undefined;
  if (!Array.isArray(list)) return [];
  return list.filter(isNode).map(({ url, description, variables }) => ({
    url: shorten(url, 300), description: shorten(description, 80),
    variables: Object.entries(isNode(variables) ? variables : {}).filter(([, one]) => isNode(one)).map(([name, one]) => ({
      name, value: String(one.default ?? ''), description: shorten(one.description, 120), values: Array.isArray(one.enum) ? one.enum.map(String) : [],
    })),
  }));
}

/** The first way to prove who asks that the document describes and that can be entered here. */
function suggested(root: unknown): Kept['auth'] {
  const schemes: unknown = isNode(root) && isNode(root['components']) ? root['components']['securitySchemes'] : undefined;
  for (const one of Object.values(isNode(schemes) ? schemes : {})) {
    if (!isNode(one)) continue;
    if (one['type'] === 'oauth2' || one['type'] === 'openIdConnect' || (one['type'] === 'http' && String(one['scheme']).toLowerCase() === 'bearer')) return { kind: 'bearer' };
    if (one['type'] === 'apiKey' && (one['in'] === 'header' || one['in'] === 'query')) return { kind: one['in'], name: shorten(one['name'], 100) };
  }
  return { kind: 'none' };
}

function prefixOf(title: string, used: Set<string>): string {
  const base = title.normalize('NFKD').replace(/[^A-Za-z0-9]+/g, '_').replace(/^[^A-Za-z]+|_+$/g, '').slice(0, 20).toLowerCase() || 'service';
  for (let at = 1; ; at += 1) {
    const prefix = `${base}${at > 1 ? at : ''}_`;
    if (![...used].some((name) => name.startsWith(prefix))) return prefix;
  }
}
