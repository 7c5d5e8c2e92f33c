// `turnwise compare`: two runs, or the runs of two folders, case by case.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { summarize } from './node.js';
import { askEach, needRecords, notThere } from './cli-files.mjs';
import { estimate } from './cli-score.mjs';
import { counted, dollars, duration, table, whole } from './cli-stats.mjs';
import { caseOf } from './cli-tasks.mjs';
import { amount, fault, plain, print } from './cli-usage.mjs';

const MAX_SHOWN = 20;
const short = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);
const hash = (value) => createHash('sha256').update(JSON.stringify(value) ?? '').digest('base64');

/** Compares; returns the exit code. */
export async function compare({ values, positionals }) {
  if (positionals.length !== 2) fault(`name two runs, or two folders of runs, the older one first; got ${positionals.length ? positionals.join(', ') : 'nothing'}`);
  const drop = amount(values, 'max-drop', 0, 100, undefined);
  const kinds = await Promise.all(positionals.map((name) => stat(name).catch(() => undefined)));
  for (const [at, info] of kinds.entries()) if (!info) fault(`${positionals[at]}: ${await notThere(positionals[at])}`);
  if (kinds[0].isDirectory() !== kinds[1].isDirectory()) fault(`compare takes two files or two folders; ${positionals[0]} is a ${kinds[0].isDirectory() ? 'folder' : 'file'}, ${positionals[1]} a ${kinds[1].isDirectory() ? 'folder' : 'file'}`);
  const folders = kinds[0].isDirectory();
  const [a, b] = await Promise.all(positionals.map((name) => side(name, folders)));
  const found = folders ? ofFolders(a, b) : ofRuns(a, b);
  const worse = found.cases.filter((one) => ['worse', 'only in A', 'not scored in B'].includes(one.change));
  // Not smaller than what rounding makes of it.
  const fails = drop === undefined ? worse.length > 0 : found.pass_rate.change.mean !== null && found.pass_rate.change.mean * -100 > drop + 1e-9;
  if (values.json) print([JSON.stringify({ format: 'turnwise-comparison', version: 1, a: positionals[0], b: positionals[1], ok: !fails, ...found }, undefined, 2)]);
  else print([...(folders ? folderReport(found, positionals) : runReport(found, positionals)), '', conclusion(found, worse, fails, drop, folders)]);
  return fails ? 1 : 0;
}

function conclusion({ pass_rate: rate }, worse, fails, drop, folders) {
  if (drop !== undefined) return fails ? `The pass rate fell by ${(rate.change.mean * -100).toFixed(1)} points, more than ${drop}.` : `The pass rate did not fall by more than ${drop} points.`;
  if (!folders) return fails ? 'B is worse: A passed and B did not.' : 'B is not worse than A.';
  return fails ? `B is worse in ${counted(worse.length, 'case')}.` : 'B is worse in no case.';
}

/** The runs of a side: `{ cases: Map(id -> Map(epoch -> run)), judged }`. */
async function side(name, isFolder) {
  const found = await askEach([name], ofRecord);
  await needRecords([name], found);
  if (found.faults.length) fault(`${found.faults.length === 1 ? 'one file' : `${found.faults.length} files`} could not be read`, found.faults.map(({ file, error }) => `${file}: ${error}`));
  const verdicts = isFolder ? await judged(name) : undefined;
  const cases = new Map();
  for (const { file, step, answer } of found.answers) {
    const relative = isFolder ? path.relative(name, file) : '';
    const { id, epoch } = isFolder ? caseOf(relative) : { id: 'run', epoch: 1 };
    const key = step === undefined ? id : `${id}, step ${step}`;
    const verdict = verdicts?.get(relative);
    const passed = verdict ? verdict.passed : ['success', 'partial'].includes(answer.outcome);
    if (!cases.has(key)) cases.set(key, new Map());
    cases.get(key).set(epoch, { ...answer, passed, why: verdict?.why ?? verdict?.not_scored ?? null, score: verdict?.score ?? null });
  }
  return { cases, judged: verdicts !== undefined };
}

