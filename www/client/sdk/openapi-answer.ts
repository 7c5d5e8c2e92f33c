// What a server answered, as a tool result: cut to what the document names, without the user's credentials.
import { Source, inside, isNode } from './openapi-document.js';
import type { Node, Place } from './openapi-document.js';
import { isJson } from './openapi-request.js';
import type { FileAccess } from './openapi-request.js';
import { TOOL_CONTENT } from '../tool-content.js';

const SHOWN = /^(image\/(png|jpeg|webp|gif)|application\/pdf)$/;
/** Above this, an error body is cut: its message comes first. */
const ERROR_BODY = 2_000;

/** The result of a call that succeeded. */
export interface Answer {
  status: number;
  /** Parsed JSON, a list of NDJSON values, or a text. */
  body?: unknown;
  contentType?: string;
  /** The headers that the document names for this answer, and `location` and `link`. */
  headers?: Record<string, string>;
  /** Properties that the server sent and the document does not name; `[]` stands for each item of an array. */
  omitted?: string[];
  /** Where a binary answer was saved, and its size. */
  file?: string;
  bytes?: number;
  note?: string;
}

/** Reads a body of at most `most` bytes. */
export async function readBytes(response: Response, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let step = await reader?.read(); step && !step.done; step = await reader!.read()) {
    size += step.value.length;
    if (size > most) {
      void reader!.cancel().catch(() => {});
      throw new Error(`the answer is larger than ${most} bytes; ask for less, for example with parameters that filter or page`);
    }
    chunks.push(step.value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

const textOf = (bytes: Uint8Array, contentType: string) => {
  const charset = /charset="?([\w:-]+)/i.exec(contentType)?.[1];
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
};

const isText = (type: string) => /^text\/|[/+](xml|yaml|javascript|graphql)\b|^application\/(x-www-form-urlencoded|x-yaml|sql)/i.test(type);

export interface Reading {
  source: Source;
  responses: unknown;
  place: Place;
  whole: boolean;
  files: FileAccess;
  /** A name for a file: the operation's. */
  name: string;
  redact(text: string): string;
}

/** The result of a successful answer. */
export async function answerOf(response: Response, bytes: Uint8Array<ArrayBuffer>, reading: Reading): Promise<unknown> {
  const { status } = response;
  const contentType = response.headers.get('content-type') ?? '';
  const type = contentType.split(';')[0]!.trim().toLowerCase();
  const headers = headersOf(response, reading);
  const base = { status, ...(headers && { headers }) };
  if (bytes.length === 0) return base satisfies Answer;
  const json = jsonOf(bytes, contentType, type, reading);
  if (json !== undefined) {
    const schema = reading.whole ? undefined : schemaOf(reading, status, type);
    if (!schema) return { ...base, body: json.value } satisfies Answer;
    const omitted = new Set<string>();
    const body = cut(json.value, [schema], reading.source, '', omitted, 0);
    const names = [...omitted];
    return { ...base, body, ...(names.length && { omitted: names.length > 30 ? [...names.slice(0, 30), `and ${names.length - 30} more`] : names }) } satisfies Answer;
  }
  if (isText(type) || (type === '' && isUtf8(bytes))) return { ...base, ...(type && { contentType: type }), body: reading.redact(textOf(bytes, contentType)) } satisfies Answer;
  const told = { ...base, contentType: type || 'application/octet-stream', bytes: bytes.length };
  if (reading.files.write) {
    const file = await reading.files.write(fileName(response, reading.name, type), new Blob([bytes], { type }));
    return { ...told, file } satisfies Answer;
  }
  if (SHOWN.test(type)) {
    let binary = '';
    for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    return { text: JSON.stringify(told), [TOOL_CONTENT]: { images: [`data:${type};base64,${btoa(binary)}`] } };
  }
  return { ...told, note: 'The content is binary and is not shown.' } satisfies Answer;
}

function isUtf8(bytes: Uint8Array) {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0');
  } catch {
    return false;
  }
}

/** Integers that a number of JavaScript cannot hold become strings, so that the ids of a service stay what they are. */
const exact = (text: string) => text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => (/^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token));
const parsed = (text: string) => JSON.parse(exact(text)) as unknown;

