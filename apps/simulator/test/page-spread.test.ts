import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SpreadReport } from "@kubewright/timeline/data";
import { htmlPage } from "@kubewright/analysis/page";

import { browserPath, type Page } from "../../../tooling/browser/chromium.js";
import { PageFixture } from "./page-fixture.js";
import { accessibilityViolations } from "../../../tooling/browser/accessibility.js";
import { policyViolations } from "./page-checks.js";
import { manifest } from "./page-manifests.js";

const TIMEOUT_MS = 180_000;
/** Forty CronJobs at :00, some of them only at night, and one that runs in the first and last minute of each hour. */
const MANIFESTS = [
  ...Array.from({ length: 40 }, (_, index) => ({
    name: `report-${String(index).padStart(2, "0")}`,
    namespace: index % 2 === 0 ? "billing" : "shop",
    schedule: index % 4 === 0 ? `0 ${index % 24} * * *` : "0 */3 * * *",
    duration: `${2 + (index % 5) * 3}m`,
    cpu: `${100 + (index % 4) * 100}m`,
  })),
  { name: "heartbeat", schedule: "0,59 * * * *", duration: "20s" },
]
  .map(manifest)
  .join("");

describe.skipIf(browserPath === undefined)("the page of schedules' load", { timeout: TIMEOUT_MS }, () => {
  let fixture: PageFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await PageFixture.start();
    url = await fixture.spread("load.html", MANIFESTS, ["--for", "2d"]);
  }, TIMEOUT_MS);
  afterEach(() => fixture.closePages());
  afterAll(() => fixture?.stop());

  const section = (page: Page, title: string): ReturnType<Page["locator"]> =>
    page.locator(".figures", { has: page.getByRole("heading", { name: title, exact: true }) }).first();

  test.each([
    ["spread", {}],
    ["spread-dark", { colorScheme: "dark" }],
    ["spread-narrow", { width: 420, height: 860 }],
  ] as const)("as %s: before and after by minute, hour and day, no accessibility violations", async (name, options) => {
    const { page, problems } = await fixture.open(url, { waitFor: ".heat >> nth=0", ...options });
    expect(await page.locator(".lead").innerText()).toMatch(
      /^41 CronJobs, at most \d+ pods at the same time\. With new minutes for \d+ of them: \d+ pods\.$/,
    );
    await fixture.screenshot(page, name);
    for (const [index, title] of ["By day and hour", "Proposed changes", "What stays where it is"].entries()) {
      await section(page, title).scrollIntoViewIfNeeded();
      await fixture.screenshot(page, `${name}-${index + 1}`);
    }
    expect(await section(page, "What stays where it is").innerText()).toContain("its minutes fill the hour");
    expect(await section(page, "Stampedes").locator("tbody tr").count()).toBeGreaterThan(0);
    expect(await section(page, "Simulated").innerText()).toMatch(/most pods at once\s+\d+\s+\d+/);
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(problems).toEqual([]);
    expect(await policyViolations(page)).toEqual([]);
  });

  test("the maps show other measures, the value under the pointer, and the numbers", async () => {
    const { page } = await fixture.open(url, { waitFor: ".heat >> nth=0" });
    const hours = section(page, "By hour of the day and minute");
    /** Points at 00:00 of the map before the changes. */
    const point = async (): Promise<void> => {
      const { x, y, width, height } = (await hours.locator(".heat .nothing").first().boundingBox())!;
      await page.mouse.move(x + width / 120, y + height / 2);
    };
    await point();
    const readout = hours.locator(".readout");
    await expect.poll(() => readout.innerText()).toMatch(/^00:00 Before: (\d+), After: (\d+)$/);
    const [, pods = "", after = ""] = /Before: (\d+), After: (\d+)/.exec(await readout.innerText())!;
    expect(Number(after)).toBeLessThan(Number(pods));
    await hours.getByText("As numbers").click();
    expect(await hours.locator("details tbody tr").first().innerText()).toMatch(
      new RegExp(`^00:00\\s+${pods}\\s+00:00\\s`),
    );
    await page.getByRole("button", { name: "Cores requested" }).click();
    await point();
    await expect.poll(() => readout.innerText()).toMatch(/^00:00 Before: [\d.]+ CPU, After: [\d.]+ CPU$/);
    expect(await page.getByRole("button", { name: "Pods at once" }).getAttribute("aria-pressed")).toBe("false");
    await fixture.screenshot(page, "spread-cpu");
  });

  test("without changes there is one map, and no name can run as a script", async () => {
    const alone = await fixture.spread("alone.html", manifest({ name: "a", schedule: "7 3 * * *", duration: "5m" }), [
      "--no-play",
    ]);
    const quiet = await fixture.open(alone, { waitFor: ".heat >> nth=0" });
    expect(await section(quiet.page, "By hour of the day and minute").locator(".heat").count()).toBe(1);
    expect(await quiet.page.locator(".lead").innerText()).toBe(
      "1 CronJob, at most 1 pod at the same time. No schedule needs to move.",
    );
    const attack = `</script><img src=x onerror="alert(1)"><svg onload=alert(2)>&quot;'\${alert(3)}<!--<script>alert(4)</script>`;
    const row = { label: attack, levels: [1, 2] };
    const maps = { byMinuteOfHour: [1, 2], byHour: [row], byDay: [row] };
    const startMs = Date.parse("2026-01-01T00:00:00Z");
    const report: SpreadReport = {
      page: "spread",
      startMs,
      endMs: startMs + 7_200_000,
      cronJobs: 1,
      changes: 1,
      peakPods: { before: 2, after: 1 },
      measures: [{ name: "pods", title: attack, before: maps, after: maps }],
      daysLeft: 1,
      tables: [{ title: attack, note: attack, head: [attack, attack], rows: [[attack, attack]] }],
    };
    const hostile = fixture.write("hostile.html", await htmlPage(fixture.assets, report));
    const { page, problems } = await fixture.open(hostile, { waitFor: ".heat >> nth=0" });
    await page.locator(".map").last().hover();
    expect(
      await page.evaluate("document.querySelectorAll('img, iframe, object, embed, [onerror], [onload]').length"),
    ).toBe(0);
    expect(await page.evaluate("document.scripts.length")).toBe(2);
    expect(await policyViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
