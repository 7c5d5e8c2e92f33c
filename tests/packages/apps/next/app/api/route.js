import { ask } from '../../ask.js';

export async function GET(request) {
  return Response.json({ text: await ask(new URL(request.url).searchParams.get('model')) });
}
