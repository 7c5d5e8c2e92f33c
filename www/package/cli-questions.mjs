// `turnwise stats --questions`: the questions that docs did not answer, from the reports that the panel sends and from records of
// runs, grouped by what they ask.
import { inParallel, message, readText, recordFiles } from './cli-files.mjs';
import { whole } from './cli-stats.mjs';
import { plain } from './cli-usage.mjs';

const AT_ONCE = 8;
/** Two questions ask the same if the words they share weigh at least this part of all their words. Rare words weigh more. */
const SAME = 0.5;
const MAX_SHOWN = 3;
/** Words that say nothing about what is asked. */
const FILLERS = new Set('a an and are as at be by can could do does for from get give has have how i if in into is it its me my need no not of on or please should so that the their them there this to use using want was we what when where which who why will with would you your'.split(' '));

const wordsOf = (question) => new Set(question.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word && !FILLERS.has(word)).map((word) => (word.length > 3 ? word.replace(/(?<!s)s$/, '') : word)));

/**
 * The report of a run that did not answer its question, by the panel's rule: it ended at a limit, or none of its searches of the
 * docs matched well. Runs without a search of docs have no report.
 */
export function ofRun({ task, outcome, termination_reason: reason, turns }) {
  const results = turns.flatMap(({ tool_calls: calls }) => calls).filter(({ name, result }) => name === 'search_docs' && typeof result === 'string').map(({ result }) => result);
  if (!results.length || !/^(success|partial)$/.test(outcome)) return undefined;
  const missing = /^\[Words that occur nowhere in (?:this documentation|the pages read so far): (.*)\]$/m.exec(results.at(-1))?.[1].split(', ') ?? [];
  const weak = results.every((result) => /^(\[Weak match: |No section of the (?:documentation|pages read so far) matches )/m.test(result));
  const why = /^(max_turns|tokens|wall_time|cost|context)_/.test(reason) ? 'limit' : weak ? 'not_found' : undefined;
  return why && { question: task, why, missing };
}

const isReport = (one) => typeof one?.question === 'string' && typeof one.why === 'string';

/** The reports of a file: JSON lines of reports, one report, a record of a run, or of a plan. */
function read(text) {
  let whole;
  try {
    whole = JSON.parse(text);
  } catch {
    const lines = text.split('\n').filter((line) => line.trim());
    const reports = lines.map((line, at) => {
      try {
        return JSON.parse(line);
      } catch {
        throw new Error(`Line ${at + 1} is not JSON.`);
      }
    });
    const wrong = reports.findIndex((one) => !isReport(one));
    if (wrong >= 0 || !reports.length) throw new Error(`Line ${wrong + 1} is not the report of a question.`);
    return reports;
  }
  if (isReport(whole)) return [whole];
  if (whole?.format === 'turnwise-summary') return [];
  const runs = Array.isArray(whole?.turns) ? [whole] : Array.isArray(whole?.steps) ? whole.steps.map((step) => step?.run).filter(Boolean) : undefined;
  if (!runs) throw new Error('This is neither a record nor the reports of questions.');
  return runs.map(ofRun).filter(Boolean);
}

/** `{ reports, faults }` of the files and folders. */
export async function reportsIn(args) {
  const { files, faults } = await recordFiles(args, /\.(json(\.gz)?|jsonl)$/);
  const found = await inParallel(files, AT_ONCE, async (file) => {
    try {
      return read(await readText(file));
    } catch (error) {
      faults.push({ file, error: message(error) });
      return [];
    }
  });
  return { reports: found.flat(), faults };
}

const most = (values) => {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([value]) => value);
};

/** Groups of reports that ask the same: `[{ question, count, whys, missing, pages, comments }]`, the largest first. */
export function grouped(reports) {
  const seen = new Map();
  const all = reports.map((report) => ({ report, words: wordsOf(report.question) }));
  for (const { words } of all) for (const word of words) seen.set(word, (seen.get(word) ?? 0) + 1);
  const weigh = (words) => [...words].reduce((sum, word) => sum + Math.log(1 + all.length / seen.get(word)), 0);
  const alike = (a, b) => {
    const both = weigh([...a].filter((word) => b.has(word)));
    return both / (weigh(a) + weigh(b) - both || 1);
  };
  // The order of the files does not matter.
  all.sort((a, b) => (a.report.question < b.report.question ? -1 : a.report.question > b.report.question ? 1 : 0));
  const groups = [];
  for (const one of all) {
    const group = groups.find(({ words }) => alike(words, one.words) >= SAME);
    if (group) group.reports.push(one.report);
    else groups.push({ words: one.words, reports: [one.report] });
  }
  const shown = groups.map(({ reports: those }) => ({
    question: most(those.map(({ question }) => question))[0], count: those.length,
    whys: Object.fromEntries(most(those.map(({ why }) => why)).map((why) => [why, those.filter((one) => one.why === why).length])),
    missing: most(those.flatMap(({ missing }) => missing ?? [])), pages: most(those.map(({ page }) => page).filter(Boolean)),
    comments: those.map(({ comment }) => comment).filter(Boolean),
  }));
  return shown.sort((a, b) => b.count - a.count || (a.question < b.question ? -1 : 1));
}

const WHYS = { not_found: 'not found', limit: 'at the limit', bad_answer: 'bad answer' };

/** The groups, as lines. */
export function questionReport(groups) {
  if (!groups.length) return ['No unanswered questions found.'];
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  const lines = [`${whole(total)} ${total === 1 ? 'question' : 'questions'} without an answer, in ${whole(groups.length)} ${groups.length === 1 ? 'group' : 'groups'}`];
  for (const { question, count, whys, missing, pages, comments } of groups) {
    lines.push('', `${whole(count).padStart(4)}  ${plain(question)}`);
    lines.push(`      ${Object.entries(whys).map(([why, n]) => `${WHYS[why] ?? plain(why)} ${whole(n)}`).join(', ')}`);
    if (missing.length) lines.push(`      not in the docs: ${missing.slice(0, 2 * MAX_SHOWN).map(plain).join(', ')}`);
    if (pages.length) lines.push(`      asked on ${pages.slice(0, MAX_SHOWN).map(plain).join(', ')}`);
    for (const comment of comments.slice(0, MAX_SHOWN - 1)) lines.push(`      “${plain(comment)}”`);
  }
  return lines;
}
