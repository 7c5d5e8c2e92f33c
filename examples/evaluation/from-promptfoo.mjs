// Turns what promptfoo made of its configuration into cases of `turnwise run`:
//   npx promptfoo eval -c promptfooconfig.yaml --providers echo --no-cache -o promptfoo.json
//   node from-promptfoo.mjs promptfoo.json > tasks.jsonl
// promptfoo itself reads the configuration, so prompts and tests from files, variables, references and defaults are resolved.
import { readFileSync } from 'node:fs';

const { results } = JSON.parse(readFileSync(process.argv[2], 'utf8')).results;
const cases = results.toSorted((a, b) => a.testIdx - b.testIdx || a.promptIdx - b.promptIdx).map(({ prompt, testCase, vars, testIdx, promptIdx }) => {
  const all = (testCase.assert ?? []).flatMap((one) => (one.type === 'assert-set' ? one.assert : [one]));
  const rubrics = all.filter(({ type }) => type === 'llm-rubric').map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return {
    id: `test-${testIdx + 1}-prompt-${promptIdx + 1}`, task: prompt.raw,
    ...(rubrics.length && { rubric: rubrics.join('\n') }),
    metadata: { description: testCase.description, vars, threshold: testCase.threshold, assert: all.filter(({ type }) => type !== 'llm-rubric') },
  };
});
process.stdout.write(cases.map((one) => `${JSON.stringify(one)}\n`).join(''));