/** JSON, also as a sequence of lines; `undefined` if it is something else, or not what it says. */
function jsonOf(bytes: Uint8Array, contentType: string, type: string, { redact }: Reading): { value: unknown } | undefined {
  try {
    if (/^application\/(x-ndjson|ndjson|jsonl|x-jsonlines|jsonlines|json-seq)$/.test(type)) {
      const lines = redact(textOf(bytes, contentType)).split(/[\n\x1E]/).filter((line) => line.trim());
      return { value: lines.map(parsed) };
    }
    if (isJson(type)) return { value: parsed(redact(textOf(bytes, contentType)).replace(/^\uFEFF/, '')) };
  } catch {
    return { value: redact(textOf(bytes, contentType)) };
  }
  return undefined;
}

function fileName(response: Response, name: string, type: string) {
  const given = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(response.headers.get('content-disposition') ?? '')?.[1];
  const plain = given?.split(/[/\\]/).at(-1)?.replace(/[\p{Cf}\p{Cc}<>:"|?*]/gu, '_').replace(/^\.+/, '');
  return plain || `${name}.${type.split('/')[1]?.replace(/[^a-z0-9].*$/, '') || 'bin'}`;
}

/** What the document says of an answer with this status: for itself, for its class (`2XX`), or by default. */
function responseOf({ source, responses, place }: Reading, status: number): { node: Node; place: Place } | undefined {
  if (!isNode(responses)) return undefined;
  const key = [String(status), `${String(status)[0]}XX`, `${String(status)[0]}xx`, 'default'].find((one) => Object.hasOwn(responses, one));
  const found = key === undefined ? undefined : source.follow(responses[key], inside(place, key));
  return typeof found === 'string' ? undefined : found;
}

/** Some headers that a server may set say more about its machines than about the answer, so only these are shown. */
function headersOf(response: Response, reading: Reading): Record<string, string> | undefined {
  const declared: unknown = responseOf(reading, response.status)?.node['headers'];
  const names = [...(isNode(declared) ? Object.keys(declared) : []), 'location', 'link'].map((name) => name.toLowerCase());
  const shown = [...new Set(names)].filter((name) => /^[\w-]+$/.test(name) && !/^(content-type|set-cookie)$/.test(name)).flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, reading.redact(value.slice(0, 1_000))] as const];
  });
  return shown.length ? Object.fromEntries(shown) : undefined;
}

function schemaOf(reading: Reading, status: number, type: string): Positioned | undefined {
  const found = responseOf(reading, status);
  if (!found || !isNode(found.node['content'])) return undefined;
  const types = Object.keys(found.node['content'] as Node);
  const plain = (one: string) => one.split(';')[0]!.trim().toLowerCase();
  const match = types.find((one) => plain(one) === type) ?? types.find((one) => isJson(one) && isJson(type)) ?? types.find((one) => one.includes('*'));
  const media: unknown = match === undefined ? undefined : (found.node['content'] as Node)[match];
  return isNode(media) && media['schema'] !== undefined ? { schema: media['schema'], place: inside(found.place, 'content', match!, 'schema') } : undefined;
}

interface Positioned {
  schema: unknown;
  place: Place;
}

interface Named {
  properties: Map<string, Positioned[]>;
  items: Positioned[];
  /** The properties are known: others are undeclared. */
  closed: boolean;
  /** It declares that there are other properties. */
  declares: boolean;
}

/** By schema: they may refer to each other in circles, and to the same one from many places. */
const known = new WeakMap<Node, Named>();
const anything = (): Named => ({ properties: new Map(), items: [], closed: false, declares: false });

