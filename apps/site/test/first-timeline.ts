/**
 * Measures the time from opening the playground to the first timeline, in Chromium with an empty cache. Each visit uses
 * a new browser with a new profile. Builds the playground, and serves it from this machine.
 *
 *     node apps/site/test/first-timeline.ts                     five visits
 *     node apps/site/test/first-timeline.ts --visits 20
 *     node apps/site/test/first-timeline.ts --site FOLDER       with a site that is already built: apps/site/dist
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { launchBrowser } from "../../../tooling/browser/chromium.ts";
import { buildPlayground } from "../playground/build.ts";
import { serveFolder } from "./static-server.ts";

/** Times of a visit, in milliseconds since the page was requested. */
interface Visit {
  /** The page's script has started: it is fetched and compiled. */
  readonly startedMs: number;
  /** The example is simulated. */
  readonly simulatedMs: number;
  /** The lanes are on the screen. */
  readonly drawnMs: number;
}

/** Runs in the page, and checks once per frame. */
const WATCH = `{
  const marks = {};
  const now = (name) => (marks[name] ??= performance.now());
  const isDrawn = (canvas) =>
    canvas !== undefined && canvas !== null && canvas.width > 0 && canvas.height > 0 &&
    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0);
  const look = () => {
    if (document.querySelector(".page-header") !== null) now("startedMs");
    if (performance.getEntriesByName("played").length > 0) marks.simulatedMs ??= performance.getEntriesByName("played")[0].startTime;
    if (isDrawn(document.querySelector("kubewright-timeline")?.shadowRoot?.querySelector("canvas.lanes"))) {
      // The pixels of this frame are on the screen in the next frame.
      requestAnimationFrame(() => { now("drawnMs"); globalThis.reportDrawn(marks); });
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}`;

const { values: flags } = parseArgs({
  options: { visits: { type: "string", default: "5" }, site: { type: "string" } },
});
const folder = flags.site === undefined ? mkdtempSync(path.join(tmpdir(), "kubewright-first-")) : undefined;
if (folder !== undefined) await buildPlayground(path.join(folder, "play"));
const server = await serveFolder(folder ?? flags.site!);
try {
  const visits: Visit[] = [];
  for (let index = 0; index < Number(flags.visits); index++) {
    visits.push(await visit(`${server.url}play/`));
    const { startedMs, simulatedMs, drawnMs } = rounded(visits.at(-1)!);
    console.log(`visit ${index + 1}: page ${startedMs} ms, played ${simulatedMs} ms, drawn ${drawnMs} ms`);
  }
  const drawn = visits.map((each) => Math.round(each.drawnMs)).sort((a, b) => a - b);
  console.log(`first timeline: ${drawn[Math.floor(drawn.length / 2)]} ms (median), ${drawn.at(-1)} ms at most`);
} finally {
  await server.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

async function visit(url: string): Promise<Visit> {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const { promise, resolve, reject } = Promise.withResolvers<Visit>();
    await page.exposeFunction("reportDrawn", resolve);
    await page.addInitScript({ content: WATCH });
    await page.goto(url);
    const limit = setTimeout(() => reject(new Error("no timeline in 90 s")), 90_000);
    return await promise.finally(() => clearTimeout(limit));
  } finally {
    await browser.close();
  }
}

function rounded({ startedMs, simulatedMs, drawnMs }: Visit): Visit {
  return { startedMs: Math.round(startedMs), simulatedMs: Math.round(simulatedMs), drawnMs: Math.round(drawnMs) };
}
