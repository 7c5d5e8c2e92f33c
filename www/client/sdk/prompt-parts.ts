// Prompts: a text, or texts with images and PDFs.
import { describe, isBlob } from '../index.js';

/**
 * A part of a prompt.
 *
 * @example
 * const part: PromptPart = { type: 'image', data: file, mediaType: 'image/png' };
 */
export type PromptPart =
  | { type: 'text'; text: string }
  /** An image or a PDF: a data URL, a Blob, or bytes with their media type. Sent to models that accept it. */
  | { type: 'image' | 'file'; data: string | Blob | ArrayBuffer | Uint8Array; mediaType?: string }
  /** The form that `useChat` sends, with a data URL. */
  | { type: 'file'; url: string; mediaType?: string };

/**
 * What is asked: a text, or parts.
 *
 * @example
 * agent.stream([{ type: 'text', text: 'What is this?' }, { type: 'image', data: file }]);
 */
export type Prompt = string | readonly PromptPart[];

/** @internal */
export interface ReadPrompt {
  text: string;
  /** Data URLs. */
  images: string[];
}

async function dataUrl(part: Exclude<PromptPart, { type: 'text' }>, path: string): Promise<string> {
  const { mediaType } = part;
  const data = 'url' in part ? part.url : part.data;
  if (typeof data === 'string' ? /^(?!data:)[a-z]+:/i.test(data) : !(isBlob(data) || ArrayBuffer.isView(data) || Object.prototype.toString.call(data) === '[object ArrayBuffer]')) {
    throw new TypeError(`${path}.${'url' in part ? 'url' : 'data'}: got ${describe(data)}; expected a data URL, a Blob, or bytes`);
  }
  if (typeof data === 'string') return data.startsWith('data:') ? data : `data:${mediaType ?? 'image/png'};base64,${data}`;
  const blob = isBlob(data) ? data : new Blob([data as Uint8Array<ArrayBuffer>], { type: mediaType });
  return `data:${mediaType ?? blob.type};base64,${base64(new Uint8Array(await blob.arrayBuffer()))}`;
}

/** @internal */
export function base64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

/** The media types that providers accept. */
const ATTACHABLE = /^data:(image\/(png|jpeg|webp|gif)|application\/pdf);base64,[A-Za-z0-9+/=]+$/;

/** Reads a prompt. `path` names the value in errors. @internal */
export async function readPrompt(prompt: unknown, path = 'prompt'): Promise<ReadPrompt> {
  if (typeof prompt === 'string') return { text: prompt, images: [] };
  if (!Array.isArray(prompt)) throw new TypeError(`${path}: got ${describe(prompt)}; expected a string, or an array of parts`);
  const texts: string[] = [];
  const images: string[] = [];
  for (const [at, part] of (prompt as PromptPart[]).entries()) {
    if (part?.type === 'text') texts.push(part.text);
    else if (part?.type === 'image' || part?.type === 'file') {
      const url = await dataUrl(part, `${path}[${at}]`);
      if (!ATTACHABLE.test(url)) throw new TypeError(`${path}[${at}]: expected a picture (image/png, image/jpeg, image/webp, image/gif) or a PDF (application/pdf)`);
      images.push(url);
    }
    else throw new TypeError(`${path}[${at}]: got ${(part as { role?: unknown } | null)?.role ? 'a message; earlier ones are options.messages. Expected' : `${describe(part)}; expected`} { type: 'text', text }, or { type: 'image' | 'file', data, mediaType }`);
  }
  return { text: texts.join('\n\n'), images };
}
