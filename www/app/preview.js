// Files in answers and previews: turns mentions such as `report.pdf, page 7` into buttons, and shows the text of a file at a place.
// Loads with the first mention or preview. Text only ever becomes text nodes.

/** What follows a file's name in a mention. */
const PLACE = /(?::\d+)?, (page \d+|slide \d+|line \d+|lines \d+[-–]\d+|sheet [\p{L}\p{N}_-]+(?:, [A-Z]{1,3}\d+(?::[A-Z]{1,3}\d+)?)?|section "[^"\n]+")|:(\d+)(?:[-–]\d+)?(?![\d:])/gu;
/** The longest file name that is looked for. */
const MAX_NAME = 200;
/** Longer texts are shown in pieces, of which a browser lays out only what is seen. */
const PIECE = 8192;
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
  const { data } = text;
  const made = document.createDocumentFragment();
  let from = 0;
  for (const mention of data.matchAll(PLACE)) {
    const [whole, place = `line ${mention[2]}`] = mention;
    const end = mention.index + whole.length;
    const code = mention.index === 0 && text.previousSibling?.nodeName === 'CODE' ? text.previousSibling : null;
    const name = code ? '' : nameBefore(data.slice(0, mention.index), names);
    const path = names.get(code ? code.textContent : name);
    const start = mention.index - name.length;
    if (!path || start < from) continue;
    const button = link(path, place);
    // The button takes the place of the code that is the file's name.
    if (code) {
      code.before(button);
      button.append(code);
    }
    button.append(data.slice(start, end));
    made.append(data.slice(from, start));
    if (!code) made.append(button);
    from = end;
  }
  // Once for all: each change of a text copies it.
  if (!from) return;
  made.append(data.slice(from));
  text.replaceWith(made);
}

/** The longest file name with which a text ends. */
function nameBefore(text, names) {
  const least = Math.max(0, text.length - MAX_NAME);
  for (let at = least; at < text.length; at += 1) {
    if ((at === 0 || STARTS.test(text[at - 1])) && names.get(text.slice(at))) return text.slice(at);
  }
  return '';
}

function link(path, place) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'link', title: `Show ${path}, ${place}` });
  Object.assign(button.dataset, { file: path, place });
  return button;
}

/** Appends a text: after a line end if there is one in the second half of a piece, otherwise between any two letters. */
function put(parent, text) {
  if (text.length <= PIECE) return void parent.append(text);
  for (let from = 0, to; from < text.length; from = to) {
    to = text.lastIndexOf('\n', from + PIECE - 1) + 1;
    if (to <= from + PIECE / 2) to = from + PIECE;
    if (/[\ud800-\udbff]/.test(text[to - 1])) to -= 1;
    const piece = document.createElement('span');
    piece.className = 'piece';
    piece.textContent = text.slice(from, to);
    parent.append(piece);
  }
}

/** Shows a text, whose parts may begin with a line such as `[page 7]`, and goes to the place. Headings of a document have no marks. */
export function show(host, text, place) {
  const wanted = (place.match(/^(page \d+|slide \d+|sheet [^,]+|section .+)/u) ?? [])[1]?.toLowerCase();
  const line = Number((place.match(/^lines? (\d+)/) ?? [])[1] ?? 0);
  const made = document.createDocumentFragment();
  let target = null;
  // What the tools say of a document is above its first line.
  const first = text.slice(0, text.indexOf('\n') + 1);
  const note = first.startsWith('[') && first.endsWith(']\n') && first.includes(' lines of text') ? first.slice(1, -2) : undefined;
  if (note) {
    const about = document.createElement('p');
    about.className = 'fact';
    about.textContent = note;
    made.append(about);
  }
  // A text that is not plain UTF-8 has such a line too, and is no Markdown.
  const isDocument = note !== undefined && !/: text[ ;]/u.test(note);
  // The lines since the last heading, and which of them is marked.
  let [lines, marked] = [[], -1];
  const flush = () => {
    if (marked >= 0 || lines.some((each) => each.trim())) {
      const pre = document.createElement('pre');
      if (marked < 0) put(pre, lines.join('\n'));
      else {
        put(pre, lines.slice(0, marked).map((each) => `${each}\n`).join(''));
        pre.append(target);
        const after = lines.slice(marked + 1).map((each) => `\n${each}`).join('');
        put(pre, after.length > PIECE ? after.slice(1) : after); // a piece begins a line
      }
      made.append(pre);
    }
    [lines, marked] = [[], -1];
  };
  (note ? text.slice(first.length) : text).split('\n').forEach((each, at) => {
    const [, name] = each.match(/^\[((?:page|slide|sheet|section) .+)\]$/u) ?? [];
    if (name) {
      flush();
      const heading = document.createElement('h4');
      heading.textContent = name;
      // A sheet's heading also names its cells.
      if (name.toLowerCase() === wanted || name.toLowerCase().startsWith(`${wanted}, `)) target = heading;
      made.append(heading);
      return;
    }
    // The tools mark them as Markdown does. A text file is shown as it is.
    const [, words] = (isDocument && at + 1 !== line && each.match(/^#{1,6} (.+)$/u)) || [];
    if (words) {
      flush();
      const heading = document.createElement('p');
      heading.className = 'heading';
      heading.textContent = words;
      made.append(heading);
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
  host.replaceChildren(made);
  if (!target) return;
  target.dataset.shown = '';
  target.tabIndex = -1;
  target.scrollIntoView({ block: line ? 'center' : 'start' });
  target.focus({ preventScroll: true });
}
