/**
 * Takes the screenshot of the page for the README and docs/page.md, of the scenario page-picture.yaml:
 *
 *     npm run build && node tooling/page-picture.ts docs/images/page.png
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { launchBrowser } from "./browser/chromium.ts";

const [picture] = process.argv.slice(2);
if (picture === undefined) throw new Error("Where to? node tooling/page-picture.ts PICTURE.png");
const command = path.resolve(import.meta.dirname, "../apps/simulator/bin/kubewright.js");
const folder = mkdtempSync(path.join(tmpdir(), "kubewright-picture-"));
const report = path.join(folder, "report.html");
const scenario = path.join(import.meta.dirname, "page-picture.yaml");
const browser = await launchBrowser();
try {
  execFileSync(process.execPath, [command, "run", "--scenario", scenario, "--html", report], { stdio: "ignore" });
  const page = await browser.newPage({ viewport: { width: 1440, height: 800 }, colorScheme: "light" });
  // Selects a run that was skipped because of its predecessor, with the reason.
  const fragment = new URLSearchParams({
    range: ["2026-03-28T21:00:00Z", "2026-03-29T11:00:00Z"].map(Date.parse).join("_"),
    selected: `CronJob/default/invoice-run@${Date.parse("2026-03-28T22:00:00Z")}`,
    cursor: String(Date.parse("2026-03-28T22:00:00Z")),
    zone: "Europe/Berlin",
  });
  await page.goto(`${pathToFileURL(report).href}#${fragment.toString()}`);
  await page.locator("canvas.lanes").waitFor();
  await page.waitForTimeout(500);
  await page.screenshot({ path: picture });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
