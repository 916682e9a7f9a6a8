import { existsSync } from "node:fs";

import type { Browser } from "playwright-core";

export type { Browser, BrowserContext, Page } from "playwright-core";

/** Usual paths of Chromium and Chrome. `CHROME_PATH` takes precedence. */
const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/opt/google/chrome/chrome",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
];

/** A browser of this machine, or `undefined`. Without one, the tests of pages are skipped with a warning. */
export const browserPath = findBrowser();
if (browserPath === undefined) {
  console.warn(
    "SKIPPED: the tests of pages, because this machine has neither Chromium nor Chrome. Install one (Debian: apt-get install chromium; macOS: brew install --cask chromium) or name it in CHROME_PATH.",
  );
}

/**
 * Launches the browser with a fresh profile and without background activity.
 *
 * @param more - Additional command line arguments.
 */
export async function launchBrowser(...more: readonly string[]): Promise<Browser> {
  if (browserPath === undefined) throw new Error("this machine has neither Chromium nor Chrome");
  // Tests without a browser run without this project.
  const { chromium } = await import("playwright-core");
  return chromium.launch({
    executablePath: browserPath,
    timeout: 120_000,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });
}

/** @throws Error when `CHROME_PATH` names a missing file. */
function findBrowser(): string | undefined {
  const wanted = process.env["CHROME_PATH"];
  if (wanted === undefined || wanted === "") return PLACES.find((place) => existsSync(place));
  if (!existsSync(wanted)) throw new Error(`CHROME_PATH: there is no ${wanted}`);
  return wanted;
}
