// Checks of a trajectory without the project's own code: the shipped JSON Schema with a third-party validator.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { root } from './site.mjs';

const ajv = addFormats(new Ajv2020({ allErrors: true, strict: false }));
let validate;

/** Fails unless the document is valid against docs/schema/turnwise-trajectory.v1.json. */
export function assertValid(document) {
  validate ??= ajv.compile(JSON.parse(readFileSync(path.join(root, 'docs/schema/turnwise-trajectory.v1.json'), 'utf8')));
  assert.ok(validate(document), `the trajectory breaks its schema: ${ajv.errorsText(validate.errors?.slice(0, 5), { separator: '\n' })}`);
}

/** The ending fields, as one object. */
export const ending = ({ termination_reason, outcome, answer_source, total_turns, max_turns }) => ({ termination_reason, outcome, answer_source, total_turns, max_turns });
