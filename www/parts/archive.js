// Archives of the tools' worker: the files in a ZIP or TAR archive and their content, and what is packed by gzip. PKWARE's APPNOTE
// 6.3.10, POSIX pax (1003.1-2017) and RFC 1952. An archive is not held in memory: its list is read, then the file that is asked for.
// Names are data: they never become paths of a disk.

/** Most files that are listed, and most bytes of one that is unpacked. */
const MOST_FILES = 20_000;
const MOST_BYTES = 256 * 2 ** 20;
/** The bytes at the end in which the end record of a ZIP archive is looked for, with the longest comment and the 64-bit extension. */
const TAIL = 22 + 65_535 + 20;
const METHODS = { 1: 'Shrink', 6: 'Implode', 9: 'Deflate64', 12: 'bzip2', 14: 'LZMA', 93: 'Zstandard', 95: 'XZ', 98: 'PPMd', 99: 'AES' };
/** Files of office documents and e-books: what has one of them is a document, not an archive of documents. */
const DOCUMENT = ['[Content_Types].xml', 'mimetype', 'META-INF/container.xml'];

/** The upper half of code page 850, in which Western Windows writes names; where it has letters, code page 437 has the same or none. */
const CP850 = 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';

const refuse = (why) => { throw new Error(why); };
const DAMAGED = 'it is damaged: its end is missing, or its list of files';

const view = async (blob, from, to) => new DataView(await blob.slice(from, to).arrayBuffer());

/**
 * The files in an archive. `guess(bytes)`: the label of the encoding of names that are not UTF-8.
 * `{ kind, files: [{ path, size }], notes, document }`; `document`: it holds an office document or an e-book.
 */
export async function open(blob, guess) {
  const head = await view(blob, 0, 512);
  const listed = head.byteLength > 3 && head.getUint16(0) === 0x504b ? await zip(blob) : await tar(blob);
  const notes = listed.notes;
  const names = await named(listed.entries, guess, notes);
  const taken = new Map();
  const files = [];
  let changed = 0;
  listed.entries.forEach((entry, at) => {
    if (names[at].endsWith('/')) return;
    const parts = names[at].replaceAll('\\', '/').split('/').map((part) => part.replace(/[\u0000-\u001f\u007f-\u009f]/g, '_').trim());
    const kept = parts.filter((part) => part !== '' && part !== '.' && part !== '..');
    if (parts.includes('..') || /^([/\\]|[A-Za-z]:)/.test(names[at])) changed += 1;
    if (/^[A-Za-z]:$/.test(kept[0])) kept.shift();
    const path = kept.join('/').slice(0, 800) || 'unnamed';
    let own = path;
    for (let n = taken.get(path) ?? 1; taken.has(own); own = `${path} (${n})`) taken.set(path, n += 1);
    if (!taken.has(own)) taken.set(own, 1);
    files.push({ ...entry, path: own });
  });
  if (changed) notes.push(`${changed} of its names lead out of a folder and are shown without that`);
  const locked = files.filter(({ locked }) => locked).length;
  if (locked) notes.push(`${locked} of its files are protected by a password`);
  return { kind: listed.kind, files, notes, document: listed.kind === 'ZIP archive' && files.some(({ path }) => DOCUMENT.includes(path)) };
}

/** The names of entries as text: UTF-8 if they say so or can be read so, else the code page of DOS or a guess. */
async function named(entries, guess, notes) {
  const strict = new TextDecoder('utf-8', { fatal: true });
  const texts = entries.map(({ name }) => {
    try {
      return typeof name === 'string' ? name : strict.decode(name);
    } catch {
      return null;
    }
  });
  const old = entries.filter((_, at) => texts[at] === null).map(({ name }) => name);
  if (!old.length) return texts;
  const dos = (bytes) => Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : CP850[byte - 128])).join('');
  // In another code page the letters of DOS would be lines and symbols, or many in a row.
  let [label, read] = ['code page 850', dos];
  if (old.some((bytes) => /[^\p{L}\x00-\x7f]|[^\x00-\x7f]{3}/u.test(dos(bytes)))) {
    label = await guess(new Blob(old.flatMap((bytes) => [bytes, '\n'])));
    read = (bytes) => new TextDecoder(label).decode(bytes);
  }
  notes.push(`names in ${label}, guessed from their bytes`);
  return texts.map((text, at) => text ?? read(entries[at].name));
}

