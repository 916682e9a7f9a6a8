import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { browserPath } from "../../../tooling/browser/chromium.js";
import { PageFixture } from "./page-fixture.js";
import { accessibilityViolations } from "../../../tooling/browser/accessibility.js";
import { HUNDRED, MONTH, TEAM, manifest } from "./page-manifests.js";

const TIMEOUT_MS = 180_000;
const START = ["--start", "2026-03-02T00:00:00Z", "--seed", "1"];

describe.skipIf(browserPath === undefined)("how the page looks", { timeout: TIMEOUT_MS }, () => {
  let fixture: PageFixture;
  const urls = { day: "", month: "", hundred: "" };

  beforeAll(async () => {
    fixture = await PageFixture.start();
    urls.day = await fixture.run("day.html", TEAM, [...START, "--for", "1d"]);
    urls.month = await fixture.run("month.html", MONTH, [...START, "--for", "30d"]);
    urls.hundred = await fixture.run("hundred.html", HUNDRED, [...START, "--for", "1d"]);
  }, TIMEOUT_MS);
  afterEach(() => fixture.closePages());
  afterAll(() => fixture?.stop());

  test.each([
    ["day", "day", {}],
    ["month", "month", {}],
    ["hundred", "hundred", {}],
    ["day", "day-dark", { colorScheme: "dark" }],
    ["day", "day-narrow", { width: 420, height: 860 }],
  ] as const)("%s, as %s: no accessibility violations", async (run, name, options) => {
    const { page, problems } = await fixture.open(urls[run], options);
    await fixture.screenshot(page, name);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("treeitem").first().click();
    await page.locator(".details .close").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("t");
    await page.locator(".table tbody tr").first().waitFor();
    await fixture.screenshot(page, `${name}-table`);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("print uses the light theme, and has neither buttons nor scroll bars", async () => {
    const { page } = await fixture.open(urls.day, { colorScheme: "dark", height: 500 });
    await page.emulateMedia({ media: "print" });
    await expect.poll(() => page.locator(".toolbar").isVisible()).toBe(false);
    await fixture.screenshot(page, "day-print");
    const seen = (script: string): Promise<unknown> => page.evaluate(script);
    expect(await seen("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
    expect(
      await seen(
        "[...document.querySelectorAll('button')].filter((each) => each.checkVisibility() && each.className !== 'link').length",
      ),
    ).toBe(0);
    const canvas = (await page.locator("canvas.lanes").boundingBox())!;
    const last = (await page.getByRole("treeitem", { name: /migration/ }).boundingBox())!;
    expect(canvas.y + canvas.height).toBeGreaterThan(last.y + last.height);
    const pixel = "document.querySelector('canvas.lanes').getContext('2d').getImageData(5, 5, 1, 1).data";
    expect(Math.min(...((await seen(`[...${pixel}]`)) as number[]))).toBeGreaterThan(200);
    expect((await page.pdf()).byteLength).toBeGreaterThan(10_000);
  });

  test("the table does not break a reason on a screen of 1100 pixels", async () => {
    const { page } = await fixture.open(`${urls.day}#view=table`, { width: 1100, waitFor: ".table caption" });
    const cell = page.locator(".table td:last-child", { hasText: "BackoffLimitExceeded" }).first();
    const lines = await cell.evaluate((element) => {
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      return range.getClientRects().length;
    });
    expect(lines).toBe(1);
  });

  test("two runs are one page: the differences first, then each run at the linked difference", async () => {
    const of = (duration: string): string =>
      manifest({ name: "invoices", schedule: "0 * * * *", policy: "Forbid", duration }) +
      manifest({ name: "alike", schedule: "30 * * * *", duration: "5m" });
    const url = await fixture.run("two.html", of("20m"), [...START, "--for", "6h", "--against", "changed.yaml"], {
      "changed.yaml": of("80m"),
    });
    const { page, problems } = await fixture.open(url, { waitFor: ".differences" });
    const text = await page.locator(".differences").innerText();
    expect(text).toMatch(/^What differs\n+A: manifests\.yaml\n+B: changed\.yaml\n+\d+ runs in A, \d+ in B: /);
    expect(text).toContain("CronJob default/invoices");
    expect(text).toContain('sim.kubewright.dev/duration: "20m" → "80m"');
    expect(text).not.toContain("default/alike");
    expect(text).toContain("1 more do the same in both.");
    expect(await page.locator("canvas.two-lanes").count()).toBe(1);
    await fixture.screenshot(page, "two-runs");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: /late$/ }).first().click();
    await page.locator(".details h2", { hasText: /^invoices-\d+$/ }).waitFor();
    expect(await page.getByRole("button", { name: "Run B" }).getAttribute("aria-pressed")).toBe("true");
    await fixture.screenshot(page, "two-runs-b");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Run A" }).click();
    await page.locator("canvas.lanes").waitFor();
    await page.keyboard.press("t");
    await page.locator(".table tbody tr").first().waitFor();
    await page.getByRole("button", { name: "Differences" }).click();
    await page.getByText("What differs").waitFor();
    expect(problems).toEqual([]);
  });
});
