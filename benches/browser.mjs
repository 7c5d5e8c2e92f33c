// Chromium as all parts start it.
import { chromium } from 'playwright-core';

// Its own traffic would be measured too; gc() is for the workers, whose heaps the page's session does not collect.
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--js-flags=--expose-gc'];
const OPTIONS = { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS };

export const launch = () => chromium.launch(OPTIONS);

/** A browser with a profile on disk, and so with the caches that a visitor's has. */
export const launchAt = (folder) => chromium.launchPersistentContext(folder, OPTIONS);
