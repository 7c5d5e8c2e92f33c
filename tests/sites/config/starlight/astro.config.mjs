import starlight from '@astrojs/starlight';
import { defineConfig, passthroughImageService } from 'astro/config';

export default defineConfig({
  site: 'https://docs.example',
  base: '/docs',
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: 'npm',
      // The tag: this line, and src/components/Footer.astro.
      head: [{ tag: 'script', attrs: { type: 'module', src: '@EMBED@' } }],
      components: { Footer: './src/components/Footer.astro' },
      sidebar: ['commands', 'configuring-npm', 'using-npm'].map((directory) => ({ label: directory, autogenerate: { directory } })),
    }),
  ],
});
