#!/usr/bin/env node
// The command line of the package: which commands and options there are. Each command is a module, loaded when it is called.
// Exit codes: 0 success, 1 failures, 2 invalid command line.
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { insight, replay, summarize } from './node.js';
import { askEach, needRecords } from './cli-files.mjs';
import { grouped as groupedQuestions, questionReport, reportsIn } from './cli-questions.mjs';
import { groupReport, grouped, report } from './cli-stats.mjs';
import { Usage, fault, meant, nearest, oneOf, plain, print } from './cli-usage.mjs';

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
    usage: 'turnwise run TASKS.jsonl|.json|.csv --provider KIND [--model NAME] [--base-url URL] [--out FOLDER] …',
    about: 'Runs every case of a file, writes a trajectory for each and judges its answer. Run it again to continue where it stopped.',
    options: {
      provider: [text, 'demo, openai, openai-responses, anthropic, gemini, openrouter, ollama, lmstudio or llamacpp'],
      'base-url': [text, "the server's base URL, up to and including the version"],
      model: [text, 'the model, as the server names it'],
      'api-key-env': [text, 'name of the environment variable that holds the key'],
      preset: [text, 'research, orchestrator or strict'],
      'max-turns': [text, 'maximum number of turns per task'],
      config: [text, 'options for every task: a .json file, or an .mjs module that exports them'],
      web: [text, 'hosts that fetch_url may read: docs.example.org,*.example.com'],
      search: [text, 'offers search_web: searxng=URL, brave or tavily'],
      'search-key-env': [text, 'name of the environment variable that holds the key of the search service (BRAVE_API_KEY, TAVILY_API_KEY)'],
      openapi: [text, 'an OpenAPI document whose operations become tools: a file or an address'],
      'openapi-operations': [text, 'the operations that may be called, with commas between them (those that only read)'],
      'openapi-auth': [text, 'the environment variable of a bearer token; X-Name=VARIABLE for a header, ?name=VARIABLE for the query'],
      'openapi-server': [text, "the address that calls go to, instead of the document's servers"],
      workspace: [text, 'a folder whose files are copied for every task'],
      skills: [text, 'skills that the model can use: a folder, an archive or an address'],
      seed: [text, 'a whole number: same seed, same waits and ids'],
      epochs: [text, 'runs of each case (1): the report has means, standard errors, pass@k and pass^k'],
      scorer: [text, 'an .mjs module that judges answers: export default async ({ case, answer, data, record }) => …'],
      grader: [text, 'a model that judges answers, by the rubric or target of the case'],
      rubric: [text, 'a file that tells the grader what a right answer is, for cases without a rubric'],
      'grader-provider': [text, "the grader's provider, if it is not that of the runs"],
      'grader-base-url': [text, "the grader's base URL"],
      'grader-api-key-env': [text, "name of the environment variable that holds the grader's key"],
      'pass-at': [text, 'the score from which a case passes, from 0 to 1 (0.5)'],
      concurrency: [text, 'tasks to run in parallel (4); docs/evaluation.md says how to use more than one machine'],
      out: [text, 'folder for the trajectories (runs)'],
      csv: [text, 'also write a table of all runs to this file'],
      'retry-failed': [flag, 'run tasks again whose run ended with the outcome failed'],
      json: [flag, 'print summary.json instead of the report'],
    },
    run: async (given) => (await import('./cli-run.mjs')).run(given),
  },
  compare: {
    usage: 'turnwise compare A B [--max-drop POINTS] [--json]',
    about: 'Compares two records, or two folders of turnwise run case by case: what passes, turns, tokens, cost, time, and where runs part. The exit code is 1 if B is worse.',
    options: {
      'max-drop': [text, 'exit code 1 only if the pass rate falls by more than so many percentage points'],
      json: [flag, 'print one JSON object instead, for scripts'],
    },
    run: async (given) => (await import('./cli-compare.mjs')).compare(given),
  },
  export: {
    usage: 'turnwise export FILE|FOLDER… --format FORMAT [--out FOLDER]',
    about: 'Writes records in a format that other programs read.',
    options: {
      format: [text, 'html, markdown, atif, otlp, openai-jsonl, mini-swe-agent or native'],
      out: [text, 'a folder for the files; without it, the text goes to the standard output'],
    },
    run: async (given) => (await import('./cli-export.mjs')).exportRecords(given),
  },
  view: {
    usage: 'turnwise view [FOLDER] [--port NUMBER]',
    about: 'Shows the records of a folder (runs) in the browser: a list, and a page for each run. It is served on this machine only.',
    options: { port: [text, 'the port (a free one)'] },
    run: async (given) => (await import('./cli-view.mjs')).view(given),
  },
  proxy: {
    usage: 'turnwise proxy --provider KIND --model NAME --origin https://docs.example.org [--port NUMBER] …',
    about: "Holds the key of a site whose visitors have none, and passes their requests to the model server, within limits. The key is read from an environment variable.",
    options: {
      provider: [text, 'openai, openrouter, ollama, lmstudio or llamacpp'],
      'base-url': [text, 'another server that speaks Chat Completions, up to and including the version'],
      model: [text, 'the models that visitors may use, with commas between them'],
      origin: [text, 'the origins whose pages may ask, with commas between them'],
      'api-key-env': [text, 'name of the environment variable that holds the key (OPENAI_API_KEY, OPENROUTER_API_KEY, API_KEY)'],
      port: [text, 'the port (8787)'],
      host: [text, 'the address to listen at (127.0.0.1)'],
      'trust-proxy': [text, 'how many proxies of yours are in front, whose X-Forwarded-For is believed (0)'],
      'per-minute': [text, 'requests of one visitor per minute (20)'],
      'per-day': [text, 'requests of one visitor per day (200)'],
      'site-per-day': [text, 'requests of all visitors per day (5000)'],
      'max-output-tokens': [text, 'output tokens of one request (1500)'],
      'max-body-bytes': [text, 'size of one request (400000)'],
      'max-pictures': [text, 'pictures in one request (0)'],
      questions: [text, 'a file to which questions without an answer are appended'],
    },
    run: async (given) => (await import('./cli-proxy.mjs')).proxy(given),
  },
};

