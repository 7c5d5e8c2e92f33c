// Three scorers of Inspect, for cases of from_inspect.py, by the name in `metadata.scorer`: includes and match without options, and choice.
//   turnwise run tasks.jsonl --provider … --scorer inspect-scorer.mjs

const EDGES = /^[\s!-/:-@[-`{-~]+|[\s!-/:-@[-`{-~]+$/g;
const fold = (text) => text.toLowerCase();
const trimmed = (text) => fold(text.trim()).replace(EDGES, '');

/** Each one: `(answer, target) => boolean`. */
const SCORERS = {
  includes: (answer, target) => fold(answer).includes(fold(target)),
  match: (answer, target) => trimmed(answer).endsWith(trimmed(target)),
  choice: (answer, target) => [...answer.matchAll(/ANSWER\s*:\s*([A-Z])\b/gi)].at(-1)?.[1].toUpperCase() === target.toUpperCase(),
};

export default ({ case: { target, metadata }, answer }) => {
  const name = metadata?.scorer ?? 'includes';
  if (!Object.hasOwn(SCORERS, name)) throw new Error(`there is no scorer ${name} here; there are ${Object.keys(SCORERS).join(', ')}`);
  if (target === undefined) throw new Error('the case has no target');
  // One of several targets is enough.
  return { score: [target].flat().some((one) => SCORERS[name](answer, one)), reason: `${name} ${JSON.stringify(target)}` };
};
