// The proxy on Deno: deno run --allow-net --allow-env --allow-write deno.mjs. Limits count in this process, or in Deno KV where it
// is there (--unstable-kv, Deno Deploy). With QUESTIONS_FILE, questions are appended to that file, as JSON lines.
import { count, inMemory, serve } from './core.mjs';

const DAY = 24 * 60 * 60_000;

/** Meters in Deno KV; two requests at once never count as one. */
const inKv = (kv) => (name) => ({
  async take(limits) {
    for (;;) {
      const entry = await kv.get(['meter', name]);
      const counts = entry.value ?? {};
      const wait = count(counts, limits);
      if (wait) return wait;
      const { ok } = await kv.atomic().check(entry).set(['meter', name], counts, { expireIn: 2 * DAY }).commit();
      if (ok) return undefined;
    }
  },
});

const env = Deno.env.toObject();
const meters = Deno.openKv ? inKv(await Deno.openKv()) : inMemory();
const questions = {
  add: (report) => (env.QUESTIONS_FILE ? Deno.writeTextFile(env.QUESTIONS_FILE, `${JSON.stringify(report)}\n`, { append: true }) : console.log(JSON.stringify(report))),
};

Deno.serve({ port: Number(env.PORT ?? 8000), hostname: env.HOST }, (request, { remoteAddr }) => serve(request, { env, meters, questions, address: remoteAddr.hostname }));
