export class Refused extends Error {
  constructor(code: string, message: string);
  code: string;
}
export function notPublic(address: string): string | undefined;
export function localHost(host: string): string | undefined;
export function hostOf(url: URL): string;
export function ofHost<T>(hosts: Record<string, T>, url: URL): T | undefined;
export function address(text: string, rules?: { named?: (origin: string) => boolean; base?: string }): URL;
export function resolved(host: string, found: string[], named?: boolean): void;
