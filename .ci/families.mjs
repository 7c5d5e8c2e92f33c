// node .ci/families.mjs [--prices]: renews the tables in crates/llm/src/models from data that ships in three packages, all under the MIT license:
//   families.csv: what each family of models takes of a run's settings, and what families.hand.csv says otherwise;
//   table.csv, with --prices: windows and prices of the models that it lists.
// Development only. The packages are downloaded by their ordinary clients and unpacked, never installed or run. Where they disagree, it is
// printed, and rig-core's word is taken, the most detailed one, unless families.hand.csv has another. A person reviews the difference, and
// then updates AS_OF in mod.rs.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const PI = '1.6.0'; // npm: @earendil-works/pi-ai
const RIG = '0.46.0'; // crates: rig-core
const LITELLM = '1.110.2'; // PyPI: litellm

// The vendors, by their names in rig-core, pi-ai and litellm. `at`: where their rules hold, for models whose weights others serve too.
const VENDORS = [
  { rig: 'openai', pi: 'openai', litellm: 'openai' },
  { rig: 'anthropic', pi: 'anthropic', litellm: 'anthropic' },
  { rig: 'gcp.gemini', pi: 'google', litellm: 'gemini' },
  { rig: 'mistral', pi: 'mistral', at: 'mistral.ai' },
  { rig: 'xai', pi: 'xai' },
  { rig: 'deepseek', pi: 'deepseek', at: 'deepseek.com' },
  { rig: 'moonshot', pi: 'moonshotai', at: 'moonshot' },
  { rig: 'zai', pi: 'zai', at: 'z.ai bigmodel.cn' },
  { rig: 'minimax', pi: 'minimax', at: 'minimax' },
];
// Of these the run has no use.
const OTHERS = /image|banana|tts|-live|omni|realtime|robotics|deep-research|computer-use|daybreak|gemma/;
const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const COLUMNS = ['pattern', 'at', 'words', 'efforts', 'off', 'sampling', 'forced', 'chat_tools'];

