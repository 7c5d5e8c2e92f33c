// A worker that makes MathML of formulas: it receives `[number, tex, display]` and posts `[number, tree]`, without the tree if the formula
// is wrong; first, it posts nothing, once. In the tree, an element is `[name, attributes, children]`, so that the page never reads
// markup. The page ends the worker if a formula takes too long.
import katex from 'katex';
import 'katex/contrib/mhchem';

// Links, pictures and attributes of HTML make a formula wrong. Few expansions of macros, and sizes that fit a page.
const OPTIONS = {
  output: 'mathml', throwOnError: true, strict: 'ignore', maxSize: 10, maxExpand: 500,
  trust() {
    throw new Error('not in answers');
  },
};

/** The nodes that one of KaTeX's becomes: a text, a space, an element or a fragment. */
function nodes(node) {
  if (node.text !== undefined) return [node.text];
  if (node.character) return [['mtext', {}, [node.character]]];
  const children = node.children?.flatMap(nodes) ?? [];
  if (node.type) return [[node.type, Object.fromEntries(Object.entries(node.attributes).map(([name, value]) => [name, String(value)])), children]];
  return node.children ? children : [['mspace', { width: `${Number(node.width.toFixed(4))}em` }, []]];
}

onmessage = ({ data: [number, tex, displayMode] }) => {
  try {
    // Around the element `math` is one of HTML.
    const [math] = katex.__renderToDomTree(tex, { ...OPTIONS, displayMode }).children.flatMap(nodes);
    postMessage([number, math]);
  } catch {
    postMessage([number]);
  }
};
postMessage(null);
