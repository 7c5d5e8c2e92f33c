// The model that answers: the one set in the site's tag, or the visitor's choice. None of this is ever stored.

import { NEED_KEY } from './providers.js';

/** Returns the provider for the package; `undefined` if the visitor has to choose one first. */
export function provider(element, chosen) {
  if (chosen) return chosen;
  if (typeof element.complete === 'function') return { kind: 'custom', model: element.model || 'custom', complete: (request, options) => element.complete(request, options) };
  const kind = element.provider;
  const baseUrl = element.baseUrl ? new URL(element.baseUrl, document.baseURI).href.replace(/\/+$/, '') : undefined;
  if (!kind || (NEED_KEY.has(kind) && !baseUrl && !element.apiKey)) return undefined;
  if (kind === 'prompt-api') return { kind };
  const demo = /^demo-(endless|chaos)$/.exec(kind);
  if (demo) return { kind: 'demo', demo: demo[1] };
  return { kind, ...(baseUrl && { baseUrl }), ...(element.model && { model: element.model }), ...(element.apiKey && { apiKey: String(element.apiKey) }) };
}

/** The settings with which a run is started. */
export function settings(element, chosen) {
  const { preset, maxTurns, system, headers, contactUrl: contact, tools, skills } = element;
  return { provider: provider(element, chosen), preset: preset || undefined, maxTurns: Number(maxTurns) || 8, system, headers: chosen ? undefined : headers, contact, tools: Array.isArray(tools) ? tools : undefined, skills: skills ? skills.trim().split(/\s+/).map((one) => new URL(one, document.baseURI).href) : undefined };
}

/** The text below the composer. */
export function answersBy(element, chosen, t) {
  const now = provider(element, chosen);
  if (!now) return '';
  if (now.kind === 'demo') return t('demo');
  return t('answersBy', { model: now.model || t(`way_${now.kind}`) });
}
