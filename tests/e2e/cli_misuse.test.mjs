// Command lines that are invalid: each is answered with what was given, what is taken and what was probably meant, with exit code 2.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inFolder, lines, turnwise } from './lib/cli.mjs';
import { KEY } from './lib/key-proxy.mjs';
import { dist } from './lib/site.mjs';
import { withScript } from './lib/script-server.mjs';

const { inParallel } = await import(pathToFileURL(path.join(dist, 'turnwise/cli-files.mjs')).href);
const DEMO = ['--provider', 'demo'];
const PROXY = ['proxy', '--provider', 'ollama', '--model', 'm'];

/** The command line, and what its answer says. The folder has t.jsonl, runs/a.json, other.json, broken.json, empty/, notes/x.txt, one.csv. */
const TABLE = [
  // Commands
  [['stast', 'runs'], /there is no command stast; did you mean stats\?/],
  [['rnu'], /did you mean run\?/],
  [['comp', 'runs', 'runs'], /did you mean compare\?/],
  [['zzz'], /there is no command zzz; there are stats, replay, run, compare, export, view, proxy/],
  [['--json', 'stats', 'runs'], /the command comes first, then its options; got --json; did you mean turnwise stats --json\?/],
  [['--jsno'], /the command comes first.*There are stats/],
  [['t.jsonl'], /the command comes first; got t\.jsonl; did you mean turnwise run t\.jsonl\?/],
  [['runs/a.json'], /did you mean turnwise stats runs\/a\.json\?/],
  [['stats', 'replay', 'nothing'], /replay: No such file or folder\. replay is a command, and one command line has one command: turnwise replay/],
  [['help', 'sats'], /there is no command sats; did you mean stats\?/],
  [['constructor'], /there is no command constructor/],
  // Options
  [['stats', 'runs', '--jsom'], /there is no option --jsom; did you mean --json\?/],
  [['stats', 'runs', '-json'], /there is no option -json; options begin with two dashes; did you mean --json\?/],
  [['replay', 'runs', '--verbose'], /there is no option --verbose; this command takes --help/],
  [['stats', 'runs', '--json=yes'], /--json takes no value/],
  [['stats', 'runs', '--by'], /--by takes a value \(a row for each model, preset or outcome\); got nothing/],
  [['stats', 'runs', '--by', 'modle'], /--by takes model, preset or outcome; got modle; did you mean model\?/],
  [['stats', 'runs', '--outcome', 'good'], /--outcome takes success, partial, failed, cancelled or unfinished; got good/],
  [['stats', 'runs', '--since', 'yesterday'], /--since takes a date as 2026-11-21.*got yesterday/],
  [['stats', 'runs', '--json', '--json'], /--json is given twice/],
  [['stats', 'runs', '--questions', '--by', 'model'], /--questions goes with --json only, not with --by/],
  [['run', 't.jsonl', ...DEMO, '--concurrency', 'many'], /--concurrency takes a whole number, 1 or more; got many/],
  [['run', 't.jsonl', ...DEMO, '--concurrency', '1.5'], /--concurrency takes a whole number.*got 1\.5/],
  [['run', 't.jsonl', ...DEMO, '--max-turns', '-3'], /--max-turns takes a whole number, 1 or more; got -3/],
  [['run', 't.jsonl', ...DEMO, '--epochs', '0'], /--epochs takes a whole number, from 1 to 1000; got 0/],
  [['run', 't.jsonl', ...DEMO, '--pass-at', '2'], /--pass-at takes a number from 0 to 1; got 2/],
  [['run', 't.jsonl', ...DEMO, '--epoch', '3'], /did you mean --epochs\?/],
  // Files
  [['stats'], /name a file or a folder of trajectories/],
  [['stats', 'run'], /run: No such file or folder\. run is a command/],
  [['stats', 'rusn'], /no record found.*\n {2}rusn: No such file or folder; did you mean runs\?/],
  [['stats', 'no/such'], /no\/such: No such file or folder; there is no folder no either\./],
  [['replay', 'runs/b.json'], /did you mean runs\/a\.json\?/],
  [['stats', 'empty'], /empty: This folder is empty\./],
  [['stats', 'notes'], /notes: This folder has no record \(x\.txt\)\./],
  [['replay', 'other.json'], /other\.json: This JSON file is not a Turnwise trajectory/],
  [['stats', 'broken.json'], /broken\.json: This is not a JSON file/],
  [['run'], /name a file of tasks/],
  [['run', 't.jsonl', 'u.jsonl', ...DEMO], /name one file of tasks; got t\.jsonl, u\.jsonl/],
  [['run', 't.json', ...DEMO], /t\.json: No such file or folder; did you mean t\.jsonl\?/],
  [['run', 'runs', ...DEMO], /runs is a folder, and run takes one file of tasks.*turnwise stats runs reads the records/],
  [['run', 'runs/a.json', ...DEMO], /the file is the record of a run: turnwise replay runs\/a\.json/],
  [['run', 'one.csv', ...DEMO], /one of which is "task"; got id, input; rename "input" to "task"/],
  [['run', 'semicolons.csv', ...DEMO], /save it with commas as separators/],
  [['run', 't.jsonl', ...DEMO, '--config', 'conf.json'], /--config conf\.json: No such file/],
  [['run', 't.jsonl', ...DEMO, '--workspace', 'files'], /--workspace files: No such file/],
  [['run', 't.jsonl', ...DEMO, '--scorer', 'scorr.mjs'], /--scorer scorr\.mjs: No such file or folder; did you mean score\.mjs\?/],
  [['run', 't.jsonl', ...DEMO, '--scorer', 'score.mjs'], /a scorer is a module with a function as its default export.*got no default export/],
  [['run', 't.jsonl', ...DEMO, '--rubric', 't.jsonl'], /--rubric t\.jsonl is for a grader: add --grader MODEL/],
  [['run', 't.jsonl', ...DEMO, '--grader', 'g'], /nothing says what a right answer is; give --rubric FILE, or a "rubric" or "target" in the cases/],
  [['run', 't.jsonl'], /say which model: --provider KIND/],
  [['run', 't.jsonl', '--provider', 'opnai'], /provider\.kind.*openai/],
  [['run', 't.jsonl', '--provider', 'openai', '--api-key-env', 'NO_SUCH_KEY'], /NO_SUCH_KEY is not set/],
  [['run', 't.jsonl', '--provider', 'openai', '--api-key-env', KEY], /takes the name of an environment variable that holds the key, such as OPENAI_API_KEY, and not the key/],
  [['run', 't.jsonl', '--provider', 'openai', '--api-key', KEY], /there is no option --api-key; did you mean --api-key-env\?/],
  [['run', 't.jsonl', ...DEMO, '--csv', 'no/t.csv'], /--csv no\/t\.csv: there is no folder no/],
  [['run', 't.jsonl', ...DEMO, '--csv', 'notes'], /--csv takes a file; notes is a folder/],
  [['run', 't.jsonl', ...DEMO, '--out', 't.jsonl'], /--out t\.jsonl: .*file already exists/],
  [['stats', '--questions', 'questoins.jsonl'], /no reports of questions and no records found\n {2}questoins\.jsonl: No such file/],
  [['stats', 'runs/summary.json'], /runs\/summary\.json: This is a summary of turnwise run, not a record\./],
  [['stats', 't.jsonl'], /A file of tasks is run by turnwise run t\.jsonl --provider/],
  // Compare, export, view
  [['compare', 'runs'], /name two runs, or two folders of runs, the older one first; got runs/],
  [['compare', 'runs', 'runs', 'runs'], /got runs, runs, runs/],
  [['compare', 'runs', 'runs/a.json'], /two files or two folders; runs is a folder, runs\/a\.json a file/],
  [['compare', 'runs', 'rnus'], /rnus: No such file or folder; did you mean runs\?/],
  [['compare', 'runs', 'runs', '--max-drop', '-5'], /--max-drop takes a number from 0 to 100; got -5/],
  [['export', 'runs/a.json'], /say which format: --format native\|html\|markdown/],
  [['export', 'runs/a.json', '--format', 'md'], /got md; did you mean markdown\?/],
  [['export', 'runs/a.json', '--format', 'pdf'], /--format takes native, html, markdown, atif, otlp, openai-jsonl or mini-swe-agent; got pdf/],
  [['export', '--format', 'html'], /name the records to export/],
  [['export', 'runs', '--format', 'html'], /2 records do not fit into one html file: name a folder for them with --out/],
  [['export', 'runs', '--format', 'html', '--out', 't.jsonl'], /--out takes a folder; t\.jsonl is a file/],
  [['view', 'runz'], /runz: No such file or folder; did you mean runs\?/],
  [['view', 'runs/a.json'], /view takes a folder; runs\/a\.json is a file/],
  [['view', 'empty'], /empty has no records/],
  [['view', 'runs', '--port', '70000'], /--port takes a whole number, from 0 to 65535; got 70000/],
  // Proxy
  [['proxy'], /say which server the key is for: --provider openai\|openrouter/],
  [['proxy', '--provider', 'anthropic'], /the proxy speaks Chat Completions/],
  [['proxy', '--provider', 'ollama'], /say which models visitors may use: --model NAME/],
  [['proxy', '--provider', 'ollama', '--model', ','], /say which models visitors may use/],
  [[...PROXY, '--origin', 'https://a.example', '--questions', 'no/q.jsonl'], /--questions no\/q\.jsonl: there is no folder no/],
  [PROXY, /say whose pages may ask: --origin https:\/\/docs\.example\.org/],
  [[...PROXY, '--origin', 'docs.example.org'], /got docs\.example\.org; did you mean https:\/\/docs\.example\.org\?/],
  [[...PROXY, '--origin', 'https://docs.example.org/guide/'], /without a path; got https:\/\/docs\.example\.org\/guide\/; did you mean https:\/\/docs\.example\.org\?/],
  [[...PROXY, '--origin', '*'], /--origin takes origins such as https:\/\/docs\.example\.org; got \*/],
  [[...PROXY, '--origin', 'https://a.example', '--per-minute', '0'], /--per-minute takes a whole number, 1 or more; got 0/],
  [['proxy', '--base-url', 'localhost:1/v1', '--model', 'm', '--origin', 'https://a.example'], /--base-url takes an address that begins with https:\/\/ or http:\/\/.*got localhost:1\/v1/],
  [['proxy', '--provider', 'openai', '--model', 'm', '--origin', 'https://a.example'], /OPENAI_API_KEY is not set: it has to hold the key; a key is never an argument/],
  [['proxy', KEY, '--provider', 'openai'], /proxy takes options only; got 1 other argument/],
];

