// Parameters and bodies of an operation: what the model is asked for, and how its arguments become a request.
// The styles are those of "Style Values" in the OpenAPI Specification.
import { Source, inside, isNode, shorten } from './openapi-document.js';
import type { Node, Place } from './openapi-document.js';
import { SchemaWriter } from './openapi-schema.js';

/** Files that a request may send and an answer may leave. */
export interface FileAccess {
  /** The content of a file that the model names. */
  read?(path: string): Blob | string | undefined | Promise<Blob | string | undefined>;
  /** Keeps a binary answer; returns the path under which the model finds it. */
  write?(name: string, content: Blob): string | Promise<string>;
}

type Encoder = (text: string) => string;

/** RFC 3986, 2.3: everything but the unreserved characters. */
export const encode: Encoder = (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD')).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
/** `allowReserved`: reserved characters and encoded ones stay, except those that end a value in a query. */
export const encodeReserved: Encoder = (text) => text.split(/(%[0-9A-Fa-f]{2}|[:/?@!$'()*,;=]+)/).map((part, at) => (at % 2 ? part : encode(part))).join('');

/** The arguments of a call are wrong; the message is for the model. */
export class WrongArguments extends Error {}

const scalar = (value: unknown): string => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value));
const entriesOf = (value: object) => Object.entries(value).filter(([, one]) => one !== undefined && one !== null);
const itemsOf = (value: unknown[]) => value.filter((one) => one !== undefined && one !== null);

/** A value in a path or a header: styles simple, label and matrix. */
export function inPath(name: string, value: unknown, style: string, explode: boolean, as: Encoder): string {
  const [first, between] = style === 'label' ? ['.', explode ? '.' : ','] : style === 'matrix' ? [';', explode ? ';' : ','] : ['', ','];
  const named = (text: string) => (style !== 'matrix' ? `${first}${text}` : text === '' ? `;${as(name)}` : `;${as(name)}=${text}`);
  if (Array.isArray(value)) {
    const items = itemsOf(value).map((one) => as(scalar(one)));
    if (style === 'matrix' && explode) return items.map((one) => named(one)).join('');
    return named(items.join(between));
  }
  if (isNode(value)) {
    const pairs = entriesOf(value).map(([key, one]) => [as(key), as(scalar(one))]);
    if (!explode) return named(pairs.flat().join(','));
    return `${first}${pairs.map((pair) => pair.join('=')).join(between)}`;
  }
  return named(as(scalar(value)));
}

/** A value in a query, as encoded pairs of name and value: styles form, spaceDelimited, pipeDelimited and deepObject. */
export function inQuery(name: string, value: unknown, style: string, explode: boolean, as: Encoder): [string, string][] {
  const key = encode(name);
  if (value === undefined || value === null) return [];
  if (style === 'deepObject' && typeof value === 'object') return deep(key, value, as);
  const between = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ',';
  if (Array.isArray(value)) {
    const items = itemsOf(value).map((one) => as(scalar(one)));
    if (items.length === 0) return [];
    return explode ? items.map((one) => [key, one]) : [[key, items.join(between)]];
  }
  if (isNode(value)) {
    const pairs = entriesOf(value).map(([inner, one]): [string, string][] => (explode && Array.isArray(one) ? itemsOf(one).map((item) => [encode(inner), as(scalar(item))]) : [[encode(inner), as(scalar(one))]])).flat();
    if (pairs.length === 0) return [];
    return explode ? pairs : [[key, pairs.flat().join(between)]];
  }
  return [[key, as(scalar(value))]];
}

/** `filter[a][b]=1`. The specification leaves nested values open: objects nest further, arrays repeat the name. */
function deep(key: string, value: object, as: Encoder): [string, string][] {
  if (Array.isArray(value)) return itemsOf(value).map((one) => [key, as(scalar(one))]);
  return entriesOf(value).flatMap(([inner, one]) => (typeof one === 'object' ? deep(`${key}${encode(`[${inner}]`)}`, one, as) : [[`${key}${encode(`[${inner}]`)}`, as(scalar(one))] as [string, string]]));
}

export interface Parameter {
  /** Its name in the arguments. */
  argument: string;
  name: string;
  in: 'path' | 'query' | 'header';
  style: string;
  explode: boolean;
  allowReserved: boolean;
  /** The media type, if the value is sent as such instead of by style. */
  content: string | undefined;
  required: boolean;
  schema: Node | boolean;
}

export interface Body {
  argument: string;
  /** The media type, which may be a range such as `image/*`. */
  type: string;
  kind: 'json' | 'multipart' | 'form' | 'text' | 'binary';
  required: boolean;
  schema: Node | boolean;
  /** How a property is sent, of multipart and form bodies. */
  properties: Record<string, BodyProperty>;
}

interface BodyProperty {
  file: boolean;
  type: string | undefined;
  style: string | undefined;
  explode: boolean | undefined;
  allowReserved: boolean;
}

const STYLES: Record<Parameter['in'], string[]> = { path: ['simple', 'label', 'matrix'], query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'], header: ['simple'] };
/** Set by the request itself, or never by a page. The specification says that parameters of the first three names are ignored. */
const NO_HEADER = /^(accept|content-type|authorization|host|content-length|connection|cookie2?|set-cookie|origin|referer|date|dnt|expect|keep-alive|te|trailer|transfer-encoding|upgrade|via|accept-(charset|encoding)|access-control-.*|proxy-.*|sec-.*)$/i;

export const isJson = (type: string) => /^(application|text)\/([^;]+\+)?json(;|$)|^[a-z]+\/[^;]+\+json(;|$)/i.test(type.trim());

/** Why an operation cannot be offered. */
export class Skipped extends Error {
  constructor(readonly place: Place, message: string) {
    super(message);
  }
}

/** Reads the parameters of an operation. `reserved` are names of headers and query parameters that the user's credentials use. */
export function readParameters(source: Source, writer: SchemaWriter, lists: [unknown, Place][], template: string, reserved: { headers: Set<string>; query: Set<string> }): Parameter[] {
  const found = new Map<string, { node: Node; place: Place }>();
  for (const [list, at] of lists) {
    if (list === undefined) continue;
    if (!Array.isArray(list)) {
      source.fault(at, 'the parameters are not an array', 'ignored');
      continue;
    }
    list.forEach((one, index) => {
      const place = inside(at, index);
      const target = source.follow(one, place);
      // What an unreadable parameter asks for is unknown, and so is whether a call works without it.
      if (typeof target === 'string') throw new Skipped(place, `a parameter cannot be read: ${target}`);
      if (typeof target.node['name'] !== 'string') throw new Skipped(place, 'a parameter has no name');
      // Those of the operation replace those of the path.
      found.set(`${String(target.node['in'])} ${target.node['name']}`, target);
    });
  }
  const read: Omit<Parameter, 'argument'>[] = [];
  for (const { node, place } of found.values()) {
    if (node['in'] === 'path' && !template.includes(`{${String(node['name'])}}`)) {
      source.fault(place, `the path ${template} has no {${String(node['name'])}}`, 'ignored');
      continue;
    }
    const one = readParameter(source, writer, node, place, reserved);
    if (one) read.push(one);
  }
  for (const [, name] of template.matchAll(/\{([^{}]*)\}/g)) {
    if (read.some((one) => one.in === 'path' && one.name === name)) continue;
    source.fault(lists[0]![1], `the path has {${name!}}, but no parameter of this name; a string is expected`, 'changed');
    read.push({ name: name!, in: 'path', style: 'simple', explode: false, allowReserved: false, content: undefined, required: true, schema: { type: 'string' } });
  }
  return named(read);
}

function readParameter(source: Source, writer: SchemaWriter, node: Node, place: Place, reserved: { headers: Set<string>; query: Set<string> }): Omit<Parameter, 'argument'> | undefined {
  const name = node['name'] as string;
  const where = node['in'] as Parameter['in'];
  const required = node['required'] === true || where === 'path';
  const refuse = (message: string) => {
    if (required) throw new Skipped(place, `the required parameter ${name} ${message}`);
    source.fault(place, `the parameter ${name} ${message}`, 'ignored');
    return undefined;
  };
  if ((where as string) === 'cookie') return refuse('is a cookie, and cookies are never sent');
  if (!Object.hasOwn(STYLES, where)) return refuse(`is in ${JSON.stringify(where)}, which is not known`);
  const taken = where === 'header' ? reserved.headers.has(name.toLowerCase()) : where === 'query' && reserved.query.has(name);
  // The credentials of the user fill it.
  if (taken) return undefined;
  if (where === 'header' && NO_HEADER.test(name)) {
    source.fault(place, `the header ${name} is not a parameter: the request sets it, options.auth sets it, or a page cannot`, 'ignored');
    return undefined;
  }
  if (where === 'header' && !/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) return refuse('is not a valid name of a header');
  let style = STYLES[where][0]!;
  if (node['style'] !== undefined && node['style'] !== style) {
    if (STYLES[where].includes(node['style'] as string)) style = node['style'] as string;
    else source.fault(inside(place, 'style'), `the style ${JSON.stringify(node['style'])} is not one for ${where}; ${style} is used`, 'changed');
  }
  const explode = typeof node['explode'] === 'boolean' ? node['explode'] : style === 'form';
  const [content, media] = isNode(node['content']) ? Object.entries(node['content'])[0] ?? [] : [];
  const at = content === undefined ? inside(place, 'schema') : inside(place, 'content', content, 'schema');
  const given: unknown = content === undefined ? node['schema'] : isNode(media) ? media['schema'] : undefined;
  if (given === undefined && content === undefined) source.fault(place, `the parameter ${name} has no schema; any value is accepted`, 'changed');
  let schema: Node | boolean = given === undefined ? {} : writer.write(given, at) as Node | boolean;
  const notes = [shorten(node['description'], 300), node['deprecated'] === true ? 'Deprecated.' : '', example(node)].filter(Boolean).join(' ');
  // Ids beyond 2^53 are strings in answers, and digits are the same in a URL.
  if (content === undefined && isNode(schema) && schema['type'] === 'integer' && schema['format'] !== 'int32' && schema['enum'] === undefined && schema['maximum'] === undefined && schema['exclusiveMaximum'] === undefined) schema = { ...schema, type: ['integer', 'string'], pattern: `^${schema['minimum'] >= 0 || schema['exclusiveMinimum'] >= 0 ? '' : '-?'}[1-9]\\d{15,19}$` };
  // An empty value would make another path.
  if (where === 'path' && isNode(schema) && schema['type'] === 'string' && schema['minLength'] === undefined && schema['enum'] === undefined) schema = { ...schema, minLength: 1 };
  if (notes && isNode(schema)) schema = { ...schema, description: notes };
  return { name, in: where, style, explode, allowReserved: node['allowReserved'] === true, content, required, schema };
}

function example(node: Node): string {
  const examples: unknown = node['examples'];
  const value: unknown = node['example'] ?? (isNode(examples) ? (Object.values(examples)[0] as Node | undefined)?.['value'] : undefined);
  const text = value === undefined ? '' : JSON.stringify(value) ?? '';
  return text && text.length <= 100 ? `Example: ${text}` : '';
}

/** The names of arguments are unique and valid at every provider: at most 64 of A-Z, a-z, 0-9, _, . and -. */
function named(parameters: Omit<Parameter, 'argument'>[]): Parameter[] {
  const used = new Set<string>();
  const unique = (base: string) => {
    let name = base;
    for (let next = 2; used.has(name); next += 1) name = `${base.slice(0, 60)}_${next}`;
    used.add(name);
    return name;
  };
  const plain = (name: string) => name.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/^_+|_+$/g, '').slice(0, 64) || 'value';
  // A path parameter keeps its name; of several with one name the others say where they are.
  const order = { path: 0, query: 1, header: 2 };
  return [...parameters].sort((a, b) => order[a.in] - order[b.in]).map((one) => {
    const name = plain(one.name);
    const argument = unique(used.has(name) ? `${name.slice(0, 57)}_${one.in}` : name);
    if (argument === one.name || !isNode(one.schema)) return { ...one, argument };
    const notes = [one.schema['description'], `The ${one.in} parameter ${one.name}.`].filter(Boolean).join(' ');
    return { ...one, argument, schema: { ...one.schema, description: notes } };
  });
}

/** The argument that stands for content: a text, base64, or a file that the model names. */
export const contentSchema = (description: string, files: boolean): Node => ({
  type: 'object',
  description: [description, `Exactly one of ${files ? 'file, ' : ''}text and base64.`].filter(Boolean).join(' '),
  properties: {
    ...(files && { file: { type: 'string', description: 'The path of a file.' } }),
    text: { type: 'string' }, base64: { type: 'string', contentEncoding: 'base64' },
    name: { type: 'string', description: 'The file name to send.' }, type: { type: 'string', description: 'The media type.' },
  },
  oneOf: [...(files ? ['file'] : []), 'text', 'base64'].map((name) => ({ required: [name] })), additionalProperties: false,
});

/** Reads the body of an operation, if it has one. JSON is preferred, then multipart, forms, text and bytes. */
export function readBody(source: Source, writer: SchemaWriter, given: unknown, place: Place, taken: string[], files: boolean): Body | undefined {
  if (given === undefined) return undefined;
  const target = source.follow(given, place);
  if (typeof target === 'string') throw new Skipped(place, `the body cannot be read: ${target}`);
  const { node, place: at } = target;
  const required = node['required'] === true;
  const content = isNode(node['content']) ? Object.entries(node['content']) : [];
  if (content.length === 0) {
    source.fault(inside(at, 'content'), 'the body names no media type', 'ignored');
    return undefined;
  }
  const kind = (type: string): Body['kind'] => (isJson(type) || /^(\*\/\*|application\/\*)/.test(type) ? 'json' : /^multipart\//i.test(type) ? 'multipart' : /^application\/x-www-form-urlencoded/i.test(type) ? 'form'
    : /^text\/|[/+]xml(;|$)|^application\/(yaml|x-yaml|graphql|javascript|x-ndjson)/i.test(type) ? 'text' : 'binary');
  const order = ['json', 'multipart', 'form', 'text', 'binary'];
  const [type, media] = content.map((one) => one as [string, unknown]).sort(([a], [b]) => order.indexOf(kind(a)) - order.indexOf(kind(b)))[0]!;
  const plain = isNode(media) ? media : {};
  const body: Body = { argument: 'body', type, kind: kind(type), required, schema: {}, properties: Object.create(null) as Body['properties'] };
  for (let next = 1; taken.includes(body.argument); next += 1) body.argument = `request_body${next === 1 ? '' : `_${next}`}`;
  const schemaAt = inside(at, 'content', type, 'schema');
  const description = shorten(node['description'], 300);
  if (body.kind === 'binary') body.schema = contentSchema([description, `Sent as ${type}.`].filter(Boolean).join(' '), files);
  else if (body.kind === 'text') body.schema = { ...(plain['schema'] === undefined ? {} : onlyText(writer.write(plain['schema'], schemaAt))), type: 'string', description: [description, `Sent as ${type}.`].filter(Boolean).join(' ') };
  else if (body.kind === 'json') body.schema = plain['schema'] === undefined ? {} : writer.write(plain['schema'], schemaAt) as Node | boolean;
  else readForm(writer, body, plain, schemaAt, files);
  if (description && isNode(body.schema) && body.schema['description'] === undefined) body.schema = { ...body.schema, description };
  return body;
}

/** Keywords of texts; a schema of XML describes its elements, which the model writes as text. */
const onlyText = (schema: unknown): Node => (isNode(schema) && schema['type'] === 'string' ? schema : {});

function readForm(writer: SchemaWriter, body: Body, media: Node, at: Place, files: boolean) {
  const schema: unknown = media['schema'];
  if (schema === undefined) {
    body.schema = { type: 'object' };
    return;
  }
  const encoding: Node = isNode(media['encoding']) ? media['encoding'] : {};
  const properties = propertiesOf(writer, schema, at);
  const made = writer.write(schema, at) as Node;
  const replaced = Object.create(null) as Node;
  for (const [name, [property, place]] of Object.entries(properties)) {
    const how: Node = isNode(encoding[name]) ? encoding[name] : {};
    const resolved = writer.resolve(property, place)?.node ?? {};
    const type = typeof how['contentType'] === 'string' ? how['contentType'].split(',')[0]!.trim() : undefined;
    const several = variantsOf(writer, property, place).find(({ node }) => node['items'] !== undefined && variantsOf(writer, node['items'], inside(place, 'items')).some((one) => isBytes(one.node)));
    const file = body.kind === 'multipart' && (several !== undefined || variantsOf(writer, property, place).some((one) => isBytes(one.node)));
    body.properties[name] = {
      file, type, allowReserved: how['allowReserved'] === true,
      // In 3.0 they apply to forms only.
      ...(body.kind === 'form' || !writer.source.old ? { style: how['style'] as string | undefined, explode: how['explode'] as boolean | undefined } : { style: undefined, explode: undefined }),
    };
    if (!file) continue;
    const one = contentSchema(shorten(resolved['description'], 300), files);
    replaced[name] = several ? { type: 'array', items: one } : one;
  }
  replaceProperties(writer, made, replaced);
  body.schema = made;
}

/** Whether a value of this schema is bytes: `format: binary` in 3.0, a media type or no type at all in 3.1. */
const isBytes = (schema: Node) => schema['format'] === 'binary' || schema['format'] === 'base64' || schema['type'] === 'file'
  || (schema['type'] === 'string' && typeof schema['contentMediaType'] === 'string' && schema['contentEncoding'] === undefined && !/^text\/|json/.test(schema['contentMediaType']));

/** A schema and its alternatives: an optional file is often `anyOf` with null. */
function variantsOf(writer: SchemaWriter, schema: unknown, at: Place, seen = new Set<Node>()): { node: Node; place: Place }[] {
  const found = writer.resolve(schema, at);
  if (!found || seen.has(found.node)) return [];
  seen.add(found.node);
  return [found, ...['anyOf', 'oneOf', 'allOf'].flatMap((word) => (Array.isArray(found.node[word]) ? (found.node[word] as unknown[]).flatMap((one, index) => variantsOf(writer, one, inside(found.place, word, index), seen)) : []))];
}

/** All properties of a schema, also those of schemas that it refers to or combines. */
function propertiesOf(writer: SchemaWriter, schema: unknown, at: Place, seen = new Set<Node>()): Record<string, [unknown, Place]> {
  const found = writer.resolve(schema, at);
  if (!found || seen.has(found.node)) return {};
  seen.add(found.node);
  const { node, place } = found;
  const own = isNode(node['properties']) ? Object.entries(node['properties']).map(([name, one]) => [name, [one, inside(place, 'properties', name)]] as const) : [];
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((word) => (Array.isArray(node[word]) ? (node[word] as unknown[]).map((one, index) => propertiesOf(writer, one, inside(place, word, index), seen)) : []));
  return Object.assign({}, ...parts, Object.fromEntries(own)) as Record<string, [unknown, Place]>;
}

/** Describes files in place, in a schema and in those that it combines; they are written for this operation only. */
function replaceProperties(writer: SchemaWriter, schema: unknown, replaced: Node, seen = new Set<unknown>()) {
  if (!isNode(schema) || seen.has(schema)) return;
  seen.add(schema);
  if (typeof schema['$ref'] === 'string') replaceProperties(writer, writer.defs[schema['$ref'].slice('#/$defs/'.length)], replaced, seen);
  const { properties } = schema;
  if (isNode(properties)) for (const name of Object.keys(properties)) if (replaced[name]) properties[name] = replaced[name];
  for (const word of ['allOf', 'anyOf', 'oneOf']) for (const one of schema[word] ?? []) replaceProperties(writer, one, replaced, seen);
}

/** A value that is sent as the media type of a parameter or a part. */
const asContent = (value: unknown, type: string | undefined) => (typeof value === 'string' && type !== undefined && !isJson(type) ? value : JSON.stringify(value));

/** An argument that was given: not `constructor`, which every object has. */
export const argumentOf = (input: Node, name: string): unknown => (Object.hasOwn(input, name) ? input[name] : undefined);

/** The path and the query of a call below a server, and its headers. */
export function target(template: string, parameters: readonly Parameter[], input: Node): { path: string; query: [string, string][]; headers: [string, string][] } {
  const query: [string, string][] = [];
  const headers: [string, string][] = [];
  const path = template.split(/(\{[^{}]*\})/).map((part) => {
    if (!part.startsWith('{')) return part.split(/(%[0-9A-Fa-f]{2})/).map((one, at) => (at % 2 ? one : encodeURI(one).replace(/[?#]/g, encode))).join('');
    const one = parameters.find(({ in: where, name }) => where === 'path' && name === part.slice(1, -1))!;
    const value = argumentOf(input, one.argument);
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) throw new WrongArguments(`${one.argument}: missing; the path needs it`);
    const texts = (typeof value === 'object' ? Object.entries(value).flat() : [value]).map(scalar);
    if (texts.some((text) => text.split(/[/\\]/).some((piece) => /^(\.|%2e){1,2}$/i.test(piece)))) throw new WrongArguments(`${one.argument}: "." and ".." are not allowed as parts of a path`);
    return one.content === undefined ? inPath(one.name, value, one.style, one.explode, encode) : encode(asContent(value, one.content));
  }).join('');
  if (path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) throw new WrongArguments('the arguments make "." or ".." a part of the path, which is not allowed');
  const used = new Map<string, string>();
  for (const one of parameters) {
    const value = argumentOf(input, one.argument);
    if (value === undefined || value === null) continue;
    if (one.in === 'query') {
      const as = one.allowReserved ? encodeReserved : encode;
      const pairs: [string, string][] = one.content === undefined ? inQuery(one.name, value, one.style, one.explode, as) : [[encode(one.name), as(asContent(value, one.content))]];
      for (const [key] of pairs) {
        // The members of an exploded object are names that the model chose.
        const other = used.get(key);
        if (other !== undefined && other !== one.argument) throw new WrongArguments(`${one.argument}: its member ${decodeURIComponent(key)} is the parameter ${other}`);
        used.set(key, one.argument);
      }
      query.push(...pairs);
    } else if (one.in === 'header') {
      const text = one.content === undefined ? inPath(one.name, value, 'simple', one.explode, String) : asContent(value, one.content);
      if (/[^\t\x20-\x7E\x80-\xFF]/.test(text)) throw new WrongArguments(`${one.argument}: a header cannot contain line breaks or characters beyond Latin-1`);
      headers.push([one.name, text]);
    }
  }
  return { path, query, headers };
}

/** The body of a call and its media type; none of multipart, whose boundary `fetch` chooses. */
export async function content(body: Body, value: unknown, files: FileAccess): Promise<{ data: BodyInit; type: string | undefined }> {
  const concrete = body.type.includes('*') ? undefined : body.type;
  switch (body.kind) {
    case 'json': return { data: JSON.stringify(value), type: concrete ?? 'application/json' };
    case 'text': return { data: String(value), type: body.type };
    case 'binary': {
      const blob = await fileOf(value, body.argument, files);
      return { data: blob, type: concrete ?? (blob.type || 'application/octet-stream') };
    }
    case 'form': return { data: formPairs(body, value).map((pair) => pair.join('=')).join('&'), type: 'application/x-www-form-urlencoded' };
    case 'multipart': {
      const form = new FormData();
      for (const [name, all] of entriesOf(value as object)) {
        const { file, type, style, explode } = body.properties[name] ?? { file: false, type: undefined, style: undefined, explode: undefined };
        if (!file && (style !== undefined || explode !== undefined)) {
          for (const [key, part] of inQuery(name, all, style ?? 'form', explode ?? (style ?? 'form') === 'form', encode)) form.append(decodeURIComponent(key), decodeURIComponent(part));
          continue;
        }
        for (const one of Array.isArray(all) ? itemsOf(all) : [all]) {
          if (file) {
            const blob = await fileOf(one, `${body.argument}.${name}`, files, type);
            form.append(name, blob, blob.name);
          } else if (type !== undefined) form.append(name, new Blob([asContent(one, type)], { type }));
          // The default for objects is JSON.
          else if (typeof one === 'object') form.append(name, new Blob([JSON.stringify(one)], { type: 'application/json' }));
          else form.append(name, String(one));
        }
      }
      return { data: form, type: undefined };
    }
  }
}

function formPairs(body: Body, value: unknown): [string, string][] {
  return entriesOf((value ?? {}) as object).flatMap(([name, one]) => {
    const { style, explode, allowReserved, type } = body.properties[name] ?? { style: undefined, explode: undefined, allowReserved: false, type: undefined };
    const as = allowReserved ? encodeReserved : encode;
    if (style === undefined && explode === undefined && (type !== undefined ? isJson(type) : isNode(one))) return [[encode(name), encode(asContent(one, type))] as [string, string]];
    return inQuery(name, one, style ?? 'form', explode ?? (style ?? 'form') === 'form', as);
  });
}

async function fileOf(value: unknown, argument: string, files: FileAccess, declared?: string): Promise<File> {
  const { file, text, base64, name, type } = (isNode(value) ? value : {}) as Record<string, string | undefined>;
  if ([file, text, base64].filter((one) => one !== undefined).length !== 1) throw new WrongArguments(`${argument}: expected exactly one of ${files.read ? 'file, ' : ''}text and base64`);
  let bytes: BlobPart;
  let kind = type ?? (declared?.includes('*') ? undefined : declared);
  if (file !== undefined) {
    const found = await files.read?.(file);
    if (found === undefined) throw new WrongArguments(`${argument}.file: there is no file ${JSON.stringify(file)}`);
    bytes = found;
    if (found instanceof Blob) kind ??= found.type || undefined;
  } else if (base64 === undefined) bytes = text!;
  else {
    try {
      bytes = Uint8Array.from(atob(base64.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
    } catch {
      throw new WrongArguments(`${argument}.base64: this is not base64`);
    }
  }
  const plain = (name ?? file?.split('/').at(-1) ?? 'file').replace(/[\r\n"\\/]/g, '_');
  return new File([bytes], plain, { type: kind ?? (text === undefined ? 'application/octet-stream' : 'text/plain') });
}
