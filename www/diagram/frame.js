// The script of the frame that draws diagrams: a document with a policy of its own (.ci/drawings.mjs), whose origin is opaque because
// the page sandboxes it. It receives `{ text, dark }` and answers with the drawing and its size, `{ svg, width, height }`, or with
// what is wrong, `{ fault }`.
import './trusted.js';
import mermaid from 'mermaid';

/** Edges of one diagram: more are slow to lay out, and nobody reads them. */
const MAX_EDGES = 300;
const FONT = 'ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

// The colours of www/app/styles/tokens.css and figure.css; Mermaid derives the others.
const numbered = (name, colours, first) => Object.fromEntries(colours.map((colour, at) => [`${name}${at + first}`, colour]));
const series = (colours, text) => ({ ...numbered('pie', colours, 1), pieSectionTextColor: text, pieOpacity: '1', xyChart: { plotColorPalette: colours.join(', ') } });
const COLOURS = {
  light: {
    background: '#f2f0ea', primaryColor: '#e4f2ee', primaryBorderColor: '#0f6b5c', primaryTextColor: '#1d1c1a', lineColor: '#55524b', secondaryColor: '#f3effd', tertiaryColor: '#fff1d9', edgeLabelBackground: '#f2f0ea',
    ...series(['#0072b2', '#c25100', '#00805e', '#b0478f', '#8a6d00', '#5b50b5', '#2288b5', '#6a665d'], '#ffffff'),
  },
  dark: {
    background: '#232421', primaryColor: '#14302a', primaryBorderColor: '#4fc3ae', primaryTextColor: '#eceae4', lineColor: '#b2afa6', secondaryColor: '#231d3a', tertiaryColor: '#33280f', edgeLabelBackground: '#232421',
    ...series(['#56b4e9', '#f5924f', '#2fcb9f', '#ec9fcb', '#e9d352', '#a7a6f7', '#9fdcf2', '#b2afa6'], '#131412'),
    ...numbered('cScale', ['#1f4a41', '#3d3269', '#56431a', '#1d4459', '#552c48', '#34451f', '#553326', '#2c3f66', '#4c4a1a', '#433052', '#1e4d4d', '#4a3a33'], 0),
  },
};

// What a diagram says in its own directives changes nothing that is in `secure`.
const config = (dark) => ({
  startOnLoad: false, suppressErrorRendering: true, securityLevel: 'strict', maxEdges: MAX_EDGES, layout: 'dagre', fontFamily: FONT,
  theme: 'base', darkMode: dark, themeVariables: { ...COLOURS[dark ? 'dark' : 'light'], darkMode: dark, fontFamily: FONT },
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
