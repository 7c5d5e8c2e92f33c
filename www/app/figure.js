// Draws the tables and charts that tools return. A worker finds them and lays them out (crates/content/src/figure); this file makes
// elements of the data, sorts rows and shows the value under the pointer. It loads with the first figure.
// Text only ever becomes text nodes, and class names come from our own code.

/** Rows that are shown at first, and rows that are added in one frame. */
const FIRST_ROWS = 50;
const ROWS_PER_FRAME = 250;
/** Containers narrower than this get the drawing for phones. */
const NARROW = 520;

const compare = new Intl.Collator(undefined, { numeric: true }).compare;
const whole = new Intl.NumberFormat('en').format;

let styled;

/** Resolves once the page has the styles of figures, or cannot load them: a figure without its styles is readable. */
const styles = () => (styled ??= new Promise((resolve) => {
  const link = element('link', { rel: 'stylesheet', href: new URL('./styles/figure.css', import.meta.url).href });
  link.addEventListener('load', resolve);
  link.addEventListener('error', resolve);
  document.head.append(link);
}));

/** Replaces the content of `host`; `figure` is the JSON of a `Figure`. */
export async function draw(host, figure) {
  const data = JSON.parse(figure);
  if (data) await styles();
  host.replaceChildren(...(data ? [kinds[data.kind](data)] : []));
}

const kinds = { table: (data) => table(data), chart, refused: ({ why }) => element('p', { class: 'fig refused', text: why }) };

