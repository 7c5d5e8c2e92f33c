// Skills: reading those of others, the three stages, scripts that run and end a run, skills of a site with their digests, replay. In
// Node.js, with a model in this process and sites on loopback.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { zip } from './lib/documents.mjs';

const site = path.resolve(process.env.SITE ?? 'dist', 'turnwise');
const load = (file) => import(pathToFileURL(path.join(site, file)).href);
const { Agent, LowLevelAgent, TurnwiseError, custom, replay } = await load('index.node.js');
const { findSkills, readSkills } = await load('skills.js');

const COUNT = {
  'count/SKILL.md': `---
name: count
description: Counts the words of a text. Use it when asked for a length.
license: MIT
metadata:
  may-finish: scripts/submit.js
---
Count the words with count_words, then submit the number with count_submit.
`,
  'count/scripts/words.js': '// Counts the words of `text`.\ninput.text.split(/\\s+/).filter(Boolean).length',
  'count/scripts/submit.js': "console.log('<<<FINAL_RESULT>>>' + JSON.stringify({ words: input.words }) + '<<<END_FINAL_RESULT>>>')",
  'count/references/rules.md': 'A number is a word.',
};
const QUICK = { retry: { baseMs: 1, capMs: 5 } };
const calls = (...list) => ({ choices: [{ message: { role: 'assistant', content: null, tool_calls: list.map(([name, args = {}], at) => ({ id: `c${at}`, type: 'function', function: { name, arguments: JSON.stringify(args) } })) }, finish_reason: 'tool_calls' }] });

/** A model with these replies; one more request, or one fewer, fails. */
function scripted(...replies) {
  const requests = [];
  const model = custom((request) => {
    requests.push(request);
    const reply = replies[requests.length - 1];
    if (reply === undefined) throw new Error(`request ${requests.length} was not expected`);
    return reply;
  });
  return { model, requests, all: () => assert.equal(requests.length, replies.length, 'every reply was asked for') };
}

/** A site on loopback; it answers 404 for what it does not have. */
async function withFiles(files, body) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const content = files[request.url];
    if (content === undefined) return response.writeHead(404).end();
    return response.writeHead(200).end(content);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await body(`http://127.0.0.1:${server.address().port}`, asked);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const one = (text, files = {}) => readSkills({ 'a/SKILL.md': text, ...files });
const messages = ({ faults }) => faults.map(({ message }) => message);

test('a skill is found, read, run, and ends the run with its result', async () => {
  const { model, requests, all } = scripted(
    calls(['read_skill', { name: 'count' }], ['read_skill', { name: 'count', path: 'references/rules.md' }]),
    calls(['count_words', { text: 'one two  three' }]),
    calls(['count_submit', { words: 3 }]),
  );
  const run = await new Agent({ model, ...QUICK, skills: [COUNT] }).generate('How long is "one two three"?');
  all();
  const [first, second, third] = run.trajectory.turns.map((turn) => turn.tool_calls.map(({ result }) => result));
  assert.match(requests[0].messages[0].content, /Skills are .*\n- count: Counts the words of a text\. Use it when asked for a length\.$/);
  assert.deepEqual(requests[0].tools.map((tool) => tool.function.name), ['read_skill', 'count_submit', 'count_words']);
  assert.match(requests[0].tools[2].function.description, /Counts the words of `text`/);
  assert.match(first[0], /^Count the words with count_words/);
  assert.match(first[0], /- scripts\/words\.js: call the tool count_words/);
  assert.match(first[1], /^A number is a word\./);
  assert.match(second[0], /^=> 3\n/);
  assert.match(third[0], /FINAL_RESULT/);
  assert.deepEqual([run.trajectory.termination_reason, run.trajectory.final_result_data], ['final_result', { words: 3 }]);
  const again = await replay(run.trajectory);
  assert.deepEqual(again, { ok: true });
});