async function zip(blob) {
  const { start, length, count, shift } = await directory(blob);
  const list = await view(blob, start, start + length);
  const entries = [];
  const notes = [];
  let at = 0;
  for (let number = 0; number < count; number += 1) {
    if (at + 46 > list.byteLength || list.getUint32(at, true) !== 0x02014b50) {
      notes.push(`its list of files is damaged: ${count - number} of ${count} files are missing`);
      break;
    }
    if (entries.length === MOST_FILES) {
      notes.push(`only the first ${MOST_FILES} of its ${count} files are listed`);
      break;
    }
    const two = (offset) => list.getUint16(at + offset, true);
    const four = (offset) => list.getUint32(at + offset, true);
    const part = (from, size) => new Uint8Array(list.buffer, list.byteOffset + Math.min(from, list.byteLength), Math.max(0, Math.min(size, list.byteLength - from)));
    const entry = { locked: Boolean(two(8) & 1), method: two(10), packed: four(20), size: four(24), at: four(42) };
    const bytes = part(at + 46, two(28));
    entry.name = bytes.slice();
    const extra = part(at + 46 + two(28), two(30));
    extras(extra, entry, bytes);
    entry.at += shift;
    // Some programs write names in UTF-8 that are not valid.
    if (two(8) & 0x800) entry.name = new TextDecoder().decode(bytes);
    at += 46 + two(28) + two(30) + two(32);
    entries.push(entry);
  }
  return { kind: 'ZIP archive', entries, notes };
}

/** The 64-bit sizes of an entry, and its name in Unicode where Info-ZIP writes one. */
function extras(extra, entry, bytes) {
  const fields = new DataView(extra.buffer, extra.byteOffset, extra.byteLength);
  for (let at = 0; at + 4 <= extra.byteLength;) {
    const [id, size] = [fields.getUint16(at, true), fields.getUint16(at + 2, true)];
    const end = at + 4 + size;
    if (end > extra.byteLength) return;
    if (id === 1) {
      let next = at + 4;
      for (const field of ['size', 'packed', 'at']) {
        if (entry[field] !== 0xffff_ffff || next + 8 > end) continue;
        entry[field] = Number(fields.getBigUint64(next, true));
        next += 8;
      }
    } else if (id === 0x7075 && size > 5 && fields.getUint8(at + 4) === 1 && fields.getUint32(at + 5, true) === crc32(bytes)) {
      entry.name = new TextDecoder().decode(extra.subarray(at + 9, end));
    }
    at = end;
  }
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Where the list of a ZIP archive is. `shift`: the bytes before the archive, such as those of a program that unpacks it. */
async function directory(blob) {
  const from = Math.max(0, blob.size - TAIL);
  const tail = await view(blob, from, blob.size);
  let at = tail.byteLength - 22;
  while (at >= 0 && tail.getUint32(at, true) !== 0x06054b50) at -= 1;
  if (at < 0) refuse(DAMAGED);
  let [count, length, start] = [tail.getUint16(at + 10, true), tail.getUint32(at + 12, true), tail.getUint32(at + 16, true)];
  let end = from + at;
  if (at >= 20 && tail.getUint32(at - 20, true) === 0x07064b50) {
    const record = Number(tail.getBigUint64(at - 12, true));
    const whole = await view(blob, record, record + 56);
    if (whole.byteLength < 56 || whole.getUint32(0, true) !== 0x06064b50) refuse(DAMAGED);
    [count, length, start] = [32, 40, 48].map((offset) => Number(whole.getBigUint64(offset, true)));
    end = record;
  }
  const real = end - length;
  if (real < 0) refuse(DAMAGED);
  return { start: real, length, count, shift: Math.max(0, real - start) };
}

async function tar(blob) {
  const entries = [];
  const notes = [];
  let links = 0;
  let [at, next] = [0, {}];
  let [from, buffer] = [0, new Uint8Array()];
  const block = async (offset, size) => {
    if (offset < from || offset + size > from + buffer.length) {
      from = offset;
      buffer = new Uint8Array(await blob.slice(offset, offset + Math.max(size, 1 << 20)).arrayBuffer());
    }
    return buffer.subarray(offset - from, offset - from + size);
  };
  for (;;) {
    const head = await block(at, 512);
    if (head.length < 512 || head.every((byte) => byte === 0)) break;
    if (!tarHeader(head)) {
      notes.push('it is damaged after the files that are listed');
      break;
    }
    const size = next.size ?? tarNumber(head.subarray(124, 136));
    const type = String.fromCharCode(head[156] || 48);
    const content = at + 512;
    at = content + Math.ceil(size / 512) * 512;
    if (type === 'L' || type === 'x') {
      const bytes = await block(content, Math.min(size, 1 << 20));
      if (type === 'L') next.name = cString(bytes);
      else Object.assign(next, pax(bytes));
      continue;
    }
    if (type === 'g' || type === 'K') continue;
    const prefix = new TextDecoder().decode(head.subarray(257, 262)) === 'ustar' && head[263] === 48 ? cString(head.subarray(345, 500)) : new Uint8Array();
    const name = next.name ?? (prefix.length ? Uint8Array.of(...prefix, 47, ...cString(head.subarray(0, 100))) : cString(head.subarray(0, 100)));
    next = {};
    if (type === '1' || type === '2') links += 1;
    if (type !== '0' && type !== '7') continue;
    if (content + size > blob.size) {
      notes.push('it is cut off within a file, which is not listed');
      break;
    }
    if (entries.length === MOST_FILES) {
      notes.push(`only its first ${MOST_FILES} files are listed`);
      break;
    }
    entries.push({ name: typeof name === 'string' ? name : name.slice(), size, start: content });
  }
  if (links) notes.push(`${links} links in it are not followed`);
  return { kind: 'TAR archive', entries, notes };
}

/** Whether a block is the header of a file: its checksum is right. */
export function tarHeader(head) {
  let sum = 0;
  for (let at = 0; at < 512; at += 1) sum += at >= 148 && at < 156 ? 32 : head[at];
  return sum > 256 && sum === tarNumber(head.subarray(148, 156));
}

const cString = (bytes) => bytes.subarray(0, (bytes.indexOf(0) + bytes.length + 1) % (bytes.length + 1));

/** Octal digits, or binary for what is larger. */
function tarNumber(bytes) {
  if (bytes[0] & 0x80) return bytes.subarray(1).reduce((number, byte) => number * 256 + byte, 0);
  return Number.parseInt(new TextDecoder().decode(bytes).replace(/\0.*/s, '').trim() || '0', 8) || 0;
}

/** The name and size in an extended header: `length key=value\n`. */
function pax(bytes) {
  const found = {};
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(32, at);
    const length = Number(new TextDecoder().decode(bytes.subarray(at, space)));
    if (space < 0 || !(length > 0)) break;
    const [, key, value] = new TextDecoder().decode(bytes.subarray(space + 1, at + length - 1)).match(/^([^=]*)=(.*)$/s) ?? [];
    if (key === 'path') found.name = value;
    if (key === 'size') found.size = Number(value);
    at += length;
  }
  return found;
}

