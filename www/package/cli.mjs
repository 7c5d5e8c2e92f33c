#!/usr/bin/env node
// The command line of the package: `turnwise stats`, `turnwise replay`, `turnwise run`. It only reads arguments and files; the
// package does the rest. Exit codes: 0 success, 1 failures, 2 invalid command line.
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import init, { insight, replay, summarize } from './node.js';
import { askEach } from './cli-files.mjs';
import { grouped as groupedQuestions, questionReport, reportsIn } from './cli-questions.mjs';
import { run } from './cli-run.mjs';
import { groupReport, grouped, plain, report } from './cli-stats.mjs';

const text = { type: 'string' };
const flag = { type: 'boolean' };

const COMMANDS = {
  stats: {
    usage: 'turnwise stats FILE|FOLDER… [--json] [--by model|preset|outcome] [--questions]',
    about: 'Statistics of many runs: how they ended, turns against the limit, failed attempts, tokens, cost, time.',
    options: {
      json: [flag, 'print one JSON object instead, for scripts'],
      by: [text, 'a row for each model, preset or outcome'],
      questions: [flag, 'instead: questions that docs did not answer, grouped, from records and collected reports'],
      model: [text, 'only runs of this model'],
      preset: [text, 'only runs of this preset'],
      outcome: [text, 'only success, partial, failed, cancelled or unfinished'],
      reason: [text, 'only this termination reason'],
      text: [text, 'only runs whose task, model or id contains this text'],
      since: [text, 'only runs that began at this date or later: 2026-11-21, or with a time'],
      until: [text, 'only runs that began before this date'],
    },
    run: stats,
  },
  replay: {
    usage: 'turnwise replay FILE|FOLDER…',
    about: 'Drives the engine through each recorded run again, with no key and no network, and says where it differs.',
    options: {},
    run: verify,
  },
  run: {
    usage: 'turnwise run TASKS.jsonl --provider KIND [--model NAME] [--base-url URL] [--out FOLDER] …',
    about: 'Runs every task of a file and writes a trajectory for each. Run it again to continue where it stopped.',
    options: {
      provider: [text, 'demo, openai, openai-responses, anthropic, gemini, openrouter, ollama, lmstudio or llamacpp'],
      'base-url': [text, "the server's base URL, up to and including the version"],
      model: [text, 'the model, as the server names it'],
      'api-key-env': [text, 'name of the environment variable that holds the key'],
      preset: [text, 'research, orchestrator or strict'],
      'max-turns': [text, 'maximum number of turns per task'],
      config: [text, 'options for every task: a .json file, or an .mjs module that exports them'],
      web: [text, 'hosts that fetch_url may read: docs.example.org,*.example.com'],
      workspace: [text, 'a folder whose files are copied for every task'],
      seed: [text, 'a whole number: same seed, same waits and ids'],
      concurrency: [text, 'tasks to run in parallel (4)'],
      out: [text, 'folder for the trajectories (runs)'],
      'retry-failed': [flag, 'rerun the tasks that failed'],
      json: [flag, 'print summary.json instead of the report'],
    },
    run,
  },
};

/** The command line is invalid. */
class Usage extends Error {}

function help(name) {
  const command = COMMANDS[name];
  if (!command) {
    const rows = Object.values(COMMANDS).map(({ usage, about }) => `  ${usage}\n      ${about}`);
    return `turnwise: an agent runtime, from the command line.\n\n${rows.join('\n')}\n\n  Run turnwise COMMAND --help for details.\n`;
  }
  const rows = Object.entries(command.options).map(([option, [{ type }, about]]) => `  ${`--${option}${type === 'string' ? ' …' : ''}`.padEnd(20)}${about}`);
  return `usage: ${command.usage}\n\n${command.about}\n${rows.length ? `\n${rows.join('\n')}\n` : ''}`;
}

/** The most similar name. */
function nearest(wrong, names) {
  const distance = (a, b) => {
    let row = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i += 1) {
      const next = [i];
      for (let j = 1; j <= b.length; j += 1) next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      row = next;
    }
    return row.at(-1);
  };
  const [best] = names.map((name) => [distance(wrong, name), name]).sort((a, b) => a[0] - b[0]);
  return best && best[0] <= Math.max(2, wrong.length / 2) ? best[1] : undefined;
}

function read(command, args) {
  const options = Object.fromEntries(Object.entries({ ...command.options, help: [flag] }).map(([name, [type]]) => [name, type]));
  const { tokens, positionals } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const values = {};
  for (const token of tokens.filter(({ kind }) => kind === 'option')) {
    const { name, rawName, value } = token;
    if (!options[name]) {
      const near = nearest(name, Object.keys(options));
      throw new Usage(`there is no option ${rawName}${near ? `; did you mean --${near}?` : ''}`);
    }
    if (name in values) throw new Usage(`${rawName} is given twice`);
    if (options[name].type === 'boolean' && value !== undefined) throw new Usage(`${rawName} takes no value`);
    if (options[name].type === 'string' && (!value || value.startsWith('--'))) throw new Usage(`${rawName} takes a value`);
    values[name] = value ?? true;
  }
  return { values, positionals };
}

