// `turnwise/markdown`: draws Markdown that a model wrote. It uses the parser of the docs tag, in a worker, and draws as the tag does:
// elements from a closed set, text only as text, never HTML.
import { describe } from '../check.js';
import { inside, renderMarkdown } from '../index.js';
import { nodesOf, show, written } from '../../widget/nodes.js';

/**
 * How a text is drawn.
 *
 * @example
 * await drawMarkdown(element, text, { images: 'show', newTab: true });
 */
export interface MarkdownOptions {
  /** `link`: a picture becomes a link with its description. `show`: it is loaded, so whoever wrote the text learns that it was read. Default: `link`. */
  images?: 'link' | 'show';
  /** Whether a link to another site shows its host behind its text, so that the text cannot pretend another. Default: true. */
  hosts?: boolean;
  /** Whether links within the site open in a new tab, too. Links to other sites always do. Default: false. */
  newTab?: boolean;
  /** What relative links are resolved against. Default: the page's base URL. */
  base?: string | URL;
  /** Whether code is coloured: spans of the classes `c-keyword`, `c-string` and so on. Loads the complete tools' worker. Default: false. */
  highlight?: boolean;
}

const KNOWN = ['images', 'hosts', 'newTab', 'base', 'highlight'];

interface Drawing {
  text: string;
  options: MarkdownOptions;
  key: string;
  running: Promise<void> | undefined;
}
const drawings = new WeakMap<Element, Drawing>();
/** A text that grows is not drawn for so many times as long as it took to be drawn, but for no longer than this, in milliseconds. */
const PAUSES = 4;
const MOST_MS = 1000;
let complained = false;

const docsWorker = () => inside.script('docs-worker.js', () => new Worker(new URL('./docs-worker.js', import.meta.url), { type: 'module' }));

/**
 * Draws Markdown into an element, whose content it replaces. Call it with each longer text of a stream: only the blocks that changed
 * are drawn again, and a long text less often. Scripts, styles and HTML in the text are shown as text; links go to `http`, `https` and `mailto` addresses only.
 * Until the worker has started, and if it cannot, the text is shown as it was written. Resolves once the newest text is drawn.
 * Texts of more than 256 KiB are shown as written.
 *
 * @example
 * const run = agent.stream('Compare the two plans.');
 * let text = '';
 * for await (const piece of run.textStream) void drawMarkdown(element, text += piece);
 * await drawMarkdown(element, (await run).text);
 */
export function drawMarkdown(element: Element, text: string, options: MarkdownOptions = {}): Promise<void> {
  if (typeof element?.append !== 'function') throw new TypeError(`element: got ${describe(element)}; expected an element of the page`);
  if (typeof text !== 'string') throw new TypeError(`text: got ${describe(text)}; expected a string`);
  const stray = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (stray) throw new TypeError(`options.${stray}: unknown option; options takes ${KNOWN.join(', ')}`);
  const key = JSON.stringify({ ...options, base: options.base && String(options.base) });
  const first = !drawings.has(element);
  const drawing = drawings.get(element) ?? { text, options, key, running: undefined };
  drawings.set(element, drawing);
  // Other options draw the same blocks otherwise.
  if (first || key !== drawing.key) element.replaceChildren();
  Object.assign(drawing, { text, options, key });
  const where = () => {
    const { images, hosts = true, newTab = false, base = document.baseURI } = drawing.options;
    return { base: String(base), newTab: () => newTab, bare: !hosts, plain: true, pictures: images === 'show' };
  };
  if (first) show(element, written(text), where());
  const draw = async () => {
    try {
      for (let done = false; !done;) {
        const began = performance.now();
        const { text: now, options: { highlight }, key: before } = drawing;
        const nodes = await nodesOf(now, (of) => renderMarkdown(of, highlight ? {} : { workerUrl: docsWorker() })).catch((error: unknown) => {
          if (!complained) console.error('turnwise: Markdown is shown as written', error);
          complained = true;
          return written(now);
        });
        done = drawing.text === now && drawing.key === before;
        if (done || (drawing.key === before && drawing.text.startsWith(now))) show(element, nodes, where());
        // All of a text is parsed and compared each time: the longer it takes, the less often.
        if (!done) await new Promise((resolve) => { setTimeout(resolve, Math.min(PAUSES * (performance.now() - began), MOST_MS)); });
      }
    } finally {
      // In the moment in which nothing is left to draw: whoever calls in the next one begins anew.
      drawing.running = undefined;
    }
  };
  return (drawing.running ??= draw());
}
