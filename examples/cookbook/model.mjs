// The model of the recipes: any server that speaks Chat Completions, named by three environment variables, or the scripted demo.
import { demo, openai } from 'turnwise';

const { TURNWISE_BASE_URL: baseUrl, TURNWISE_API_KEY: apiKey, TURNWISE_MODEL: name = 'gpt-5.4-mini' } = process.env;
/** US dollars per million tokens, for budgets. At a provider's own address, well-known models need none. */
const price = { input: 0.75, output: 4.5 };

export const model = baseUrl ? openai(name, { baseUrl, price, ...(apiKey && { apiKey }) }) : demo('normal', { price });
