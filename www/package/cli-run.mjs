// `turnwise run`: runs the cases of a file, each with its own agent, and judges their answers. A trajectory is written when its
// run has ended, so a killed command loses only the runs in progress, and the next one continues with the rest.
import { appendFile, mkdir, readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Agent, exportTrajectory, insight, summarize } from './node.js';
import { toCsv } from './cli-csv.mjs';
import { inParallel, message, needFolderOf, notThere, readText, sweep, writeWhole } from './cli-files.mjs';
import { figures, judge } from './cli-score.mjs';
import { counted, dollars, duration, report, table, whole as counter } from './cli-stats.mjs';
import { fileOf, readTasks } from './cli-tasks.mjs';
import { amount, fault, keyFrom, plain, whole } from './cli-usage.mjs';
import { operations, reach } from './cli-web.mjs';

const SUMMARY = 'summary.json';
/** The grades so far, one JSON line each: a model that graded an answer need not be paid again, also if the command was killed. */
const GRADES = 'grades.ndjson';
/** Headers that may contain secrets, which come from the environment only. */
const SECRET_HEADER = /auth|key|token|secret|cookie|password/i;
const MAX_SHOWN = 20;
const MAX_ANSWER = 300;

/** Runs the cases; returns the exit code. */
export async function run({ values, positionals }) {
  const settings = await read(values, positionals);
  const { runs: all, out } = settings;
  await mkdir(out, { recursive: true }).catch((error) => fault(`--out ${out}: ${error.message}`));
  await sweep(out);
  const known = await earlierGrades(out);
  const { kept, changed } = await finished(all, settings, known);
  const open = all.filter(({ file }) => !kept.has(file));
  const show = progress(all.length, kept);
  if (kept.size) show.say(`${kept.size} of ${all.length} ${settings.epochs > 1 ? 'runs' : 'tasks'} have their trajectory in ${out} and are not run again${values['retry-failed'] ? '' : ' (--retry-failed runs those that failed)'}.`);
  if (changed.size) show.say(`turnwise: ${counted(Math.max(...changed.values()), 'run')} of these had other options than now: ${[...changed.keys()].sort().join(', ')}. They are kept as they are; to run them with the options of now, choose another --out.`);
  const { ended, skipped } = await work(open, settings, known, show);
  const lines = all.map(({ file }) => kept.get(file) ?? ended.get(file)).filter((line) => line);
  const { cases, ...shares } = figures(lines);
  const summary = {
    format: 'turnwise-summary', version: 1,
    tasks: settings.cases, epochs: settings.epochs,
    passed: cases.filter((one) => one.scored === settings.epochs && one.passed === one.scored).length,
    failed: cases.filter((one) => one.scored > one.passed).length,
    not_scored: cases.filter((one) => one.scored < one.runs).length, not_run: skipped,
    ...shares, cases, grader: grader(lines, settings.grader),
    insight: await insight(lines.map(({ id, epoch, file, kept: was, passed, score, why, answer, scorer, grade, not_scored: unscored, ...rest }) => rest)),
    runs: lines,
  };
  await writeWhole(path.join(out, SUMMARY), `${JSON.stringify(summary, undefined, 2)}\n`);
  if (values.csv !== undefined) await writeWhole(values.csv, csv(all, lines));
  show.end();
  if (values.json) process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
  else process.stdout.write(`${conclusion(summary, settings, values).join('\n')}\n`);
  return summary.passed === summary.tasks ? 0 : 1;
}

