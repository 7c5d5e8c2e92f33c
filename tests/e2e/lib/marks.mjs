// What every state of the app keeps to, as functions for `page.evaluate`; each returns its faults as text.

const named = `const name = (it) => it.tagName.toLowerCase() + (it.classList.length ? '.' + [...it.classList].join('.') : '');
const shown = (it) => it.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && it.getBoundingClientRect().width > 0;`;
const inPage = (body) => `(() => { ${named} ${body} })()`;

/** What moves. An animation that only keeps the pointer away for a moment is no motion. */
export const moving = inPage(`
  return document.getAnimations().flatMap((one) => {
    const frames = one.effect.getKeyframes().flatMap((frame) => Object.keys(frame)).filter((key) => !['offset', 'easing', 'composite', 'computedOffset', 'pointerEvents'].includes(key));
    return frames.length ? [name(one.effect.target) + (one.effect.pseudoElement ?? '') + ' moves: ' + [...new Set(frames)]] : [];
  });`);

/** Icons that are not drawn on the grid and in the weight of the others. */
export const oddIcons = inPage(`
  return [...document.querySelectorAll('svg.icon:not(.mark)')].flatMap((icon) => {
    const { strokeWidth, fill } = getComputedStyle(icon);
    const scaled = [...icon.children].filter((part) => getComputedStyle(part).vectorEffect !== 'non-scaling-stroke');
    const size = icon.clientWidth;
    const odd = icon.getAttribute('viewBox') !== '0 0 24 24' || strokeWidth !== '1.5px' || fill !== 'none' || scaled.length || (size && ![12, 14, 16, 20].includes(size));
    return odd ? [name(icon) + ' in ' + name(icon.parentElement) + ': ' + [icon.getAttribute('viewBox'), strokeWidth, fill, scaled.length, size]] : [];
  });`);

/** Ticks, dots and other signs that are not painted: with forced colours, what has only a background is gone. */
export const unpainted = inPage(`
  const clear = (colour) => /^rgba.*, 0\\)$/.test(colour);
  const under = (it) => { for (let one = it.parentElement; one; one = one.parentElement) { const { backgroundColor } = getComputedStyle(one); if (!clear(backgroundColor)) return backgroundColor; } };
  return [...document.querySelectorAll('.ticks i, .dot, .pulse, .swatch, progress')].filter(shown).flatMap((it) => {
    const { backgroundColor, borderTopWidth, borderTopColor } = getComputedStyle(it);
    const ground = under(it);
    const painted = !clear(backgroundColor) && backgroundColor !== ground || borderTopWidth !== '0px' && borderTopColor !== ground;
    return painted ? [] : [name(it) + ' in ' + name(it.parentElement) + ' is not painted'];
  });`);

/** What is on or chosen and looks like what is not. */
export const alike = inPage(`
  const look = (it) => { const { backgroundColor, borderTopColor, borderTopWidth, borderBottomColor, outlineStyle, outlineColor, color } = getComputedStyle(it); return [backgroundColor, borderTopWidth === '0px' || borderTopColor, borderBottomColor, outlineStyle === 'none' || outlineColor, color].join(); };
  return ['aria-pressed', 'aria-selected', 'aria-current'].flatMap((state) => [...document.querySelectorAll('[' + state + '="true"]')].filter(shown).flatMap((on) => {
    const off = [...document.querySelectorAll('[' + state + '="false"]')].find((it) => it.className === on.className && shown(it));
    return off && look(on) === look(off) ? [name(on) + ' looks like those that are off'] : [];
  }));`);

/** What does not fit: a page or a dialog that scrolls sideways, a dialog that goes beyond the window. */
export const tooWide = inPage(`
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls sideways');
  for (const it of document.querySelectorAll('dialog[open]')) {
    const { left, top, right, bottom } = it.getBoundingClientRect();
    if (left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1) faults.push('the dialog goes beyond the window: ' + [left, top, right, bottom].map(Math.round));
    for (const part of it.querySelectorAll('.dialog-body')) if (part.scrollWidth > part.clientWidth + 1) faults.push('the dialog scrolls sideways');
  }
  return faults;`);
