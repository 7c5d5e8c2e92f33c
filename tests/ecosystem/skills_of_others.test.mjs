// Skills that others published: each is read, and what differs from the specification is said. 144 of four packages of npm: cc-sdd,
// @plaited/development-skills, agent-reviews, swedish-medications.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const { readSkills } = await import(pathToFileURL(path.resolve(process.env.SITE ?? 'dist', 'turnwise/skills.js')).href);

const filesIn = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).map((one) => path.join(one.parentPath ?? one.path, one.name));

/** Every folder of a package with a SKILL.md, read alone: packages have the same skill for several programs. */
async function read(name) {
  const root = path.join(import.meta.dirname, 'node_modules', name);
  const folders = filesIn(root).filter((file) => path.basename(file) === 'SKILL.md').map(path.dirname);
  const all = [];
  for (const folder of folders) {
    const files = Object.fromEntries(filesIn(folder).map((file) => [`${path.basename(folder)}/${path.relative(folder, file)}`, new Uint8Array(readFileSync(file))]));
    all.push(await readSkills(files));
  }
  return all;
}

for (const [name, skills, said] of [
  ['cc-sdd', 136, [/its field \S+ is not in the specification/]],
  ['@plaited/development-skills', 5, []],
  ['agent-reviews', 1, [/needs (require|import or export|Node\.js)/, /Bash\(gh pr view \*\) allows a part of a tool/]],
  ['swedish-medications', 1, []],
]) {
  test(`${name}: ${skills} skills`, async () => {
    const all = await read(name);
    assert.equal(all.length, skills);
    for (const { skills: found, faults } of all) {
      assert.equal(found.length, 1, JSON.stringify(faults));
      assert.ok(found[0].description.length > 20 && found[0].instructions.length > 20);
      assert.deepEqual(faults.filter(({ skipped }) => skipped), []);
    }
    const messages = all.flatMap(({ faults }) => faults.map(({ message }) => message));
    for (const fault of said) assert.ok(messages.some((message) => fault.test(message)), `${fault}: ${[...new Set(messages)].join('\n')}`);
    // Their scripts are for Node.js or Python: none would run here.
    assert.deepEqual(all.flatMap(({ skills: [skill] }) => skill.scripts ?? []), []);
  });
}
