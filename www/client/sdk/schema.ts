// Schemas of arguments and of output: any library that implements Standard Schema with its JSON Schema part (Zod 4.2,
// ArkType 2.1, Valibot through toStandardJsonSchema of @valibot/to-json-schema), or a plain JSON Schema.
import { isObject as isFields, json, wrong } from '../check';

/**
 * The parts of Standard Schema (https://standardschema.dev) that are used. `Output` is the type of a value that passed.
 *
 * @example
 * const schema: StandardSchema<{ city: string }> = z.object({ city: z.string() });
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined }[] };

/**
 * A JSON Schema (2020-12). Its values have the type that it says where it is written out; `jsonSchema<T>(schema)` sets another.
 *
 * @example
 * const schema: JSONSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
 */
export interface JSONSchema {
  readonly [key: string]: unknown;
  readonly '~standard'?: never;
}

declare const described: unique symbol;
/**
 * A JSON Schema whose values are of type `T`.
 *
 * @example
 * const schema: TypedSchema<{ city: string }> = jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });
 */
export interface TypedSchema<T> extends JSONSchema {
  readonly [described]?: T;
}

/**
 * A schema: of a library with Standard Schema, or a JSON Schema.
 *
 * @example
 * const schema: Schema<{ city: string }> = z.object({ city: z.string() });
 */
export type Schema<T = any> = StandardSchema<T> | TypedSchema<T> | JSONSchema;

/**
 * The type of a value that passed a schema.
 *
 * @example
 * type City = Infer<typeof schema>; // with z.object({ city: z.string() }): { city: string }
 */
export type Infer<S> = S extends StandardSchema<infer T> ? T : typeof described extends keyof S ? Exclude<S[typeof described], undefined> : FromJSON<S>;

/** The type that a JSON Schema says where it is written out; `any` where it says none, or is not known to the compiler. */
type FromJSON<S> =
  S extends { readonly const: infer C } ? C
    : S extends { readonly enum: readonly (infer E)[] } ? E
      : S extends { readonly type: 'string' } ? string
        : S extends { readonly type: 'number' | 'integer' } ? number
          : S extends { readonly type: 'boolean' } ? boolean
            : S extends { readonly type: 'null' } ? null
              : S extends { readonly type: 'array'; readonly items: infer I } ? FromJSON<I>[]
                : S extends { readonly type: 'object'; readonly properties: infer P } ? Fields<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
                  : any;
type Fields<P, R> = { [K in keyof P as K extends R ? K : never]: FromJSON<P[K]> } & { [K in keyof P as K extends R ? never : K]?: FromJSON<P[K]> };

/**
 * A plain JSON Schema with a type of your choice. Nothing checks that the two agree.
 *
 * @example
 * tool({ inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }), execute: ({ city }) => city })
 */
export const jsonSchema = <T>(schema: Record<string, unknown>): TypedSchema<T> => {
  plainSchema(schema, 'jsonSchema()');
  return schema as TypedSchema<T>;
};

/** What a JSON Schema of a value has at least one of. */
const SAYS = /^(\$ref|\$defs|type|properties|additionalProperties|required|items|prefixItems|enum|const|anyOf|oneOf|allOf|not|if|description|title|\$schema)$/;
const EXPECTED = 'a Zod, Valibot or ArkType schema, or a JSON Schema such as { type: \'object\', properties: { … } }';

/** A copy of a JSON Schema. */
function plainSchema(schema: unknown, path: string): Record<string, unknown> {
  const given = isFields(schema) && !Array.isArray(schema) ? schema : undefined;
  if (given && Object.values(given).some((one) => isObject(one) && '~standard' in one)) throw new TypeError(`${path}: got an object of schemas; expected one schema: z.object({ … }) of it`);
  const keys = Object.keys(given ?? {});
  const copy = json(schema);
  if (!given || copy === undefined || (keys.length > 0 && !keys.some((key) => SAYS.test(key)))) throw wrong(path, schema, EXPECTED);
  return JSON.parse(copy) as Record<string, unknown>;
}

/** A schema for the engine, and validation by the schema's own library. @internal */
export interface ReadSchema {
  json: Record<string, unknown>;
  /** Returns the value after the library's checks and transformations; throws `Invalid`. */
  parse(value: unknown): Promise<unknown>;
}

/** The value is invalid. The message lists the issues. @internal */
export class Invalid extends Error {
  override name = 'Invalid';
}

const isObject = (value: unknown): value is object => (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Reads a schema; `path` names it in errors. Throws a `TypeError` for anything else. @internal */
export function readSchema(schema: unknown, path: string): ReadSchema {
  const standard = isObject(schema) ? (schema as StandardSchema)['~standard'] : undefined;
  if (!standard) return { json: plainSchema(schema, path), parse: async (value) => value };
  if (!standard.jsonSchema) {
    const remedy = standard.vendor === 'valibot'
      ? 'wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema'
      : `this version of ${standard.vendor} does not convert its schemas to JSON Schema; a newer one may, or pass a JSON Schema`;
    throw new TypeError(`${path}: ${remedy}`);
  }
  let form: Record<string, unknown>;
  try {
    form = { ...standard.jsonSchema.input({ target: 'draft-2020-12' }) };
    delete form['$schema'];
  } catch (error) {
    throw new TypeError(`${path}: ${standard.vendor} cannot express it as JSON Schema: ${(error as Error).message}`, { cause: error });
  }
  return {
    json: form,
    async parse(value) {
      const result = await standard.validate(value);
      if (!result.issues) return result.value;
      throw new Invalid(result.issues.map(({ message, path: at }) => {
        const place = (at ?? []).map((part) => String(isObject(part) ? (part as { key: PropertyKey }).key : part)).join('.');
        return place ? `${place}: ${message}` : message;
      }).join('; '));
    },
  };
}
