// Schemas of OpenAPI 3.0 and 3.1 as JSON Schema 2020-12 for the model and the engine: references become `$defs`, keywords that
// JSON Schema does not have are left out, and values that would make the schema invalid are reported.
import { Source, inside, isNode, shorten, show } from './openapi-document.js';
import type { Node, Place } from './openapi-document.js';

/** A request leaves out what only answers have (`readOnly`), an answer what only requests have. */
export type Direction = 'request' | 'answer';

/** How deep a schema may be nested, and how many an operation may refer to. */
const MAX_DEPTH = 60;
const MAX_DEFS = 400;
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const natural = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const finite = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
const pattern = (value: unknown) => {
  try {
    return typeof value === 'string' && Boolean(new RegExp(value, 'u'));
  } catch {
    return false;
  }
};
/** Keywords that are copied, with a test of their value. */
const COPIED: Record<string, (value: unknown) => boolean> = {
  multipleOf: (value) => finite(value) && (value as number) > 0, maximum: finite, minimum: finite, exclusiveMaximum: finite, exclusiveMinimum: finite,
  maxLength: natural, minLength: natural, pattern, maxItems: natural, minItems: natural, uniqueItems: (value) => typeof value === 'boolean',
  maxProperties: natural, minProperties: natural, maxContains: natural, minContains: natural,
  enum: (value) => Array.isArray(value) && value.length > 0, const: () => true,
  required: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  format: (value) => typeof value === 'string', contentEncoding: (value) => typeof value === 'string', contentMediaType: (value) => typeof value === 'string',
  title: () => false, default: (value) => value !== undefined,
};
const ONE = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else', 'unevaluatedItems', 'unevaluatedProperties'];
const LIST = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAP = ['properties', 'patternProperties', 'dependentSchemas'];
/** Keywords without an effect on what is valid. */
const SILENT = new Set(['title', 'description', 'example', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'discriminator', 'xml', 'externalDocs', 'nullable', '$comment', '$schema', '$id', '$anchor', '$defs', 'definitions', 'type', '$ref', 'exclusiveMinimum', 'exclusiveMaximum', 'dependentRequired']);

/** Converts the schemas of one operation; those that they refer to are collected in `defs`. */
export class SchemaWriter {
  readonly defs = Object.create(null) as Record<string, unknown>;
  readonly #names = new Map<string, string>();
  #depth = 0;
  readonly #left: { name: string; value: unknown; place: Place }[] = [];
  /** Names of the properties that were left out. */
  readonly #hidden = new Set<string>();
  /** Schemas that require a property which they do not have themselves: it may have been left out elsewhere. */
  readonly #requiring: Node[] = [];

  constructor(readonly source: Source, readonly direction: Direction) {}

  write(given: unknown, place: Place): any {
    if (typeof given === 'boolean') return given;
    if (this.#depth >= MAX_DEPTH) {
      this.#fault(place, `the schema is nested more than ${MAX_DEPTH} deep; any value is accepted here`);
      return {};
    }
    this.#depth += 1;
    try {
      return this.#write(given, place);
    } finally {
      this.#depth -= 1;
      // Those that were referred to, one after the other, however long a chain they are.
      if (this.#depth === 0) for (let next = this.#left.shift(); next; next = this.#left.shift()) this.defs[next.name] = this.write(next.value, next.place);
    }
  }

  #write(given: unknown, place: Place): any {
    if (!isNode(given)) {
      this.#fault(place, 'this is not a schema; any value is accepted here');
      return {};
    }
    const ref = given['$ref'] ?? given['$dynamicRef'];
    if (ref === undefined) return this.#plain(given, place);
    const to = this.#reference(ref, place);
    // In 3.0 the keywords beside a reference have no effect. A description is harmless and useful.
    const { $ref, $dynamicRef, ...beside } = given;
    const rest = this.#plain(this.source.old ? { description: beside['description'] } : beside, place);
    return to === undefined ? rest : { ...to, ...rest };
  }

