// `turnwise run`: runs the tasks of a file, each with its own agent. A trajectory is written when its
// run has ended, so a killed command loses only the runs in progress, and the next one continues with the rest.
import { mkdir, readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Agent, exportTrajectory, insight, summarize } from './node.js';
import { inParallel, message, readText, sweep, writeWhole } from './cli-files.mjs';
import { duration, plain, report } from './cli-stats.mjs';
import { reach } from './cli-web.mjs';

const SUMMARY = 'summary.json';
/** Headers that may contain secrets, which come from the environment only. */
const SECRET_HEADER = /auth|key|token|secret|cookie|password/i;

/** Runs the tasks; returns the exit code. `Usage`: the error for an invalid command. */
export async function run({ values, positionals }, Usage) {
  const settings = await read(values, positionals, Usage);
  const { tasks, out } = settings;
  await mkdir(out, { recursive: true }).catch((error) => { throw new Usage(`--out ${out}: ${error.message}`); });
  await sweep(out);
  const kept = await finished(tasks, settings, Usage);
  const open = tasks.filter(({ id }) => !kept.has(id));
  const show = progress(tasks.length, kept);
  if (kept.size) show.say(`${kept.size} of ${tasks.length} tasks have their trajectory in ${out} and are not run again${values['retry-failed'] ? '' : ' (--retry-failed runs those that failed)'}.`);
  const { ended, skipped } = await work(open, settings, show);
  const lines = tasks.map(({ id }) => kept.get(id) ?? ended.get(id)).filter((line) => line);
  const summary = {
    format: 'turnwise-summary', version: 1,
    tasks: tasks.length, passed: lines.filter(({ passed }) => passed).length, failed: lines.filter(({ passed }) => !passed).length, not_run: skipped,
    insight: await insight(lines.map(({ id, file, kept: was, passed, why, ...figures }) => figures)),
    runs: lines,
  };
  await writeWhole(path.join(out, SUMMARY), `${JSON.stringify(summary, undefined, 2)}\n`);
  show.end();
  if (values.json) process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
  else process.stdout.write(`${conclusion(summary, out).join('\n')}\n`);
  return summary.passed === tasks.length ? 0 : 1;
}

/** Returns a run's figures, the only part kept in memory: the trajectories are on disk and may be too many. */
async function line(task, trajectory, kept, text = trajectory) {
  return { id: task.id, file: `${task.id}.json`, kept, ...judged(task, trajectory), ...(await summarize(text)) };
}

function conclusion({ tasks, passed, not_run: left, runs, insight: found }, out) {
  const failed = runs.filter((one) => !one.passed);
  const lines = failed.slice(0, 20).map(({ id, why }) => `  ${id}: ${plain(why)}`);
  if (failed.length > 20) lines.push(`  and ${failed.length - 20} more, in ${path.join(out, SUMMARY)}`);
  return [
    ...report(found), '',
    `${passed} of ${tasks} tasks passed${left ? `, ${left} not run` : ''}; trajectories and ${SUMMARY} are in ${out}`,
    ...(failed.length ? ['', 'Failed:', ...lines] : []),
  ];
}

// Options

async function read(values, positionals, Usage) {
  const fault = (text) => { throw new Usage(text); };
  if (positionals.length !== 1) fault(positionals.length ? 'name one file of tasks' : 'name a file of tasks: one JSON object per line, { "id": …, "task": … }');
  const count = (name, least, otherwise) => {
    const given = values[name];
    if (given === undefined) return otherwise;
    return /^\d{1,15}$/.test(given) && Number(given) >= least ? Number(given) : fault(`--${name} takes a whole number, ${least} or more; got ${given}`);
  };
  const { hostTools = [], approve, ...config } = values.config === undefined ? {} : await readConfig(values.config, fault);
  if (approve !== undefined && approve !== 'all' && typeof approve !== 'function') fault(`--config ${values.config}: "approve" takes "all", or a function in an .mjs module`);
  const seed = count('seed', 0, config.seed);
  const base = {
    ...config, ...reach(values.web, config, fault), provider: providers(values, config.provider, fault),
    ...(values.preset === undefined ? {} : { preset: values.preset }),
    ...(values['max-turns'] === undefined ? {} : { maxTurns: count('max-turns', 1) }),
  };
  const tasks = await readTasks(positionals[0], base, seed, fault);
  for (const task of tasks) tryOptions(task, hostTools, fault);
  return {
    tasks, hostTools, approve,
    out: values.out ?? 'runs',
    concurrency: count('concurrency', 1, 4),
    again: values['retry-failed'] === true,
    files: values.workspace === undefined ? [] : await workspace(values.workspace, fault),
  };
}

