// The part of the tools' worker that reads PDFs: pdf.js with the code of its own worker, run inside ours. It needs no page.
import './polyfills.js';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { WorkerMessageHandler } from 'pdfjs-dist/legacy/build/pdf.worker.mjs';
import { annotationsOf, fileName, xfaLines } from './pdf-annotations.js';
import { isUnreadable } from './pdf-letters.js';
import { linesOf } from './pdf-lines.js';
import { markdownOf, sizesOf } from './pdf-text.js';

// This is where pdf.js looks for its worker's code before it starts a worker.
globalThis.pdfjsWorker = { WorkerMessageHandler };

/** Limits of one PDF; reading stops there, and the text says so. The caller sets the time (crates/worker/src/serve.rs). */
const MAX_CHARS = 16 << 20;
const MAX_PAGES = 10_000;
/** Pieces of text of one page: it may draw the same text a thousand million times, and each piece is an object. */
const MAX_PIECES = 200_000;

/** The character maps of pdf.js in one file, which only PDFs with certain fonts need: the length of a JSON index, the index, the maps. */
let maps;
async function mapNamed(name, load) {
  maps ??= load('pdf-maps.bin').then((bytes) => {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const index = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    return { index, bytes: bytes.subarray(4 + length) };
  });
  const { index, bytes } = await maps.catch((error) => {
    maps = undefined;
    throw error;
  });
  const place = index[name];
  if (!place) throw new Error(`there is no character map ${name}`);
  return bytes.slice(place[0], place[0] + place[1]);
}

const sentenceOf = (error) => {
  if (error?.name === 'PasswordException') return 'it is protected by a password; save a copy without one and add that';
  if (error?.name === 'InvalidPDFException') return 'it is damaged, or not a PDF';
  return `it could not be read as a PDF: ${String(error?.message ?? error).slice(0, 200)}`;
};

