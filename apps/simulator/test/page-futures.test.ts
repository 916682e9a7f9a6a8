import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FuturesReport } from "@kubewright/timeline/data";
import { htmlPage } from "@kubewright/analysis/page";

import { browserPath, type Page } from "../../../tooling/browser/chromium.js";
import { packData } from "../../../packages/analysis/src/html-report/packed-data.js";
import { generateReport } from "./generate-report.js";
import { PageFixture, SCREENSHOTS } from "./page-fixture.js";
import { accessibilityViolations } from "../../../tooling/browser/accessibility.js";
import { policyViolations } from "./page-checks.js";
import { manifest } from "./page-manifests.js";

const TIMEOUT_MS = 180_000;
const FLAGS = ["--start", "2026-03-02T00:00:00Z", "--for", "1d"];
const MANIFESTS = [
  {
    name: "backup",
    schedule: "0 * * * *",
    policy: "Forbid",
    duration: "30m..62m",
    more: "startingDeadlineSeconds: 60",
    cpu: "500m",
  },
  {
    name: "invoices",
    namespace: "billing",
    schedule: "*/30 * * * *",
    duration: "10m..45m",
    failureRate: "0.05",
    cpu: "250m",
  },
  { name: "nightly", namespace: "billing", schedule: "30 2 * * *", duration: "1h..2h", cpu: "2" },
]
  .map(manifest)
  .join("");

