// node .ci/demo.mjs: runs the demo task over the project's own documents, headless in Chromium against dist/. Prints the
// recorded transcript, including counter lines, how the run ended, and where the trajectory is.
// Variables: MODE=normal|endless|chaos, MAX_TURNS, PRESET=research|orchestrator|strict, TASK.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root, withPackage } from '../tests/e2e/lib/site.mjs';
import { assertValid } from '../tests/e2e/lib/trajectory.mjs';

// make passes unset variables as empty strings.
const given = (name, otherwise) => process.env[name] || otherwise;
const mode = given('MODE', 'normal');
const preset = given('PRESET', 'research');
const maxTurns = given('MAX_TURNS');
const task = given('TASK', 'What happens when a run reaches its turn limit? Find it in the files and name the file.');

function fail(message) {
  console.error(`make demo: ${message}`);
  process.exit(2);
}
if (!['normal', 'endless', 'chaos'].includes(mode)) fail(`MODE is '${mode}', it takes normal, endless or chaos`);
if (!['research', 'orchestrator', 'strict'].includes(preset)) fail(`PRESET is '${preset}', it takes research, orchestrator or strict`);
if (maxTurns && !/^[1-9]\d*$/.test(maxTurns)) fail(`MAX_TURNS is '${maxTurns}', it takes a number from 1`);

/** Returns the project's documents, path to text: the sample files of the app. */
function documents() {
  const names = readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return Object.fromEntries(names.map((name) => [`docs/${name}`, readFileSync(path.join(root, 'docs', name), 'utf8')]));
}

const indent = (text, by) => text.replace(/^/gm, by);
const shorten = (text, most) => (text.length <= most ? text : `${text.slice(0, most)} … ${text.length - most} more characters`);

function printTurn(turn) {
  console.log(`\n--- turn ${turn.turn}${turn.synthesis ? ', synthesis' : ''}${turn.final ? ', final' : ''}`);
  for (const { attempt, slugs, error } of turn.attempts.filter(({ slugs }) => slugs.length)) console.log(`  attempt ${attempt} failed  ${slugs.join(' ')}: ${shorten(error ?? '', 160)}`);
  if (turn.content) console.log(indent(turn.content, '  '));
  for (const call of turn.tool_calls) {
    console.log(`  > ${call.name}(${JSON.stringify(call.args)})  ${call.duration_ms} ms${call.slug ? `  ${call.slug}` : ''}`);
    const lines = (call.result ?? '').split('\n');
    const counter = /^\[Turn \d+\/\d+/.test(lines.at(-1)) ? lines.pop() : undefined;
    console.log(indent(shorten(lines.join('\n'), 300), '    '));
    if (counter) console.log(`    ${counter}`);
  }
}

const options = { preset, provider: { kind: 'demo', demo: mode }, ...(maxTurns && { maxTurns: Number(maxTurns) }) };
const trajectory = await withPackage({}, (page) =>
  page.evaluate(async ({ options, files, task }) => {
    // Failed attempts are part of the demo, and are printed below.
    if (options.provider.demo === 'chaos') console.warn = () => {};
    const agent = new window.turnwise.Agent(options);
    for (const [name, text] of Object.entries(files)) await agent.files.put(name, text);
    return agent.run(task);
  }, { options, files: documents(), task }));
assertValid(trajectory);

console.log(`task: ${trajectory.input}\nmodel: ${trajectory.model}, preset ${trajectory.preset}, ${trajectory.tools.map((tool) => tool.name).join(' ')}`);
trajectory.turns.forEach(printTurn);
console.log(`\n--- report\n${indent(trajectory.output ?? '', '  ')}\n`);
const { termination_reason, outcome, answer_source, total_turns, max_turns, effective_max_turns, requests } = trajectory;
console.log(`termination_reason   ${termination_reason}\noutcome              ${outcome}\nanswer_source        ${answer_source}`);
console.log(`total_turns          ${total_turns}  (max_turns ${max_turns}, effective_max_turns ${effective_max_turns}, requests ${requests})`);
const last = trajectory.turns.at(-1);
console.log(`last turn            { "turn": ${last?.turn}, "synthesis": ${last?.synthesis}, "final": ${last?.final} }`);

const folder = path.join(root, 'target/demo');
mkdirSync(folder, { recursive: true });
const file = path.join(folder, `${trajectory.run_id}.json`);
writeFileSync(file, `${JSON.stringify(trajectory, null, 2)}\n`);
console.log(`trajectory           ${path.relative(root, file)}`);
