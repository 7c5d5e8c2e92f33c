// llms.txt of the documentation site and of the npm package: an index in the form of llmstxt.org, whose links lead to Markdown.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { dist, root } from './lib/site.mjs';

for (const [where, folder] of [['the site', undefined], ['the package', 'docs']]) {
  test(`llms.txt of ${where} lists every page once, and each link leads to the page as Markdown`, () => {
    const out = mkdtempSync(path.join(tmpdir(), 'turnwise-llms-'));
    try {
      execFileSync(process.execPath, [path.join(root, '.ci/llms.mjs'), out, ...(folder ? [folder] : [])]);
      const text = readFileSync(path.join(out, 'llms.txt'), 'utf8');
      const [title, about, ...rest] = text.split('\n\n');
      assert.equal(title, '# Turnwise');
      assert.match(about, /^> .+\.$/);
      assert.match(rest.at(-2), /^## Optional$/);
      for (const part of rest) assert.ok(/^## .+$/.test(part) || part.trim().split('\n').every((line) => /^- \[[^\]]+\]\([\w/-]+\.md\): \S/.test(line)), part);
      const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
      const pages = readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'index.md');
      assert.deepEqual(links.map((link) => path.basename(link)).sort(), pages.sort());
      for (const link of links) {
        assert.ok(existsSync(path.join(out, link)), link);
        assert.match(readFileSync(path.join(out, link), 'utf8'), /^# /, link);
      }
    } finally {
      rmSync(out, { recursive: true });
    }
  });
}

// `files` of package.json is what npm packs.
const shipped = new Set(JSON.parse(readFileSync(path.join(dist, 'turnwise/package.json'), 'utf8')).files);
const inPackage = (name) => readFileSync(path.join(dist, 'turnwise', name), 'utf8');
const pages = [...shipped].filter((name) => name.endsWith('.md'));
/** The text of a page without its code, where an address is not a link. */
const prose = (text) => text.replace(/^(```+)[^]*?^\1$/gm, '').replace(/`[^`\n]*`/g, '');

test('every relative link of the pages in the package leads to a file that is in it', () => {
  const links = pages.flatMap((page) => [...prose(inPackage(page)).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, link]) => ({ page, link })))
    .filter(({ link }) => !/^[a-z]+:/.test(link));
  assert.ok(links.length > 300, `${links.length} links`);
  assert.deepEqual(links.filter(({ page, link }) => !shipped.has(path.posix.join(path.posix.dirname(page), link))).map(({ page, link }) => `${page}: ${link}`), []);
});

test('every folder of examples that the pages name is in the package, whole', () => {
  const named = pages.filter((page) => !['ARCHITECTURE.md', 'docs/development.md'].includes(page))
    .flatMap((page) => [...inPackage(page).matchAll(/\bexamples\/([\w-]+)/g)].map(([, folder]) => ({ page, folder })));
  assert.ok(named.length > 10, `${named.length} names`);
  assert.deepEqual(named.filter(({ folder }) => ![...shipped].some((file) => file.startsWith(`examples/${folder}/`)) && !(folder === 'key-proxy' && shipped.has('key-proxy/README.md'))), []);
  for (const folder of readdirSync(path.join(root, 'examples'), { withFileTypes: true }).filter((one) => one.isDirectory()).map(({ name }) => name)) {
    const at = folder === 'key-proxy' ? folder : `examples/${folder}`;
    for (const file of readdirSync(path.join(root, 'examples', folder), { withFileTypes: true }).filter((one) => one.isFile() && one.name !== 'package-lock.json')) assert.ok(shipped.has(`${at}/${file.name}`), `${at}/${file.name}`);
  }
});

test('the examples in the package install the package, not the build of a clone', () => {
  const { version } = JSON.parse(inPackage('package.json'));
  const own = [...shipped].filter((file) => /^examples\/.*\/package\.json$/.test(file));
  assert.ok(own.length);
  for (const file of own) assert.equal(JSON.parse(inPackage(file)).dependencies.turnwise, `^${version}`, file);
});