function help(name) {
  const command = name === undefined ? undefined : COMMANDS[name];
  if (!command) {
    const rows = Object.values(COMMANDS).map(({ usage, about }) => `  ${usage}\n      ${about}`);
    return `turnwise: an agent runtime, from the command line.\n\n${rows.join('\n')}\n\n  Run turnwise COMMAND --help for details.\n`;
  }
  const rows = Object.entries(command.options).map(([option, [{ type }, about]]) => `  ${`--${option}${type === 'string' ? ' …' : ''}`.padEnd(24)}${about}`);
  return `usage: ${command.usage}\n\n${command.about}\n${rows.length ? `\n${rows.join('\n')}\n` : ''}`;
}

function read(command, args) {
  const options = Object.fromEntries(Object.entries({ ...command.options, help: [flag] }).map(([name, [type]]) => [name, type]));
  const { tokens, positionals } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const values = {};
  for (const token of tokens.filter(({ kind }) => kind === 'option')) {
    const { name, rawName, value, index } = token;
    if (rawName === '-h') values.help = true;
    else if (!options[name]) {
      const single = /^-([a-z][\w-]+)/.exec(args[index])?.[1];
      if (single && nearest(single, Object.keys(options))) throw new Usage(`there is no option -${single}; options begin with two dashes${meant(single, Object.keys(options), (near) => `--${near}`)}`);
      throw new Usage(`there is no option ${rawName}${meant(name, Object.keys(options), (near) => `--${near}`) || known(options)}`);
    } else {
      const [, about] = command.options[name] ?? [];
      if (name in values) throw new Usage(`${rawName} is given twice`);
      if (options[name].type === 'boolean' && value !== undefined) throw new Usage(`${rawName} takes no value`);
      if (options[name].type === 'string' && (!value || value.startsWith('--'))) throw new Usage(`${rawName} takes a value (${about}); got ${value || 'nothing'}`);
      values[name] = value ?? true;
    }
  }
  return { values, positionals };
}

const known = (options) => `; this command takes ${Object.keys(options).map((name) => `--${name}`).join(', ')}`;

function filterOf({ model, preset, outcome, reason, text: words, since, until }) {
  oneOf({ preset }, 'preset', ['research', 'orchestrator', 'strict']);
  oneOf({ outcome }, 'outcome', ['success', 'partial', 'failed', 'cancelled', 'unfinished']);
  const time = (name, value) => {
    const at = value === undefined ? undefined : Date.parse(value);
    if (Number.isNaN(at) || at < 0) throw new Usage(`--${name} takes a date as 2026-11-21, or with a time as 2026-11-21T09:30Z; got ${value}`);
    return at;
  };
  const filter = { model, preset, outcome, terminationReason: reason, text: words, fromMs: time('since', since), toMs: time('until', until) };
  return JSON.parse(JSON.stringify(filter));
}

