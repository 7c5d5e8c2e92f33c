// node .ci/llms.mjs OUT [FOLDER]: writes OUT/llms.txt, an index of the documentation for models (llmstxt.org), and the pages that it links to as
// Markdown, with their pictures and schemas, into OUT/FOLDER. The documentation site (book) and the npm package (build) ship both. The index follows docs/index.md.
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [out, folder = '.'] = process.argv.slice(2);
const docs = path.join(import.meta.dirname, '../docs');
const [start, ...sections] = readFileSync(path.join(docs, 'index.md'), 'utf8').split(/^## /m);
/** Pages for those who work on the project. */
const OPTIONAL = ['design.md', 'development.md'];

const at = (page) => path.posix.join(folder, page);
const rows = sections.flatMap((text) => [...text.matchAll(/^\| \[([^\]]+)\]\(([\w-]+\.md)\) \| (.*) \|$/gm)].map(([, title, page, what]) => ({ section: text.split('\n')[0], page, line: `- [${title}](${at(page)}): ${what.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')}` })));
const named = [...new Set(rows.map(({ section }) => section))].map((section) => [section, rows.filter((row) => row.section === section && !OPTIONAL.includes(row.page))]);
const lists = [...named, ['Optional', rows.filter(({ page }) => OPTIONAL.includes(page))]].map(([name, list]) => `## ${name}\n\n${list.map(({ line }) => line).join('\n')}\n`);
const [, about] = start.split('\n\n');
mkdirSync(path.join(out, folder), { recursive: true });
writeFileSync(path.join(out, 'llms.txt'), `# Turnwise\n\n> ${about.replaceAll('\n', ' ')}\n\n${lists.join('\n')}`);
cpSync(docs, path.join(out, folder), { recursive: true });
// The package has the proxy of the examples as a folder of its own.
if (folder !== '.') {
  for (const page of readdirSync(docs).filter((name) => name.endsWith('.md'))) {
    writeFileSync(path.join(out, folder, page), readFileSync(path.join(docs, page), 'utf8').replaceAll('](../examples/key-proxy/', '](../key-proxy/'));
  }
}
