export default {
  title: 'undici',
  tagline: 'An HTTP/1.1 client, written from scratch for Node.js',
  url: 'https://docs.example',
  baseUrl: '/docs/',
  onBrokenLinks: 'ignore',
  onBrokenAnchors: 'ignore',
  markdown: { format: 'md', hooks: { onBrokenMarkdownLinks: 'ignore' } },
  // The tag: this line, and src/theme/Root.jsx.
  scripts: [{ src: '@EMBED@', type: 'module' }],
  presets: [['classic', { docs: { routeBasePath: '/' }, blog: false, pages: false }]],
};
