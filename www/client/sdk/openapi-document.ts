// Reading of OpenAPI documents: JSON or YAML, references, servers, and the faults that were found.

/** An object of a document. */
export type Node = Record<string, any>;

/** Something in a document that is wrong or not supported, and what was done about it. */
export interface Fault {
  /** Where: a JSON pointer, after the name of the document if it is not the first. */
  path: string;
  message: string;
  /** `skipped`: this operation is not offered. `ignored`: this part of it has no effect. `changed`: it is used, but differently from what is written. */
  action: 'skipped' | 'ignored' | 'changed';
}

export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The document cannot be read at all. */
export class Unreadable extends Error {
  override name = 'OpenApiError';
}

/** A place in one of the documents: the key of the document ('' is the first), and the JSON pointer. */
export interface Place {
  document: string;
  path: string;
}

export const show = ({ document, path }: Place) => `${document}${path}`;
export const inside = ({ document, path }: Place, ...names: (string | number)[]): Place =>
  ({ document, path: `${path}${names.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')}` });

/** Text as JSON or YAML. The YAML reader is loaded by the first text that is not JSON. */
export async function parse(text: string): Promise<unknown> {
  const plain = text.replace(/^\uFEFF/, '');
  if (/^\s*[{[]/.test(plain)) {
    try {
      return JSON.parse(plain) as unknown;
    } catch (error) {
      // YAML may begin like this too.
      const { parseYaml } = await import('./yaml.js');
      try {
        return parseYaml(plain);
      } catch {
        throw new Unreadable(`The document is not JSON: ${(error as Error).message}`);
      }
    }
  }
  const { parseYaml } = await import('./yaml.js');
  try {
    return parseYaml(plain);
  } catch (error) {
    throw new Unreadable(`The document is neither JSON nor YAML: ${(error as Error).message}`);
  }
}

/** Checks that a value is an OpenAPI 3 document. */
export function checkVersion(value: unknown): Node {
  if (!isNode(value)) throw new Unreadable('The document is not an object. Expected an OpenAPI 3.0 or 3.1 document.');
  if (value['swagger'] !== undefined) {
    throw new Unreadable(`This is a Swagger ${String(value['swagger'])} document. Convert it to OpenAPI 3 first, for example with the npm package swagger2openapi or at editor.swagger.io ("Convert to OpenAPI 3").`);
  }
  const { openapi } = value;
  if (openapi === undefined) {
    throw new Unreadable(value['asyncapi'] === undefined ? 'The document has no field "openapi". Expected an OpenAPI 3.0 or 3.1 document.' : 'This is an AsyncAPI document. Only OpenAPI 3.0 and 3.1 are supported.');
  }
  // YAML without quotes makes a number of it.
  if (!/^3\.[012](\D|$)/.test(String(openapi))) throw new Unreadable(`This is an OpenAPI ${String(openapi)} document. Only OpenAPI 3.0 and 3.1 are supported.`);
  return value;
}

/** The documents, and the faults found in them. */
export class Source {
  readonly faults: Fault[] = [];
  /** 3.0 has its own dialect of JSON Schema. */
  readonly old: boolean;
  readonly #seen = new Set<string>();

  constructor(readonly root: Node, readonly documents: Record<string, Node>) {
    this.old = /^3\.0(\D|$)/.test(String(root['openapi']));
  }

  fault(place: Place, message: string, action: Fault['action']) {
    const path = show(place);
    const key = `${path}\n${message}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.faults.push({ path, message, action });
  }

  /** The target of a `$ref` found in a document. Returns why there is none instead. */
  target(ref: unknown, from: Place): { value: unknown; place: Place } | string {
    if (typeof ref !== 'string') return 'a "$ref" that is not a string';
    const [file = '', fragment = ''] = ref.split('#', 2) as [string, string?];
    const document = file === '' ? from.document : file.replace(/^\.\//, '');
    const root = document === '' ? this.root : Object.hasOwn(this.documents, document) ? this.documents[document] : undefined;
    if (root === undefined) return `the reference ${ref} leads to another document; pass it in options.documents as ${JSON.stringify(document)}`;
    let value: unknown = root;
    const tokens = fragment.split('/').slice(1).map((token) => decoded(token).replaceAll('~1', '/').replaceAll('~0', '~'));
    if (fragment !== '' && !fragment.startsWith('/')) return `the reference ${ref} names an anchor, which is not supported`;
    for (const token of tokens) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return `the reference ${ref} leads nowhere`;
      value = (value as Node)[token];
    }
    return { value, place: inside({ document, path: '' }, ...tokens) };
  }

  /** Follows references to an object such as a parameter. Returns why there is none instead. */
  follow(value: unknown, place: Place): { node: Node; place: Place } | string {
    const passed = new Set<string>();
    while (isNode(value) && value['$ref'] !== undefined) {
      const found = this.target(value['$ref'], place);
      if (typeof found === 'string') return found;
      if (passed.has(show(found.place))) return `the reference ${String(value['$ref'])} leads in a circle`;
      passed.add(show(found.place));
      ({ value, place } = found);
    }
    return isNode(value) ? { node: value, place } : `expected an object, found ${value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value}`;
  }
}

function decoded(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text of a document for the model: one line, without invisible characters, at most so long. */
export function shorten(text: unknown, most: number): string {
  if (typeof text !== 'string') return '';
  const line = text.slice(0, most * 8).replace(/[\p{Cf}\p{Cc}]+/gu, ' ').replace(/\s+/g, ' ').trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, most);
  const end = Math.max(cut.lastIndexOf('. '), cut.lastIndexOf('! '), cut.lastIndexOf('? '));
  if (end > most / 2) return cut.slice(0, end + 1);
  const word = cut.slice(0, most - 1);
  return `${word.slice(0, word.lastIndexOf(' ') > most / 2 ? word.lastIndexOf(' ') : undefined).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The URL of a server, with its variables filled in. Returns why it cannot be used instead. */
export function serverUrl(server: unknown, base: string | undefined, variables: Record<string, string>): URL | string {
  if (!isNode(server) || typeof server['url'] !== 'string') return 'a server without "url"';
  const declared = isNode(server['variables']) ? server['variables'] : {};
  let wrong: string | undefined;
  const text = server['url'].replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable: unknown = Object.hasOwn(declared, name) ? declared[name] : undefined;
    const value = Object.hasOwn(variables, name) ? variables[name] : isNode(variable) ? variable['default'] : undefined;
    if (value === undefined) wrong ??= `the server variable {${name}} has no default; set it in options.variables`;
    const allowed: unknown = isNode(variable) ? variable['enum'] : undefined;
    if (Array.isArray(allowed) && !allowed.map(String).includes(String(value))) wrong ??= `the server variable {${name}} is ${JSON.stringify(value)}, but has to be one of ${allowed.join(', ')}`;
    return String(value);
  });
  return wrong ?? readUrl(text, base);
}

/** An address of a server: http or https, without user, query and fragment. Returns why it cannot be used instead. */
export function readUrl(text: string, base: string | undefined): URL | string {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    return base === undefined ? `the server address ${text} is relative; set options.server` : `the server address ${text} is not a URL`;
  }
  if (!/^https?:$/.test(url.protocol)) return `the server address ${url.protocol}//${url.host} is neither http nor https`;
  if (url.username || url.password) return 'the server address contains a user name or a password';
  url.search = '';
  url.hash = '';
  return url;
}
