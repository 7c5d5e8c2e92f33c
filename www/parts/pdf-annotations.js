// What stands on a page of a PDF besides its text: fields of forms, notes, stamps, links, attached files. Without side effects.

import { readable } from './pdf-letters.js';

/** So many annotations of one page are put at their places; more of them are only listed. */
const MAX_INSERTS = 1_000;
const MAX_CHARS = 2_000;
const MAX_CHOICES = 12;

/** A text on one line, cut if it is very long. */
const line = (text) => {
  const one = String(text ?? '').replace(/\s+/gu, ' ').trim();
  return one.length > MAX_CHARS ? `${one.slice(0, MAX_CHARS)} … (cut)` : one;
};

/** The text of rich text as pdf.js gives it: a tree of elements. */
const textOf = (node) => (node ? [node.value, ...(node.children ?? []).map(textOf)].filter(Boolean).join(' ') : '');

/** What an annotation shows, and what it says. Without an appearance, pdf.js takes what it says for what it shows. */
const shownIn = ({ textContent, hasAppearance }) => ((hasAppearance && textContent) || []).map((text) => line(readable(text))).filter(Boolean);
const saying = (annotation) => line(annotation.contentsObj?.str) || line(textOf(annotation.richText?.html)) || shownIn(annotation).join(' ');

const labelOf = ({ alternativeText, fieldName }) => line(alternativeText) || line(fieldName) || 'field';
const isChecked = ({ fieldValue, exportValue, buttonValue }) => {
  const own = exportValue ?? buttonValue;
  return typeof fieldValue === 'string' && fieldValue !== 'Off' && fieldValue !== '' && (own === undefined || own === null || own === fieldValue);
};

/** Choices, of which only the first are written. */
const choicesOf = (names) => `choices: ${names.slice(0, MAX_CHOICES).join(', ')}${names.length > MAX_CHOICES ? ` and ${names.length - MAX_CHOICES} more` : ''}`;

/** A value as it is shown: that of a choice by its name. */
function valueOf({ fieldType, fieldValue, options, password }) {
  if (password) return fieldValue?.length ? '(a password, not shown)' : '';
  const shown = fieldType === 'Ch' ? [fieldValue].flat().map((value) => options?.find(({ exportValue }) => exportValue === value)?.displayValue ?? value) : [fieldValue].flat();
  return line(shown.filter((value) => typeof value === 'string').join(', '));
}

/** The fields of a page's form: `inserts` at their places, and `lines` with their names and states. */
function fieldsOf(fields) {
  const [inserts, lines, empty, buttons] = [[], [], [], []];
  const groups = new Map(); // boxes with the same name are choices of one field
  for (const field of fields) {
    const { fieldType, checkBox, radioButton, pushButton, rect, hidden } = field;
    const label = `${labelOf(field)}${hidden ? ' (hidden)' : ''}`;
    if (checkBox || radioButton) {
      const key = field.fieldName || label;
      groups.set(key, [...(groups.get(key) ?? []), { field, label }]);
      if (!hidden) inserts.push({ rect, text: isChecked(field) ? '[x]' : '[ ]' });
    } else if (pushButton) {
      const caption = shownIn(field).join(' ');
      buttons.push(caption && caption !== label ? `${caption} (${label})` : label);
    } else if (fieldType === 'Sig') {
      const shown = shownIn(field).join(' ');
      if (shown && !hidden) inserts.push({ rect, text: `[signature: ${shown}]` });
      lines.push(`signature field ${label}: ${shown || (field.hasAppearance ? 'has a picture' : 'shows nothing')}`);
    } else if (fieldType === 'Tx' || fieldType === 'Ch') {
      const value = valueOf(field);
      const choices = fieldType === 'Ch' ? (field.options ?? []).map(({ displayValue }) => line(displayValue)).filter(Boolean) : [];
      if (choices.length > 1) {
        lines.push(`${label}: ${value || 'nothing chosen'} (${choicesOf(choices)})`);
        if (value && !hidden) inserts.push({ rect, text: value });
        continue;
      }
      if (!value) {
        empty.push(label);
        continue;
      }
      if (!hidden) inserts.push({ rect, text: value });
      lines.push(`${label}: ${value}`);
    }
  }
  for (const group of groups.values()) {
    const [{ field, label }] = group;
    const choices = [...new Set(group.map(({ field: { exportValue, buttonValue } }) => line(exportValue ?? buttonValue)).filter(Boolean))];
    const chosen = group.filter((one) => isChecked(one.field));
    if (choices.length > 1) {
      const named = chosen.map((one) => line(one.field.exportValue ?? one.field.buttonValue));
      lines.push(`${label}: ${[...new Set(named)].join(', ') || 'nothing chosen'} (${choicesOf(choices)})`);
    } else if (field.radioButton) {
      lines.push(`${label}: ${chosen.length ? choices[0] ?? line(field.fieldValue) : 'nothing chosen'}`);
    } else {
      lines.push(`${label}: ${chosen.length ? 'checked' : 'not checked'}`);
    }
  }
  if (empty.length) lines.push(`empty fields: ${[...new Set(empty)].join(', ')}`);
  if (buttons.length) lines.push(`buttons: ${[...new Set(buttons)].join(', ')}`);
  return { inserts, lines };
}

