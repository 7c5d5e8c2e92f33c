// Shared by the four programs: the shop, the task and the instructions.
const SHOP = { lamp: { euros: 12, pieces: 3 }, chair: { euros: 40, pieces: 0 } };

export const MODEL = 'bench-1';
export const INSTRUCTIONS = 'You sell articles. Look up price and stock, then give the total and the articles.';
export const PROMPT = 'What do three lamps cost, and do you have them?';

/** All tool calls, in order, for checking a run. */
export const calls = [];
const called = (name, article, value) => {
  calls.push({ name, article });
  return value;
};
export const priceOf = (article) => called('getPrice', article, { euros: SHOP[article].euros });
export const stockOf = (article) => called('getStock', article, { pieces: SHOP[article].pieces });
