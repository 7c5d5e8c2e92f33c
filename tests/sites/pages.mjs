// The contents of a built site's pages, read by a real browser, so that the only parser trusted is the one that visitors have.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { serve } from '../../.ci/static.mjs';
import { withContext } from '../e2e/lib/browser.mjs';
import { htmlFiles, markdownFiles } from './build.mjs';
import { BASE, FALLBACK } from './kinds.mjs';

/**
 * The selector of the pages' own text, and the files that are not pages of the site's own. `route`: the address of the page
 * that shows a Markdown file; such a page is read once the browser has rendered it. `names`: elements that name a section as a
 * heading does.
 */
export const CONTENT = {
  mdbook: { content: 'main', skip: /^(404|print|toc|CHANGELOG)\.html$/ },
  mkdocs: { content: '.md-content__inner', skip: /^404\.html$/ },
  sphinx: { content: '[role=main]', skip: /^(404|genindex|search|py-modindex)\.html$/ },
  rustdoc: { content: '#main-content', skip: /^(src\/|help\.html|settings\.html|[^/]*\.html$|.*\/(all|sidebar-items)\.html)/ },
  vitepress: { content: '.vp-doc', skip: /^404\.html$/ },
  docusaurus: { content: '.theme-doc-markdown', skip: /^(404|search)(\/index)?\.html$/ },
  starlight: { content: 'main', skip: /^404\.html$/ },
  javadoc: { content: 'main', skip: /(^|\/)(src-html|class-use|index|index-all|all(classes|packages)-index|overview-(summary|tree)|package-(tree|use)|help-doc|constant-values|serialized-form|deprecated-list)(\/|\.html$)/ },
  doxygen: { content: '.contents', skip: /^search\/|^(dir_.*|.*_8dox|.*_source|annotated|classes|files|modules|pages|deprecated)\.html$/ },
  vuepress: { content: '[vp-content]', skip: /^404\.html$/ },
  pdoc: { content: 'main', skip: /^index\.html$/, names: ['.attr > .name'] },
  typedoc: { content: '.col-content', skip: /^(hierarchy|modules)\.html$/ },
  jsdoc: { content: '#main', skip: /\.js\.html$/ },
  pagefind: { content: 'main', skip: /^$/ },
  antora: { content: 'article.doc', skip: /^(404|index)\.html$/ },
  docsify: { content: '.markdown-section', skip: /^$/, route: (file) => `#/${file.replace(/(README)?\.md$/, '')}` },
  client: { content: '.Content', skip: /^$/, route: (file) => file.replace(/(README)?\.md$/, '') },
};

/** The path of a page as its site links to it. */
const address = (file) => file.replace(/(^|\/)index\.html$/, '$1');

/**
 * Returns [{ page, sections: [{ level, text, ids, first, generated }] }] for all pages. `ids`: anchors that lead to the
 * heading, the one that the site links first; `first`: the first sentence of the paragraph below it.
 */
export async function readSite(kind, site) {
  const { content, skip, route, names = [] } = CONTENT[kind];
  return withContext({}, async (context) => {
    const tab = await context.newPage();
    const pages = [];
    if (route) {
      for (const [page, html] of await render(tab, kind, site, markdownFiles(site).filter((name) => !skip.test(name)).map(route))) {
        const sections = await tab.evaluate(readPage, [html, content, names]);
        if (sections) pages.push({ page, sections });
      }
      return pages;
    }
    for (const file of htmlFiles(site).filter((name) => !skip.test(name))) {
      const sections = await tab.evaluate(readPage, [readFileSync(path.join(site, file), 'utf8'), content, names]);
      if (sections) pages.push({ page: address(file), sections });
    }
    return pages;
  });
}

/** Returns [page, HTML] for pages that only a browser can make, without requests to other hosts. */
async function render(tab, kind, site, pages) {
  const { content } = CONTENT[kind];
  const fallback = FALLBACK[kind] ? { [BASE]: path.join(site, FALLBACK[kind]) } : {};
  const server = await serve(site, { mounts: { [BASE]: site }, fallback });
  await tab.route('**', (route) => (route.request().url().startsWith(server.url) ? route.continue() : route.abort('blockedbyclient')));
  try {
    const found = [];
    for (const page of pages) {
      await tab.goto('about:blank');
      await tab.goto(new URL(BASE + page, server.url).href);
      await tab.locator(content).locator('h1, h2').first().waitFor({ state: 'attached' });
      found.push([page, await tab.content()]);
    }
    return found;
  } finally {
    await server.close();
  }
}

function readPage([html, content, names]) {
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  if (parsed.querySelector('meta[http-equiv=refresh i]')) return null;
  const main = parsed.querySelector(content);
  if (!main) return null;
  const clean = (element) => {
    const copy = element.cloneNode(true);
    for (const extra of copy.querySelectorAll('.headerlink, .header-anchor, .permalink, .hash-link, .anchor, .sl-anchor-link, button, svg, script, style, .sr-only, .source-link, .src, .rightside, .signature, .type-signature')) {
      // VuePress' and docsify's anchors hold the heading's text.
      if (!extra.matches('.header-anchor, .anchor') || !/\w/.test(extra.textContent)) extra.remove();
    }
    return copy.textContent.replace(/[\u200b¶#§]/g, '').replace(/\s+/g, ' ').trim();
  };
  const sentence = (paragraph) => (paragraph ? clean(paragraph).match(/^.*?[.!?](?=\s|$)|^.*/s)[0] : '');
  const headings = [...main.querySelectorAll(['h1, h2, h3, h4, h5, h6', ...names].join())].filter((element) => !element.closest('nav, pre, details.toggle > summary, .docblock-short, .item-table'));
  return headings.map((heading) => {
    if (!/^h\d$/i.test(heading.tagName)) {
      const section = heading.closest('[id]');
      return { level: 3, text: clean(heading), ids: [section.id], first: sentence(section.querySelector(':scope > .docstring > p')), generated: false };
    }
    const ids = new Set();
    const link = heading.querySelector('a[href^="#"]')?.getAttribute('href')?.slice(1);
    if (link && parsed.getElementById(decodeURIComponent(link))) ids.add(decodeURIComponent(link));
    if (heading.id) ids.add(heading.id);
    for (const inner of heading.querySelectorAll('a[id], span[id]')) ids.add(inner.id);
    const section = heading.parentElement;
    if (/^(section|div)$/i.test(section.tagName) && section.id && section.querySelector('h1, h2, h3, h4, h5, h6') === heading) ids.add(section.id);
    for (let before = heading.previousElementSibling; before && /^(span|a)$/i.test(before.tagName); before = before.previousElementSibling) if (before.id) ids.add(before.id);
    const wrapped = heading.parentElement.matches('.sl-heading-wrapper');
    let next = (wrapped ? null : heading.nextElementSibling) ?? heading.parentElement.nextElementSibling;
    while (next && !/^(p|h[1-6])$/i.test(next.tagName)) {
      if (next.matches('.sectionbody, .paragraph, .class-description')) next = next.firstElementChild; // Antora's, JSDoc's
      else next = next.querySelector('h1, h2, h3, h4, h5, h6') ? null : next.nextElementSibling;
    }
    return {
      level: Number(heading.tagName[1]),
      text: clean(heading),
      ids: [...ids],
      first: next?.tagName === 'P' ? sentence(next) : '',
      generated: heading.matches('.section-header, .code-header'),
    };
  });
}