  /** To be called when all schemas are written. `roots` are those outside of `defs`. */
  finish(roots: unknown[]) {
    for (const made of this.#requiring) {
      const names = (made['required'] as string[]).filter((name) => Object.hasOwn(made['properties'] ?? {}, name) || !this.#hidden.has(name));
      if (names.length) made['required'] = names;
      else delete made['required'];
    }
    // A schema that refers to itself for the same value would be checked without end.
    const state = new Map<string, 'open' | 'done'>();
    const visit = (schema: unknown) => {
      if (!isNode(schema)) return;
      if (typeof schema['$ref'] === 'string') {
        const name = schema['$ref'].slice('#/$defs/'.length);
        if (state.get(name) === 'open') delete schema['$ref'];
        else if (!state.has(name)) {
          state.set(name, 'open');
          visit(this.defs[name]);
          state.set(name, 'done');
        }
      }
      for (const word of ['allOf', 'anyOf', 'oneOf']) for (const one of schema[word] ?? []) visit(one);
      for (const word of ['not', 'if', 'then', 'else']) visit(schema[word]);
    };
    for (const name of Object.keys(this.defs)) if (!state.has(name)) visit({ $ref: `#/$defs/${name}` });
    roots.forEach(visit);
  }

  /** The schema that a schema refers to, itself if it is none, with its place. */
  resolve(given: unknown, place: Place): { node: Node; place: Place } | undefined {
    const found = this.source.follow(given, place);
    return typeof found === 'string' ? undefined : found;
  }

  /** Whether a value of this schema is left out in this direction. */
  hidden(given: unknown, place: Place): boolean {
    const word = this.direction === 'request' ? 'readOnly' : 'writeOnly';
    if (isNode(given) && given[word] === true) return true;
    return this.resolve(given, place)?.node[word] === true;
  }

  #fault(place: Place, message: string) {
    this.source.fault(place, message, 'ignored');
  }

