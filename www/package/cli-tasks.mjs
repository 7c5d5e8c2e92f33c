// The cases of `turnwise run`: tasks from a file of JSON lines, a JSON array or a CSV table, and what is expected of each answer.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { fromCsv } from './cli-csv.mjs';
import { message, notThere, readText } from './cli-files.mjs';
import { LowLevelAgent } from './node.js';
import { fault, meant, plain } from './cli-usage.mjs';

const FORM = 'one JSON object per line, { "id": …, "task": … }; or a JSON array of them; or a CSV table with a column "task"';
const CONDITIONS = ['contains', 'equals', 'matches'];
/** Columns that a table may have several times: `target`, `target`, or `target`, `target_2`, or as some programs write them, `target.1`. */
const SEVERAL = ['target', 'contains', 'matches'];
/** How other tools name the task. */
const TASKS = ['input', 'prompt', 'question', 'query', 'text'];

/**
 * The cases of a file, in order: `{ id, task, target, rubric, metadata, images, model, expect, overrides, at, where }`. `expect` is a
 * list of `[words, test]`, `overrides` are options of the agent for this case, `where` says which line it is.
 */
export async function readTasks(file) {
  const info = await stat(file).catch(() => undefined);
  if (!info) fault(`${file}: ${await notThere(file)}`);
  if (info.isDirectory()) fault(`${file} is a folder, and run takes one file of tasks: ${FORM}; turnwise stats ${file} reads the records in a folder`);
  const text = (await readText(file).catch((error) => fault(`${file}: ${message(error)}`))).replace(/^\ufeff/, '');
  const rows = /\.csv$/i.test(file) ? table(file, text) : text.trimStart().startsWith('[') ? list(file, text) : lines(file, text);
  const ids = new Set(['summary']);
  const cases = rows.map(({ given, where, number }, at) => {
    const wrong = (why) => fault(`${file}, ${where}: ${why}`);
    if (typeof given !== 'object' || given === null || Array.isArray(given)) wrong('this is not a JSON object');
    const { id: named, task, expect, images, model, target, rubric, metadata, ...overrides } = given;
    const id = named === undefined || named === '' ? `task-${number}` : named;
    if (typeof task !== 'string' || !task.trim()) {
      const other = TASKS.find((name) => typeof given[name] === 'string');
      wrong(`"task" is missing: the text that the agent is given${other ? `; rename "${other}" to "task"` : ''}`);
    }
    if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,119}$/.test(String(id))) wrong(`the id ${plain(JSON.stringify(id))} must be a valid file name: letters, digits, ".", "_" and "-"`);
    if (ids.has(String(id).toLowerCase())) wrong(id === 'summary' ? 'the id "summary" is taken by the summary' : `the id ${id} is used twice`);
    ids.add(String(id).toLowerCase());
    if (target !== undefined && !(typeof target === 'string' || (Array.isArray(target) && target.every((one) => typeof one === 'string')))) wrong('"target" takes a string or an array of strings: the right answer, for a scorer or a grader');
    if (rubric !== undefined && (typeof rubric !== 'string' || !rubric.trim())) wrong('"rubric" takes a string: what a right answer is, for the grader');
    if (metadata !== undefined && (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))) wrong('"metadata" takes an object, for a scorer');
    return { id: String(id), task, target, rubric, metadata, images, model, conditions: expect ?? undefined, expect: expectation(expect, wrong), overrides, at, where };
  });
  return cases.length ? cases : fault(`${file} contains no tasks; it takes ${FORM}`);
}

function lines(file, text) {
  const rows = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (!line.trim()) continue;
    const where = `line ${at + 1}`;
    try {
      rows.push({ given: JSON.parse(line), where, number: at + 1 });
    } catch (error) {
      const record = /^\s*\{\s*$/.test(line) && text.includes('"turnwise-trajectory"');
      fault(`${file}, ${where}: this is not JSON: ${error.message}; ${record ? `the file is the record of a run: turnwise replay ${file}, or turnwise export ${file}` : `a file of tasks has ${FORM}`}`);
    }
  }
  if (rows.length === 1 && rows[0].given?.format === 'turnwise-trajectory') fault(`${file} is the record of a run, and run takes a file of tasks: ${FORM}`);
  return rows;
}

function list(file, text) {
  try {
    return JSON.parse(text).map((given, at) => ({ given, where: `entry ${at + 1}`, number: at + 1 }));
  } catch (error) {
    return fault(`${file}: this is not a JSON array: ${error.message}`);
  }
}