function element(name, { class: className, text, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A table that sorts by a click on the name of a column: ascending, descending, then as it came. */
function table({ columns, rows, total }, label = 'Table') {
  const order = rows.map((_, at) => at);
  let shown = Math.min(rows.length, FIRST_ROWS);
  let sorted = { column: -1, direction: 'none' };
  let drawing = 0;
  const body = element('tbody');
  const heads = columns.map(({ name, numbers }, column) => {
    const button = element('button', { type: 'button', class: 'sort', text: name || `Column ${column + 1}` });
    button.addEventListener('click', () => sort(column));
    return element('th', { scope: 'col', 'aria-sort': 'none', ...(numbers ? { class: 'right' } : {}) }, button);
  });
  const foot = element('p', { class: 'rows' });
  const status = element('span', { role: 'status' });
  const all = element('button', { type: 'button', class: 'link', text: `Show all ${whole(rows.length)} rows` });
  all.addEventListener('click', () => { shown = rows.length; fill(); });
  foot.append(status, all);

  function sort(column) {
    const next = { none: 'ascending', ascending: 'descending', descending: 'none' };
    const direction = sorted.column === column ? next[sorted.direction] : 'ascending';
    sorted = { column, direction };
    heads.forEach((head, at) => head.setAttribute('aria-sort', at === column ? direction : 'none'));
    const { numbers } = columns[column];
    const sign = direction === 'descending' ? -1 : 1;
    order.sort((one, other) => {
      if (direction === 'none') return one - other;
      const [a, b] = numbers ? [numbers[one], numbers[other]] : [rows[one][column], rows[other][column]];
      // What is missing comes last, in either direction.
      const [noA, noB] = numbers ? [a === null, b === null] : [a === '', b === ''];
      if (noA || noB) return noA - noB || one - other;
      return sign * (numbers ? a - b : compare(a, b)) || one - other;
    });
    fill();
  }

  const row = (at) => element('tr', {}, ...rows[at].map((cell, column) => element('td', { text: cell, ...(columns[column].numbers ? { class: 'right' } : {}) })));
  function fill() {
    const mine = ++drawing;
    let from = 0;
    body.replaceChildren();
    const more = () => {
      if (mine !== drawing) return;
      const to = Math.min(shown, from + ROWS_PER_FRAME);
      body.append(...order.slice(from, to).map(row));
      from = to;
      if (from < shown) requestAnimationFrame(more);
    };
    more();
    all.hidden = shown >= rows.length;
    const cut = total > rows.length ? ` of ${whole(total)}` : '';
    status.textContent = shown < rows.length ? `The first ${whole(shown)} of ${whole(total)} rows` : `${whole(shown)}${cut} ${total === 1 ? 'row' : 'rows'}`;
  }

  fill();
  const grid = element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body);
  return element('div', { class: 'fig' }, element('div', { class: 'table', role: 'group', tabindex: '0', 'aria-label': label }, grid), foot);
}

let ids = 0;

function chart({ chart: kind, title, description, legend, stops, table: values, drawings }) {
  const about = `chart-${++ids}`;
  const picture = svg('svg', { 'aria-hidden': 'true', focusable: 'false' });
  const readout = element('div', { class: 'readout', role: 'status', hidden: '' });
  const plot = element('div', { class: 'plot', role: 'group', tabindex: '0', 'aria-label': `${title}. Arrow keys read the values.`, 'aria-describedby': about }, picture, readout);
  let drawing = null;
  let cursor = null;
  let at = -1;

  function place(width) {
    const next = width < NARROW ? drawings.at(-1) : drawings[0];
    if (next === drawing) return;
    drawing = next;
    picture.setAttribute('viewBox', `0 0 ${drawing.width} ${drawing.height}`);
    cursor = svg('rect', { class: 'cursor', y: drawing.plot[0], height: drawing.plot[1] - drawing.plot[0], width: Math.max(drawing.band, 1), visibility: 'hidden' });
    picture.replaceChildren(
      cursor,
      ...drawing.paths.map((path) => svg('path', path)),
      ...drawing.labels.map(({ x, y, anchor, text }) => svg('text', { x, y, dy: '0.35em', 'text-anchor': anchor }, text)),
    );
    look(at);
  }

  /** Shows the values at a position; -1: none. */
  function look(next) {
    at = next;
    readout.hidden = at < 0;
    cursor.setAttribute('visibility', at < 0 ? 'hidden' : 'visible');
    if (at < 0) return;
    const x = drawing.at[at];
    cursor.setAttribute('x', x - Math.max(drawing.band, 1) / 2);
    const [position, ...ofSeries] = stops[at];
    const line = (value, number) => element('li', {}, ...(legend.length > 1 ? [swatch(kind, number), element('span', { text: legend[number] })] : []), element('b', { text: value || 'no value' }));
    readout.replaceChildren(element('p', { text: position }), element('ul', {}, ...ofSeries.map(line)));
    const share = x / drawing.width;
    readout.style.left = `${share * 100}%`;
    readout.dataset.side = share > 0.5 ? 'left' : 'right';
  }

  const nearest = (event) => {
    const box = picture.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * drawing.width;
    return drawing.at.reduce((best, place, n) => (Math.abs(place - x) < Math.abs(drawing.at[best] - x) ? n : best), 0);
  };
  plot.addEventListener('pointermove', (event) => look(nearest(event)));
  plot.addEventListener('pointerdown', (event) => look(nearest(event)));
  plot.addEventListener('pointerleave', (event) => { if (event.pointerType === 'mouse') look(-1); });
  plot.addEventListener('focus', () => { if (at < 0 && plot.matches(':focus-visible')) look(0); });
  plot.addEventListener('blur', () => look(-1));
  plot.addEventListener('keydown', (event) => {
    const last = stops.length - 1;
    const to = { ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
    if (event.key === 'Escape' && at >= 0) {
      event.stopPropagation();
      look(-1);
    } else if (to !== undefined) {
      event.preventDefault();
      look(to);
    }
  });

  const data = element('details', {}, element('summary', {}, svg('svg', { class: 'icon chevron', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d: 'M9 18l6-6-6-6' })), 'Show the data'));
  data.addEventListener('toggle', () => { if (data.open && data.childElementCount === 1) data.append(table(values, `${title}: data`)); });
  const made = element('figure', { class: 'fig drawn' }, element('figcaption', { text: title }), element('p', { class: 'hidden', id: about, text: description }));
  if (legend.length > 1) made.append(element('ul', { class: 'legend' }, ...legend.map((name, number) => element('li', {}, swatch(kind, number), name))));
  made.append(plot, data);
  place(NARROW);
  new ResizeObserver(([entry]) => { if (entry.contentRect.width) place(entry.contentRect.width); }).observe(plot);
  return made;
}

/** The colour of a series, in the shape of its marks. */
function swatch(kind, number) {
  return element('i', { class: `swatch s${number}`, 'data-shape': kind === 'bar' ? 1 : number % 4, 'aria-hidden': 'true' });
}