/** Returns a run's figures and its shortened answer, the only parts kept in memory: the trajectories are on disk and may be too many. */
async function line({ one, epoch, file }, settings, trajectory, kept, known, text = trajectory) {
  const judged = await settings.judge(one, trajectory, known.get(file));
  if (judged.grade && judged.grade !== known.get(file)) await appendFile(path.join(settings.out, GRADES), `${JSON.stringify({ file, grade: judged.grade })}\n`);
  return { id: one.id, epoch, file, kept, ...judged, answer: short(trajectory.output ?? '', 2000), ...(await summarize(text)) };
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

/** The grades of earlier commands, by file. The last line of a killed one may be incomplete. */
async function earlierGrades(out) {
  const text = await readFile(path.join(out, GRADES), 'utf8').catch(() => '');
  const grades = new Map();
  for (const line of text.split('\n')) {
    try {
      const { file, grade } = JSON.parse(line);
      grades.set(file, grade);
    } catch {
      // Asked for again.
    }
  }
  return grades;
}

/** What the grader was asked and cost, in this command and in earlier ones. */
function grader(lines, model) {
  if (model === undefined) return undefined;
  const grades = lines.map(({ grade }) => grade).filter(Boolean);
  const sum = (of) => grades.reduce((total, grade) => total + (of(grade) ?? 0), 0);
  return {
    model, graded: grades.filter(({ failed }) => !failed).length, failed: grades.filter(({ failed }) => failed).length,
    requests: sum(({ requests }) => requests), tokens: { input: sum(({ tokens }) => tokens?.input), output: sum(({ tokens }) => tokens?.output) },
    cost: grades.some(({ cost }) => typeof cost === 'number') ? sum(({ cost }) => cost) : null,
  };
}

const CSV_HEAD = ['id', 'epoch', 'passed', 'score', 'why', 'outcome', 'termination_reason', 'turns', 'tokens_in', 'tokens_out', 'cost_usd', 'seconds', 'provider', 'model', 'file', 'task', 'answer'];

function csv(all, lines) {
  const tasks = new Map(all.map(({ file, one }) => [file, one.task]));
  return toCsv(CSV_HEAD, lines.map((row) => [
    row.id, row.epoch, row.passed, row.score, row.not_scored ?? row.why, row.outcome, row.termination_reason, row.total_turns, row.tokens.input, row.tokens.output,
    row.cost, row.duration_ms / 1000, row.provider, row.model, row.file, tasks.get(row.file), row.answer,
  ]));
}

const share = ({ mean, stderr }) => (mean === null ? 'none' : `${mean.toFixed(2)}${stderr === null ? '' : ` ± ${stderr.toFixed(2)}`}`);

function conclusion({ tasks, passed, not_run: left, not_scored: unscored, runs, cases, pass_rate: rate, score, pass_at: passAt, pass_all: passAll, grader: asked, insight: found }, { out, epochs }, values) {
  const lines = ['Runs', '', ...report(found).map((text) => (text ? `  ${text}` : text)), '', 'Cases', ''];
  const every = epochs > 1 ? `in all ${epochs} epochs` : '';
  lines.push(`  ${passed} of ${tasks} cases passed${every ? ` ${every}` : ''}${unscored ? `, ${unscored} not scored` : ''}${left ? `, ${counted(left, 'run')} not run` : ''}`);
  if (epochs > 1 || values.scorer || values.grader) {
    lines.push('', ...table([
      ['', 'mean ± standard error'], ['pass rate', share(rate)], ['score', share(score)],
      ...(epochs > 1 && passAt[epochs] !== undefined ? [[`pass@${epochs}: at least one run of a case passes`, passAt[epochs].toFixed(2)], [`pass^${epochs}: all runs of a case pass`, passAll[epochs].toFixed(2)]] : []),
    ]));
  }
  if (asked) lines.push('', `  Grader ${plain(asked.model)}: ${counted(asked.graded, 'grade')}${asked.failed ? `, ${counted(asked.failed, 'failure')}` : ''}; ${counter(asked.tokens.input + asked.tokens.output)} tokens${asked.cost === null ? '' : `, ${dollars(asked.cost)}`}, not part of the figures above`);
  lines.push('', `  Trajectories and ${SUMMARY} are in ${out}${values.csv === undefined ? '' : `, the table in ${values.csv}`}`);
  return [...lines, ...listed('Failed', runs.filter((one) => one.passed === false), 'why'), ...listed('Not scored', runs.filter((one) => one.not_scored), 'not_scored')];

  function listed(title, some, why) {
    if (!some.length) return [];
    const shown = some.slice(0, MAX_SHOWN).flatMap((one) => [
      `  ${one.id}${epochs > 1 ? `, epoch ${one.epoch}` : ''}: ${plain(one[why])}`,
      ...(one.answer ? [`      answer: ${short(plain(one.answer), MAX_ANSWER)}`] : ['      no answer']),
    ]);
    if (some.length > MAX_SHOWN) shown.push(`  and ${some.length - MAX_SHOWN} more, in ${path.join(out, SUMMARY)}`);
    return ['', `${title}${epochs > 1 ? ` (${counted(some.length, 'run')} of ${counted(cases.length, 'case')})` : ''}:`, ...shown];
  }
}

// Options

async function read(values, positionals) {
  if (positionals.length !== 1) fault(positionals.length ? `name one file of tasks; got ${positionals.join(', ')}` : 'name a file of tasks: one JSON object per line, { "id": …, "task": … }');
  const { hostTools: own = [], approve, ...config } = values.config === undefined ? {} : await readConfig(values.config);
  if (approve !== undefined && approve !== 'all' && typeof approve !== 'function') fault(`--config ${values.config}: "approve" takes "all", or a function in an .mjs module`);
  const seed = whole(values, 'seed', 0, config.seed);
  const epochs = whole(values, 'epochs', 1, 1, 1000);
  const passAt = amount(values, 'pass-at', 0, 1, 0.5);
  const provider = providers(values, config.provider);
  const service = await operations(values);
  const taken = service.tools.find(({ name }) => own.some((tool) => tool.name === name));
  if (taken) fault(`--openapi ${values.openapi}: its tool ${taken.name} has the name of one of "hostTools"`);
  const hostTools = [...own, ...service.tools];
  const base = {
    ...config, ...reach(values, config, service.allowed), provider,
    ...(values.preset === undefined ? {} : { preset: values.preset }),
    ...(values['max-turns'] === undefined ? {} : { maxTurns: whole(values, 'max-turns', 1) }),
  };
  if (values.rubric !== undefined && values.grader === undefined) fault(`--rubric ${values.rubric} is for a grader: add --grader MODEL`);
  for (const name of ['grader-provider', 'grader-base-url', 'grader-api-key-env']) if (values[name] !== undefined && values.grader === undefined) fault(`--${name} is for a grader: add --grader MODEL`);
  const cases = (await readTasks(positionals[0])).map((one) => ({ ...one, options: optionsOf(one, base, positionals[0]) }));
  for (const one of cases) tryOptions(one, hostTools, positionals[0]);
  if (values.grader !== undefined && values.rubric === undefined && !cases.some(({ rubric, target }) => rubric !== undefined || target !== undefined)) {
    fault(`--grader ${values.grader}: nothing says what a right answer is; give --rubric FILE, or a "rubric" or "target" in the cases`);
  }
  const last = cases.at(-1).at + 1;
  const seeded = (one, epoch) => (seed === undefined || one.overrides.seed !== undefined ? one.options : { ...one.options, seed: seed + one.at + (epoch - 1) * last });
  const runs = Array.from({ length: epochs }, (_, before) => before + 1).flatMap((epoch) => cases.map((one) => ({ one, epoch, file: fileOf(one.id, epoch), name: epochs > 1 ? `${one.id}@${epoch}` : one.id, options: seeded(one, epoch) })));
  const agents = new Set();
  if (values.csv !== undefined) await needFolderOf('csv', values.csv);
  return {
    agents, cases: cases.length, runs, epochs, hostTools, approve, grader: values.grader,
    judge: await judge({ scorer: values.scorer, grader: values.grader, rubric: values.rubric, passAt, agents, provider: values.grader === undefined ? undefined : graderOf(values, provider) }),
    out: values.out ?? 'runs',
    concurrency: whole(values, 'concurrency', 1, 4),
    again: values['retry-failed'] === true,
    files: values.workspace === undefined ? [] : await filesOf('workspace', values.workspace),
    skills: values.skills === undefined ? [] : await skills(values.skills),
  };
}

/** The options of the agent for a case. */
function optionsOf({ overrides, model, where }, base, file) {
  const provider = 'provider' in overrides ? providers({}, overrides.provider, (why) => fault(`${file}, ${where}: ${why}`)) : base.provider;
  const named = (one) => (model === undefined ? one : { ...one, model });
  return { ...base, ...overrides, provider: Array.isArray(provider) ? provider.map(named) : named(provider) };
}

/** The grader's provider: that of the runs, unless another is given. A key goes only to the server that it is for. */
function graderOf(values, provider) {
  const flags = { provider: values['grader-provider'], 'base-url': values['grader-base-url'], 'api-key-env': values['grader-api-key-env'] };
  const [first] = [provider].flat();
  if (flags.provider === undefined && flags['base-url'] === undefined) return flags['api-key-env'] === undefined ? first : { ...first, apiKey: providers(flags, { kind: first.kind }).apiKey };
  return providers(flags, { kind: first.kind });
}

async function readConfig(file) {
  if (!(await stat(file).catch(() => undefined))) fault(`--config ${file}: ${await notThere(file)}`);
  try {
    const config = file.endsWith('.mjs') ? (await import(pathToFileURL(path.resolve(file)))).default : JSON.parse(await readFile(file, 'utf8'));
    if (typeof config !== 'object' || config === null || Array.isArray(config)) throw new Error('it does not contain an options object');
    return config;
  } catch (error) {
    return fault(`--config ${file}: ${error.message}`);
  }
}

/** Merges the flags' provider over the configuration's; keys come from the environment only. */
function providers(values, configured, fail = fault) {
  const { provider: kind, 'base-url': baseUrl, model, 'api-key-env': apiKeyEnv } = values;
  const flags = Object.fromEntries(Object.entries({ kind, baseUrl, model, apiKeyEnv }).filter(([, value]) => value !== undefined));
  const list = [configured ?? []].flat();
  if (!list.length && kind === undefined) fail('say which model: --provider KIND (demo, openai, anthropic, gemini, openrouter, ollama, …), or a "provider" in --config; --provider demo needs no key');
  const all = list.length > 1 && !Object.keys(flags).length ? list : [{ ...list[0], ...flags }];
  const each = all.map(({ apiKeyEnv: name, ...provider }) => {
    if (provider.apiKey !== undefined) fail('a key is read from the environment only: take "apiKey" out of the configuration, and name the variable in --api-key-env or "apiKeyEnv"');
    const secret = Object.keys(provider.headers ?? {}).find((header) => SECRET_HEADER.test(header));
    if (secret) fail(`the header ${secret} may hold a secret: keys are read from the environment only, see --api-key-env`);
    if (name === undefined) return provider;
    return { ...provider, apiKey: keyFrom(name, name, fail) };
  });
  return each.length === 1 ? each[0] : each;
}

/** Reports wrong options before anything runs. */
function tryOptions({ options, where }, hostTools, file) {
  let agent;
  try {
    agent = new Agent(options);
    hostTools.forEach((tool) => agent.registerTool(tool));
  } catch (error) {
    fault(`${file}, ${where}: ${error.message.replace(/^options\./, '')}`);
  } finally {
    agent?.free();
  }
}

async function filesOf(option, folder) {
  if (!(await stat(folder).catch(() => undefined))) fault(`--${option} ${folder}: ${await notThere(folder)}`);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => fault(`--${option} ${folder}: ${error.message}`));
  const names = entries.filter((entry) => entry.isFile()).map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)).split(path.sep));
  const wanted = names.filter((parts) => !parts.some((part) => part.startsWith('.') || part === 'node_modules'));
  return inParallel(wanted.map((parts) => parts.join('/')).sort(), 16, async (name) => [name, new Blob([await readFile(path.join(folder, name))])]);
}

