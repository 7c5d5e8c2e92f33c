// The proxy on Cloudflare Workers. Durable Objects count the requests and keep the questions, so the limits hold everywhere at
// once. wrangler.jsonc has the variables.
import { DurableObject } from 'cloudflare:workers';
import { count, serve } from './core.mjs';

const DAY = 24 * 60 * 60_000;
const KEPT_DAYS = 90;

export default {
  fetch(request, env) {
    return serve(request, {
      env, address: request.headers.get('cf-connecting-ip'), // set by Cloudflare; what a visitor sends is replaced
      meters: (name) => env.METERS.getByName(name),
      questions: env.REPORTS?.getByName('site'),
    });
  },
};

/** Counts the requests of one visitor, or of all, in windows of time. */
export class Meter extends DurableObject {
  async take(limits) {
    const counts = (await this.ctx.storage.get('counts')) ?? {};
    const wait = count(counts, limits);
    if (wait) return wait;
    await this.ctx.storage.put('counts', counts);
    // Data about a visitor who does not return is deleted.
    await this.ctx.storage.setAlarm(Date.now() + 2 * DAY);
    return undefined;
  }

  async alarm() {
    await this.ctx.storage.deleteAll();
  }
}

/** Keeps the questions that were not answered, for some months. */
export class Reports extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS reports (day TEXT, line TEXT)');
  }

  add(report) {
    const { sql } = this.ctx.storage;
    sql.exec('INSERT INTO reports VALUES (?, ?)', report.day, JSON.stringify(report));
    sql.exec('DELETE FROM reports WHERE day < ?', new Date(Date.now() - KEPT_DAYS * DAY).toISOString().slice(0, 10));
  }

  list() {
    return this.ctx.storage.sql.exec('SELECT line FROM reports').toArray().map(({ line }) => `${line}\n`).join('');
  }
}