/** Notes of a reader are named after what they are. */
const KINDS = { Text: 'note', Highlight: 'highlight', Underline: 'underlined', Squiggly: 'underlined', StrikeOut: 'struck out', Caret: 'insertion', Stamp: 'stamp', Redact: 'to be blacked out' };
/** What these hold is not text. */
const MEDIA = { FileAttachment: 'attached file', Sound: 'sound', Movie: 'film', Screen: 'film or sound', RichMedia: 'film or model', '3D': 'model' };

/** The text of a file's name in an annotation or in the list of attached files. */
export const fileName = (file) => line(file?.filename ?? file?.rawFilename) || 'without a name';

/**
 * What the annotations of a page say: `{ inserts, lines, files }`. `inserts` stand at their places on the page (www/parts/pdf-lines.js), `lines` after
 * its text, and `files` are the names of attached files. `annotations`: of pdf.js.
 */
export function annotationsOf(annotations) {
  const { inserts, lines } = fieldsOf(annotations.filter(({ subtype }) => subtype === 'Widget'));
  const [links, files] = [new Map(), []]; // the words of each link's target
  for (const annotation of annotations) {
    const { subtype, rect, overlaidText, titleObj, inReplyTo } = annotation;
    if (!subtype || subtype === 'Widget' || subtype === 'Popup') continue;
    const hidden = (annotation.annotationFlags & 2) !== 0 ? 'hidden ' : '';
    if (subtype === 'Link') {
      const url = line(annotation.url);
      if (url) links.set(url, [...(links.get(url) ?? []), line(readable(overlaidText ?? ''))]);
      continue;
    }
    if (subtype === 'FreeText' && !hidden) {
      const drawn = shownIn(annotation);
      const shown = drawn.length ? drawn : (annotation.contentsObj?.str ?? '').split(/\r\n?|\n/).map(line).filter(Boolean);
      const [left, bottom, right, top] = rect;
      const step = (top - bottom) / shown.length;
      shown.forEach((text, at) => inserts.push({ rect: [left, top - (at + 1) * step, right, top - at * step], text }));
      continue;
    }
    if (MEDIA[subtype]) {
      const name = annotation.file ? ` ${fileName(annotation.file)}` : '';
      const said = saying(annotation);
      if (subtype === 'FileAttachment') files.push(fileName(annotation.file));
      inserts.push({ rect, text: `[${hidden}${MEDIA[subtype]}${name}, not read${said && said !== name.trim() ? `: ${said}` : ''}]`, own: true });
      continue;
    }
    const said = saying(annotation);
    // A mark without a remark says nothing, but what is struck out no longer holds.
    if (!said && !(subtype === 'StrikeOut' && overlaidText)) continue;
    const author = line(titleObj?.str);
    const on = overlaidText && subtype !== 'Text' ? ` "${line(readable(overlaidText))}"` : '';
    inserts.push({ rect, text: `[${hidden}${inReplyTo ? 'reply' : KINDS[subtype] ?? 'note'}${author ? ` by ${author}` : ''}${on}${said ? `: ${said}` : ''}]`, own: true });
  }
  // An annotation without a place, such as one that is not shown, is listed.
  const placed = inserts.filter(({ rect }) => rect?.length === 4 && rect.every(Number.isFinite)).slice(0, MAX_INSERTS);
  const shown = new Set(placed);
  for (const insert of inserts) if (!shown.has(insert) && insert.own) lines.push(insert.text);
  for (const [url, words] of links) {
    const label = words.filter((word, at) => word && words.indexOf(word) === at).join(' ');
    // An address that is on the page, perhaps on several lines, need not be told again.
    const bare = (text) => text.replace(/[\s_]/g, '');
    if (!bare(label).includes(bare(url).replace(/^(https?:\/\/|mailto:)|\/$/g, ''))) lines.push(`link ${label ? `"${label}"` : 'without words'}: ${url}`);
  }
  return { inserts: placed, lines, files };
}

/** The text of a form that is made of XFA only, as pdf.js lays it out: the lines of one page. */
export function xfaLines(tree) {
  const out = [];
  const block = /^(div|p|li|tr|legend|label|fieldset)$/;
  let current = '';
  const end = () => {
    if (line(current)) out.push(line(current));
    current = '';
  };
  const walk = (node, depth) => {
    if (!node || depth > 500) return;
    const { name, attributes = {}, children = [], value } = node;
    if (attributes.style?.display === 'none' || attributes.style?.visibility === 'hidden') return;
    if (name === 'input' && /^(checkbox|radio)$/.test(attributes.type)) current += attributes.checked ? ' [x] ' : ' [ ] ';
    else if (name === 'select') current += ` ${children.filter((option) => option.attributes?.selected).map((option) => option.value).join(', ')} `;
    else if (name === 'input' || name === 'textarea') current += ` ${attributes.value ?? value ?? attributes.textContent ?? ''} `;
    else if (typeof value === 'string') current += value;
    else if (attributes.textContent) current += attributes.textContent;
    if (name === 'select') return;
    for (const child of children) walk(child, depth + 1);
    if (name === 'br' || block.test(name)) end();
  };
  walk(tree, 0);
  end();
  return out;
}
