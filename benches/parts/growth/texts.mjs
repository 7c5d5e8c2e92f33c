// The texts that grow, by kind: `KINDS[kind](characters)` is the reply that a model streams (`events`) and what a person sees of it at
// its end (`shown`).
import { reply } from '../../../tests/e2e/lib/script-server.mjs';

const LAST = 'This is the last line.';

const SENTENCE = 'The service reads every order of the day, adds up what each customer pays, and writes one line for each of them. ';
const MARKED = (n) => `Part ${n} takes the rows as they come, so that a day with *many* orders needs **no more memory** than a quiet one; see \`orders.rs\`. `;
const CJK = '这项服务读取当天的每一份订单，把每位顾客应付的金额相加，然后为每位顾客写一行。サービスは一日の注文をすべて読みます。';

const section = (n) => `## Part ${n}: what the service does

${SENTENCE}${MARKED(n)}

\`\`\`rust
fn total(rows: &[Row]) -> u64 {
    rows.iter().filter(|row| row.paid).map(|row| row.price * row.count).sum() // part ${n}
}
\`\`\`

| customer | orders | total | note |
|---|---:|---:|---|
| North ${n} | ${n * 3} | ${n * 311} | pays late |
| South ${n} | ${n * 2} | ${n * 87} | new |

- rows without a price are left out
- rows of *yesterday* count for yesterday
  - unless their bill is of today

${CJK}

1. read the rows
2. add them up
3. write the bills

`;

/** A text of this many characters, whose last line is known. */
function filled(characters, part, { start = '', end = `\n\n${LAST}` } = {}) {
  let text = start;
  for (let n = 1; text.length < characters - end.length; n += 1) text += part(n);
  return `${text.slice(0, characters - end.length)}${end}`;
}

const answer = (text) => ({ events: reply({ text }), shown: LAST });
const chunk = (delta) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const pieces = (text, most) => text.match(new RegExp(`.{1,${most}}`, 'gsu'));
/** The events of the reply, with these before its own text. */
const before = (events, text) => {
  const [first, ...rest] = reply({ text });
  return [first, ...events, ...rest];
};

export const KINDS = {
  // Every kind of block.
  mixed: (characters) => answer(filled(characters, section)),
  // The same, a few letters at a time.
  small: (characters) => {
    const text = filled(characters, section);
    return { events: before(pieces(text, 3).map((content) => chunk({ content })), ''), shown: LAST };
  },
  // One block that does not end.
  paragraph: (characters) => answer(filled(characters, (n) => SENTENCE + MARKED(n), { end: ` ${LAST}` })),
  cjk: (characters) => answer(filled(characters, () => CJK, { end: ` ${LAST}` })),
  code: (characters) => answer(filled(characters, (n) => `    rows.iter().filter(|row| row.paid).map(|row| row.price * ${n}).sum() // part ${n}\n`, { start: '```rust\n', end: `\n\`\`\`\n\n${LAST}` })),
  table: (characters) => answer(filled(characters, (n) => `| North ${n} | ${n * 3} | *pays late* |\n`, { start: '| customer | orders | note |\n|---|---:|---|\n' })),
  list: (characters) => answer(filled(characters, (n) => `- ${SENTENCE}${MARKED(n)}\n`)),
  // Shown folded, so only its beginning is looked for.
  reasoning: (characters) => {
    const text = filled(characters, (n) => `${SENTENCE}${n % 5 ? '' : '\n\n'}`);
    return { events: before(pieces(text, 7).map((reasoning_content) => chunk({ reasoning_content })), LAST), shown: LAST };
  },
  // A call of a tool that there is not: its arguments are only passed on.
  arguments: (characters) => ({ events: reply({ calls: [{ id: 'call_1', name: 'nothing', args: { text: filled(characters, () => SENTENCE) } }] }), shown: 'nothing' }),
};