describe.skipIf(browserPath === undefined)("the page of many futures", { timeout: TIMEOUT_MS }, () => {
  let fixture: PageFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await PageFixture.start();
    url = await fixture.run("futures.html", MANIFESTS, [...FLAGS, "--seeds", "1-30", "--node-size", "2,8Gi"]);
  }, TIMEOUT_MS);
  afterEach(() => fixture.closePages());
  afterAll(() => fixture?.stop());

  const row = (page: Page, name: string, what: string): ReturnType<Page["locator"]> =>
    page.locator("tbody", { has: page.locator("th", { hasText: name }) }).locator("tr", { hasText: what });
  const hash = (page: Page): URLSearchParams => new URLSearchParams(new URL(page.url()).hash.slice(1));

  test.each([
    ["futures", {}],
    ["futures-dark", { colorScheme: "dark" }],
    ["futures-narrow", { width: 420, height: 860 }],
  ] as const)(
    "as %s: figures with their intervals, bands over time, no accessibility violations",
    async (name, options) => {
      const { page, problems } = await fixture.open(url, { waitFor: ".overview", ...options });
      expect(await page.locator(".lead").innerText()).toMatch(/^30 futures, seeds 1-30\./);
      expect(await row(page, "default/backup", "skipped").innerText()).toMatch(/\d% \([\d.]+–[\d.]+\)/);
      await page.locator(".bands-chart .panel").nth(1).waitFor();
      await fixture.screenshot(page, name);
      await page.locator(".bands").scrollIntoViewIfNeeded();
      await fixture.screenshot(page, `${name}-bands`);
      await page.locator(".figures").last().scrollIntoViewIfNeeded();
      await fixture.screenshot(page, `${name}-end`);
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      expect(problems).toEqual([]);
      expect(await policyViolations(page)).toEqual([]);
    },
  );

  test("a click on a figure shows the timeline of its seed at that run, and Back returns", async () => {
    const { page, problems } = await fixture.open(url, { waitFor: ".overview" });
    const worst = row(page, "default/backup", "skipped").getByRole("button");
    const [, seed = "", count = ""] = /seed (\d+): (\d+)×/.exec(await worst.innerText())!;
    await worst.click();
    await page.locator("canvas.lanes").waitFor();
    expect(await page.locator(".page-header .facts").innerText()).toContain(`seed ${seed}`);
    expect(await page.locator(".details .badge").first().innerText()).toBe("Skipped");
    expect(await page.locator(".details h2").first().innerText()).toContain("backup");
    expect(hash(page).get("seed")).toBe(seed);
    // The embedded future equals the simulation of its seed.
    const alone = await fixture.open(await fixture.run(`seed-${seed}.html`, MANIFESTS, [...FLAGS, "--seed", seed]));
    const skipped = (one: Page): Promise<string> => one.locator(".chip", { hasText: "Skipped" }).innerText();
    expect(await skipped(page)).toBe(await skipped(alone.page));
    expect(Number(/\d+/.exec(await skipped(page))![0])).toBe(Number(count));
    await fixture.screenshot(page, "futures-seed");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.reload();
    await page.locator(".details .badge", { hasText: "Skipped" }).first().waitFor();
    expect(hash(page).get("seed")).toBe(seed);
    await page.goBack();
    await page.locator(".overview").waitFor();
    expect(await page.locator("canvas").count()).toBe(0);
    await page.goForward();
    await page.locator("canvas.lanes").waitFor();
    await page.getByRole("button", { name: "Back to every future" }).click();
    await page.locator(".overview").waitFor();
    expect(problems).toEqual([]);
  });

  test("a peak links to its time", async () => {
    const { page } = await fixture.open(url, { waitFor: ".overview" });
    await row(page, "cores requested", "seed").getByRole("button").first().click();
    await page.locator("canvas.lanes").waitFor();
    expect(await page.locator(".concurrency-legend .cpu .value").innerText()).toMatch(/^([\d.]+) of \1$/);
  });

  test("bands are read and opened with the keyboard, also of one CronJob; a seed that is not embedded shows its command", async () => {
    const { page, problems } = await fixture.open(url, { waitFor: ".overview" });
    const slider = page.getByRole("slider");
    await slider.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
    for (let presses = 0; presses < 13; presses++) await page.keyboard.press("ArrowRight");
    expect(await slider.getAttribute("aria-valuetext")).toMatch(
      /^2026-03-02 01:05 to 01:10 Concurrent pods: \d+ in half of the futures, \d+ in 95 of 100, at most \d+ \(seed \d+\); CPU requested: [\d.]+ CPU/,
    );
    await page.getByRole("combobox").selectOption("CronJob billing/nightly");
    await page.keyboard.press("Tab");
    const box = (await slider.boundingBox())!;
    await page.mouse.move(box.x + (box.width * 2.75) / 24, box.y + 80);
    await expect
      .poll(() => page.locator(".readout").innerText())
      .toContain("Concurrent pods: 1 in half of the futures");
    await page.mouse.click(box.x + (box.width * 2.75) / 24, box.y + 80);
    // Which of the two appears depends on the seeds.
    await page.locator("canvas.lanes, dialog[open]").waitFor();
    await page.goto(`${url}#seed=1000`);
    await page.reload();
    await page.getByRole("dialog").waitFor();
    expect(await page.locator("dialog pre").innerText()).toBe(
      "kubewright run manifests.yaml --start 2026-03-02T00:00:00Z --for 1d --seed 1000 --html seed-1000.html",
    );
    await fixture.screenshot(page, "futures-command");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Close", exact: true }).click();
    expect(problems).toEqual([]);
  });

  test("no name or message can run as a script", async () => {
    const attack = `</script><img src=x onerror="alert(1)"><svg onload=alert(2)>&quot;'\${alert(3)}<!--<script>alert(4)</script>`;
    const band = { p50: [1, 0], p95: [2, 0], max: [3, 0], seeds: [7, 7] };
    const object = { kind: "CronJob", namespace: attack, name: attack } as const;
    const levels = { pods: band, cpuMillis: band, memoryBytes: band };
    const startMs = Date.parse("2026-01-01T00:00:00Z");
    const report: FuturesReport = {
      page: "futures",
      startMs,
      endMs: startMs + 7_200_000,
      kubernetes: attack,
      timeZoneData: attack,
      seeds: { first: 1, last: 9 },
      simulated: 9,
      description: attack,
      remarks: [attack],
      tables: [
        {
          title: attack,
          note: attack,
          head: [attack, attack, attack],
          rows: [
            [
              attack,
              { text: attack, share: { share: 0.5, low: 0.2, high: 0.8 } },
              { text: attack, moment: { seed: 7, at: startMs, object } },
            ],
            [attack, attack, { text: attack, moment: { seed: 8 } }],
          ],
        },
      ],
      load: { fromMs: startMs, stepMs: 3_600_000, groups: [levels, { object, ...levels }], omittedGroups: 1 },
      embedded: [7],
      command: attack,
    };
    const parts = new Map([["seed-7", await packData({ ...generateReport(40, 2), description: attack })]]);
    const hostile = fixture.write("hostile.html", await htmlPage(fixture.assets, report, parts));
    const { page, problems } = await fixture.open(hostile, { waitFor: ".overview" });
    const clean = async (): Promise<void> => {
      expect(
        await page.evaluate("document.querySelectorAll('img, iframe, object, embed, [onerror], [onload]').length"),
      ).toBe(0);
      expect(await page.evaluate("document.scripts.length")).toBe(3);
    };
    await page.getByRole("combobox").selectOption({ index: 1 });
    await page.getByRole("slider").hover();
    await clean();
    await page.locator(".link").nth(1).click();
    await page.getByRole("dialog").waitFor();
    await clean();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.locator(".link").first().click();
    await page.locator("canvas.lanes").waitFor();
    await clean();
    await page.goto(`${hostile}#seed=${encodeURIComponent(attack)}&theme=${encodeURIComponent(attack)}`);
    await page.reload();
    await page.locator(".overview").waitFor();
    await clean();
    expect(await policyViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("a run beyond those that the file has of a seed is reported", async () => {
    const data = generateReport(400, 2);
    const [first, ...others] = data.groups;
    const object = { kind: "CronJob", namespace: first!.namespace, name: first!.name } as const;
    const report: FuturesReport = {
      page: "futures",
      startMs: data.startMs,
      endMs: data.endMs,
      kubernetes: "v1.36",
      timeZoneData: "test",
      seeds: { first: 7, last: 7 },
      simulated: 1,
      remarks: [],
      tables: [
        {
          title: "What goes wrong",
          head: ["CronJob or Job", "worst"],
          rows: [
            ["kept", { text: "seed 7: early", moment: { seed: 7, at: data.startMs, object } }],
            ["left out", { text: "seed 7: late", moment: { seed: 7, at: data.endMs + 3_600_000, object } }],
          ],
        },
      ],
      load: { fromMs: data.startMs, stepMs: 3_600_000, groups: [], omittedGroups: 0 },
      embedded: [7],
      command: "kubewright run x.yaml",
    };
    const bounded = { ...data, groups: [{ ...first!, hiddenRows: 5 }, ...others] };
    const html = await htmlPage(fixture.assets, report, new Map([["seed-7", await packData(bounded)]]));
    const { page } = await fixture.open(fixture.write("bounded.html", html), { waitFor: ".overview" });
    await page.getByText("seed 7: late").click();
    await page.locator(".status.shown").waitFor();
    expect(await page.locator(".status").innerText()).toBe("This file keeps fewer runs of seed 7: those until then");
    await page.goBack();
    await page.getByText("seed 7: early").click();
    await page.locator(".details .close").waitFor();
    expect(await page.locator(".status.shown").count()).toBe(0);
  });

  test("print uses the light theme, shows whole figures, and has no buttons", async () => {
    const { page } = await fixture.open(url, { waitFor: ".overview", colorScheme: "dark", height: 500 });
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate("getComputedStyle(document.querySelector('.overview')).backgroundColor")).toBe(
      "rgb(255, 255, 255)",
    );
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('button')].filter((each) => each.checkVisibility() && each.className !== 'link').length",
      ),
    ).toBe(0);
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('.wide, .overview')].every((each) => each.scrollWidth <= each.clientWidth + 1 && each.scrollHeight <= each.clientHeight + 1)",
      ),
    ).toBe(true);
    await page.screenshot({ path: `${SCREENSHOTS}/futures-print.png`, fullPage: true });
    expect((await page.pdf()).byteLength).toBeGreaterThan(10_000);
  });
});
