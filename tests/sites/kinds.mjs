// The build of each generator's site. The contents are as their authors shipped them; changes are noted at each kind. The
// tag goes where a site's author would put it; docs/install.md says the same.
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crate, debian, npmPackage, npmProject, python, sdist, sh } from './fetch.mjs';

/** The path where the sites are served: a folder below the root, as for project pages. */
export const BASE = '/docs/';

/** Returns a work folder with a fresh copy of `from`. */
function copy(from, to) {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  return to;
}

/** Copies the kind's configuration files to `to`, with the launcher's URL filled in. */
function configure(from, to, embed) {
  for (const entry of readdirSync(from, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    const target = path.join(to, path.relative(from, file));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, readFileSync(file, 'utf8').replaceAll('@EMBED@', embed));
  }
}

/** Changes a file, or every file of a kind in a folder. */
function edit(file, change, extension = '.md') {
  if (!statSync(file).isDirectory()) return writeFileSync(file, change(readFileSync(file, 'utf8'), file));
  for (const entry of readdirSync(file, { recursive: true })) if (entry.endsWith(extension)) edit(path.join(file, entry), change);
  return undefined;
}

function mdbook({ pins, dir, config, site, embed }) {
  const bin = python(path.join(dir, 'tools'), pins.python);
  const book = copy(path.join(crate(...pins.source), 'src', 'doc'), path.join(dir, 'work'));
  configure(config, book, embed('{{ path_to_root }}'));
  sh(path.join(bin, 'mdbook'), ['build', '--dest-dir', site, book]);
}

// Their configuration is for Zensical, which reads MkDocs'. Ours inherits it. One of their own extensions (a button that
// collapses code) is not in the source distribution: its blocks become plain ones. Also missing are a text that one page
// shows (SECURITY.md) and Lucide's icons.
function mkdocs({ pins, dir, config, site, embed }) {
  const bin = python(path.join(dir, 'tools'), pins.python);
  const work = copy(sdist(path.join(dir, 'source'), ...pins.source), path.join(dir, 'work'));
  configure(config, work, embed(''));
  edit(path.join(work, 'zensical.yml'), (text) => text.replace(/ {2}- tools\.collapse_code:\n( {6}.*\n)*/, '')
    .replace('check_paths: true', 'check_paths: false').replace('lucide/sun', 'material/weather-sunny').replace('lucide/moon', 'material/weather-night'));
  edit(path.join(work, 'docs/src/markdown'), (text) => text.replace(/^( *\/+) collapse-code/gm, '$1 html | div').replace(/^icon: lucide.*\n/m, ''));
  const main = path.join(work, 'docs/theme/main.html');
  writeFileSync(main, `${readFileSync(main, 'utf8')}\n${readFileSync(path.join(config, 'main.html'), 'utf8')}`);
  sh(path.join(bin, 'mkdocs'), ['build', '--quiet', '--site-dir', site], { cwd: work, env: { PYTHONPATH: work } });
}

// Without the other projects' inventories: there is no network.
function sphinx({ pins, dir, config, site, embed }) {
  const bin = python(path.join(dir, 'tools'), pins.python);
  const docs = path.join(copy(sdist(path.join(dir, 'source'), ...pins.source), path.join(dir, 'work')), 'docs');
  configure(config, docs, embed(''));
  appendFileSync(path.join(docs, 'conf.py'), '\nintersphinx_mapping = {}\ntemplates_path = ["_templates"]\n');
  sh(path.join(bin, 'sphinx-build'), ['-q', '-b', 'html', docs, site]);
  rmSync(path.join(site, '.doctrees'), { recursive: true, force: true });
}

function rustdoc({ pins: { source: [name, version] }, dir, config, site, embed }) {
  const work = path.join(dir, 'work');
  const target = path.join(dir, 'target');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(path.join(work, 'src'), { recursive: true });
  configure(config, work, embed(BASE));
  writeFileSync(path.join(work, 'src/lib.rs'), '');
  writeFileSync(path.join(work, 'Cargo.toml'), `[package]\nname = "docs"\nedition = "2021"\n[dependencies]\n${name} = { version = "=${version}", features = ["full"] }\n[workspace]\n`);
  rmSync(path.join(target, 'doc'), { recursive: true, force: true });
  sh('cargo', ['doc', '--quiet', '--no-deps', '--package', name], { cwd: work, env: {
    CARGO_TARGET_DIR: target,
    RUSTDOCFLAGS: `--html-in-header ${path.join(work, 'head.html')} --html-after-content ${path.join(work, 'after.html')}`,
  } });
  cpSync(path.join(target, 'doc'), site, { recursive: true });
}

