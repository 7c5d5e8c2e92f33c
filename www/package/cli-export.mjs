// `turnwise export`: records in the formats that other programs read.
import { mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { exportTrajectory, importTrajectory } from './node.js';
import { askEach, message, needRecords, writeWhole } from './cli-files.mjs';
import { fault, oneOf, plain, print } from './cli-usage.mjs';

/** How the name of an exported file ends. */
export const ENDINGS = { native: '.json', html: '.html', markdown: '.md', atif: '.atif.json', otlp: '.otlp.json', 'openai-jsonl': '.openai.jsonl', 'mini-swe-agent': '.traj.json' };
const OTHER_NAMES = { md: 'markdown', json: 'native', jsonl: 'openai-jsonl', openai: 'openai-jsonl', opentelemetry: 'otlp', 'otlp-json': 'otlp', htm: 'html' };

/** The text of a record in a format: of a trajectory, of an HTML report of one, or of an ATIF file. */
export async function exported(record, format) {
  return exportTrajectory(typeof record === 'string' ? await importTrajectory(record) : record, format);
}

/** Exports; returns the exit code. */
export async function exportRecords({ values, positionals }) {
  const known = Object.keys(ENDINGS);
  if (values.format === undefined) fault(`say which format: --format ${known.join('|')}`);
  const other = OTHER_NAMES[values.format.toLowerCase()];
  if (!known.includes(values.format) && other) fault(`--format takes ${known.join(', ')}; got ${values.format}; did you mean ${other}?`);
  const format = oneOf(values, 'format', known);
  if (!positionals.length) fault('name the records to export');
  const found = await askEach(positionals, (record) => exported(record, format), /\.(json(\.gz)?|html)$/);
  await needRecords(positionals, found);
  const { answers, faults } = found;
  if (values.out === undefined) {
    // Lines can follow each other; of the other formats, a file has one record.
    if (answers.length > 1 && format !== 'openai-jsonl') fault(`${answers.length} records do not fit into one ${format} file: name a folder for them with --out`);
    process.stdout.write(answers.map(({ answer }) => (answer.endsWith('\n') ? answer : `${answer}\n`)).join(''));
  } else {
    await writeAll(values.out, positionals, answers, ENDINGS[format]);
  }
  for (const { file, error } of faults) process.stderr.write(`${plain(file)}: ${plain(error)}\n`);
  return faults.length ? 1 : 0;
}

async function writeAll(out, args, answers, ending) {
  if ((await stat(out).catch(() => undefined))?.isFile()) fault(`--out takes a folder; ${out} is a file`);
  const targets = new Map();
  for (const { file, step, answer } of answers) {
    // A folder keeps its shape; a file that was named goes into the folder itself.
    const from = args.find((name) => file !== name && file.startsWith(name.endsWith(path.sep) ? name : `${name}${path.sep}`));
    const name = (from === undefined ? path.basename(file) : path.relative(from, file)).replace(/\.(json(\.gz)?|html)$/, '');
    const target = path.join(out, `${name}${step === undefined ? '' : `-step-${step}`}${ending}`);
    if (targets.has(target)) fault(`two records would be written to ${target}: export them one folder at a time`);
    if (await same(target, file)) fault(`${target} is the record itself: choose another --out`);
    targets.set(target, answer);
  }
  for (const [target, text] of targets) {
    try {
      await mkdir(path.dirname(target), { recursive: true });
      await writeWhole(target, text.endsWith('\n') ? text : `${text}\n`);
    } catch (error) {
      fault(`--out ${out}: ${message(error)}`);
    }
  }
  print([`${targets.size} ${targets.size === 1 ? 'file' : 'files'} written to ${out}`]);
}

async function same(a, b) {
  const [one, other] = await Promise.all([a, b].map((file) => realpath(file).catch(() => undefined)));
  return one !== undefined && one === other;
}