const root = path.join(import.meta.dirname, '..');
const models = path.join(root, 'crates/llm/src/models');
const scratch = path.join(root, 'target/families');
const json = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Runs a program in the scratch folder. */
function run(program, ...args) {
  execFileSync(program, args, { cwd: scratch, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Downloads and unpacks the three packages. */
function download() {
  mkdirSync(path.join(scratch, 'crate/src'), { recursive: true });
  run('npm', 'pack', '--silent', `@earendil-works/pi-ai@${PI}`);
  run('tar', 'xzf', `earendil-works-pi-ai-${PI}.tgz`);
  run('python3', '-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', `litellm==${LITELLM}`);
  const wheel = readdirSync(scratch).find((name) => name.startsWith(`litellm-${LITELLM}-`));
  run('python3', '-m', 'zipfile', '-e', wheel, 'wheel');
  writeFileSync(path.join(scratch, 'crate/src/lib.rs'), '');
  writeFileSync(
    path.join(scratch, 'crate/Cargo.toml'),
    `[package]\nname = "catalog"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\nrig-core = { version = "=${RIG}", default-features = false }\n`,
  );
  run('cargo', 'fetch', '--quiet', '--manifest-path', 'crate/Cargo.toml');
  const cache = path.join(process.env.CARGO_HOME ?? path.join(process.env.HOME, '.cargo'), 'registry/cache');
  const crate = readdirSync(cache).map((index) => path.join(cache, index)).find((folder) => readdirSync(folder).includes(`rig-core-${RIG}.crate`));
  run('tar', 'xzf', path.join(crate, `rig-core-${RIG}.crate`));
}

/** A name as families.csv has it: in lower case, without a date, and with dashes for dots. */
const plain = (id) => id.toLowerCase().replace(/-(\d{4}-\d\d-\d\d|\d{8})$/, '').replace(/^(gemini.*)-preview$/, '$1').replaceAll('.', '-');

/** What rig-core says of a model. */
function fromRig(model, vendor) {
  const { rig = {}, reasoning, reasoning_options: options = [], temperature } = model;
  const kinds = options.map((option) => option.type);
  const values = options.find((option) => option.type === 'effort')?.values;
  const facts = { efforts: '-', off: reasoning ? 'never' : '' };
  if (values) facts.efforts = EFFORTS.filter((effort) => values.includes(effort)).join(' ');
  else if (kinds.includes('budget_tokens')) facts.efforts = '';
  if (values?.includes('none')) facts.off = 'none';
  else if (kinds.includes('toggle')) facts.off = rig.thinking_off ?? (vendor.rig === 'gcp.gemini' ? '0' : 'disabled');
  else if (kinds.includes('budget_tokens')) facts.off = String(options.find((option) => option.type === 'budget_tokens').min);
  const unset = rig.reasoning_default && rig.reasoning_default !== 'none' ? 'none' : 'off';
  if (rig.sampling === 'never' || (!rig.sampling && temperature === false)) facts.sampling = 'never';
  else if (rig.sampling) facts.sampling = facts.off === 'none' ? unset : facts.off === 'never' ? 'never' : '';
  else facts.sampling = '';
  facts.forced = rig.rejects_forced_tool_choice ? 'never' : '';
  facts.chat_tools = { never: 'never', reasoning_off: 'none' }[rig.chat_tools] ?? '';
  const inWords = rig.adaptive_thinking || (values && !kinds.includes('budget_tokens'));
  if (['anthropic', 'gcp.gemini'].includes(vendor.rig)) facts.words = inWords ? 'yes' : '';
  // The levels of Claude Opus 4.5 are not those of its thinking.
  if (vendor.rig === 'anthropic' && !facts.words) facts.efforts = '';
  return facts;
}

/** What pi-ai says of a model; what it does not say is absent. */
function fromPi(model, vendor) {
  const { thinkingLevelMap: map, compat = {}, reasoning } = model;
  const facts = {};
  if (!reasoning) Object.assign(facts, { efforts: '-', off: '' });
  else if (map && Object.keys(map).some((level) => EFFORTS.includes(level))) {
    // A level that is not listed is taken if it is one of the three that all models have.
    facts.efforts = EFFORTS.filter((effort) => map[effort] ?? (!(effort in map) && ['low', 'medium', 'high'].includes(effort))).join(' ');
  }
  if (reasoning && map?.off === null) facts.off = 'never';
  else if (reasoning && map?.off) facts.off = map.off;
  if (compat.forceAdaptiveThinking || (vendor.pi === 'google' && facts.efforts)) facts.words = 'yes';
  if (compat.supportsTemperature === false) facts.sampling = 'never';
  return facts;
}

/** What litellm says of a model; what it does not say is absent. */
function fromLitellm(model) {
  const facts = {};
  if (model.supports_sampling_params === false) facts.sampling = 'never';
  if (model.supports_forced_tool_use !== undefined) facts.forced = model.supports_forced_tool_use ? '' : 'never';
  if (model.thinking_always_on || model.supports_none_reasoning_effort === false) facts.off = 'never';
  if (model.supports_none_reasoning_effort) facts.off = 'none';
  return facts;
}

/** The rows of one vendor's models: the first that says something is right, and others that say otherwise are printed. */
function rowsOf(vendor, rig, litellm) {
  const sources = [
    ['rig-core', Object.entries(rig[vendor.rig].models).filter(([, one]) => one.tool_call || one.reasoning).map(([id, one]) => [id, fromRig(one, vendor)])],
    ['pi-ai', Object.values(json(path.join(scratch, `package/dist/providers/data/${vendor.pi}.json`))).flatMap(Object.values).filter((one) => one.type === 'chat').map((one) => [one.id, fromPi(one, vendor)])],
    ['litellm', Object.entries(litellm).filter(([, one]) => one.litellm_provider === vendor.litellm && one.mode === 'chat').map(([id, one]) => [id.split('/').at(-1), fromLitellm(one)])],
  ];
  const found = new Map();
  for (const [source, list] of sources) {
    for (const [id, facts] of list) {
      const name = plain(id);
      // Of litellm, only what the others know too: it lists much that holds no conversation.
      if (OTHERS.test(name) || (source === 'litellm' && !found.has(name))) continue;
      const row = found.get(name) ?? { says: {} };
      for (const [column, value] of Object.entries(facts)) {
        row.says[column] ??= `${source}: ${value || '(nothing)'}`;
        if (column in row && row[column] !== value) disagreements.set(`${name} ${column}`, `${row.says[column]}; ${source}: ${value || '(nothing)'}`);
        row[column] ??= value;
      }
      found.set(name, row);
    }
  }
  return [...found].map(([pattern, { says, ...row }]) => ({ pattern, ...row, at: vendor.at ?? '' }));
}

const cells = (row) => COLUMNS.map((column) => row[column] ?? '').join(',');
const facts = (row) => cells({ ...row, pattern: '' });

/** Whether a name belongs to a pattern: it begins with it, and a number in it does not go on. As `belongs` in abilities.rs. */
const belongs = (name, pattern) => name.startsWith(pattern) && !(/\d$/.test(pattern) && /^\d/.test(name.slice(pattern.length)));

/** The row of the longest pattern that a name belongs to. */
const rowFor = ({ pattern: name, at }, rows) => rows.filter((row) => (!row.at || row.at === at) && belongs(name, row.pattern)).reduce((best, row) => (row.pattern.length > (best?.pattern.length ?? -1) ? row : best), undefined);

/** Replaces rows whose facts are equal by one for what their names have in common, where it names nothing else. */
function grouped(rows) {
  const key = ({ pattern, at }) => `${pattern} ${at}`;
  const kept = new Map(rows.map((row) => [key(row), row]));
  for (const row of rows) {
    const parts = row.pattern.split('-');
    for (let length = 2; length < parts.length; length++) {
      const pattern = parts.slice(0, length).join('-');
      const below = rows.filter((other) => other.at === row.at && belongs(other.pattern, pattern));
      if (below.length > 1 && below.every((other) => facts(other) === facts(row))) {
        below.forEach((other) => kept.delete(key(other)));
        kept.set(key({ ...row, pattern }), { ...row, pattern });
        break;
      }
    }
  }
  return [...kept.values()];
}

/** The rows of families.hand.csv, where a comment says where each comes from. With a star, it is said of all models below. */
function byHand() {
  const lines = readFileSync(path.join(models, 'families.hand.csv'), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
  return lines.map((line) => {
    const row = Object.fromEntries(line.split(',').map((cell, index) => [COLUMNS[index], cell]));
    return { ...row, pattern: row.pattern.replace('*', ''), all: row.pattern.endsWith('*') };
  });
}

function writeFamilies(rig, litellm) {
  const found = VENDORS.flatMap((vendor) => rowsOf(vendor, rig, litellm));
  const hand = byHand();
  const isByHand = ({ pattern, at }) => hand.some((row) => row.pattern === pattern && row.at === at || (row.all && (!row.at || row.at === at) && belongs(pattern, row.pattern)));
  const rows = [...grouped(found.filter((row) => !isByHand(row))), ...hand].sort((a, b) => a.pattern.length - b.pattern.length);
  // A row that says the same as the one it would fall back to is not needed.
  const kept = [];
  for (const row of rows) {
    const above = rowFor(row, kept);
    if (facts({ at: row.at, ...above }) !== facts(row)) kept.push(row);
  }
  kept.sort((a, b) => (a.pattern < b.pattern ? -1 : 1));
  writeFileSync(path.join(models, 'families.csv'), kept.map((row) => `${cells(row)}\n`).join(''));
  const isOpen = (name) => !hand.some((row) => row.pattern === name || (row.all && belongs(name, row.pattern)));
  for (const [what, said] of disagreements) if (isOpen(what.split(' ')[0])) console.log(`${what}: ${said}`);
  console.log(`families.csv: ${kept.length} rows, ${hand.length} by hand; ${disagreements.size} disagreements, of which those above are not decided by hand`);
}

/** US dollars per million tokens. */
const dollars = (perToken) => (perToken === undefined ? '' : String(Number((perToken * 1e6).toPrecision(12))));

/** Renews the rows of table.csv. */
function writePrices(litellm) {
  const file = path.join(models, 'table.csv');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => {
    const [vendor, model] = line.split(',');
    const one = litellm[model] ?? litellm[`${vendor}/${model}`];
    if (!one?.max_input_tokens || one.input_cost_per_token === undefined) {
      console.log(`table.csv: ${vendor} ${model} is not in litellm; its row stays`);
      return line;
    }
    const price = [one.input_cost_per_token, one.output_cost_per_token, one.cache_read_input_token_cost].map(dollars);
    const renewed = [vendor, model, one.max_input_tokens, ...price, one.supports_vision ? 'yes' : 'no'].join(',');
    if (renewed !== line) console.log(`table.csv: ${line}\n       now ${renewed}`);
    return renewed;
  });
  writeFileSync(file, `${lines.join('\n')}\n`);
}

const disagreements = new Map();
download();
const litellm = json(path.join(scratch, 'wheel/litellm/model_prices_and_context_window_backup.json'));
writeFamilies(json(path.join(scratch, `rig-core-${RIG}/src/catalog/models.json`)), litellm);
if (process.argv.includes('--prices')) writePrices(litellm);
