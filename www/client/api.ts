// Holds the shipped types and the sources together: this compiles only where the package has what turnwise.d.ts says.
import type * as Declared from './types/turnwise';
import * as page from './index';

page satisfies Omit<typeof Declared, 'Agent' | 'DocsSite' | 'Files'>;
page.Agent satisfies new (options?: Declared.AgentOptions) => Declared.Agent;
page.DocsSite.open satisfies (page: string | URL, options?: Declared.DocsOptions) => Promise<Omit<Declared.DocsSite, never>>;
page.Agent.prototype.files satisfies Omit<Declared.Files, never>;