function filterOf({ model, preset, outcome, reason, text: words, since, until }) {
  const one = (name, value, known) => {
    if (value !== undefined && !known.includes(value)) throw new Usage(`--${name} takes ${known.join(', ')}; got ${value}`);
  };
  one('preset', preset, ['research', 'orchestrator', 'strict']);
  one('outcome', outcome, ['success', 'partial', 'failed', 'cancelled', 'unfinished']);
  const time = (name, value) => {
    const at = value === undefined ? undefined : Date.parse(value);
    if (Number.isNaN(at) || at < 0) throw new Usage(`--${name} takes a date as 2026-11-21, or with a time as 2026-11-21T09:30Z; got ${value}`);
    return at;
  };
  const filter = { model, preset, outcome, terminationReason: reason, text: words, fromMs: time('since', since), toMs: time('until', until) };
  return JSON.parse(JSON.stringify(filter));
}

const print = (lines) => process.stdout.write(`${lines.join('\n')}\n`);
const complain = (faults) => faults.forEach(({ file, error }) => process.stderr.write(`${plain(file)}: ${plain(error)}\n`));

async function stats({ values, positionals }) {
  if (!positionals.length) throw new Usage('name a file or a folder of trajectories');
  if (values.questions) return unanswered(values, positionals);
  if (values.by !== undefined && !['model', 'preset', 'outcome'].includes(values.by)) throw new Usage(`--by takes model, preset or outcome; got ${values.by}`);
  const filter = filterOf(values);
  const { answers, faults } = await askEach(positionals, summarize);
  const summaries = answers.map(({ answer }) => answer);
  const found = await insight(summaries, filter).catch((error) => { throw new Usage(error.message.replace(/^insight: /, '')); });
  const groups = values.by && summaries.length ? await grouped(summaries, filter, values.by) : undefined;
  if (values.json) {
    const runs = answers.map(({ file, step, answer }) => ({ file, step, ...answer }));
    print([JSON.stringify({ format: 'turnwise-summary', version: 1, insight: found, by: values.by, groups, runs, unreadable: faults }, undefined, 2)]);
  } else {
    print([...report(found), ...(groups?.length ? groupReport(values.by, groups) : [])]);
    if (faults.length) process.stderr.write(`\n${faults.length === 1 ? 'One file' : `${faults.length} files`} could not be read:\n`);
    complain(faults);
  }
  return faults.length || !summaries.length ? 1 : 0;
}

async function unanswered(values, positionals) {
  const other = Object.keys(values).find((name) => !['questions', 'json'].includes(name));
  if (other) throw new Usage(`--questions goes with --json only, not with --${other}`);
  const { reports, faults } = await reportsIn(positionals);
  const groups = groupedQuestions(reports);
  print(values.json ? [JSON.stringify({ format: 'turnwise-summary', version: 1, questions: groups, unreadable: faults }, undefined, 2)] : questionReport(groups));
  if (!values.json) complain(faults);
  return faults.length ? 1 : 0;
}

async function verify({ positionals }) {
  if (!positionals.length) throw new Usage('name a file or a folder of trajectories');
  const { answers, faults } = await askEach(positionals, async (record) => replay(typeof record === 'string' ? parsed(record) : record));
  const short = (value) => {
    const shown = plain(JSON.stringify(value) ?? 'nothing');
    return shown.length > 120 ? `${shown.slice(0, 120)}…` : shown;
  };
  let wrong = faults.length;
  for (const { file, step, answer } of answers) {
    const name = plain(step === undefined ? file : `${file}, step ${step}`);
    if (answer.ok) {
      print([`ok       ${name}`]);
    } else {
      wrong += 1;
      const by = answer.recorded_by ? `; recorded by version ${answer.recorded_by}, so differences are to be expected` : '';
      print([`differs  ${name}: ${answer.turn ? `turn ${answer.turn}, ` : ''}${plain(answer.path)}: recorded ${short(answer.expected)}, now ${short(answer.actual)}${by}`]);
    }
  }
  complain(faults);
  if (!answers.length && !faults.length) process.stderr.write('No trajectories found.\n');
  return wrong || !answers.length ? 1 : 0;
}

function parsed(record) {
  try {
    return JSON.parse(record);
  } catch (error) {
    throw new Error(`This is not a JSON file: ${error.message}`);
  }
}

async function main([name, ...args]) {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help(args[0]));
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    print([JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8')).version]);
    return 0;
  }
  const command = COMMANDS[name];
  try {
    if (!command) {
      const near = nearest(name, Object.keys(COMMANDS));
      throw new Usage(`there is no command ${name}${near ? `; did you mean ${near}?` : ''}`);
    }
    const given = read(command, args);
    if (given.values.help) {
      process.stdout.write(help(name));
      return 0;
    }
    await init();
    return await command.run(given, Usage);
  } catch (error) {
    if (!(error instanceof Usage)) throw error;
    process.stderr.write(`turnwise: ${plain(error.message)}\n${command ? `usage: ${command.usage}\n` : ''}Run turnwise ${command ? `${name} ` : ''}--help for details.\n`);
    return 2;
  }
}

// The reader, such as `head`, closed the pipe.
process.stdout.on('error', (error) => { if (error.code === 'EPIPE') process.exit(0); else throw error; });
process.exitCode = await main(process.argv.slice(2));