/** The skills in a folder, an archive or at an address. What is wrong with them is said, and stops nothing but a folder without any. */
async function skills(given) {
  const { readSkills } = await import('./skills.js');
  const isFile = (await stat(given).catch(() => undefined))?.isFile();
  // A folder that is a skill itself has its name.
  const named = async () => Object.fromEntries((await filesOf('skills', given)).map(([name, blob]) => [`${path.basename(path.resolve(given))}/${name}`, blob]));
  const source = /^https?:/.test(given) ? given : isFile ? new Blob([await readFile(given)]) : await named();
  const read = await readSkills(source).catch((error) => fault(`--skills ${given}: ${message(error)}`));
  for (const { skill, path: file, message: why, skipped } of read.faults) process.stderr.write(`turnwise: --skills ${given}: ${plain(file || skill)}: ${plain(why)}${skipped ? ' (left out)' : ''}\n`);
  if (!read.skills.length) fault(`--skills ${given}: there is no skill; expected folders with a SKILL.md`);
  return read.skills;
}

// Earlier results

/** The figures of runs that need not be done again, by file, and how many of them had another value of an option, by the option's name. */
async function finished(runs, settings, known) {
  const { out, again } = settings;
  const kept = new Map();
  const changed = new Map();
  const now = configs(settings);
  await inParallel(runs, 8, async (one) => {
    const file = path.join(out, one.file);
    if (!(await stat(file).catch(() => undefined))) return;
    let trajectory;
    let text;
    try {
      text = await readText(file);
      trajectory = JSON.parse(text);
      await summarize(text);
    } catch (error) {
      fault(`${file} exists but is not a complete trajectory (${message(error)}): move it away, or choose another --out`);
    }
    if (!isTask(trajectory.input, one.one.task)) fault(`${file} is the run of another task: choose another --out or another id`);
    // A cancelled run was interrupted by the user, so its task is still open.
    const open = trajectory.outcome === null || trajectory.outcome === 'cancelled';
    if (!open && !(again && trajectory.outcome === 'failed')) {
      kept.set(one.file, await line(one, settings, trajectory, true, known, text));
      for (const name of differing(trajectory.config, await now(one.options), one.options)) changed.set(name, (changed.get(name) ?? 0) + 1);
    }
  });
  return { kept, changed };
}