test('a script sees its arguments, calls tools, and can do nothing else', async () => {
  const skill = {
    's/SKILL.md': '---\nname: s\ndescription: d\nallowed-tools: Read lamp\n---\nDo.',
    's/scripts/go.js': `
      const seen = [typeof fetch, typeof process, typeof document, JSON.stringify(input), Object.keys(tools).sort().join()];
      try { await tools.other({}); } catch (error) { seen.push(error.name); }
      console.log(await tools.lamp({ n: input.n }));
      seen.join('; ')`,
  };
  const { model, all } = scripted(calls(['s_go', { n: 4, __proto__: null, constructor: 'x' }]), 'done');
  const tools = { lamp: { execute: ({ n }) => `lamp ${n}` }, other: { execute: () => 'other' } };
  const { trajectory } = await new Agent({ model, ...QUICK, tools, skills: skill, permissions: { page: 'allow', network: 'allow' } }).generate('go');
  all();
  const [call] = trajectory.turns[0].tool_calls;
  assert.match(call.result, /^lamp 4\n=> undefined; undefined; undefined; \{"constructor":"x","n":4\}; lamp; TypeError\n/);
  assert.deepEqual(call.calls.map(({ name }) => name), ['lamp']);
});

test('skills as others write them', async (t) => {
  const body = '\nDo it.';
  const cases = {
    'a colon in the description': ['---\nname: a\ndescription: Use it when: asked\n---' + body, 'a', 'Use it when: asked', [/not valid YAML.*as plain texts/]],
    'a block of text': ['---\nname: a\ndescription: >-\n  Two\n  lines\n---' + body, 'a', 'Two lines', []],
    'Windows lines and a byte order mark': ['\ufeff---\r\nname: a\r\ndescription: d\r\n---\r\nDo it.', 'a', 'd', []],
    'no name': ['---\ndescription: d\n---' + body, 'a', 'd', [/no name; its folder's/]],
    'a name in capitals': ['---\nname: My Skill\ndescription: d\n---' + body, 'my-skill', 'd', [/"My Skill" is not.*my-skill is used/]],
    'a name unlike its folder': ['---\nname: b\ndescription: d\n---' + body, 'b', 'd', [/its name is b, and that of its folder a/]],
    'no front matter': ['# Title\n\nCounts words.\n\nMore.', 'a', 'Counts words.', [/no front matter/, /first paragraph/, /no name/]],
    'an unclosed front matter': ['---\nname: a\n\nWords.', 'a', '---\nname: a', [/does not end with/]],
    'fields of other programs': ['---\nname: a\ndescription: d\nmodel: opus\nversion: 1\n---' + body, 'a', 'd', [/field model/, /field version/]],
    'tabs': ['---\nname: a\ndescription: d\nmetadata:\n\tauthor: x\n---' + body, 'a', 'd', [/not valid YAML/]],
    'a long description': [`---\nname: a\ndescription: ${'d'.repeat(2_000)}\n---` + body, 'a', 'd'.repeat(1_024), [/2000 characters/]],
    'an alias bomb': ['---\nname: a\ndescription: d\nmetadata: {a: &a [x,x,x,x,x,x,x,x,x], b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a], c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b], d: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]}\n---' + body, 'a', 'd', [/./]],
    'a prototype': ['---\nname: a\ndescription: d\n__proto__: {x: 1}\n---' + body, 'a', 'd', [/__proto__/]],
  };
  for (const [name, [text, expected, description, faults]] of Object.entries(cases)) {
    await t.test(name, async () => {
      const read = await one(text);
      assert.equal(read.skills.length, 1, JSON.stringify(read.faults));
      assert.equal(read.skills[0].name, expected);
      assert.equal(read.skills[0].description.trim(), description);
      for (const fault of faults) assert.ok(messages(read).some((message) => fault.test(message)), `${fault}: ${messages(read).join('; ')}`);
      if (!faults.length) assert.deepEqual(messages(read), []);
      assert.ok(read.faults.every(({ skipped }) => !skipped));
    });
  }
  for (const [name, read, fault] of [
    ['no instructions', await one('---\nname: a\ndescription: d\n---\n'), /no instructions/],
    ['bytes', await readSkills({ 'a/SKILL.md': new Uint8Array([0xff, 0xfe, 0]) }), /not a text/],
    ['no SKILL.md', await readSkills({ 'a/README.md': 'x' }), /no SKILL\.md/],
    ['nothing', await readSkills({}), /no SKILL\.md/],
  ]) {
    assert.deepEqual([read.skills, read.faults.map(({ skipped }) => skipped)], [[], [true]], name);
    assert.match(messages(read)[0], fault);
  }
});

test('what a skill has beside its instructions', async () => {
  const read = await readSkills({
    ...COUNT,
    'count/scripts/node.js': "const fs = require('fs')",
    'count/scripts/module.mjs': 'export default 1',
    'count/scripts/go.py': 'print(1)',
    'count/assets/logo.png': new Uint8Array([0x89, 0x50, 0, 1]),
    'count/assets/huge.txt': 'x'.repeat(300_000),
    'count/.DS_Store': 'x', '__MACOSX/count/SKILL.md': 'x',
    'other/SKILL.md': '---\nname: other\ndescription: d\nallowed-tools: Bash(git:*), Read, Grep\nmetadata:\n  may-finish: scripts/none.js\n---\nDo.',
    'again/SKILL.md': '---\nname: count\ndescription: d\n---\nDo.',
    'README.md': 'belongs to none',
  });
  assert.deepEqual(read.skills.map(({ name }) => name), ['count', 'other']);
  const [count, other] = read.skills;
  assert.deepEqual(count.scripts.map(({ tool, may_finish: finishes }) => [tool, finishes]), [['count_submit', true], ['count_words', undefined]]);
  assert.deepEqual(count.binary, ['assets/logo.png']);
  assert.ok('scripts/go.py' in count.files && 'scripts/node.js' in count.files && !('assets/huge.txt' in count.files));
  assert.deepEqual(other.allowed_tools, ['read_file', 'search_files']);
  for (const fault of [/needs require/, /needs import or export/, /293 KB/, /Bash\(git:\*\) allows a part/, /may-finish names scripts\/none\.js/, /another skill is named count/, /belongs to no skill/]) {
    assert.ok(messages(read).some((message) => fault.test(message)), `${fault}: ${messages(read).join('\n')}`);
  }
});

test('archives, addresses and the skills of a site', async () => {
  const archive = zip(Object.entries(COUNT));
  assert.deepEqual((await readSkills(new Blob([archive]))).skills, (await readSkills(COUNT)).skills);
  const outside = zip([['../../evil/SKILL.md', '---\nname: evil\ndescription: d\n---\nx']]);
  assert.equal((await readSkills(new Blob([outside]))).skills[0].name, 'evil');
  const sha = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const skill = '---\nname: b\ndescription: d\n---\nSee [rules](references/rules.md), `scripts/none.js` and [out](../x.md).';
  const index = { skills: [
    { name: 'count', type: 'archive', description: 'Counts.', url: '/count.zip', digest: sha(archive) },
    { name: 'b', type: 'skill-md', description: 'B.', url: '/b/SKILL.md', digest: sha(skill) },
    { name: 'forged', type: 'skill-md', description: 'F.', url: '/b/SKILL.md', digest: sha('other') },
  ] };
  await withFiles({ '/.well-known/agent-skills/index.json': JSON.stringify(index), '/count.zip': archive, '/b/SKILL.md': skill, '/b/references/rules.md': 'rules', '/bad.json': '{"skills":[{"name":"x","url":"/x"}]}' }, async (base, asked) => {
    const offered = await findSkills(base);
    assert.deepEqual([offered.map(({ name }) => name), asked], [['count', 'b', 'forged'], ['/.well-known/agent-skills/index.json']], 'nothing is loaded before it is asked for');
    assert.deepEqual((await offered[0].load()).skills[0].scripts.length, 2);
    assert.equal((await offered[1].load()).skills[0].name, 'b');
    await assert.rejects(offered[2].load(), /its digest is sha256:.* not loaded/);
    await assert.rejects(findSkills(`${base}/bad.json`), /digest: got nothing; expected sha256/);
    await assert.rejects(readSkills(`${base}/.well-known/agent-skills/index.json`), /its digest/);
    const read = await readSkills(`${base}/b/SKILL.md`);
    assert.deepEqual([Object.keys(read.skills[0].files), read.faults.map(({ path: file, message }) => [file, message])], [['references/rules.md'], [['b/scripts/none.js', 'SKILL.md mentions this file, and it could not be fetched']]]);
    assert.ok(!asked.includes('/x.md'), 'what leads out of the skill is not fetched');
    await assert.rejects(readSkills(`${base}/none/SKILL.md`), /answered 404/);
    const { model } = scripted();
    const failed = await new Agent({ model, skills: [`${base}/none/SKILL.md`] }).generate('go').catch((error) => error);
    assert.ok(failed instanceof TurnwiseError && failed.reason === 'skills' && /answered 404/.test(failed.message), String(failed));
  });
  for (const [given, says] of [[7, /skills\[0\]: got 7; expected files by path/], ['---\nname: a\n---', /For the text of a SKILL\.md, write/], ['ftp://x/SKILL.md', /http or https/], [{ 'a/SKILL.md': 7 }, /skills\[0\]\["a\/SKILL\.md"\]: got 7/]]) {
    await assert.rejects(readSkills(given), (error) => error instanceof TypeError && says.test(error.message), String(given));
  }
});

test('a SKILL.md at an address comes with the script that may end the run', () => withFiles({
  '/s/SKILL.md': '---\nname: s\ndescription: d\nmetadata:\n  may-finish: "scripts/end.js"\n---\nDo.', '/s/scripts/end.js': 'console.log(1)',
}, async (base) => {
  const { skills: [skill], faults } = await readSkills(`${base}/s/SKILL.md`);
  assert.deepEqual([skill.scripts.map(({ path: file, may_finish: finishes }) => [file, finishes]), faults], [[['scripts/end.js', true]], []]);
}));

test('the skill of the documentation', async () => {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(path.resolve(import.meta.dirname, '../../docs/skills.md'), 'utf8');
  const blocks = [...text.matchAll(/^`(count\/[\w./]+)`:\n\n```\w+\n([^]*?)```$/gm)].map(([, file, code]) => [file, code]);
  assert.deepEqual(blocks.map(([file]) => file), ['count/SKILL.md', 'count/scripts/words.js', 'count/scripts/submit.js']);
  assert.ok(blocks.reduce((sum, [, code]) => sum + code.trimEnd().split('\n').length, 0) < 30);
  const { skills, faults } = await readSkills(Object.fromEntries(blocks));
  assert.deepEqual(faults, []);
  const { model, requests, all } = scripted(calls(['read_skill', { name: 'count' }]), calls(['count_words', { text: 'one two  three' }]), calls(['count_submit', { words: 'three' }]), calls(['count_submit', { words: 3 }]));
  const { trajectory } = await new Agent({ model, ...QUICK, skills }).generate('How long is "one two three"?');
  all();
  assert.match(requests[2].messages.at(-1).content, /^=> 3\n/);
  assert.match(requests[3].messages.at(-1).content, /words has to be a whole number/);
  assert.deepEqual([trajectory.termination_reason, trajectory.final_result_data], ['final_result', { words: 3 }]);
});

test('faults are said of the skill that they are about', async () => {
  const { faults } = await readSkills({ 'x/folder/SKILL.md': '---\nname: a\ndescription: d\ncolour: red\n---\nDo.', 'x/none/SKILL.md': '' });
  assert.deepEqual([...new Set(faults.map(({ skill }) => skill))].sort(), ['a', 'none']);
});

test('the steps of a plan have the skills', async () => {
  const { model, requests, all } = scripted('done');
  const { ending } = await new Agent({ model, ...QUICK, skills: COUNT }).runPlan({ agents: { A: { kind: 'gather' } }, steps: [{ order: 1, agent: 'A', action: 'Count' }] });
  all();
  assert.equal(ending.outcome, 'success');
  assert.ok(requests[0].tools.some((one) => one.function.name === 'count_submit') && requests[0].messages[0].content.includes('- count: '));
});

test('a kind of sub-agents has the skills that it names, with their tools; a skill that the agent does not have is an error', async () => {
  const other = { 'other/SKILL.md': '---\nname: other\ndescription: Other things.\n---\nDo.' };
  const { model, requests, all } = scripted(
    calls(['spawn_subagents', { tasks: [{ task: 'Count "one two"', agent: 'counter' }] }]),
    calls(['read_skill', { name: 'count' }]), calls(['count_submit', { words: 2 }]), 'Two.',
  );
  const agent = (skills) => new Agent({ model, ...QUICK, skills: [COUNT, other], preset: 'orchestrator', subagents: { counter: { description: 'counts', tools: ['spawn_subagents'], preset: 'research', skills } } });
  const { trajectory } = await agent(['count']).generate('How long is "one two"?');
  all();
  const names = ({ tools }) => tools.map((tool) => tool.function.name).sort();
  assert.deepEqual(names(requests[0]), ['count_submit', 'count_words', 'read_skill', 'spawn_subagents']);
  assert.deepEqual(names(requests[1]), ['count_submit', 'count_words', 'read_skill']);
  assert.match(requests[1].messages[0].content, /\n- count: Counts the words/);
  assert.ok(requests[0].messages[0].content.includes('- other: ') && !requests[1].messages[0].content.includes('- other: '));
  assert.deepEqual([trajectory.children[0].final_result_data, trajectory.children[0].config.skills.map(({ name }) => name)], [{ words: 2 }, ['count']]);
  assert.deepEqual(await replay(trajectory), { ok: true });
  await assert.rejects(agent(['cuont']).generate('go'), /^TypeError: options: the sub-agent "counter" names the skill "cuont", which this agent does not have; it has count, other/);
  assert.throws(() => agent('count'), /subagents\.counter\.skills: got "count"; expected an array of names of skills/);
});

test('the low-level agent, a chat, and whoever continues a record', async () => {
  const { skills } = await readSkills(COUNT);
  const { model, requests, all } = scripted('one', 'two', calls(['count_submit', { words: 1 }]));
  const agent = new Agent({ model, ...QUICK, skills });
  const chat = agent.chat();
  await chat.send('a');
  await chat.send('b');
  await chat.send('c');
  all();
  assert.ok(requests.every(({ messages: [system] }) => system.content.includes('- count: ')));
  const low = new LowLevelAgent({ provider: scripted('x').model });
  low.setSkills(skills);
  const trajectory = await low.run('go');
  assert.deepEqual(trajectory.config.skills.map(({ name }) => name), ['count']);
  low.setSkills([]);
  low.free();
  const without = await new Agent({ model: scripted('y').model, ...QUICK }).branch(trajectory, { edit: { say: 'again' } });
  assert.deepEqual(without.trajectory.tools.filter(({ name }) => name === 'read_skill'), [], 'a record brings no skills');
});

test('the skill that is shipped submits what the files say, and nothing else', async () => {
  const folder = path.join(site, 'skills/research-documents');
  const { readFile } = await import('node:fs/promises');
  const files = Object.fromEntries(await Promise.all(['SKILL.md', 'scripts/submit.js'].map(async (name) => [`research-documents/${name}`, await readFile(path.join(folder, name), 'utf8')])));
  const { skills, faults } = await readSkills(files);
  assert.deepEqual([skills.length, faults], [1, []]);
  const finding = (quote) => ({ claim: 'It starts on Tuesday.', path: 'plan.md', quote });
  const submit = (...findings) => calls(['research-documents_submit', { answer: 'On Tuesday.', findings, open: [] }]);
  const { model, all } = scripted(calls(['read_skill', { name: 'research-documents' }]), submit(finding('It starts on Monday')), submit(finding('it **starts** on\nTuesday, line 2999')));
  const text = Array.from({ length: 3_000 }, (_, n) => `It starts on Tuesday, line ${n}`).join('\n');
  const { trajectory } = await new Agent({ model, ...QUICK, skills, files: { 'plan.md': text } }).generate('When does it start?');
  all();
  assert.match(trajectory.turns[1].tool_calls[0].result, /Nothing was submitted:\nfindings\[0\]: this quote is not in plan\.md: It starts on Monday/);
  assert.equal(trajectory.termination_reason, 'final_result');
  assert.equal(trajectory.final_result_data.answer, 'On Tuesday.');
});