/** The content of one of the files that `open` found. */
export async function read(blob, file) {
  if (file.size > MOST_BYTES) refuse(`it would unpack to ${Math.ceil(file.size / 1e6)} MB, and at most ${MOST_BYTES / 2 ** 20 | 0} MiB are read`);
  if (file.start !== undefined) return blob.slice(file.start, file.start + file.size);
  if (file.locked) refuse('it is protected by a password');
  if (file.method !== 0 && file.method !== 8) refuse(`it is packed by ${METHODS[file.method] ?? `method ${file.method}`}, which is not read here`);
  const head = await view(blob, file.at, file.at + 30);
  if (head.byteLength < 30 || head.getUint32(0, true) !== 0x04034b50) refuse('it is damaged: its header is missing');
  const start = file.at + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const content = blob.slice(start, start + file.packed);
  if (file.method === 0) return content.size === file.size ? content : refuse('it is damaged: its end is missing');
  const whole = await inflate(content, 'deflate-raw', file.size).catch(() => null);
  return whole?.size === file.size ? whole : refuse('it is damaged: it unpacks to something else than the archive says');
}

/** What is packed by gzip, and whether it is a TAR archive. */
export async function gunzip(blob) {
  const unpacked = await inflate(blob, 'gzip', MOST_BYTES).catch(() => refuse('it is damaged: it cannot be unpacked'));
  if (!unpacked) refuse(`it would unpack to more than ${MOST_BYTES / 2 ** 20 | 0} MiB`);
  const head = new Uint8Array(await unpacked.slice(0, 512).arrayBuffer());
  return { blob: unpacked, tar: head.length === 512 && tarHeader(head) };
}

/** Unpacks at most `most` bytes; null: it would be more. It stops as soon as the content is larger than that. */
async function inflate(blob, format, most) {
  const reader = blob.stream().pipeThrough(new DecompressionStream(format)).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    size += value.byteLength;
    if (size > most) {
      reader.cancel().catch(() => {});
      return null;
    }
    parts.push(value);
  }
}
