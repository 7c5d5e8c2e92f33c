// The check of a call's arguments against a JSON Schema, in the page: for tools that are called through another one, which the
// engine does not know. Loaded by the first such call.
import { Validator } from '@cfworker/json-schema';
import type { Schema } from '@cfworker/json-schema';

/** A quantified group that contains a quantifier or an alternative: matching may take exponential time, and the page would wait. */
const SLOW = /\([^()]*[*+|{][^()]*\)[*+{]|\((?:[^()]|\([^()]*\))*[*+|{](?:[^()]|\([^()]*\))*\)[*+{]|\\[1-9]/;

/** A copy of a schema without `format`, which is an annotation as in the engine, and without patterns that may be slow. */
function plain(schema: unknown, map = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => plain(one));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([word, value]) => map || !(word === 'format' || (word === 'pattern' && SLOW.test(String(value)))))
    .map(([word, value]) => [word, !map && ['enum', 'const', 'default', 'examples'].includes(word) ? value as unknown : plain(value, !map && ['properties', 'patternProperties', '$defs', 'dependentSchemas'].includes(word))]));
}

const validators = new WeakMap<object, Validator>();

/** The reasons why a value does not fit, at most five; an empty list if it fits. */
export function faultsOf(schema: object, value: unknown): string[] {
  let validator = validators.get(schema);
  if (!validator) {
    validator = new Validator(plain(schema) as Schema, '2020-12', false);
    validators.set(schema, validator);
  }
  const { valid, errors } = validator.validate(value);
  if (valid) return [];
  // The innermost reasons; the others only say that something inside is wrong.
  const inner = errors.filter((one) => one.keyword !== 'additionalProperties' && !errors.some((other) => other !== one && other.keywordLocation.startsWith(`${one.keywordLocation}/`) && other.instanceLocation.startsWith(one.instanceLocation)));
  return (inner.length ? inner : errors).slice(0, 5).map(({ instanceLocation, error }) => `${instanceLocation.replace(/^#/, '') || '/'}: ${error === 'False boolean schema.' ? 'this is not allowed here.' : error}`);
}
