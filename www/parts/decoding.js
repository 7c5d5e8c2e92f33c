// The text of a file as UTF-8: byte order marks, UTF-16 without one, and encodings that have to be guessed.

const again = (encoding, bytes) => new TextEncoder().encode(new TextDecoder(encoding).decode(bytes));

/**
 * The bytes as UTF-8 without byte order mark, and what had to be assumed: `{ bytes, note }`. `part`: the text may end within a
 * character. `guess(bytes)` gives the label of an encoding.
 */
export async function utf8(bytes, part = false, guess = async () => 'windows-1252') {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
  else {
    const wide = utf16(bytes);
    if (wide) return { bytes: again(wide, bytes) };
  }
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: part });
    return { bytes };
  } catch {
    const encoding = await guess(bytes);
    return { bytes: again(encoding, bytes), note: `it is not UTF-8 and was read as ${NAMES[encoding] ?? encoding}` };
  }
}

const NAMES = { 'windows-1252': 'Windows-1252', 'windows-1251': 'Windows-1251', 'windows-1250': 'Windows-1250', shift_jis: 'Shift_JIS', gb18030: 'GB18030', 'euc-kr': 'EUC-KR', 'euc-jp': 'EUC-JP', big5: 'Big5', ibm866: 'IBM866', 'koi8-r': 'KOI8-R' };

/** UTF-16 by its mark, or by its zero bytes: most characters of a table are of ASCII. */
function utf16(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const head = bytes.subarray(0, 1_000);
  let even = 0, odd = 0;
  for (let at = 0; at < head.length; at += 1) if (head[at] === 0) at % 2 ? odd += 1 : even += 1;
  const half = head.length / 2;
  if (odd > half * 0.4 && even < half * 0.05) return 'utf-16le';
  if (even > half * 0.4 && odd < half * 0.05) return 'utf-16be';
  return undefined;
}
