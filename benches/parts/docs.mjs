// Measures the docs agent on a site of as many pages as it reads: tasks of the host's page while it reads them, and how soon a
// visitor who was there before has an answer of the demo model.
import { answered, ask } from '../../tests/e2e/lib/widget.mjs';
import { QUESTION, firstVisit, laterVisit, withLargeDocs } from '../../tests/e2e/lib/large-docs.mjs';

export const names = ({ ours }) => [ours];

export const measure = () => withLargeDocs(async (tab) => {
  const { opening, reading } = await firstVisit(tab);
  // The demo model's module is compiled once, too.
  await ask(tab, QUESTION);
  await answered(tab);
  return {
    'returning visitor: question to answer (ms)': await laterVisit(tab),
    'longest task while reading, its own time (ms)': reading.cpu,
    'longest task while reading, by the clock (ms)': reading.wall,
    'longest task while the panel opens, its own time (ms)': opening.cpu,
    'longest task while the panel opens, by the clock (ms)': opening.wall,
  };
});
