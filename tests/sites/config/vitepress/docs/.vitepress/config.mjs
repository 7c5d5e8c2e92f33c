import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitepress';

const pages = (folder) => readdirSync(new URL(`../${folder}`, import.meta.url)).filter((name) => name.endsWith('.md'))
  .map((name) => ({ text: name.slice(0, -3).replaceAll('-', ' '), link: `/${folder}/${name.slice(0, -3)}` }));

export default defineConfig({
  title: 'Fastify',
  description: 'Fast and low overhead web framework, for Node.js',
  base: '/docs/',
  sitemap: { hostname: 'https://docs.example/docs/' },
  ignoreDeadLinks: true,
  // The tag: this line, and theme/index.mjs.
  head: [['script', { type: 'module', src: '@EMBED@' }]],
  themeConfig: {
    sidebar: [{ text: 'Guides', items: pages('Guides') }, { text: 'Reference', items: pages('Reference') }],
  },
});
