import { readFileSync } from 'node:fs';
import { viteBundler } from '@vuepress/bundler-vite';
import { defaultTheme } from '@vuepress/theme-default';
import { defineUserConfig } from 'vuepress';

/** The sidebar of their own menu: { title: path or menu }. */
const sidebar = (menu) => Object.entries(menu).map(([text, to]) => (typeof to === 'string'
  ? { text, link: `/${to}${to && !/\/$/.test(to) ? '.html' : ''}` }
  : { text, children: sidebar(to) }));

export default defineUserConfig({
  title: 'Serverless Framework',
  description: 'Documentation of the Serverless Framework',
  lang: 'en-US',
  base: '/docs/',
  // The tag: this line, and client.mjs.
  head: [['script', { type: 'module', src: '@EMBED@' }]],
  bundler: viteBundler(),
  theme: defaultTheme({
    hostname: 'https://docs.example',
    sidebar: sidebar(JSON.parse(readFileSync(new URL('../menu.json', import.meta.url), 'utf8'))),
    sidebarDepth: 0,
  }),
});