const complain = (faults) => faults.forEach(({ file, error }) => process.stderr.write(`${plain(file)}: ${plain(error)}\n`));

async function stats({ values, positionals }) {
  if (!positionals.length) throw new Usage('name a file or a folder of trajectories');
  if (values.questions) return unanswered(values, positionals);
  oneOf(values, 'by', ['model', 'preset', 'outcome']);
  const filter = filterOf(values);
  const found = await askEach(positionals, summarize);
  await needRecords(positionals, found);
  const { answers, faults } = found;
  const summaries = answers.map(({ answer }) => answer);
  const figures = await insight(summaries, filter).catch((error) => fault(error.message.replace(/^insight: /, '')));
  const groups = values.by && summaries.length ? await grouped(summaries, filter, values.by) : undefined;
  if (values.json) {
    const runs = answers.map(({ file, step, answer }) => ({ file, step, ...answer }));
    print([JSON.stringify({ format: 'turnwise-summary', version: 1, insight: figures, by: values.by, groups, runs, unreadable: faults }, undefined, 2)]);
  } else {
    print([...report(figures), ...(groups?.length ? groupReport(values.by, groups) : [])]);
    if (faults.length) process.stderr.write(`\n${faults.length === 1 ? 'One file' : `${faults.length} files`} could not be read:\n`);
    complain(faults);
  }
  return faults.length ? 1 : 0;
}

async function unanswered(values, positionals) {
  const other = Object.keys(values).find((name) => !['questions', 'json'].includes(name));
  if (other) throw new Usage(`--questions goes with --json only, not with --${other}`);
  const { reports, faults } = await reportsIn(positionals);
  if (!reports.length && faults.length === positionals.length) fault('no reports of questions and no records found', faults.map(({ file, error }) => `${file}: ${error}`));
  const groups = groupedQuestions(reports);
  print(values.json ? [JSON.stringify({ format: 'turnwise-summary', version: 1, questions: groups, unreadable: faults }, undefined, 2)] : questionReport(groups));
  if (!values.json) complain(faults);
  return faults.length ? 1 : 0;
}

async function verify({ positionals }) {
  if (!positionals.length) throw new Usage('name a file or a folder of trajectories');
  const found = await askEach(positionals, async (record) => replay(typeof record === 'string' ? parsed(record) : record));
  await needRecords(positionals, found);
  const { answers, faults } = found;
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
  return wrong ? 1 : 0;
}

function parsed(record) {
  try {
    return JSON.parse(record);
  } catch (error) {
    throw new Error(`This is not a JSON file: ${error.message}`);
  }
}

async function main([name, ...args]) {
  if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && !args.length)) {
    process.stdout.write(help());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-v') {
    print([JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8')).version]);
    return 0;
  }
  if (name === 'help') [name, ...args] = [args[0], '--help'];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  try {
    if (!command) throw new Usage(unknown(name, args));
    const given = read(command, args);
    if (given.values.help) {
      process.stdout.write(help(name));
      return 0;
    }
    // Read by the engine's thread, which starts when it is first needed: its console would break the progress line.
    process.env.TURNWISE_CONSOLE = 'off';
    return await command.run(given);
  } catch (error) {
    if (!(error instanceof Usage)) throw error;
    const lines = [`turnwise: ${plain(error.message)}`, ...error.lines.map((line) => `  ${plain(line)}`), ...(command ? [`usage: ${command.usage}`] : []), `Run turnwise ${command ? `${name} ` : ''}--help for details.`];
    process.stderr.write(`${lines.join('\n')}\n`);
    return 2;
  }
}

/** What to say of a first word that is no command. */
function unknown(name, args) {
  const names = Object.keys(COMMANDS);
  const later = args.find((word) => names.includes(word));
  if (name.startsWith('-')) return `the command comes first, then its options; got ${name}${later ? `; did you mean turnwise ${later} ${name}?` : `. There are ${names.join(', ')}`}`;
  if (/\.(json|jsonl|csv|gz)$|[/\\]/.test(name)) return `the command comes first; got ${name}; did you mean turnwise ${/\.(jsonl|csv)$/.test(name) ? 'run' : 'stats'} ${name}? There are ${names.join(', ')}`;
  return `there is no command ${name}${meant(name, names) || `; there are ${names.join(', ')}`}`;
}

// The reader, such as `head`, closed the pipe.
process.stdout.on('error', (error) => { if (error.code === 'EPIPE') process.exit(0); else throw error; });
process.exitCode = await main(process.argv.slice(2));