test(`${TABLE.length} misuses are answered with what was given, what is taken and what was meant`, () => inFolder(async (folder) => {
  const write = (name, text) => writeFileSync(path.join(folder, name), text);
  write('t.jsonl', lines([{ id: 'a', task: 'go' }, { id: 'c', task: 'on' }]));
  await withScript([{ text: 'ok' }, { text: 'ok' }], async (baseUrl) => {
    const { code, err } = await turnwise(['run', 't.jsonl', '--provider', 'openai', '--base-url', baseUrl, '--model', 'm'], { cwd: folder });
    assert.equal(code, 0, err);
  });
  for (const name of ['empty', 'notes']) mkdirSync(path.join(folder, name));
  write('notes/x.txt', 'x');
  write('other.json', '{"a":1}');
  write('broken.json', '{"format":');
  write('one.csv', 'id,input\na,go\n');
  write('semicolons.csv', 'id;task\na;go\n');
  write('score.mjs', 'export const score = 1;');
  const before = readFileSync(path.join(folder, 'runs/summary.json'), 'utf8');
  const wrong = [];
  await inParallel(TABLE, 3, async ([args, words]) => {
    const { code, out, err } = await turnwise(args, { cwd: folder, env: { OPENAI_API_KEY: '' } });
    const faults = [code !== 2 && `exit code ${code}`, out && `it printed ${out}`, !words.test(err) && `it said ${err}`, err.includes(KEY) && 'the key is repeated', !/--help for details\.\n$/.test(err) && 'no help is named', /\n {4}at /.test(err) && 'it has a stack'].filter(Boolean);
    if (faults.length) wrong.push(`turnwise ${args.join(' ')}: ${faults.join('; ')}`);
  });
  assert.deepEqual(wrong, []);
  assert.equal(readFileSync(path.join(folder, 'runs/summary.json'), 'utf8'), before, 'nothing was written');
  assert.ok(!existsSync(path.join(folder, 'pages')));
}));

test('each command has help that names all its options', async () => {
  const { out } = await turnwise(['--help']);
  const names = [...out.matchAll(/^ {2}turnwise (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(names, ['stats', 'replay', 'run', 'compare', 'export', 'view', 'proxy']);
  for (const name of names) {
    const given = await turnwise([name, '--help']);
    assert.deepEqual([given.code, given.err], [0, '']);
    assert.match(given.out, new RegExp(`^usage: turnwise ${name} `));
    for (const other of [['help', name], [name, '-h'], [name, 'x', '--help']]) assert.equal((await turnwise(other)).out, given.out);
    for (const [, option] of given.out.split('\n\n')[0].matchAll(/--([\w-]+)/g)) assert.match(given.out, new RegExp(`^ {2}--${option} `, 'm'), `${name}: --${option} of the usage is not explained`);
  }
  assert.equal((await turnwise([])).code, 2);
});
