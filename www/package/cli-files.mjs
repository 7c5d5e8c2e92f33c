// Files of the command line: records read from disk, results written atomically.
import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { importTrajectory } from './node.js';
import { fault, lives, meant } from './cli-usage.mjs';

/** Number of records read in parallel: they are held as text, and one worker processes them in sequence. */
const AT_ONCE = 8;

/** Maximum unpacked size of a record. A few kilobytes can unpack to gigabytes. */
const MAX_UNPACKED = 256 * 2 ** 20;

/** The text of a file, unpacked if necessary. */
export async function readText(file) {
  const bytes = await readFile(file);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString('utf8');
  try {
    return (await promisify(gunzip)(bytes, { maxOutputLength: MAX_UNPACKED })).toString('utf8');
  } catch (error) {
    if (error.code !== 'ERR_BUFFER_TOO_LARGE') throw new Error(`It cannot be unpacked: ${error.message}.`);
    throw new Error(`It unpacks to more than ${MAX_UNPACKED / 2 ** 20} MiB. If that is expected, unpack it yourself.`);
  }
}

/** Every record that the arguments name, in order: files, and folders with everything below them whose name fits. */
export async function recordFiles(args, fits = /\.json(\.gz)?$/) {
  const files = [];
  const faults = [];
  for (const name of args) {
    const info = await stat(name).catch(() => undefined);
    if (!info) faults.push({ file: name, error: await notThere(name) });
    else if (!info.isDirectory()) files.push(name);
    else {
      const below = await readdir(name, { recursive: true, withFileTypes: true });
      const found = below.filter((entry) => entry.isFile() && !entry.name.startsWith('.') && fits.test(entry.name));
      files.push(...found.map((entry) => path.join(entry.parentPath ?? entry.path, entry.name)).sort());
    }
  }
  return { files, faults };
}

/** The names of the commands, for somebody who gives one as a file. */
const COMMANDS = ['stats', 'replay', 'run', 'compare', 'export', 'view', 'proxy'];

/** What to say of a file that does not exist. */
export async function notThere(name) {
  if (COMMANDS.includes(name)) return `No such file or folder. ${name} is a command, and one command line has one command: turnwise ${name} …`;
  const folder = path.dirname(name);
  const names = await readdir(folder).catch(() => undefined);
  if (!names) return `No such file or folder; there is no folder ${folder} either.`;
  return `No such file or folder${meant(path.basename(name), names, (near) => path.join(folder, near)) || '.'}`;
}

/** Refuses a file to be written whose folder does not exist, before anything is done for it. */
export async function needFolderOf(option, file) {
  if (!(await stat(path.dirname(file)).catch(() => undefined))?.isDirectory()) fault(`--${option} ${file}: there is no folder ${path.dirname(file)}`);
  if ((await stat(file).catch(() => undefined))?.isDirectory()) fault(`--${option} takes a file; ${file} is a folder`);
}

/** Refuses a command line whose files and folders have no record at all. */
export async function needRecords(args, { answers, faults }) {
  if (answers.length) return;
  const lines = faults.map(({ file, error }) => `${file}: ${error}`);
  for (const name of args) {
    if (/\.(jsonl|csv)$/.test(name)) lines.push(`${name}: A file of tasks is run by turnwise run ${name} --provider …`);
    if (faults.some(({ file }) => file.startsWith(name))) continue;
    if (!(await stat(name)).isDirectory()) {
      lines.push(`${name}: This is a summary of turnwise run, not a record.`);
      continue;
    }
    const names = await readdir(name);
    lines.push(`${name}: ${names.length ? `This folder has no record (${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}).` : 'This folder is empty.'}`);
  }
  fault('no record found; name records of runs (.json, .json.gz, as turnwise run writes them) or folders with some', lines);
}

/** Runs `work` on the items, at most `most` in parallel; returns the results in the order of the items. */
export async function inParallel(items, most, work) {
  const results = new Array(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at], at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}

/**
 * Calls `ask(text or trajectory)` for each record, for a plan's record once per run; HTML reports and ATIF files are read as records. Skips summaries that a command
 * wrote. Returns `{ answers: [{ file, step?, answer }], faults: [{ file, error }] }`.
 */
export async function askEach(args, ask, fits = undefined) {
  const { files, faults } = await recordFiles(args, fits);
  const found = await inParallel(files, AT_ONCE, async (file) => {
    try {
      const text = await readText(file);
      // The HTML report of a record has the record in it.
      if (/^\s*</.test(text)) return [{ file, answer: await ask(await importTrajectory(text)) }];
      return await ask(text).then((answer) => [{ file, answer }], (error) => ofOther(file, text, error, ask));
    } catch (error) {
      return [{ file, error: `${message(error)}${/\.(md|markdown)$/i.test(file) ? '; a Markdown export is for people: name the record that it was made of' : ''}` }];
    }
  });
  const all = found.flat();
  return { answers: all.filter((one) => !one.error), faults: faults.concat(all.filter((one) => one.error)) };
}

async function ofOther(file, text, error, ask) {
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    throw error;
  }
  if (record?.format === 'turnwise-summary') return [];
  if (/^ATIF/.test(record?.schema_version)) return [{ file, answer: await ask(await importTrajectory(text)) }];
  if (record?.format !== 'turnwise-session' || !Array.isArray(record.steps)) throw error;
  const steps = record.steps.filter((step) => step?.run);
  return Promise.all(steps.map(async (step) => ({ file, step: step.order, answer: await ask(step.run) })));
}

/** The error's message, without the name of the argument. */
export function message(error) {
  return String(error?.message ?? error).replace(/^(trajectory|text): /, '');
}

/** Writes a file atomically and syncs it to disk. */
export async function writeWhole(file, text) {
  const draft = `${file}.${process.pid}-${randomBytes(3).toString('hex')}.part`;
  const handle = await open(draft, 'wx');
  try {
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await rename(draft, file);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(draft, { force: true });
    throw error;
  }
}

/** Removes the partial files of a killed command. */
export async function sweep(folder) {
  for (const name of await readdir(folder)) {
    const pid = Number(/\.(\d+)-[0-9a-f]{6}\.part$/.exec(name)?.[1]);
    if (pid && pid !== process.pid && !lives(pid)) await rm(path.join(folder, name), { force: true });
  }
}