/** What `turnwise run` decided about the runs of a folder, by file. */
async function judged(folder) {
  const text = await readFile(path.join(folder, 'summary.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const { format, runs } = JSON.parse(text);
    return format === 'turnwise-summary' && Array.isArray(runs) && runs.every((one) => 'passed' in one) ? new Map(runs.map((one) => [path.normalize(one.file), one])) : undefined;
  } catch {
    return undefined;
  }
}

/** What is compared of a record. Texts are shortened, since a folder may have many. */
async function ofRecord(given) {
  const figures = await summarize(given);
  const record = typeof given === 'string' ? JSON.parse(given) : given;
  const turns = record.turns.map(({ content, tool_calls: calls, synthesis }) => ({
    text: hash(content), shown: short(plain(content ?? ''), 80), synthesis,
    calls: calls.map(({ name, args }) => ({ name, args: hash(args), shown: short(plain(`${name} ${JSON.stringify(args)}`), 80) })),
    results: calls.map(({ result, error }) => hash([result, error])),
  }));
  const { outcome, termination_reason: reason, total_turns: total, tokens, cost, duration_ms: took, model, provider } = figures;
  return { outcome, reason, turns: total, tokens: tokens.input + tokens.output, cost, took, model, provider, input: hash(record.input), answer: short(record.output ?? '', 2000), steps: turns };
}

/** Where two runs part: `{ turn, what, words }`, or null if all their turns are the same. */
function parting(a, b) {
  if (a.input !== b.input) return { turn: 0, what: 'task', words: 'their tasks differ' };
  const does = (step) => (!step ? 'has ended' : step.calls.length ? `calls ${step.calls[0].shown}` : `answers “${step.shown}”`);
  for (let at = 0; at < Math.max(a.steps.length, b.steps.length); at += 1) {
    const [one, other] = [a.steps[at], b.steps[at]];
    const sentence = (what, words) => ({ turn: at + 1, what, words: `they part at turn ${at + 1}: ${words}` });
    if (!one || !other) return sentence('end', `A ${does(one)}; B ${does(other)}`);
    const differs = Array.from({ length: Math.max(one.calls.length, other.calls.length) }, (_, n) => n).find((n) => one.calls[n]?.name !== other.calls[n]?.name || one.calls[n]?.args !== other.calls[n]?.args);
    if (differs !== undefined) {
      const call = (step) => (step.calls[differs] ? `calls ${step.calls[differs].shown}` : step.calls.length ? `makes ${counted(step.calls.length, 'call')}` : does(step));
      return sentence('tool calls', `A ${call(one)}; B ${call(other)}`);
    }
    if (one.text !== other.text) return sentence('text', `A says “${one.shown}”; B says “${other.shown}”`);
    const result = one.results.findIndex((value, n) => value !== other.results[n]);
    if (result >= 0) return sentence('results', `${one.calls[result].shown} has another result`);
  }
  return null;
}

const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
/** The share of a case's runs that passed; null if none was scored. */
const share = (runs) => mean([...runs.values()].filter(({ passed }) => passed !== null).map(({ passed }) => Number(passed)));

function ofFolders(a, b) {
  const ids = [...new Set([...a.cases.keys(), ...b.cases.keys()])].sort();
  const cases = ids.map((id) => {
    const [one, other] = [a.cases.get(id), b.cases.get(id)];
    if (!one || !other) return { id, change: one ? 'only in A' : 'only in B' };
    const passed = [share(one), share(other)];
    const epochs = [...one.keys()].filter((epoch) => other.has(epoch));
    const parted = epochs.map((epoch) => parting(one.get(epoch), other.get(epoch)));
    // Nothing is known of B: that it is no worse cannot be said.
    const change = passed[1] === null && passed[0] !== null ? 'not scored in B' : passed[0] === null || passed[0] === passed[1] ? 'same' : passed[1] < passed[0] ? 'worse' : 'better';
    // The epoch that shows the change, if there is one.
    const at = Math.max(0, epochs.findIndex((epoch) => one.get(epoch).passed !== other.get(epoch).passed));
    const shown = [one, other].map((runs) => runs.get(epochs[at]) ?? [...runs.values()][0]);
    return { id, change, passed, runs: [one.size, other.size], parts: parted[at] ?? null, answers: shown.map(({ answer }) => answer), whys: shown.map(({ why, outcome, reason, passed: did }) => why ?? (did ? null : `${outcome} (${reason})`)) };
  });
  const both = cases.filter(({ change }) => !change.startsWith('only'));
  if (!both.length) fault('the two folders have no case in common; cases are paired by the names of their files', [`A: ${[...a.cases.keys()].slice(0, 5).join(', ')}`, `B: ${[...b.cases.keys()].slice(0, 5).join(', ')}`]);
  return { judged: [a.judged, b.judged], ...totals(a, b, both.map(({ id }) => id)), cases };
}

/** Figures of the cases that both have. Changes are paired: the mean and standard error of the differences. */
function totals(a, b, ids) {
  const of = (from, value) => ids.map((id) => { const values = [...from.cases.get(id).values()].map(value).filter((one) => typeof one === 'number'); return mean(values); });
  const compared = (value) => {
    const [one, other] = [of(a, value), of(b, value)];
    const pairs = one.map((was, at) => [was, other[at]]).filter(([was, is]) => was !== null && is !== null);
    return { a: estimate(pairs.map(([was]) => was)), b: estimate(pairs.map(([, is]) => is)), change: estimate(pairs.map(([was, is]) => is - was)), cases: pairs.length };
  };
  return {
    common: ids.length, pass_rate: compared(({ passed }) => (passed === null ? null : Number(passed))), score: compared(({ score }) => score),
    success: compared(({ outcome }) => Number(outcome === 'success')), turns: compared(({ turns }) => turns), tokens: compared(({ tokens }) => tokens),
    cost: compared(({ cost }) => cost), duration_ms: compared(({ took }) => took),
  };
}

function ofRuns(a, b) {
  if (a.cases.size > 1 || b.cases.size > 1) fault('a record of a plan has several runs: export them with turnwise export --out, and compare the folders');
  const [[id, runs]] = a.cases;
  const [one, other] = [runs, [...b.cases.values()][0]].map((epochs) => epochs.get(1));
  const change = one.passed === other.passed ? 'same' : other.passed ? 'better' : 'worse';
  return {
    judged: [false, false], ...totals(a, { cases: new Map([[id, new Map([[1, other]])]]) }, [id]),
    cases: [{
      id, change, passed: [one, other].map(({ passed }) => Number(passed)), parts: parting(one, other), answers: [one.answer, other.answer],
      outcomes: [one, other].map(({ outcome, reason }) => `${outcome} (${reason})`), models: [one, other].map(({ provider, model }) => [provider, model].filter(Boolean).join(' ')),
    }],
  };
}

// For people

const signed = (value, words) => (value === 0 ? 'same' : `${value > 0 ? '+' : '−'}${words(Math.abs(value))}`);
const rounded = (value) => (Number.isInteger(value) ? whole(value) : value.toFixed(1));
const percent = (from, to) => (from > 0 && from !== to ? ` (${signed((to - from) / from, (part) => `${Math.round(part * 100)} %`)})` : '');

function figureRows({ success, turns, tokens, cost, duration_ms: took }, word) {
  const row = (name, { a, b, change, cases }, words) => (cases ? [[name, words(a.mean), words(b.mean), `${signed(change.mean, words)}${percent(a.mean, b.mean)}`]] : []);
  const asShare = (value) => `${Math.round(value * 100)} %`;
  return [
    ...(word ? [['outcome success', asShare(success.a.mean), asShare(success.b.mean), signed(success.change.mean, (part) => `${Math.round(part * 100)} points`)]] : []),
    ...row(`turns${word}`, turns, rounded), ...row(`tokens${word}`, tokens, (value) => whole(Math.round(value))), ...row(`cost${word}`, cost, dollars), ...row(`time${word}`, took, duration),
  ];
}

function folderReport(found, [a, b]) {
  const { judged: by, pass_rate: rate, score, cases, common } = found;
  const spread = ({ mean: middle, stderr }) => (middle === null ? '-' : `${middle.toFixed(2)}${stderr === null ? '' : ` ± ${stderr.toFixed(2)}`}`);
  const change = ({ mean: middle, stderr }) => (middle === null ? '-' : `${middle === 0 ? '0.00' : signed(middle, (value) => value.toFixed(2))}${stderr ? ` ± ${stderr.toFixed(2)}` : ''}`);
  const rows = [['', 'A', 'B', 'change'], ['pass rate', spread(rate.a), spread(rate.b), change(rate.change)]];
  if (score.cases) rows.push(['score', spread(score.a), spread(score.b), change(score.change)]);
  const lines = [`A: ${a}`, `B: ${b}`, `${counted(common, 'case')} in both; mean ± standard error over cases`, '', ...table([...rows, ...figureRows(found, ', mean')])];
  if (by.includes(false)) lines.push('', `${by[0] === by[1] ? 'Neither folder has' : `${by[0] ? b : a} does not have`} a summary.json of turnwise run: without it, a run has passed if its outcome is success or partial.`);
  const some = (change) => cases.filter((one) => one.change === change);
  const shown = (title, list) => {
    if (!list.length) return;
    lines.push('', `${title} (${counted(list.length, 'case')}):`);
    for (const { id, passed, runs, parts, answers, whys } of list.slice(0, MAX_SHOWN)) {
      const count = (at) => `${Math.round(passed[at] * runs[at])} of ${runs[at]} passed`;
      lines.push(`  ${plain(id)}: ${count(0)}, now ${count(1)}${parts ? `; ${parts.words}` : ''}`);
      answers.forEach((answer, at) => lines.push(`      ${'AB'[at]}: ${short(plain(answer), 200) || 'no answer'}${whys[at] ? `  [${plain(whys[at])}]` : ''}`));
    }
    if (list.length > MAX_SHOWN) lines.push(`  and ${list.length - MAX_SHOWN} more; --json has all`);
  };
  shown('Worse in B', some('worse'));
  shown('Better in B', some('better'));
  for (const only of ['not scored in B', 'only in A', 'only in B']) {
    const ids = some(only).map(({ id }) => plain(id));
    if (ids.length) lines.push('', `${only[0].toUpperCase()}${only.slice(1)} (${counted(ids.length, 'case')}): ${ids.slice(0, MAX_SHOWN).join(', ')}${ids.length > MAX_SHOWN ? ', …' : ''}`);
  }
  return lines;
}

function runReport(found, [a, b]) {
  const [{ parts, answers, outcomes, models }] = found.cases;
  const rows = [['', 'A', 'B', 'change'], ['outcome', ...outcomes, ''], ['model', ...models, ''], ...figureRows(found, '')];
  const words = parts ? parts.words : 'all their turns are the same';
  return [`A: ${a}`, `B: ${b}`, '', ...table(rows), '', `${words[0].toUpperCase()}${words.slice(1)}.`, '', ...answers.map((answer, at) => `${'AB'[at]} answers: ${short(plain(answer), 600) || '(nothing)'}`)];
}