/** Returns a function from options to the configuration that a record of them has: of a run that is cancelled before it asks a model. */
function configs({ hostTools, skills: given }) {
  const found = new Map();
  return ({ provider, seed, ...options }) => {
    const key = JSON.stringify(options);
    if (!found.has(key)) {
      found.set(key, (async () => {
        const agent = new Agent({ ...options, provider: { kind: 'demo' } });
        try {
          hostTools.forEach((tool) => agent.registerTool(tool));
          agent.setSkills(given);
          return (await agent.run('-', { signal: AbortSignal.abort() })).config;
        } finally {
          agent.free();
        }
      })());
    }
    return found.get(key);
  };
}

/** The names of the options in which a recorded configuration differs, as the command line or the API has them. */
function differing(recorded, now, { provider, seed }) {
  const was = recorded?.providers ?? [];
  const given = [provider].flat();
  const names = Object.keys(recorded ?? {}).filter((name) => !['providers', 'seed'].includes(name) && name in now && !isDeepStrictEqual(recorded[name], now[name]));
  const other = (name, value) => given.length !== was.length || given.some((one, at) => one[name] !== undefined && value(one[name]) !== value(was[at][value === plainUrl ? 'base_url' : name] ?? ''));
  if (other('kind', String)) names.push('provider');
  if (other('model', String)) names.push('model');
  if (other('baseUrl', plainUrl)) names.push('base-url');
  return names.map((name) => ({ max_turns: 'max-turns' })[name] ?? name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()));
}

