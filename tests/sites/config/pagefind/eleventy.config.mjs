import { readFileSync } from 'node:fs';
import { HtmlBasePlugin, IdAttributePlugin, InputPathToUrlTransformPlugin } from '@11ty/eleventy';

/** The chapters of the book's own summary. */
const chapters = [...readFileSync(new URL('content/SUMMARY.md', import.meta.url), 'utf8').matchAll(/^( *)(?:- )?\[(.+)\]\((.+)\.md\)$/gm)]
  .map(([, indent, title, file]) => ({ depth: indent.length / 2, title: title.replaceAll('`', ''), url: file === 'index' ? '/' : `/${file}/` }));

export default function configure(eleventy) {
  eleventy.addPlugin(IdAttributePlugin);
  eleventy.addPlugin(InputPathToUrlTransformPlugin);
  eleventy.addPlugin(HtmlBasePlugin);
  eleventy.ignores.add('content/SUMMARY.md');
  eleventy.addGlobalData('chapters', chapters);
  eleventy.addGlobalData('layout', 'page.njk');
  eleventy.addGlobalData('eleventyComputed', { title: ({ page }) => page.rawInput.match(/^# (.*)$/m)?.[1].replaceAll('`', '') });
  return { dir: { input: 'content', includes: '../_includes' }, pathPrefix: '/docs/', markdownTemplateEngine: false };
}
