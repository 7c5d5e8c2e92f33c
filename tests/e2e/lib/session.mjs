// Checks of a session document with the shipped JSON Schemas and a third-party validator.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { root } from './site.mjs';

let validate;

/** Fails unless the document is valid against docs/schema/turnwise-session.v1.json and the schemas it references. */
export function assertValidSession(document) {
  if (!validate) {
    const ajv = addFormats(new Ajv2020({ allErrors: true, strict: false }));
    const read = (name) => JSON.parse(readFileSync(path.join(root, `docs/schema/turnwise-${name}.v1.json`), 'utf8'));
    ajv.addSchema(read('trajectory')).addSchema(read('plan'));
    validate = ajv.compile(read('session'));
  }
  assert.ok(validate(document), `the session breaks its schema: ${JSON.stringify(validate.errors?.slice(0, 5), null, 1)}`);
}