/** Columns that are not known are the case's metadata. */
function table(file, text) {
  let rows;
  try {
    rows = fromCsv(text);
  } catch (error) {
    return fault(`${file}, ${error.message}`);
  }
  const head = rows.shift()?.cells.map((name) => name.trim()) ?? [];
  if (!head.includes('task')) {
    const near = head.find((name) => TASKS.includes(name.toLowerCase()));
    const separator = [';', '\t'].find((one) => head.length === 1 && head[0].includes(one));
    fault(`${file}: the first line of a CSV table names its columns, one of which is "task"; got ${plain(head.join(', ')) || 'nothing'}`
      + `${separator ? '; save it with commas as separators' : near ? `; rename "${near}" to "task"` : meant('task', head)}`);
  }
  const names = head.map((name) => SEVERAL.find((one) => new RegExp(`^${one}[._ -]?\\d*$`).test(name)) ?? name);
  const twice = names.find((name, at) => !SEVERAL.includes(name) && names.indexOf(name) !== at);
  if (twice !== undefined) fault(`${file}: the column "${plain(twice)}" is there twice; only ${SEVERAL.join(', ')} may be, for a list`);
  for (const name of new Set(names)) warn(file, name);
  return rows.map(({ line, cells }) => {
    const where = `line ${line}`;
    if (cells.length > head.length) fault(`${file}, ${where}: ${cells.length} cells for ${head.length} columns; a cell with a comma is written in quotes`);
    const filled = {};
    for (const [at, name] of names.entries()) if (cells[at]) filled[name] = name in filled ? [filled[name], cells[at]].flat() : cells[at];
    const { id, task, model, target, rubric, ...others } = filled;
    const expect = Object.fromEntries(CONDITIONS.filter((name) => name in others).map((name) => [name, others[name]]));
    const metadata = Object.fromEntries(Object.entries(others).filter(([name]) => !CONDITIONS.includes(name)));
    const given = { id, task, model, target, rubric, ...(Object.keys(expect).length && { expect }), ...(Object.keys(metadata).length && { metadata }) };
    return { given: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)), where, number: line };
  });
}

/** Says that a column is metadata that somebody may have meant for something else. */
function warn(file, name) {
  const option = name.replace(/[_ -]+(\w)/g, (_, letter) => letter.toUpperCase());
  const why = name === 'expect' ? `conditions are the columns ${CONDITIONS.join(', ')}`
    : name === 'images' || isOption(option) ? `in a file of JSON lines, "${option}" would be an option of the case` : undefined;
  if (why) process.stderr.write(`turnwise: ${plain(file)}: the column "${plain(name)}" becomes metadata, which only a scorer reads; ${why}\n`);
}

function isOption(name) {
  try {
    new LowLevelAgent({ provider: { kind: 'demo' }, [name]: undefined }).free();
    return true;
  } catch {
    return false;
  }
}

/** The conditions on an answer, as a list of `[words, test]`. */
function expectation(expect, wrong) {
  if (expect === undefined || expect === null) return [];
  if (typeof expect !== 'object' || Array.isArray(expect)) wrong('"expect" takes an object: { "contains" | "equals" | "matches": … }');
  return Object.entries(expect).flatMap(([name, wanted]) => {
    const words = plain(JSON.stringify(wanted));
    if (name === 'equals') {
      return [[`equals ${words}`, ({ text, data }) => (typeof wanted === 'string' ? text.trim() === wanted.trim() : data.some((value) => isDeepStrictEqual(value, wanted)))]];
    }
    const all = [wanted].flat();
    if (!CONDITIONS.includes(name)) wrong(`"expect.${name}" is not known; there are contains, equals and matches${meant(name, CONDITIONS)}`);
    if (!all.length || !all.every((one) => typeof one === 'string' && one)) wrong(`"expect.${name}" takes a string or an array of strings; got ${words}`);
    if (name === 'contains') return all.map((one) => [`contains ${plain(JSON.stringify(one))}`, ({ text }) => text.toLowerCase().includes(one.toLowerCase())]);
    return all.map((one) => {
      let pattern;
      try {
        pattern = new RegExp(one, 'u');
      } catch (error) {
        wrong(`"expect.matches": ${error.message}`);
      }
      return [`matches ${plain(JSON.stringify(one))}`, ({ text }) => pattern.test(text)];
    });
  });
}

/** The file of a run of a case, in the folder of the runs. `@` is in no id, so no other case has this name. */
export const fileOf = (id, epoch) => (epoch === 1 ? `${id}.json` : `${id}@${epoch}.json`);

/** The case and the epoch of such a file. */
export function caseOf(file) {
  const [, id, epoch = '1'] = /^(.*?)(?:@(\d+))?\.json(?:\.gz)?$/.exec(path.basename(file)) ?? [undefined, file];
  return { id: path.join(path.dirname(file), id), epoch: Number(epoch) };
}
