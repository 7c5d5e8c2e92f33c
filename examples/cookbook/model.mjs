// The model of the recipes: any server that speaks Chat Completions, named by three environment variables, or the scripted demo.
import { demo, openai } from 'turnwise';

const { TURNWISE_BASE_URL: baseUrl, TURNWISE_API_KEY: apiKey, TURNWISE_MODEL: name = 'gpt-5.4-mini' } = process.env;

export const model = baseUrl ? openai(name, { baseUrl, ...(apiKey && { apiKey }) }) : demo();
