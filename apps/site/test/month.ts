/**
 * Measures the simulation of a month of ten daily CronJobs in the playground, in Chromium: after the page's example,
 * like a user who edits an open page, and then with other seeds. Builds the playground, and serves it from this
 * machine.
 *
 *     node apps/site/test/month.ts                three browsers
 *     node apps/site/test/month.ts --browsers 5
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { launchBrowser } from "../../../tooling/browser/chromium.ts";
import { buildPlayground } from "../playground/build.ts";
import { linkTo } from "../playground/page/state/link.ts";
import { NOTHING } from "../playground/page/state/playground-state.ts";
import { serveFolder } from "./static-server.ts";

const manifests = Array.from({ length: 10 }, (_, index) => {
  const container = "{ name: main, image: busybox }";
  const template = `{ spec: { restartPolicy: Never, containers: [${container}] } }`;
  return `apiVersion: batch/v1
kind: CronJob
metadata: { name: nightly-${index} }
spec: { schedule: "${index * 5} ${index} * * *", jobTemplate: { spec: { template: ${template} } } }
`;
}).join("---\n");
const SEEDS = 6;

const { values: flags } = parseArgs({ options: { browsers: { type: "string", default: "3" } } });
const folder = mkdtempSync(path.join(tmpdir(), "kubewright-month-"));
await buildPlayground(path.join(folder, "play"));
const server = await serveFolder(folder);
try {
  for (let index = 0; index < Number(flags.browsers); index++)
    console.log((await visit(`${server.url}play/`)).join(", "));
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the page's texts about the duration of each simulation. */
async function visit(url: string): Promise<string[]> {
  const link = await linkTo({ ...NOTHING, manifests, scenario: "for: 30d\nseed: 1\n" });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const count = (): Promise<number> => page.evaluate(() => performance.getEntriesByName("played").length);
    const afterNext = async (act: () => Promise<unknown>): Promise<string> => {
      const before = await count();
      await act();
      await page.waitForFunction((so) => performance.getEntriesByName("played").length > so, before);
      return (await page.getByText(/^Played in/).textContent()) ?? "";
    };
    await page.goto(url);
    await page.getByText(/^Played in/).waitFor();
    await page.waitForLoadState("networkidle");
    const times = [await afterNext(() => page.evaluate(`void (location.hash = ${JSON.stringify(link)})`))];
    while (times.length < SEEDS) times.push(await afterNext(() => page.getByLabel("Another seed").click()));
    return times;
  } finally {
    await browser.close();
  }
}
