// Files in answers and previews: turns mentions such as `report.pdf, page 7` into buttons, and shows the text of a file at a place.
// Loads with the first mention or preview. Text only ever becomes text nodes.

/** What follows a file's name in a mention. */
const PLACE = /(?::\d+)?, (page \d+|slide \d+|line \d+|lines \d+[-–]\d+|sheet [\p{L}\p{N}_-]+(?:, [A-Z]{1,3}\d+(?::[A-Z]{1,3}\d+)?)?|section "[^"\n]+")|:(\d+)(?:[-–]\d+)?(?![\d:])/gu;
/** The longest file name that is looked for. */
const MAX_NAME = 200;
const STARTS = /[\s"'“”‘’(\[{<>,;*]/u;

/** The paths of the files by what an answer may call them. */
export function named(paths) {
  const names = new Map();
  for (const path of paths) {
    const name = path.split('/').at(-1);
    // A name that two folders have says nothing.
    names.set(name, names.has(name) ? null : path);
  }
  for (const path of paths) names.set(path, path);
  return names;
}

/** Makes buttons of the mentions in `host` of a file that exists. */
export function cite(host, names) {
  const walker = document.createTreeWalker(host, NodeFilter.SHOW_TEXT, {
    acceptNode: (node) => (node.parentElement.closest('a, button, pre') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT),
  });
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) citeIn(text, names);
}

function citeIn(text, names) {
  for (const mention of [...text.data.matchAll(PLACE)].reverse()) {
    const [whole, place = `line ${mention[2]}`] = mention;
    const end = mention.index + whole.length;
    const before = text.data.slice(0, mention.index);
    const code = before === '' && text.previousSibling?.nodeName === 'CODE' ? text.previousSibling : null;
    if (code) {
      const path = names.get(code.textContent);
      if (!path) continue;
      text.splitText(end);
      const button = link(path, place);
      code.before(button);
      button.append(code, text);
      continue;
    }
    const name = nameBefore(before, names);
    if (!name) continue;
    const mentioned = text.splitText(mention.index - name.length);
    mentioned.splitText(end - mention.index + name.length);
    const button = link(names.get(name), place);
    mentioned.replaceWith(button);
    button.append(mentioned);
  }
}

/** The longest file name with which a text ends. */
function nameBefore(text, names) {
  const least = Math.max(0, text.length - MAX_NAME);
  for (let at = least; at < text.length; at += 1) {
    if ((at === 0 || STARTS.test(text[at - 1])) && names.get(text.slice(at))) return text.slice(at);
  }
  return null;
}

function link(path, place) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'link', title: `Show ${path}, ${place}` });
  Object.assign(button.dataset, { file: path, place });
  return button;
}

/** Shows a text, whose parts may begin with a line such as `[page 7]`, and goes to the place. Headings of a document have no marks. */
export function show(host, text, place) {
  const wanted = (place.match(/^(page \d+|slide \d+|sheet [^,]+|section .+)/u) ?? [])[1]?.toLowerCase();
  const line = Number((place.match(/^lines? (\d+)/) ?? [])[1] ?? 0);
  const made = [];
  let target = null;
  // What the tools say of a document is above its first line.
  const [, note, rest] = text.match(/^\[([^\n]+ lines of text[^\n]*)\]\n([^]*)$/) ?? [];
  if (note) {
    const about = document.createElement('p');
    about.className = 'fact';
    about.textContent = note;
    made.push(about);
  }
  // The lines since the last heading, and which of them is marked.
  let [lines, marked] = [[], -1];
  const flush = () => {
    if (marked >= 0 || lines.some((each) => each.trim())) {
      const pre = document.createElement('pre');
      if (marked < 0) pre.append(lines.join('\n'));
      else pre.append(lines.slice(0, marked).map((each) => `${each}\n`).join(''), target, lines.slice(marked + 1).map((each) => `\n${each}`).join(''));
      made.push(pre);
    }
    [lines, marked] = [[], -1];
  };
  (rest ?? text).split('\n').forEach((each, at) => {
    const [, name] = each.match(/^\[((?:page|slide|sheet|section) .+)\]$/u) ?? [];
    if (name) {
      flush();
      const heading = document.createElement('h4');
      heading.textContent = name;
      // A sheet's heading also names its cells.
      if (name.toLowerCase() === wanted || name.toLowerCase().startsWith(`${wanted}, `)) target = heading;
      made.push(heading);
      return;
    }
    // The tools mark them as Markdown does. A text file is shown as it is.
    const [, words] = (note && at + 1 !== line && each.match(/^#{1,6} (.+)$/u)) || [];
    if (words) {
      flush();
      const heading = document.createElement('p');
      heading.className = 'heading';
      heading.textContent = words;
      made.push(heading);
      return;
    }
    if (at + 1 === line) {
      target = document.createElement('mark');
      target.textContent = each || ' ';
      marked = lines.length;
    }
    lines.push(each);
  });
  flush();
  host.replaceChildren(...made);
  if (!target) return;
  target.dataset.shown = '';
  target.tabIndex = -1;
  target.scrollIntoView({ block: line ? 'center' : 'start' });
  target.focus({ preventScroll: true });
}
