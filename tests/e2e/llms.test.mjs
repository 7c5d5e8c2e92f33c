// llms.txt of the documentation site and of the npm package: an index in the form of llmstxt.org, whose links lead to Markdown.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { root } from './lib/site.mjs';

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
