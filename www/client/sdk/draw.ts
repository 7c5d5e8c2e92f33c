// Draws Markdown from a framework's component: loads `turnwise/markdown` on first use.
import type { MarkdownOptions } from './markdown.js';

let loading: Promise<typeof import('./markdown.js')> | undefined;

/** Calls are drawn in their order, because all of them wait for the same promise. */
export async function draw(element: Element, text: string, options: MarkdownOptions): Promise<void> {
  loading ??= import('./markdown.js');
  const { drawMarkdown } = await loading.catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  await drawMarkdown(element, text, options);
}
