import { JSX } from 'typedoc';

/** The tag, at the end of each page. */
export function load(app) {
  app.renderer.hooks.on('body.end', () => JSX.createElement(JSX.Fragment, null,
    JSX.createElement('script', { type: 'module', src: '@EMBED@' }),
    JSX.createElement('turnwise-agent', null)));
}
