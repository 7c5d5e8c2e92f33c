// The assertions of promptfoo that need no model, for cases of from-promptfoo.mjs:
//   turnwise run tasks.jsonl --provider … --scorer promptfoo-scorer.mjs
import { isDeepStrictEqual } from 'node:util';

const lower = (value) => String(value).toLowerCase();
const list = (value) => (Array.isArray(value) ? value.map(String) : String(value).split(',').map((one) => one.trim()));
const json = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Each one: `(answer, value, case) => boolean`, or a score. */
const ASSERTIONS = {
  equals: (answer, value) => (typeof value === 'object' ? isDeepStrictEqual(json(answer), value) : answer === String(value)),
  contains: (answer, value) => answer.includes(String(value)),
  icontains: (answer, value) => lower(answer).includes(lower(value)),
  'contains-all': (answer, value) => list(value).every((one) => answer.includes(one)),
  'contains-any': (answer, value) => list(value).some((one) => answer.includes(one)),
  'icontains-all': (answer, value) => list(value).every((one) => lower(answer).includes(lower(one))),
  'icontains-any': (answer, value) => list(value).some((one) => lower(answer).includes(lower(one))),
  'starts-with': (answer, value) => answer.startsWith(String(value)),
  regex: (answer, value) => new RegExp(value).test(answer),
  'is-json': (answer) => json(answer) !== undefined,
  javascript: (output, value, { metadata }) => new Function('output', 'context', value.includes('\n') ? value : `return ${value}`)(output, { vars: metadata.vars ?? {} }),
};

export default async ({ case: one, answer }) => {
  const { assert: all = [], threshold } = one.metadata ?? {};
  const results = [];
  for (const assertion of all) {
    const [, not, type] = /^(not-)?(.*)$/.exec(assertion.type);
    if (!Object.hasOwn(ASSERTIONS, type) || /^file:/.test(assertion.value) || (type === 'is-json' && assertion.value)) throw new Error(`the assertion ${assertion.type} is not one of ${Object.keys(ASSERTIONS).join(', ')}, without a file or a schema`);
    const found = await ASSERTIONS[type](answer, assertion.value, one);
    const given = typeof found === 'object' ? found.score ?? Number(found.pass) : Number(found);
    const passed = typeof found === 'object' ? found.pass : typeof found === 'number' ? found >= (assertion.threshold ?? 1e-9) : found;
    results.push({ passed: Boolean(passed) !== Boolean(not), score: not ? 1 - given : given, weight: assertion.weight ?? 1, type: assertion.type, value: assertion.value });
  }
  const weight = results.reduce((sum, result) => sum + result.weight, 0);
  const score = weight ? results.reduce((sum, result) => sum + result.score * result.weight, 0) / weight : 1;
  const failed = results.filter(({ passed }) => !passed);
  // The rule of promptfoo: all assertions hold, or the mean reaches the threshold of the test.
  const passes = threshold === undefined || threshold === null ? !failed.length : score >= threshold;
  return { score: passes ? 1 : 0, reason: failed.map(({ type, value }) => `${type}${value === undefined ? '' : ` ${JSON.stringify(value)}`} does not hold`).join('; ') || undefined };
};
