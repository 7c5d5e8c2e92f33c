import { json } from '@sveltejs/kit';
import { ask } from '../../../ask.js';

export const GET = async ({ url }) => json({ text: await ask(url.searchParams.get('model')) });