async function readConfig(file, fault) {
  try {
    const config = file.endsWith('.mjs') ? (await import(pathToFileURL(path.resolve(file)))).default : JSON.parse(await readFile(file, 'utf8'));
    if (typeof config !== 'object' || config === null || Array.isArray(config)) throw new Error('it does not contain an options object');
    return config;
  } catch (error) {
    return fault(`--config ${file}: ${error.message}`);
  }
}

/** Merges the flags' provider over the configuration's; keys come from the environment only. */
function providers(values, configured, fault) {
  const { provider: kind, 'base-url': baseUrl, model, 'api-key-env': apiKeyEnv } = values;
  const flags = Object.fromEntries(Object.entries({ kind, baseUrl, model, apiKeyEnv }).filter(([, value]) => value !== undefined));
  const list = [configured ?? []].flat();
  if (!list.length && kind === undefined) fault('say which model: --provider KIND, or a "provider" in --config; --provider demo needs no key');
  const all = list.length > 1 && !Object.keys(flags).length ? list : [{ ...list[0], ...flags }];
  const each = all.map(({ apiKeyEnv: name, ...provider }) => {
    if (provider.apiKey !== undefined) fault('a key is read from the environment only: take "apiKey" out of the configuration, and name the variable in --api-key-env or "apiKeyEnv"');
    const secret = Object.keys(provider.headers ?? {}).find((header) => SECRET_HEADER.test(header));
    if (secret) fault(`the header ${secret} may hold a secret: keys are read from the environment only, see --api-key-env`);
    if (name === undefined) return provider;
    return process.env[name] ? { ...provider, apiKey: process.env[name] } : fault(`the environment variable ${name} is not set`);
  });
  return each.length === 1 ? each[0] : each;
}

async function readTasks(file, base, seed, fault) {
  const text = await readText(file).catch((error) => fault(`${file}: ${error.message}`));
  const tasks = [];
  const ids = new Set(['summary']);
  for (const [at, line] of text.replace(/^\ufeff/, '').split('\n').entries()) {
    if (!line.trim()) continue;
    const wrong = (why) => fault(`${file}, line ${at + 1}: ${why}`);
    let given;
    try {
      given = JSON.parse(line);
    } catch (error) {
      wrong(`this is not JSON: ${error.message}`);
    }
    if (typeof given !== 'object' || given === null || Array.isArray(given)) wrong('this is not a JSON object');
    const { id = `task-${at + 1}`, task, expect, images, model, ...overrides } = given;
    if (typeof task !== 'string' || !task.trim()) wrong('"task" is missing: the text that the agent is given');
    if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,119}$/.test(String(id))) wrong(`the id ${plain(JSON.stringify(id))} must be a valid file name: letters, digits, ".", "_" and "-"`);
    if (ids.has(String(id).toLowerCase())) wrong(id === 'summary' ? 'the id "summary" is taken by the summary' : `the id ${id} is used twice`);
    ids.add(String(id).toLowerCase());
    const checked = expectation(expect, wrong);
    const provider = 'provider' in overrides ? providers({}, overrides.provider, wrong) : base.provider;
    const named = (one) => (model === undefined ? one : { ...one, model });
    const options = { ...base, ...overrides, provider: Array.isArray(provider) ? provider.map(named) : named(provider) };
    if (seed !== undefined && overrides.seed === undefined) options.seed = seed + at;
    tasks.push({ id: String(id), task, images, expect: checked, options, line: at + 1, file });
  }
  return tasks.length ? tasks : fault(`${file} contains no tasks`);
}

/** Reads the expectations for an answer, as a list of `[words, test]`. */
function expectation(expect, wrong) {
  if (expect === undefined || expect === null) return [];
  if (typeof expect !== 'object' || Array.isArray(expect)) wrong('"expect" takes an object: { "contains" | "equals" | "matches": … }');
  return Object.entries(expect).flatMap(([name, wanted]) => {
    const words = plain(JSON.stringify(wanted));
    if (name === 'equals') {
      return [[`equals ${words}`, ({ text, data }) => (typeof wanted === 'string' ? text.trim() === wanted.trim() : data.some((value) => isDeepStrictEqual(value, wanted)))]];
    }
    const all = [wanted].flat();
    if (!all.length || !all.every((one) => typeof one === 'string' && one)) wrong(`"expect.${name}" takes a string or an array of strings`);
    if (name === 'contains') return all.map((one) => [`contains ${plain(JSON.stringify(one))}`, ({ text }) => text.toLowerCase().includes(one.toLowerCase())]);
    if (name !== 'matches') wrong(`"expect.${name}" is not known; there are contains, equals and matches`);
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

/** Reports wrong options before anything runs. */
function tryOptions({ options, line, file }, hostTools, fault) {
  let agent;
  try {
    agent = new Agent(options);
    hostTools.forEach((tool) => agent.registerTool(tool));
  } catch (error) {
    fault(`${file}, line ${line}: ${error.message.replace(/^options\./, '')}`);
  } finally {
    agent?.free();
  }
}

async function workspace(folder, fault) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => fault(`--workspace ${folder}: ${error.message}`));
  const names = entries.filter((entry) => entry.isFile()).map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)).split(path.sep));
  const wanted = names.filter((parts) => !parts.some((part) => part.startsWith('.') || part === 'node_modules'));
  return inParallel(wanted.map((parts) => parts.join('/')).sort(), 16, async (name) => [name, new Blob([await readFile(path.join(folder, name))])]);
}

