// The style sheet of the forms that load on first use (keys.js, hand-over.js).
const CSS = `
.keys { margin-block: auto; padding-block: 12px; display: grid; gap: 12px }
.keys h3 { font-size: 18px; font-weight: 640; letter-spacing: -.012em }
.keys p { font-size: 14px; color: var(--ink2) }
.keys .problem { color: var(--urgent) }
.keys .problem:empty, .keys [hidden] { display: none }
.keys label { display: grid; gap: 4px; font-size: 13px; font-weight: 560 }
.keys input, .keys select { border: 1px solid var(--edge); border-radius: 8px; padding: 7px 10px; background: var(--bg); inline-size: 100%; font-weight: 400; font-size: 15px }
.keys input[type=password] { direction: ltr }
@media (max-width: 640px), (pointer: coarse) { .keys input, .keys select { font-size: 16px } }`;

let sheet;
/** Adds the sheet to the shadow root that an element is in. */
export function dress(element) {
  const { adoptedStyleSheets: sheets } = element.getRootNode();
  if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(CSS);
  if (!sheets.includes(sheet)) sheets.push(sheet);
}