/** Puts a package's Markdown and the kind's configuration into an npm project with the generator. */
function npmSite({ pins, before, dir, config, embed }, from, to, change) {
  const work = npmProject(path.join(dir, 'tools'), pins.npm, before);
  copy(path.join(npmPackage(path.join(dir, 'source'), ...pins.source), from), path.join(work, to));
  edit(path.join(work, to), change);
  configure(config, work, embed(BASE));
  return { work, run: (...command) => sh(path.join(work, 'node_modules/.bin', command[0]), command.slice(1), { cwd: work, env: { CI: '1', ASTRO_TELEMETRY_DISABLED: '1', NODE_OPTIONS: '' } }) };
}

// Without the built-in search, which refuses anchors that occur twice on a page; some of these pages have them.
function vitepress(options) {
  const { run } = npmSite(options, 'docs', 'docs', (text) => text);
  run('vitepress', 'build', 'docs', '--outDir', options.site);
}

// Read as plain Markdown, not as MDX.
function docusaurus(options) {
  const { run } = npmSite(options, 'docs/docs', 'docs', (text) => text);
  run('docusaurus', 'build', '--out-dir', options.site);
}

// Links between pages get the folder that the site is in.
function starlight(options) {
  const { work, run } = npmSite(options, 'docs/content', 'src/content/docs', (text) => text.replace(/\]\(\/(commands|configuring-npm|using-npm)\//g, `](${BASE}$1/`));
  run('astro', 'build', '--silent');
  cpSync(path.join(work, 'dist'), options.site, { recursive: true });
}

// Of the providers, only the one that most pages are about. Without the link to the same page elsewhere that begins each page.
function vuepress(options) {
  const { work, run } = npmSite(options, 'docs', 'docs', (text) => text.replace(/<!-- DOCS-SITE-LINK:START[\s\S]*?DOCS-SITE-LINK:END -->\n/, ''));
  const providers = path.join(work, 'docs/providers');
  for (const entry of readdirSync(providers)) if (entry !== 'aws') rmSync(path.join(providers, entry), { recursive: true });
  run('vuepress', 'build', 'docs', '--dest', options.site, '--clean-temp', '--clean-cache');
}

/**
 * Copies a Debian package's built documentation to the site. The generator does not run, so the tag is put at the end of
 * each page that `isPage` accepts.
 */
function built({ pins: { source }, dir, config, site, embed }, from, isPage = () => true) {
  cpSync(path.join(debian(path.join(dir, 'source'), ...source), from), site, { recursive: true });
  const tag = readFileSync(path.join(config, 'after.html'), 'utf8');
  edit(site, (text, file) => {
    const page = path.relative(site, file);
    const end = text.toLowerCase().lastIndexOf('</body>');
    if (end < 0 || !isPage(page)) return text;
    return text.slice(0, end) + tag.replaceAll('@EMBED@', embed('../'.repeat(page.split(path.sep).length - 1))) + text.slice(end);
  }, '.html');
}

function javadoc(options) {
  built(options, 'usr/share/doc/libcommons-beanutils-java/api');
}

// The pages in search/ are frames with the search's results.
function doxygen(options) {
  built(options, 'usr/share/doc/libglfw3-dev/html', (page) => !page.startsWith('search/'));
}

// Mercurius' own site is made with docsify. Its index.html loads docsify from other hosts; ours loads it from the site. Its
// sidebar has docsify's default name here, and docsify's theme comes without its web fonts. The pages' addresses are
// #/docs/hooks and, with a heading, #/docs/hooks?id=….
function docsify({ pins, dir, config, site, embed }) {
  const source = npmPackage(path.join(dir, 'source'), ...pins.source);
  for (const part of ['docs', 'README.md']) cpSync(path.join(source, part), path.join(site, part), { recursive: true });
  cpSync(path.join(source, 'docsify/sidebar.md'), path.join(site, '_sidebar.md'));
  cpSync(path.join(npmPackage(path.join(dir, 'tools'), ...pins.tool), 'lib'), path.join(site, 'docsify'), { recursive: true });
  edit(path.join(site, 'docsify/themes'), (text) => text.replace(/@import url\([^)]*\);?/, ''), '.css');
  configure(config, site, embed(''));
}

// The pages are in the docstrings' reStructuredText.
function pdoc({ pins, dir, config, site, embed }) {
  const bin = python(path.join(dir, 'tools'), pins.python);
  const work = path.join(dir, 'work');
  rmSync(work, { recursive: true, force: true });
  configure(config, work, embed(BASE));
  sh(path.join(bin, 'pdoc'), ['--docformat', 'restructuredtext', '--template-directory', work, '--output-directory', site, ...pins.modules], { cwd: dir });
}

/** Puts a package's source and its README into an npm project with the generator. */
function npmApi({ pins, before, dir, config, embed }, prefix) {
  const work = npmProject(path.join(dir, 'tools'), pins.npm, before);
  const source = npmPackage(path.join(dir, 'source'), ...pins.source);
  copy(path.join(source, 'src'), path.join(work, 'src'));
  cpSync(path.join(source, 'README.md'), path.join(work, 'src/README.md'));
  configure(config, work, embed(prefix));
  return { work, run: (...command) => sh(path.join(work, 'node_modules/.bin', command[0]), command.slice(1), { cwd: work }) };
}

function typedoc(options) {
  const { run } = npmApi(options, BASE);
  run('typedoc', '--out', options.site);
}

// Without the folders of renderers, nodes, materials and textures: two thirds of the files. The tag is added to the default
// template's layout.
function jsdoc(options) {
  const { work, run } = npmApi(options, '');
  const layout = readFileSync(path.join(work, 'node_modules/jsdoc/templates/default/tmpl/layout.tmpl'), 'utf8');
  writeFileSync(path.join(work, 'layout.tmpl'), layout.replace('</body>', () => `${readFileSync(path.join(work, 'after.html'), 'utf8')}</body>`));
  run('jsdoc', '--configure', 'jsdoc.json', '--destination', options.site);
}

// Plain HTML made by Eleventy, with Pagefind's index of it. The content is a book for mdBook; what its preprocessors make
// is made here: other files are included, unless the crate lacks them, and versions and tabs are filled in. Eleventy adds the
// base to the launcher's URL as to all others.
function pagefind({ pins, before, dir, config, site, embed }) {
  const work = npmProject(path.join(dir, 'tools'), pins.npm, before);
  const source = path.join(crate(...pins.source), 'guide/src');
  const content = copy(source, path.join(work, 'content'));
  const include = (text, file) => text.replace(/\{\{#include (\S+?)\}\}/g, (all, name) => {
    const other = path.join(path.dirname(file), name);
    return existsSync(other) ? include(readFileSync(other, 'utf8'), other) : '';
  });
  const expand = (text) => text.replaceAll('{{#PYO3_DOCS_URL}}', 'https://docs.example/pyo3').replaceAll('{{#PYO3_DOCS_VERSION}}', pins.source[1])
    .replaceAll('{{#PYO3_CRATE_VERSION}}', `version = "${pins.source[1]}"`)
    .replace(/^\{\{#tab name="(.*)" \}\}$/gm, '**$1**').replace(/^\{\{#(tabs|endtab|endtabs) \}\}$/gm, '').replace(/^> \[!([A-Z])([A-Z]+)\]$/gm, (all, first, rest) => `> **${first}${rest.toLowerCase()}**\n>`);
  edit(content, (text, file) => expand(include(text, path.join(source, path.relative(content, file)))));
  configure(config, work, embed('/'));
  const run = (...command) => sh(path.join(work, 'node_modules/.bin', command[0]), command.slice(1), { cwd: work });
  run('eleventy', '--quiet', `--output=${site}`);
  run('pagefind', '--site', site, '--quiet');
}

// Git's manual, whose AsciiDoc lies beside its HTML: a file with HTML is a page, others are parts that pages include. Not
// everything is shipped that they include; such lines are left out, among them most of the configuration variables. Git's
// links become Antora's. The registry has no user interface for Antora; ours is a small one with the classes of the default one.
function antora({ pins, before, dir, config, site, embed }) {
  const work = npmProject(path.join(dir, 'tools'), pins.npm, before);
  const source = path.join(debian(path.join(dir, 'source'), ...pins.source), 'usr/share/doc/git/html');
  for (const old of ['.git', 'docs', 'ui']) rmSync(path.join(work, old), { recursive: true, force: true });
  configure(config, work, embed('{{{siteRootPath}}}/'));
  const names = readdirSync(source, { recursive: true }).filter((name) => name.endsWith('.txt')).map((name) => name.slice(0, -4)).sort();
  const plain = (name) => name.replace('--', '\\--'); // not a dash
  const isPage = (name) => existsSync(path.join(source, `${name}.html`));
  const target = (name, folder) => [name, path.posix.join(folder, name)].find((one) => names.includes(one) && isPage(one));
  for (const name of names) {
    const folder = path.dirname(name);
    const text = readFileSync(path.join(source, `${name}.txt`), 'utf8').replace(folder === 'howto' ? /^[\s\S]*?\n\n/ : /^$/, '') // a mail's header
      .replace(/^include::(.*?)\.txt\[(.*)\]$/gm, (all, other, how) => (names.includes(other) ? `include::${isPage(other) ? 'page' : 'partial'}$${other}.adoc[${how}]` : ''))
      .replace(/linkgit:([\w-]+)\[(\w*)\]/g, (all, other, section) => (target(other, '.') ? `xref:${plain(other)}.adoc[${plain(other)}(${section})]` : `${other}(${section})`))
      .replace(/link:([\w./-]+)\.html(#[\w-]+)?\[/g, (all, other, anchor = '') => (target(other, folder) ? `xref:${target(other, folder)}.adoc${anchor}[` : all));
    const file = path.join(work, 'docs/modules/ROOT', isPage(name) ? 'pages' : 'partials', `${name}.adoc`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const list = (title, test) => `* ${title}\n${names.filter((name) => isPage(name) && test(name)).map((name) => `** xref:${plain(name)}.adoc[]\n`).join('')}`;
  writeFileSync(path.join(work, 'docs/modules/ROOT/nav.adoc'), list('Guides', (name) => !/^git-|\//.test(name)) + list('Commands', (name) => name.startsWith('git-'))
    + list('How-tos', (name) => name.startsWith('howto/')) + list('Technical', (name) => name.startsWith('technical/')));
  const git = (...args) => sh('git', ['-c', 'user.name=docs', '-c', 'user.email=docs@docs.example', '-c', 'commit.gpgsign=false', ...args], { cwd: work });
  git('init', '--quiet');
  git('add', 'docs');
  git('commit', '--quiet', '--message', 'docs');
  sh(path.join(work, 'node_modules/.bin/antora'), ['--to-dir', site, 'playbook.yml'], { cwd: work });
}

/** Returns Markdown with MkDocs' notes (`!!! note`, indented text) as quotes. */
const quoteNotes = (text) => text.replace(/^!!! (\w+)(?: "(.*)")?\n((?:\n*(?: {4}|\t).+\n)+)/gm, (all, kind, title, body) =>
  `> **${title ?? kind[0].toUpperCase() + kind.slice(1)}**\n>\n${body.trimEnd().split('\n').map((line) => `> ${line.replace(/^( {4}|\t)/, '')}`).join('\n')}\n`);

// A page is rendered by Docute in the browser; its address (/docs/tutorial) has no file, so a server must answer it, and any
// other address without a file, with index.html: FALLBACK. Without three pages that MkDocs fills in: a table, the reference of
// the command line, the changelog.
function client({ pins, dir, config, site, embed }) {
  const tool = path.join(npmPackage(path.join(dir, 'tools'), ...pins.tool), 'dist');
  for (const file of ['docute.css', 'docute.js']) cpSync(path.join(tool, file), path.join(site, 'docute', file));
  cpSync(path.join(crate(...pins.source), 'docs'), site, { recursive: true });
  for (const name of ['git-command-table', 'cli-reference', 'changelog']) rmSync(path.join(site, `${name}.md`));
  renameSync(path.join(site, 'index.md'), path.join(site, 'README.md'));
  edit(site, (text) => quoteNotes(text).replace(/^(#.*\S) *\{:? *#.*\}$/gm, '$1'));
  const pages = (folder) => readdirSync(path.join(site, folder)).filter((name) => name.endsWith('.md')).sort().map((name) => ({
    title: readFileSync(path.join(site, folder, name), 'utf8').match(/^# (.*)$/m)?.[1].replaceAll('`', '') ?? name.replace(/\.md$/, ''),
    link: path.posix.join('/', folder, name.replace(/\.md$/, '').replace(/^README$/, '')),
  }));
  const sidebar = { 'Using Jujutsu': '', Guides: 'guides', Technical: 'technical', Design: 'design', Governance: 'governance' };
  writeFileSync(path.join(site, 'sidebar.js'), `const sidebar = ${JSON.stringify(Object.entries(sidebar).map(([title, folder]) => ({ title, children: pages(folder) })), null, 2)};\n`);
  configure(config, site, embed(BASE));
}

/** The page that a server answers where a kind's site has no file. */
export const FALLBACK = { client: 'index.html' };

export const KINDS = { mdbook, mkdocs, sphinx, rustdoc, vitepress, docusaurus, starlight, javadoc, doxygen, vuepress, pdoc, typedoc, jsdoc, pagefind, antora, docsify, client };
