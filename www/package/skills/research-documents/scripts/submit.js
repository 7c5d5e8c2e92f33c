// Submits the answer and ends the run, if every quote stands in its file. Arguments: answer, findings [{ claim, path, quote }], open.
const { answer, findings = [], open = [] } = input;
const plain = (text) => text.replace(/[*_`|>#]/g, ' ').replace(/\s+/g, ' ').trim().toLowerCase();

async function textOf(path) {
  let text = '';
  for (let offset = 1; offset;) {
    const part = await tools.read_file({ path, offset, limit: 2000 });
    const [note, next] = /\n[^\n]*; continue with offset (\d+)\]?\s*$/.exec(part) ?? [''];
    text += `${part.slice(0, part.length - note.length)}\n`;
    offset = Number(next ?? 0);
  }
  return plain(text);
}

const faults = [];
if (typeof answer !== 'string' || !answer.trim()) faults.push('answer: a text is missing');
if (!Array.isArray(findings)) faults.push('findings: expected an array of { claim, path, quote }');
const texts = {};
for (const [at, finding] of (Array.isArray(findings) ? findings : []).entries()) {
  const { claim, path, quote } = finding ?? {};
  if (![claim, path, quote].every((text) => typeof text === 'string' && text.trim())) {
    faults.push(`findings[${at}]: claim, path and quote have to be texts`);
    continue;
  }
  try {
    texts[path] ??= await textOf(path);
    if (!texts[path].includes(plain(quote))) faults.push(`findings[${at}]: this quote is not in ${path}: ${quote}`);
  } catch (error) {
    faults.push(`findings[${at}]: ${path} cannot be read: ${error.message}`);
  }
}

if (faults.length) console.log(`Nothing was submitted:\n${faults.join('\n')}`);
else console.log(`<<<FINAL_RESULT>>>${JSON.stringify({ answer, findings, open })}<<<END_FINAL_RESULT>>>`);
