// On a phone, the panel takes the part of the page that is visible, at a readable size. The layout viewport, to which styles
// refer, is larger than the screen on hosts that are wider than it or have no viewport tag; and a keyboard covers its end.

const SHEET_PX = 640;
/** The part of the page that stays visible above the panel, unless the keyboard takes the space. */
const ABOVE = 0.08;
const KEYBOARD = 0.75;

/** Keeps an open panel inside the visible part. Returns a function that ends this. */
export function fit(panel) {
  const view = globalThis.visualViewport;
  if (!view || !matchMedia('(pointer: coarse)').matches) return () => {};
  let full = 0; // the largest height seen: without the keyboard
  const place = () => {
    const { scale, offsetLeft, offsetTop } = view;
    // Sizes as on a page that is neither shrunk nor enlarged.
    const [width, height] = [view.width * scale, view.height * scale];
    const sheet = width <= SHEET_PX;
    // A visitor who zooms in wants the panel larger, so it stays where it was.
    if (sheet && scale > 1.01 && panel.classList.contains('sheet')) return;
    panel.classList.toggle('sheet', sheet);
    full = Math.max(full, height);
    const gap = height < full * KEYBOARD ? 0 : Math.max(24, Math.round(height * ABOVE));
    const styles = { width: `${width}px`, height: `${height - gap}px`, transform: `translate(${offsetLeft}px, ${offsetTop + gap / scale}px) scale(${1 / scale})` };
    for (const [name, value] of Object.entries(styles)) panel.style[name] = sheet ? value : '';
  };
  place();
  for (const type of ['resize', 'scroll']) view.addEventListener(type, place);
  return () => {
    for (const type of ['resize', 'scroll']) view.removeEventListener(type, place);
  };
}
