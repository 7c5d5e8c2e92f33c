// The script of the frame that draws diagrams: a document with a policy of its own (.ci/drawings.mjs), whose origin is opaque because
// the page sandboxes it. It receives `{ text, dark }` and answers with the drawing and its size, `{ svg, width, height }`, or with
// what is wrong, `{ fault }`.
import mermaid from 'mermaid';

/** Edges of one diagram: more are slow to lay out, and nobody reads them. */
const MAX_EDGES = 300;
const FONT = 'ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

// What a diagram says in its own directives changes nothing that is in `secure`.
const config = (dark) => ({
  startOnLoad: false, suppressErrorRendering: true, securityLevel: 'strict', maxEdges: MAX_EDGES, layout: 'dagre', theme: dark ? 'dark' : 'default', fontFamily: FONT,
  secure: ['secure', 'securityLevel', 'startOnLoad', 'suppressErrorRendering', 'maxTextSize', 'maxEdges', 'themeCSS', 'fontFamily', 'dompurifyConfig', 'layout'],
});

/** The drawing as XML, which a picture needs, with its size. */
function whole(markup) {
  const svg = new DOMParser().parseFromString(markup, 'text/html').querySelector('svg');
  const [, , width, height] = svg.getAttribute('viewBox').split(/[\s,]+/).map(Number);
  svg.setAttribute('width', width);
  svg.setAttribute('height', height);
  return { svg: new XMLSerializer().serializeToString(svg), width, height };
}

// Only for a page that has sandboxed it: whoever opens this document by its address gets nothing.
if (origin === 'null' && parent !== self) {
  onmessage = async ({ source, data: { text, dark } }) => {
    if (source !== parent) return;
    const answer = (message) => parent.postMessage(message, '*');
    try {
      mermaid.initialize(config(dark));
      const { svg } = await mermaid.render('diagram', text);
      answer(whole(svg));
    } catch (error) {
      answer({ fault: String(error?.message ?? error) });
    }
  };
  parent.postMessage('turnwise-diagram', '*');
}