const plainUrl = (text) => String(text).replace(/\/+$/, '');

/** Whether a recorded task is this one: text that looks like a secret was not recorded. */
function isTask(recorded, task) {
  if (recorded === task) return true;
  const parts = String(recorded).split('[redacted]').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return parts.length > 1 && new RegExp(`^${parts.join('[^]+')}$`).test(task);
}

// Running

async function work(open, settings, known, show) {
  const { agents } = settings;
  const ended = new Map();
  let interrupts = 0;
  const interrupt = () => {
    interrupts += 1;
    if (interrupts > 2) process.exit(1);
    show.say(interrupts === 1 ? 'Wrapping up the running tasks; press again to stop them now.' : 'Stopped.');
    for (const agent of agents) {
      if (interrupts === 1) agent.stop();
      else agent.cancel();
    }
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  let skipped = 0;
  try {
    await inParallel(open, settings.concurrency, async (one) => {
      if (interrupts) {
        skipped += 1;
        return;
      }
      const agent = new Agent(one.options);
      agents.add(agent);
      try {
        settings.hostTools.forEach((tool) => agent.registerTool(tool));
        for (const [name, blob] of settings.files) await agent.files.put(name, blob);
        agent.setSkills(settings.skills);
        if (interrupts) {
          skipped += 1;
          return;
        }
        show.begin(one.name);
        const onEvent = (event) => { if (event.type === 'turn_started') show.turn(one.name, event.turn); };
        const trajectory = await agent.run(one.one.task, { onEvent, images: one.one.images, approve: settings.approve });
        await writeWhole(path.join(settings.out, one.file), await exportTrajectory(trajectory, 'native'));
        const figured = await line(one, settings, trajectory, false, known);
        ended.set(one.file, figured);
        show.done(one.name, trajectory, figured);
      } finally {
        agents.delete(agent);
        agent.free();
      }
    });
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
  return { ended, skipped };
}

/** Shows progress on stderr: one line per task, and in a terminal an updating line. */
function progress(total, kept) {
  const { stderr } = process;
  const live = stderr.isTTY === true;
  const running = new Map();
  let [done, failed] = [kept.size, 0];
  const clear = () => { if (live) stderr.write('\r\x1b[K'); };
  const draw = () => {
    if (!live) return;
    const at = [...running].map(([id, turn]) => `${id} turn ${turn}`).join(', ');
    const line = `${done}/${total} done${failed ? `, ${failed} failed` : ''}${at ? ` · ${at}` : ''}`;
    stderr.write(`\r\x1b[K${line.slice(0, Math.max(20, (stderr.columns ?? 80) - 1))}`);
  };
  const say = (text) => {
    clear();
    stderr.write(`${text}\n`);
    draw();
  };
  return {
    say,
    begin: (id) => { running.set(id, 0); draw(); },
    turn: (id, turn) => { running.set(id, turn); draw(); },
    done: (id, { termination_reason: reason, total_turns: turns, started_at: from, finished_at: to }, { passed, why, not_scored: unscored }) => {
      running.delete(id);
      done += 1;
      failed += passed === false ? 1 : 0;
      const took = duration(Date.parse(to) - Date.parse(from));
      say(`[${done}/${total}] ${id}  ${reason}  ${turns} turn${turns === 1 ? '' : 's'}, ${took}${passed === false ? `  FAILED: ${plain(why)}` : passed === null ? `  NOT SCORED: ${plain(unscored)}` : ''}`);
    },
    end: clear,
  };
}