  #reference(ref: unknown, place: Place): Node | undefined {
    const found = this.source.target(ref, place);
    if (typeof found === 'string') {
      this.#fault(place, `${found}; any value is accepted here`);
      return undefined;
    }
    const key = show(found.place);
    let name = this.#names.get(key);
    if (name === undefined && this.#names.size >= MAX_DEFS) {
      this.#fault(place, `the operation refers to more than ${MAX_DEFS} schemas; any value is accepted here`);
      return undefined;
    }
    if (name === undefined) {
      const base = found.place.path.split('/').at(-1)!.replaceAll('~1', '/').replaceAll('~0', '~').replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 60) || 'root';
      name = base;
      for (let next = 2; Object.hasOwn(this.defs, name); next += 1) name = `${base}_${next}`;
      this.#names.set(key, name);
      this.defs[name] = true;
      this.#left.push({ name, ...found });
    }
    return { $ref: `#/$defs/${name}` };
  }

  #plain(given: Node, place: Place): Node {
    const made: Node = {};
    const { type, description, example, examples, nullable, discriminator, required, ...rest } = given;
    const text = shorten(description ?? given['title'], 300);
    if (text) made['description'] = text;
    this.#type(made, type, place);
    for (const name of ['exclusiveMinimum', 'exclusiveMaximum'] as const) this.#bound(made, rest, name, place);
    for (const [word, value] of Object.entries(rest)) {
      if (value === undefined || word.startsWith('x-') || word in made) continue;
      if (Object.hasOwn(COPIED, word)) {
        if (COPIED[word]!(value)) made[word] = value;
        else if (!SILENT.has(word)) this.#fault(inside(place, word), `${word}: ${JSON.stringify(value)?.slice(0, 80)} is not valid here`);
      } else if (ONE.includes(word)) made[word] = this.write(value, inside(place, word));
      else if (LIST.includes(word)) this.#list(made, word, value, place);
      else if (MAP.includes(word)) this.#map(made, word, value, place);
      else if (word === 'dependentRequired' && isNode(value) && Object.values(value).every(COPIED['required']!)) made[word] = value;
      else if (!SILENT.has(word)) this.#fault(inside(place, word), `the keyword ${word} is not known`);
    }
    this.#required(made, required, given, place);
    this.#discriminate(made, given, discriminator);
    const short = [...(Array.isArray(examples) ? examples : []), ...(example === undefined ? [] : [example])].filter((one) => (JSON.stringify(one)?.length ?? 999) <= 100).slice(0, 2);
    if (short.length && made['enum'] === undefined && made['const'] === undefined) made['examples'] = short;
    return nullable === true && this.source.old ? orNull(made) : made;
  }

  #type(made: Node, type: unknown, place: Place) {
    if (type === undefined) return;
    const types: unknown[] = Array.isArray(type) ? type : [type];
    const known = [...new Set(types.filter((one) => TYPES.includes(one as string)))] as string[];
    if (known.length) made['type'] = known.length === 1 ? known[0] : known;
    if (known.length !== types.length) this.#fault(inside(place, 'type'), `the type ${JSON.stringify(type)} is not one of JSON Schema`);
  }

  /** In 3.0 the exclusive bounds are booleans beside `minimum` and `maximum`. */
  #bound(made: Node, rest: Node, name: 'exclusiveMinimum' | 'exclusiveMaximum', place: Place) {
    const value: unknown = rest[name];
    const plain = name === 'exclusiveMinimum' ? 'minimum' : 'maximum';
    if (typeof value === 'boolean') {
      if (value && finite(rest[plain])) {
        made[name] = rest[plain];
        delete rest[plain];
      }
      delete rest[name];
    } else if (value !== undefined && !finite(value)) {
      this.#fault(inside(place, name), `${name}: ${JSON.stringify(value)} is not valid here`);
      delete rest[name];
    }
  }

  #list(made: Node, word: string, value: unknown, place: Place) {
    if (!Array.isArray(value) || value.length === 0) return this.#fault(inside(place, word), `${word} has to be an array of schemas`);
    made[word] = value.map((one, at) => this.write(one, inside(place, word, at)) as unknown);
  }

  #map(made: Node, word: string, value: unknown, place: Place) {
    if (!isNode(value)) return this.#fault(inside(place, word), `${word} has to be an object of schemas`);
    const kept = Object.entries(value).filter(([name, one]) => {
      if (word === 'patternProperties' && !pattern(name)) {
        this.#fault(inside(place, word, name), 'this is not a regular expression');
        return false;
      }
      if (word !== 'properties' || !this.hidden(one, inside(place, word, name))) return true;
      this.#hidden.add(name);
      return false;
    });
    made[word] = Object.fromEntries(kept.map(([name, one]) => [name, this.write(one, inside(place, word, name)) as unknown]));
  }

  #required(made: Node, required: unknown, given: Node, place: Place) {
    if (required === undefined) return;
    if (!COPIED['required']!(required)) {
      // Many documents write `required: true` at a property, as in a parameter.
      return this.#fault(inside(place, 'required'), `required: ${JSON.stringify(required)?.slice(0, 80)} is not a list of names`);
    }
    const properties: Node = isNode(given['properties']) ? given['properties'] : {};
    const names = [...new Set(required as string[])].filter((name) => !Object.hasOwn(properties, name) || !this.hidden(properties[name], inside(place, 'properties', name)));
    if (!names.length) return;
    made['required'] = names;
    this.#requiring.push(made);
  }

  /** With a discriminator the variants need not exclude each other, so each one is bound to its value. */
  #discriminate(made: Node, given: Node, discriminator: unknown) {
    const word = given['oneOf'] ? 'oneOf' : 'anyOf';
    if (!isNode(discriminator) || typeof discriminator['propertyName'] !== 'string' || !Array.isArray(given[word])) return;
    const property = discriminator['propertyName'];
    const mapping = isNode(discriminator['mapping']) ? Object.entries(discriminator['mapping']) : [];
    const variants = given[word] as unknown[];
    const bound = (made[word] as unknown[]).map((one, at) => {
      const ref = isNode(variants[at]) ? variants[at]['$ref'] as unknown : undefined;
      if (typeof ref !== 'string') return one;
      const own = ref.split('/').at(-1)!;
      const mapped = mapping.filter(([, to]) => to === ref || to === own).map(([value]) => value);
      const values = mapped.length ? mapped : [own];
      return { allOf: [one], properties: { [property]: { enum: values } }, required: [property] };
    });
    delete made['oneOf'];
    delete made['anyOf'];
    made['anyOf'] = bound;
  }
}

/** A schema that also allows null. */
function orNull(schema: Node): Node {
  const { type, description, enum: values } = schema;
  if (schema['$ref'] || schema['allOf'] || schema['anyOf'] || schema['oneOf'] || schema['const'] !== undefined) return { ...(description && { description }), anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    ...(type !== undefined && { type: [...new Set([...(Array.isArray(type) ? type : [type]), 'null'])] }),
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  };
}
