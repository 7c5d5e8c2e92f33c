// Starts Chromium, in the same way for all parts.
import { chromium } from 'playwright-core';

// The browser's own traffic would be measured too; gc() is for the workers, whose heaps the page's session does not collect.
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--js-flags=--expose-gc'];
const OPTIONS = { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS };

export const launch = () => chromium.launch(OPTIONS);

/** Starts a browser with a profile on disk, and thus with the caches of a visitor's browser. */
export const launchAt = (folder) => chromium.launchPersistentContext(folder, OPTIONS);