/** Ranges of page numbers: `3, 5-7`. */
function ranges(numbers) {
  const runs = [];
  for (const number of numbers) {
    if (runs.at(-1)?.[1] === number - 1) runs.at(-1)[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}

/** The pieces of text of a page, as far as the limits allow: `{ items, cut, outside }`. */
async function piecesOf(page, most, end) {
  // The forms of letters are replaced when it is known in which order they are read.
  const reader = page.streamTextContent({ includeMarkedContent: false, disableNormalization: true }).getReader();
  const items = [];
  let left = most;
  let outside = false; // whether text lies outside of the page
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { items, cut: false, outside };
    for (const item of value.items) {
      if (item.outside) outside = true;
      if (item.str === undefined) continue;
      items.push(item);
      left -= item.str.length;
    }
    if (left < 0 || items.length > MAX_PIECES || performance.now() > end) {
      reader.cancel(new Error('over the limits')).catch(() => {});
      return { items, cut: true, outside };
    }
  }
}

/** A page as `{ lines, more, cut, outside, unreadable, files }`: `more` are lines of text after those of the page. */
async function readPage(pdf, number, most, end) {
  const page = await pdf.getPage(number);
  try {
    if (pdf.isPureXfa) return { lines: [], more: xfaLines(await page.getXfa()), files: [] };
    const { items, cut, outside } = await piecesOf(page, most, end);
    const { inserts, lines: more, files } = annotationsOf(cut ? [] : await page.getAnnotations().catch(() => []));
    return { lines: linesOf(items, inserts), more, cut, outside, unreadable: isUnreadable(items), files };
  } finally {
    page.cleanup();
  }
}

async function pagesOf(pdf, end) {
  const pages = [];
  const damaged = [];
  let chars = 0, late = false;
  for (let number = 1; number <= pdf.numPages && number <= MAX_PAGES; number += 1) {
    late = performance.now() > end;
    if (chars > MAX_CHARS || late) break;
    let page = { lines: [], more: [], files: [] };
    try {
      page = await readPage(pdf, number, MAX_CHARS - chars, end);
    } catch {
      damaged.push(number);
    }
    chars += page.lines.reduce((sum, { cells }) => sum + cells.reduce((of, { text }) => of + text.length, 0), 0);
    pages.push(page);
    late ||= page.cut && performance.now() > end;
  }
  return { pages, damaged, late };
}

/** Names, of which only the first are written. */
const named = (names) => `${names.slice(0, 20).join(', ')}${names.length > 20 ? ` and ${names.length - 20} more` : ''}`;

/** What of the whole document is not read, one sentence each. */
async function notesOf(pdf, info) {
  const notes = [];
  const [attachments, layers] = await Promise.all([pdf.getAttachments().catch(() => undefined), pdf.getOptionalContentConfig().catch(() => [])]);
  const files = attachments ? [...(attachments.values?.() ?? Object.values(attachments))].map(fileName) : [];
  if (files.length) notes.push(`files ${info.IsCollectionPresent ? 'of this portfolio' : 'attached to it'}, which are not read: ${named(files)}`);
  const hidden = [...layers].filter(([, { visible }]) => !visible).map(([, { name }]) => `"${name}"`);
  if (hidden.length) notes.push(`layers that a viewer does not show, and whose text is among the rest: ${named(hidden)}`);
  return notes;
}

/**
 * The text of a PDF, as the JSON of `tools::document::Document`: each page begins with a line `[page 1]`.
 * `load(name)` resolves with the bytes of a file next to this one. Reading stops after `ms`; then `late` is true. Rejects with a sentence that says why there is no text.
 */
export async function convert(data, load, ms = 20_000) {
  return read(data, load, performance.now() + ms, false);
}

/** `xfa`: read the form, which is made of XFA only, instead of the pages that stand in for it. */
async function read(data, load, end, xfa) {
  class Maps {
    async fetch({ kind, filename }) {
      if (kind !== 'cMapUrl') throw new Error(`${kind} is not used`);
      return mapNamed(filename, load);
    }
  }
  const task = getDocument({
    data, verbosity: 0, cMapUrl: 'maps/', cMapPacked: true, BinaryDataFactory: Maps, useWorkerFetch: false, useWasm: false, disableFontFace: true,
    useSystemFonts: false, isOffscreenCanvasSupported: false, isImageDecoderSupported: false, stopAtErrors: false, enableXfa: xfa,
    CanvasFactory: class {}, FilterFactory: class { destroy() {} },
  });
  try {
    const pdf = await task.promise;
    const total = pdf.numPages;
    if (!(total > 0)) throw Object.assign(new Error('it has no pages'), { told: true });
    const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
    const form = !xfa && info.IsXFAPresent && !info.IsAcroFormPresent;
    // What pdf.js cannot lay out, such as a form that its scripts make, is read as other viewers show it.
    const laidOut = form && await read(await pdf.getData(), load, end, true).catch(() => undefined);
    if (laidOut) return laidOut;
    const { pages, damaged, late } = await pagesOf(pdf, end);
    if (xfa && !pages.some(({ more }) => more.length)) throw new Error('the form shows nothing');
    const notes = await notesOf(pdf, info);
    if (form) notes.push('its form is in XFA, which could not be read; these are the pages that stand in for it');
    const sizes = sizesOf(pages.map(({ lines }) => lines));
    const [out, places] = [[], []];
    pages.forEach(({ lines, more }, index) => {
      places.push({ line: out.length + 1, name: `page ${index + 1}` });
      // Not by spreading them: a page may have more lines than a call takes arguments.
      out.push(`[page ${index + 1}]`);
      for (const line of markdownOf(lines, sizes)) out.push(line);
      for (const line of more) out.push(line);
      out.push('');
    });
    const numbers = (which) => pages.flatMap((page, index) => (which(page) && !damaged.includes(index + 1) ? [index + 1] : []));
    const empty = numbers(({ lines, more }) => !lines.length && !more.length);
    const silent = empty.filter((number) => !pages[number - 1].unreadable);
    if (pages.length > 0 && empty.length === pages.length) {
      const pictures = total === 1 ? 'its page is a picture, or empty' : `its ${total} pages are pictures, or empty`;
      const why = silent.length < empty.length ? 'no text that can be read: its fonts do not say which characters they draw' : `no text: ${pictures}, as in a scan`;
      const rest = notes.length ? `; ${notes.join('; ')}` : '';
      throw Object.assign(new Error(`it holds ${why}; a model that reads PDFs or pictures can look at it if it is attached to the task${rest}`), { told: true });
    }
    const told = (sentence, list) => {
      if (list.length) notes.push(`${sentence}: ${ranges(list)}`);
    };
    told('pages that are damaged and were not read', damaged);
    told('pages of which only the beginning was read, since the rest is over the limits', numbers(({ cut }) => cut));
    told('pages without text (empty, or pictures)', silent);
    told('pages whose text is wrong or unreadable, since their fonts do not say which characters they draw', numbers(({ unreadable }) => unreadable));
    told('pages with text outside of their visible part, which was not read', numbers(({ outside }) => outside));
    if (pages.length < total) notes.push(`only the first ${pages.length} of ${total} pages were read: the rest is over the limits`);
    return JSON.stringify({ kind: `PDF, ${total} ${total === 1 ? 'page' : 'pages'}`, text: out.join('\n'), places, notes, late });
  } catch (error) {
    throw new Error(error?.told ? error.message : sentenceOf(error));
  } finally {
    await task.destroy().catch(() => {});
  }
}
