// node .ci/serve.mjs FOLDER: serves a folder on http://127.0.0.1:8080 (PORT overrides) until interrupted.
import { serve } from './static.mjs';

const port = Number(process.env.PORT || 8080);
try {
  const { url } = await serve(process.argv[2], { port });
  console.log(`Turnwise is at ${url}  (Ctrl+C ends it)`);
} catch (error) {
  if (error.code !== 'EADDRINUSE') throw error;
  console.error(`port ${port} is taken: choose another with  make run PORT=${port + 1}`);
  process.exit(1);
}
