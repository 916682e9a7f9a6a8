import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { browserPath } from "../../../tooling/browser/chromium.js";
import { accessibilityViolations } from "../../../tooling/browser/accessibility.js";
import { PageFixture } from "./page-fixture.js";
import { manifest } from "./page-manifests.js";

const TIMEOUT_MS = 180_000;
const START = ["--start", "2026-03-02T00:00:00Z", "--seed", "1"];

describe.skipIf(browserPath === undefined)("the page of small runs", { timeout: TIMEOUT_MS }, () => {
  let fixture: PageFixture;

  beforeAll(async () => {
    fixture = await PageFixture.start();
  }, TIMEOUT_MS);
  afterEach(() => fixture.closePages());
  afterAll(() => fixture?.stop());

  test("one CronJob fills the screen, with its schedule in words, days as bins and a sparkline of its pod", async () => {
    const hourly = manifest({ name: "invoices", schedule: "0 * * * *", duration: "10s" });
    const url = await fixture.run("one.html", hourly, [...START, "--for", "30d"]);
    for (const [name, options] of [
      ["one", {}],
      ["one-narrow", { width: 420, height: 860 }],
    ] as const) {
      const { page, problems } = await fixture.open(url, options);
      const heightOf = async (selector: string): Promise<number> =>
        (await page.locator(selector).boundingBox())!.height;
      await expect.poll(() => heightOf("canvas.concurrency")).toBeLessThan(40);
      await expect.poll(async () => (await heightOf(".scroller")) - (await heightOf(".tree"))).toBeLessThan(12);
      expect(await page.getByRole("treeitem").first().innerText()).toMatch(/invoices\s+every hour, on the hour/);
      expect(await page.locator(".corner").innerText()).toBe(
        name === "one" ? "Numbers are per day" : "Numbers are per week",
      );
      expect(await page.locator(".concurrency-legend").innerText()).toBe("At most 1 pod at a time");
      await fixture.screenshot(page, name);
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(problems).toEqual([]);
    }
  });

  test("the tooltip under a resting pointer follows keyboard zoom, and a click on a bin zooms in", async () => {
    const heartbeat = manifest({ name: "heartbeat", schedule: "*/30 * * * *", duration: "5s" });
    const { page } = await fixture.open(await fixture.run("heartbeat.html", heartbeat, [...START, "--for", "30d"]));
    const canvas = (await page.locator("canvas.lanes").boundingBox())!;
    const row = (await page.getByRole("treeitem", { name: /heartbeat/ }).boundingBox())!;
    await page.mouse.move(canvas.x + canvas.width / 4, row.y + row.height / 2);
    const tooltip = page.locator(".tooltip");
    await expect.poll(() => tooltip.innerText()).toMatch(/^48 in this day\n\w{3} 2026-03-\d\d\n48 complete\n/);
    const before = await tooltip.innerText();
    await page.keyboard.press("+");
    await expect.poll(() => tooltip.innerText()).not.toBe(before);
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(() => page.url()).toContain("range=");
    const widthOf = (): number => {
      const [from, to] = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("range")!.split("_").map(Number);
      return to! - from!;
    };
    await expect.poll(widthOf).toBeLessThan((30 * 86_400_000) / 15);
  });

  test("the filter for failed pods shows runs that completed after a retry", async () => {
    const daily = manifest({ name: "backup", schedule: "30 2 * * *", duration: "20m..70m", failureRate: "0.3" });
    const { page } = await fixture.open(await fixture.run("daily.html", daily, [...START, "--for", "7d"]));
    const filter = page.getByRole("button", { name: /^Failed pods/ });
    expect(Number((await filter.innerText()).replaceAll(/\D/g, ""))).toBeGreaterThan(0);
    await filter.click();
    await expect.poll(() => filter.getAttribute("aria-pressed")).toBe("true");
    await expect.poll(() => page.url()).toContain("pods=failed");
    await expect.poll(() => page.locator(".details").innerText()).toContain("Of what the filter shows");
    await fixture.screenshot(page, "failed-pods");
  });

  test("a run that a quota keeps from running waits, and the quota is the first highlight", async () => {
    const quota =
      'apiVersion: v1\nkind: ResourceQuota\nmetadata: { name: compute, namespace: default }\nspec: { hard: { requests.cpu: "1" } }\n---\n';
    const big = manifest({ name: "report", schedule: "0 */6 * * *", policy: "Forbid", duration: "5m", cpu: "2" });
    const url = await fixture.run("quota.html", quota + big, [...START, "--for", "2d"]);
    const { page, problems } = await fixture.open(url);
    const details = await page.locator(".details").innerText();
    expect(details).toMatch(
      /Highlights\s+ResourceQuota default\/compute: no pod created for 1 run\s+exceeded quota: compute, requested: requests\.cpu=2/,
    );
    await fixture.screenshot(page, "quota");
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("differences that recur are one line, and the comparison has the page's name and themes", async () => {
    const of = (schedule: string): string => manifest({ name: "report", schedule, duration: "5m" });
    const url = await fixture.run("recur.html", of("0 * * * *"), [...START, "--for", "7d", "--against", "b.yaml"], {
      "b.yaml": of("0 */2 * * *"),
    });
    const { page, problems } = await fixture.open(url, { waitFor: ".differences" });
    const text = await page.locator(".differences").innerText();
    expect(text).toMatch(/84 slots, every second hour\s+2026-03-02 01:00 to 2026-03-08 23:00/);
    expect(await page.getByRole("heading", { name: "kubewright" }).isVisible()).toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    const ink = "document.querySelector('canvas.two-lanes').toDataURL()";
    const light = await page.evaluate(ink);
    await page.getByRole("button", { name: "Dark or light" }).click();
    await expect.poll(() => page.evaluate(ink)).not.toBe(light);
    await fixture.screenshot(page, "two-lanes-dark");
    const box = (await page.locator("canvas.two-lanes").boundingBox())!;
    // The lower lane is B.
    await page.mouse.click(box.x + box.width / 2, box.y + 58);
    await page.locator("canvas.lanes").waitFor();
    expect(await page.getByRole("button", { name: "Run B" }).getAttribute("aria-pressed")).toBe("true");
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    expect(problems).toEqual([]);
  });
});