/** What a schema names, with those that it combines. Whatever one of several alternatives allows is allowed. */
function named({ schema, place }: Positioned, source: Source): Named {
  const found = source.follow(schema, place);
  if (typeof found === 'string') return anything();
  const { node, place: at } = found;
  const before = known.get(node);
  if (before) return before;
  const own = anything();
  known.set(node, own);
  const properties: [string, unknown][] = isNode(node['properties']) ? Object.entries(node['properties']) : [];
  for (const [name, one] of properties) own.properties.set(name, [{ schema: one, place: inside(at, 'properties', name) }]);
  if (node['items'] !== undefined) own.items.push({ schema: node['items'], place: inside(at, 'items') });
  const parts = (word: string) => (Array.isArray(node[word]) ? (node[word] as unknown[]).flatMap((one, index) => (isNull(one) ? [] : [named({ schema: one, place: inside(at, word, index) }, source)])) : []);
  const all = parts('allOf');
  const alternatives = ['anyOf', 'oneOf'].map(parts).filter((some) => some.length);
  for (const other of [all, ...alternatives].flat()) {
    for (const [name, some] of other.properties) own.properties.set(name, unique([...(own.properties.get(name) ?? []), ...some]));
    own.items = unique([...own.items, ...other.items]);
  }
  own.declares = ['additionalProperties', 'unevaluatedProperties'].some((word) => node[word] !== undefined && node[word] !== false) || isNode(node['patternProperties'])
    || all.some(({ declares }) => declares) || alternatives.flat().some(({ declares }) => declares);
  // All parts of `allOf` apply, so one that knows the properties is enough; of alternatives every one has to know them.
  own.closed = !own.declares && (properties.length > 0 || all.some(({ closed }) => closed) || alternatives.some((some) => some.every(({ closed }) => closed)));
  return own;
}

const isNull = (schema: unknown) => isNode(schema) && schema['type'] === 'null';
const unique = (all: Positioned[]) => [...new Map(all.map((one) => [one.schema, one])).values()];

/** The value without properties that the schemas do not name. */
function cut(value: unknown, schemas: Positioned[], source: Source, path: string, omitted: Set<string>, depth: number): unknown {
  if (typeof value !== 'object' || value === null || schemas.length === 0 || depth > 60) return value;
  const all = schemas.map((one) => named(one, source));
  if (Array.isArray(value)) {
    const items = unique(all.flatMap((one) => one.items));
    return value.map((one) => cut(one, items, source, `${path}[]`, omitted, depth + 1));
  }
  const closed = all.some((one) => one.closed) && !all.some((one) => one.declares);
  const kept: [string, unknown][] = [];
  for (const [name, one] of Object.entries(value)) {
    const inner = unique(all.flatMap(({ properties }) => properties.get(name) ?? []));
    const at = path ? `${path}.${name}` : name;
    if (closed && inner.length === 0) omitted.add(at);
    else kept.push([name, cut(one, inner, source, at, omitted, depth + 1)]);
  }
  return Object.fromEntries(kept);
}

/** What a failed answer says, for the model. */
export function failure(response: Response, bytes: Uint8Array, redact: (text: string) => string): string {
  const { status, statusText } = response;
  const contentType = response.headers.get('content-type') ?? '';
  const type = contentType.split(';')[0]!.trim().toLowerCase();
  const head = `HTTP ${status}${statusText ? ` ${statusText}` : ''}`;
  const wait = response.headers.get('retry-after');
  const later = wait && /^[\w :,+-]{1,40}$/.test(wait) ? `\nRetry-After: ${wait}` : '';
  if (!bytes.length || (type && !isJson(type) && !isText(type))) return redact(`${head}${later}`);
  const text = textOf(bytes.subarray(0, 64 * 1024), contentType);
  let message: string | undefined;
  try {
    message = messageOf(JSON.parse(text));
  } catch {
    if (/html/.test(type)) return redact(`${head}: ${text.replace(/<(script|style)[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim().slice(0, 300)}${later}`);
  }
  const body = text.length > ERROR_BODY ? `${text.slice(0, ERROR_BODY)}…` : text;
  return redact(`${head}${message ? `: ${message}` : ''}${later}\n${body}`);
}

/** The message of an error body, in the usual places (RFC 9457 and what services do). */
function messageOf(body: unknown, depth = 0): string | undefined {
  if (typeof body === 'string') return body.slice(0, 500);
  if (Array.isArray(body)) return body.slice(0, 3).map((one) => messageOf(one, depth + 1)).filter(Boolean).join('; ') || undefined;
  if (!isNode(body) || depth > 3) return undefined;
  for (const name of ['message', 'detail', 'error_description', 'error', 'title', 'errors', 'msg', 'reason', 'description']) {
    const found = messageOf(body[name], depth + 1);
    if (found) return found;
  }
  return undefined;
}