// Earlier results

/** The figures of tasks that need not run again, by id. */
async function finished(tasks, { out, again }, Usage) {
  const kept = new Map();
  await inParallel(tasks, 8, async (task) => {
    const { id } = task;
    const file = path.join(out, `${id}.json`);
    if (!(await stat(file).catch(() => undefined))) return;
    let trajectory;
    let found;
    try {
      const text = await readText(file);
      trajectory = JSON.parse(text);
      found = await line(task, trajectory, true, text);
    } catch (error) {
      throw new Usage(`${file} exists but is not a complete trajectory (${message(error)}): move it away, or choose another --out`);
    }
    if (!isTask(trajectory.input, task.task)) throw new Usage(`${file} is the run of another task: choose another --out or another id`);
    // A cancelled run was interrupted by the user, so its task is still open.
    const open = trajectory.outcome === null || trajectory.outcome === 'cancelled';
    if (!open && !(again && trajectory.outcome === 'failed')) kept.set(id, found);
  });
  return kept;
}

/** Whether a recorded task is this one: text that looks like a secret was not recorded. */
function isTask(recorded, task) {
  if (recorded === task) return true;
  const parts = String(recorded).split('[redacted]').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return parts.length > 1 && new RegExp(`^${parts.join('[^]+')}$`).test(task);
}

// Running

async function work(open, settings, show) {
  const agents = new Set();
  const ended = new Map();
  let interrupts = 0;
  const interrupt = () => {
    interrupts += 1;
    if (interrupts > 2) process.exit(1);
    show.say(interrupts === 1 ? 'Wrapping up the running tasks; press again to cancel.' : 'Cancelled.');
    for (const agent of agents) {
      if (interrupts === 1) agent.stop();
      else agent.cancel();
    }
  };
  // The engine's console output is also in the trajectories; here it would break the progress line.
  const { warn, error } = console;
  Object.assign(console, { warn: () => {}, error: () => {} });
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  let skipped = 0;
  try {
    await inParallel(open, settings.concurrency, async (task) => {
      if (interrupts) {
        skipped += 1;
        return;
      }
      const agent = new Agent(task.options);
      agents.add(agent);
      show.begin(task.id);
      try {
        settings.hostTools.forEach((tool) => agent.registerTool(tool));
        for (const [name, blob] of settings.files) await agent.files.put(name, blob);
        const onEvent = (event) => { if (event.type === 'turn_started') show.turn(task.id, event.turn); };
        const trajectory = await agent.run(task.task, { onEvent, images: task.images, approve: settings.approve });
        await writeWhole(path.join(settings.out, `${task.id}.json`), await exportTrajectory(trajectory, 'native'));
        ended.set(task.id, await line(task, trajectory, false));
        show.done(task.id, trajectory, judged(task, trajectory));
      } finally {
        agents.delete(agent);
        agent.free();
      }
    });
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    Object.assign(console, { warn, error });
  }
  return { ended, skipped };
}

/** Whether a run's answer meets its task's expectations. A synthesized answer counts. */
function judged({ expect }, { outcome, output, final_result_data: result, termination_reason: reason, segments }) {
  if (outcome !== 'success' && outcome !== 'partial') return { passed: false, why: `${outcome ?? 'not ended'} (${reason ?? 'no ending'})` };
  const text = output ?? '';
  const data = [result, segments?.at(-1)?.report_data, asJson(text)].filter((value) => value !== undefined && value !== null);
  const missed = expect.filter(([, holds]) => !holds({ text, data })).map(([words]) => words);
  return missed.length ? { passed: false, why: `expected that the answer ${missed.join(' and ')}` } : { passed: true, why: null };
}

function asJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
    done: (id, { termination_reason: reason, total_turns: turns, started_at: from, finished_at: to }, { passed, why }) => {
      running.delete(id);
      done += 1;
      failed += passed ? 0 : 1;
      const took = duration(Date.parse(to) - Date.parse(from));
      say(`[${done}/${total}] ${id}  ${reason}  ${turns} turn${turns === 1 ? '' : 's'}, ${took}${passed ? '' : `  FAILED: ${plain(why)}`}`);
    },
    end: clear,
  };
}
