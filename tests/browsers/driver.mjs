// Browsers other than the one that all other tests use, each through its own WebDriver: Firefox (geckodriver) and WebKitGTK,
// which shares Safari's engine (WebKitWebDriver). Chromium is included, to tell a faulty test from a faulty browser.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import net from 'node:net';
import { Builder, Capabilities } from 'selenium-webdriver';
import { ARGS } from '../e2e/lib/browser.mjs';

const { CHROMIUM = 'chromium', CHROMEDRIVER = 'chromedriver', FIREFOX = 'firefox-esr', GECKODRIVER = 'geckodriver', WEBKITDRIVER = 'WebKitWebDriver', MINIBROWSER } = process.env;
const SIZE = { width: 1200, height: 900 };
const POLL_MS = 50;

/**
 * Browsers by name: the driver's command for a port, and the capabilities to request. WebKitGTK has no headless mode: it
 * gets a virtual display.
 */
export const BROWSERS = {
  chromium: {
    command: (port) => [CHROMEDRIVER, `--port=${port}`],
    capabilities: { browserName: 'chrome', 'goog:chromeOptions': { binary: CHROMIUM, args: ['--headless=new', `--window-size=${SIZE.width},${SIZE.height}`, ...ARGS] } },
  },
  firefox: {
    command: (port) => [GECKODRIVER, '--port', String(port), '--binary', FIREFOX],
    capabilities: { browserName: 'firefox', 'moz:firefoxOptions': { args: ['-headless', `--width=${SIZE.width}`, `--height=${SIZE.height}`] } },
  },
  webkit: {
    command: (port) => ['xvfb-run', '--auto-servernum', `--server-args=-screen 0 ${SIZE.width}x${SIZE.height}x24 -nolisten tcp`, WEBKITDRIVER, `--port=${port}`],
    // No sandbox, since tests may run as root; the same as for Chromium.
    env: { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' },
    capabilities: { browserName: 'MiniBrowser', 'webkitgtk:browserOptions': { binary: MINIBROWSER, args: ['--automation'] } },
  },
};

const freePort = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

/** Waits until `look()` returns something truthy, and resolves with it. */
export async function until(look, what, ms = 20000) {
  const end = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(performance.now() < end, `not within ${ms} ms: ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, POLL_MS); });
  }
}

/** Runs `body(tab)` in a fresh browser of that name; `tab` is Selenium's driver. */
export async function withTab(name, body) {
  const { command, capabilities, env } = BROWSERS[name];
  const port = await freePort();
  const [program, ...args] = command(port);
  // A process group of its own, so that everything it starts ends with it.
  const driver = spawn(program, args, { stdio: 'ignore', detached: true, env: { ...process.env, ...env } });
  const failed = new Promise((_, reject) => { driver.on('error', (error) => reject(new Error(`${program} cannot be started: ${error.message}`))); });
  const url = `http://127.0.0.1:${port}`;
  try {
    await Promise.race([until(() => fetch(`${url}/status`).then(({ ok }) => ok, () => false), `${program} listens`), failed]);
    const tab = await new Builder().usingServer(url).withCapabilities(new Capabilities(capabilities)).build();
    try {
      await tab.manage().setTimeouts({ script: 120000, pageLoad: 60000 });
      return await body(tab);
    } finally {
      await tab.quit();
    }
  } finally {
    if (driver.pid && driver.exitCode === null) process.kill(-driver.pid);
  }
}
