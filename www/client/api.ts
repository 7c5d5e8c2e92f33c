// Checks the shipped types against the sources: this compiles only if the package has everything that turnwise.d.ts declares.
import type * as Declared from './types/turnwise';
import * as page from './index';

page satisfies Omit<typeof Declared, 'Agent' | 'LowLevelAgent' | 'DocsSite' | 'Files'>;
page.LowLevelAgent satisfies new (options?: Declared.AgentOptions) => Declared.LowLevelAgent;
page.DocsSite.open satisfies (page: string | URL, options?: Declared.DocsOptions) => Promise<Omit<Declared.DocsSite, never>>;
page.LowLevelAgent.prototype.files satisfies Omit<Declared.Files, never>;
