// A worker that writes formulas as MathML: it receives `[number, tex, display]` and posts `[number, text of the MathML]`, without the
// text if the formula is wrong; first, it posts nothing, once. The page ends it if a formula takes too long.
import katex from 'katex';
import 'katex/contrib/mhchem';

// Links, pictures and attributes of HTML make a formula wrong. Few expansions of macros, and sizes that fit a page.
const OPTIONS = {
  output: 'mathml', throwOnError: true, strict: 'ignore', maxSize: 10, maxExpand: 500,
  trust() {
    throw new Error('not in answers');
  },
};

onmessage = ({ data: [number, tex, displayMode] }) => {
  try {
    // A policy would report the few styles, which the page leaves out.
    postMessage([number, katex.renderToString(tex, { ...OPTIONS, displayMode }).replaceAll(/ style="[^"]*"/g, '')]);
  } catch {
    postMessage([number]);
  }
};
postMessage(null);
