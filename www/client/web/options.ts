// The options of the tools that reach the web, which stay in the page.
import type { SearchService } from './search';

export type Rule = 'ask' | 'allow' | 'deny';

export interface WebOptions {
  relay?: string;
  search?: SearchService;
  maxBytes?: number;
  timeoutMs?: number;
}
