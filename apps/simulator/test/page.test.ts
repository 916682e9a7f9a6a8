import { readFile } from "node:fs/promises";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { browserPath, type Page } from "../../../tooling/browser/chromium.js";
import { runCli } from "../src/cli.js";
import { PAGE_PATH } from "../src/serve/live-page.js";
import { generateReport } from "./generate-report.js";
import { PageFixture } from "./page-fixture.js";
import { policyViolations } from "./page-checks.js";

const TIMEOUT_MS = 180_000;

/** Runs of more than an hour with Forbid, a Job that fails, and a clock change. */
const MANIFESTS = `
apiVersion: batch/v1
kind: CronJob
metadata: { name: invoices, namespace: default, annotations: { example.com/owner: "billing team" } }
spec:
  schedule: "0 * * * *"
  timeZone: Europe/Berlin
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 60
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 90m } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox, resources: { requests: { cpu: 1500m } } }] }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: backup, namespace: default }
spec:
  schedule: "30 2 * * *"
  timeZone: Europe/Berlin
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 20m } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: migration, namespace: default }
spec:
  backoffLimit: 0
  template:
    metadata: { annotations: { sim.kubewright.dev/duration: 40m, sim.kubewright.dev/failure-rate: "1" } }
    spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;
const FLAGS = ["--start", "2026-03-28T22:00:00Z", "--for", "10h"];
/** The window is 22:00Z to 08:00Z. */
const START_MS = Date.parse("2026-03-28T22:00:00Z");
const HOUR_MS = 3_600_000;

describe.skipIf(browserPath === undefined)("the page, in a real browser", { timeout: TIMEOUT_MS }, () => {
  let fixture: PageFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await PageFixture.start();
    url = await fixture.run("report.html", MANIFESTS, FLAGS);
  }, TIMEOUT_MS);
  afterEach(() => fixture.closePages());
  afterAll(() => fixture?.stop());

  const details = (page: Page): ReturnType<Page["locator"]> => page.locator(".details");
  const chip = (page: Page, name: string): ReturnType<Page["locator"]> => page.locator(".chip", { hasText: name });
  /** Returns the visible window from the URL, once the page has updated the URL. */
  const range = async (page: Page): Promise<[number, number]> => {
    await until(page, `location.hash.includes("range=")`);
    const [from, to] = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("range")!.split("_").map(Number);
    return [from!, to!];
  };
  /** Waits until an expression is true in the page. */
  const until = async (page: Page, expression: string): Promise<void> => {
    await expect.poll(() => page.evaluate(expression), { timeout: 60_000, message: expression }).toBe(true);
  };

  test("one finger scrolls the lanes", async () => {
    const { page } = await fixture.open(await fixture.report("touch.html", generateReport(200, 40)), { height: 500 });
    const box = (await page.locator("canvas.lanes").boundingBox())!;
    const session = await page.context().newCDPSession(page);
    const x = box.x + box.width / 2;
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", y?: number): Promise<unknown> =>
      session.send("Input.dispatchTouchEvent", { type, touchPoints: y === undefined ? [] : [{ x, y }] });
    await touch("touchStart", box.y + 200);
    for (const by of [40, 80, 120]) await touch("touchMove", box.y + 200 - by);
    await touch("touchEnd");
    const scrolled = (): Promise<number> => page.evaluate("document.querySelector('.scroller').scrollTop");
    await expect.poll(scrolled).toBeGreaterThan(50);
  });

  test("shows what happened, in light, in dark and on a narrow screen, and reports no error", async () => {
    for (const [name, options] of [
      ["light", {}],
      ["dark", { colorScheme: "dark" }],
      ["narrow", { width: 420, height: 860 }],
    ] as const) {
      const { page, problems } = await fixture.open(url, options);
      await page.getByRole("treeitem", { name: /invoices/ }).waitFor();
      expect(await chip(page, "Skipped").innerText()).toMatch(/^Skipped\s+\d+$/);
      expect(await page.locator(".axis .bands text").allTextContents()).toContain("DST 02:00 → 03:00");
      await fixture.screenshot(page, name);
      expect(problems).toEqual([]);
      expect(await policyViolations(page)).toEqual([]);
    }
  });

  test("zooms with the wheel on the axis, with the keyboard, and back to everything", async () => {
    const { page } = await fixture.open(url);
    const box = (await page.locator(".axis-box").boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    await page.mouse.wheel(0, -400);
    const [from, to] = await range(page);
    expect(to - from).toBeLessThan(9 * HOUR_MS);
    await page.locator("canvas.lanes").focus();
    await page.keyboard.press("+");
    await until(page, `!location.hash.includes("range=${from}_${to}")`);
    const [closerFrom, closerTo] = await range(page);
    expect(closerTo - closerFrom).toBeCloseTo((to - from) / 2, -2);
    await page.keyboard.press("0");
    await until(page, `!location.hash.includes("range=")`);
  });

  test("drags through time", async () => {
    const { page } = await fixture.open(`${url}#range=${START_MS + 2 * HOUR_MS}_${START_MS + 4 * HOUR_MS}`);
    const box = (await page.locator("canvas.lanes").boundingBox())!;
    await page.mouse.move(box.x + 600, box.y + 300);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 300, { steps: 5 });
    await page.mouse.up();
    await until(page, `!location.hash.includes("range=${START_MS + 2 * HOUR_MS}_")`);
    // The URL also changes while the pointer moves.
    const wantedMs = START_MS + 2 * HOUR_MS + (300 / box.width) * 2 * HOUR_MS;
    await expect.poll(async () => (await range(page))[0]).toBeCloseTo(wantedMs, -4);
    const [from, to] = await range(page);
    expect(to - from).toBeCloseTo(2 * HOUR_MS, -2);
  });

  test("a ghost shows its reason on hover, and its decision on click", async () => {
    // The run of 23:00Z is active until 00:30Z, past the deadline of the slot at midnight.
    const { page } = await fixture.open(`${url}#range=${START_MS + HOUR_MS}_${START_MS + 3 * HOUR_MS}`);
    const canvas = page.locator("canvas.lanes");
    const box = (await canvas.boundingBox())!;
    const row = (await page.getByRole("treeitem", { name: /invoices/ }).boundingBox())!;
    const position = { x: box.width / 2 + 3, y: row.y - box.y + row.height / 2 };
    await canvas.hover({ position });
    const tooltip = page.locator(".tooltip");
    await tooltip.waitFor({ state: "visible" });
    expect(await tooltip.innerText()).toMatch(/Skipped[^]*invoices-\d+ still active past the deadline/);
    await canvas.click({ position });
    await details(page).getByText("Skipped run").waitFor();
    expect(await details(page).innerText()).toMatch(
      /prior execution is running and concurrency policy is Forbid[^]*1 missed \(deadlinePassed\)/,
    );
    await fixture.screenshot(page, "ghost");
  });

  test("a run whose time the clocks skipped is a ghost, too", async () => {
    const { page } = await fixture.open(url);
    await details(page).getByRole("button", { name: "backup" }).click();
    expect(await details(page).innerText()).toContain("02:30: clocks go forward from 02:00 to 03:00, so no run");
  });

  test("the keyboard leads from the filter to a run, its details and back, and the selection is announced", async () => {
    const { page } = await fixture.open(url);
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.type")).toBe("search");
    const reached: string[] = [];
    for (let presses = 0; presses < 40 && !reached.includes("application"); presses++) {
      await page.keyboard.press("Tab");
      reached.push(
        await page.evaluate("document.activeElement.getAttribute('role') ?? document.activeElement.tagName"),
      );
    }
    expect(reached.filter((role) => role === "treeitem")).toHaveLength(1);
    expect(reached.at(-1)).toBe("application");
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("ArrowRight");
    const status = page.getByRole("status");
    await status.getByText(/run/i).waitFor({ state: "attached" });
    expect(await status.textContent()).toMatch(/^(Run invoices-\d+, .*|Skipped run of invoices, due .*)/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("H2");
    expect(await details(page).innerText()).toMatch(/Why: the controller's decisions[^]*job-controller/);
    await page.keyboard.press("Escape");
    expect(await page.evaluate("document.activeElement.className")).toBe("lanes");
    expect(await details(page).innerText()).toContain("What happened");
  });

  test("the tree opens and closes with the arrow keys", async () => {
    const { page } = await fixture.open(url);
    const first = page.getByRole("treeitem").first();
    await first.focus();
    expect(await first.getAttribute("aria-expanded")).toBe("true");
    const rows = await page.getByRole("treeitem").count();
    await page.keyboard.press("ArrowLeft");
    await until(page, `document.querySelectorAll('[role=treeitem]').length < ${rows}`);
    expect(await first.getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowRight");
    await until(page, `document.querySelectorAll('[role=treeitem]').length === ${rows}`);
    await page.keyboard.press("ArrowRight");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-level')")).toBe("2");
  });

  test("filters by name and by outcome", async () => {
    const { page } = await fixture.open(url);
    await page.getByRole("searchbox").fill("migr");
    await until(page, "document.querySelectorAll('[role=treeitem][aria-level=\"1\"]').length === 1");
    expect(await chip(page, "Failed").innerText()).toMatch(/1$/);
    await page.getByRole("searchbox").fill("");
    await chip(page, "Failed").click();
    await page.locator(".chip[aria-pressed=true]", { hasText: "Failed" }).waitFor();
    await until(page, "document.querySelectorAll('[role=treeitem][aria-level=\"1\"]').length === 1");
    await page.getByRole("searchbox").fill("no such thing");
    await page.getByText("Nothing matches the filter.").waitFor();
  });

  test("the view is in the link, and survives a reload", async () => {
    const { page } = await fixture.open(url);
    await page.getByRole("searchbox").fill("invoices");
    await page.locator("canvas.lanes").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("+");
    await page.keyboard.press("d");
    await until(page, `location.hash.includes("theme=dark")`);
    const before = { hash: new URL(page.url()).hash, details: await details(page).innerText() };
    await page.reload();
    await page.locator("canvas.lanes").waitFor();
    expect(await page.getByRole("searchbox").inputValue()).toBe("invoices");
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    expect({ hash: new URL(page.url()).hash, details: await details(page).innerText() }).toEqual(before);
  });

  test("the table lists every run, as an alternative to the timeline", async () => {
    const { page, problems } = await fixture.open(url);
    await page.getByRole("button", { name: "Table" }).click();
    const rows = page.locator(".table tbody tr");
    await rows.first().waitFor();
    const total = Number(/of (\d+)/.exec(await page.locator("caption").innerText())![1]);
    expect(await rows.count()).toBe(total);
    expect(await rows.filter({ hasText: "Skipped" }).first().innerText()).toMatch(/invoices.*still active/s);
    await rows.filter({ hasText: "migration" }).getByRole("button").click();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("migration");
    expect(await details(page).innerText()).toContain("BackoffLimitExceeded");
    await fixture.screenshot(page, "table");
    expect(problems).toEqual([]);
  });

  test("events follow the time cursor, and the object is shown as YAML", async () => {
    const { page } = await fixture.open(`${url}#cursor=${START_MS + 2 * HOUR_MS + 1_000}`);
    const current = page.locator(".event-list [aria-current]");
    await current.waitFor();
    const before = await page.locator(".events h2").innerText();
    await page.locator("canvas.lanes").focus();
    for (let presses = 0; presses < 4; presses++) await page.keyboard.press("]");
    await until(page, `document.querySelector(".events h2").innerText !== ${JSON.stringify(before)}`);
    await page.getByRole("treeitem", { name: /invoices/ }).click();
    await details(page).getByText("CronJob as YAML").click();
    const yaml = details(page).locator("pre");
    await yaml.getByText("billing team").waitFor();
    expect(await yaml.innerText()).toMatch(/^apiVersion: batch\/v1\nkind: CronJob\nmetadata:\n/);
    expect(await yaml.innerText()).toContain('schedule: "0 * * * *"');
    await fixture.screenshot(page, "details");
  });

  test("moves the time cursor with play and pause", async () => {
    const { page } = await fixture.open(url);
    const cursor = async (): Promise<number> =>
      Number(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("cursor"));
    await page.keyboard.press("p");
    await expect.poll(cursor).toBeGreaterThan(START_MS);
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Play (P)" }).waitFor();
    const paused = await cursor();
    await page.keyboard.press("p");
    await expect.poll(cursor).toBeGreaterThan(paused);
  });

  test("no text of a manifest can run as a script", async () => {
    const attack = `</script><img src=x onerror="alert(1)"><svg onload=alert(2)>&quot;'\${alert(3)}<!--<script>alert(4)</script>`;
    const hostile = MANIFESTS.replaceAll("billing team", attack.replaceAll('"', '\\"')).replaceAll(
      "image: busybox",
      `image: busybox, command: [sh, -c, ${JSON.stringify(attack)}], env: [{ name: A, value: ${JSON.stringify(attack)} }]`,
    );
    const real = await fixture.run("hostile.html", hostile, FLAGS);
    const made = generateReport(40, 2);
    const poisoned = JSON.parse(
      JSON.stringify(made, (key, value: unknown) =>
        typeof value === "string" && !["kind", "type", "outcome", "timeZone"].includes(key)
          ? `${attack}${value}`
          : value,
      ),
    ) as typeof made;
    const events = [
      {
        atMs: made.startMs,
        warning: true,
        reason: attack,
        message: attack,
        count: 2,
        involved: { kind: attack, namespace: attack, name: attack },
      },
    ];
    const scenarioEvents = [
      {
        type: "scenarioEvent",
        at: new Date(made.startMs).toISOString(),
        until: new Date(made.startMs + HOUR_MS).toISOString(),
        kind: attack,
        message: attack,
      } as const,
    ];
    const names = await fixture.report("poisoned.html", { ...poisoned, description: attack, events, scenarioEvents });
    const link = encodeURIComponent(attack);
    for (const target of [
      real,
      names,
      `${real}#text=${link}&zone=${link}&selected=${link}&namespace=${link}&toggled=${link}`,
    ]) {
      const { page, problems } = await fixture.open(target);
      if (!target.includes("#")) {
        await page.locator("canvas.lanes").hover({ position: { x: 20, y: 20 } });
        await page.getByRole("treeitem").first().click();
        await details(page).locator("summary").click();
        await page.locator("canvas.lanes").focus();
        for (let presses = 0; presses < 3; presses++) {
          await page.keyboard.press("ArrowRight");
          await page.keyboard.press("ArrowDown");
        }
        await page.keyboard.press("Enter");
        await page.keyboard.press("t");
        await page.locator(".table tbody tr").first().waitFor();
      }
      expect(
        await page.evaluate("document.querySelectorAll('img, iframe, object, embed, [onerror], [onload]').length"),
      ).toBe(0);
      expect(await page.evaluate("document.scripts.length")).toBe(2);
      expect(await policyViolations(page)).toEqual([]);
      expect(problems).toEqual([]);
    }
    expect(await (await fixture.open(real)).page.content()).not.toContain("<img src=x");
  });

  test("a truncated report shows an error", async () => {
    const whole = await readFile(new URL(url), "utf8");
    const cut = fixture.write("cut.html", whole.replace(/(id="report">.{4000})[^<]*/, "$1"));
    const { page } = await fixture.open(cut, { waitFor: "text=This report cannot be shown" });
    expect(await page.locator("canvas").count()).toBe(0);
  });

  test("the page's content security policy blocks injected scripts", async () => {
    const { page } = await fixture.open(url);
    await page.evaluate(`{
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      const image = document.createElement("img");
      image.setAttribute("onerror", "window.ran = true");
      image.src = "https://example.invalid/x.png";
      document.body.append(script, image);
      fetch("https://example.invalid/").catch(() => {});
    }`);
    await until(page, "window.violations.length >= 3");
    expect((await policyViolations(page)).map((violation) => violation.split(" ")[0])).toEqual(
      expect.arrayContaining(["connect-src", "img-src", "script-src-elem"]),
    );
    expect(await page.evaluate("window.ran")).toBeUndefined();
  });

  test("100,000 bars move smoothly", async () => {
    const { page, problems } = await fixture.open(await fixture.report("large.html", generateReport(100_000)));
    await fixture.screenshot(page, "100000-bars");
    const measure = (gesture: string): Promise<number[]> =>
      page.evaluate(`(async () => {
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        const box = document.querySelector(".axis-box");
        const { left, top, width } = box.getBoundingClientRect();
        const times = [];
        await frame();
        for (let count = 0; count < 90; count++) {
          const began = performance.now();
          box.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, clientX: left + width / 2, clientY: top + 10, ${gesture} }));
          await frame();
          times.push(performance.now() - began);
        }
        return times.sort((a, b) => a - b);
      })()`);
    const zooming = await measure("deltaY: count < 45 ? -60 : 60");
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    const panning = await measure("deltaX: count % 30 < 15 ? 80 : -80");
    const said = (times: readonly number[]): string =>
      `median ${times[45]!.toFixed(1)} ms, 95 % ${times[85]!.toFixed(1)} ms, worst ${times[89]!.toFixed(1)} ms`;
    console.log(`frames with 100,000 bars: zooming ${said(zooming)}; panning ${said(panning)}`);
    // A generous limit for slow machines.
    expect(Math.max(zooming[45]!, panning[45]!)).toBeLessThan(1_000);
    await page.keyboard.press("ArrowRight");
    expect(problems).toEqual([]);
  });

  test("shows a live cluster, moves its clock, and comes back after a cut", async () => {
    const stopped = new AbortController();
    const said: string[] = [];
    const served = runCli(
      ["serve", "--port", "0", "--speed", "manual"],
      fixture.io({ said, stopped: stopped.signal }),
      "0.0.0",
    );
    await expect.poll(() => said.join("")).toMatch(/Serving on (\S+)/);
    const server = /Serving on (\S+)/.exec(said.join(""))![1]!;
    const answer = await fetch(`${server}/ui`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([307, PAGE_PATH]);
    try {
      const { page, problems } = await fixture.open(`${server}${PAGE_PATH}`);
      await page.getByText(/^Live, /).waitFor();
      const manifest = {
        apiVersion: "batch/v1",
        kind: "CronJob",
        metadata: { name: "tick" },
        spec: {
          schedule: "*/10 * * * *",
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } } },
          },
        },
      };
      const created = await fetch(`${server}/apis/batch/v1/namespaces/default/cronjobs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(manifest),
      });
      expect(created.status).toBe(201);
      await page.getByRole("treeitem", { name: /tick/ }).waitFor();
      await page.getByLabel("Speed").selectOption("3600");
      await page.keyboard.press("]");
      await expect.poll(() => chip(page, "Complete").innerText()).toMatch(/\s[56]$/);
      // Requests fail for a while; the records of that time must arrive afterwards.
      await page.route("**/_kubewright/trace**", (route) => route.abort());
      await fetch(`${server}/_kubewright/clock/advance`, { method: "POST", body: JSON.stringify({ seconds: 3600 }) });
      await page.getByText("connection lost, trying again").waitFor();
      await page.unroute("**/_kubewright/trace**");
      await expect.poll(() => chip(page, "Complete").innerText()).toMatch(/\s1[12]$/);
      await page.getByRole("button", { name: "Play (P)" }).click();
      await expect
        .poll(async () => Number(/\d+$/.exec(await chip(page, "Complete").innerText())![0]))
        .toBeGreaterThan(14);
      await page.getByRole("button", { name: "Pause (P)" }).click();
      await page.getByRole("treeitem", { name: /tick/ }).click();
      await details(page).getByText("CronJob as YAML").click();
      await details(page).getByText('schedule: "*/10 * * * *"').waitFor();
      await fixture.screenshot(page, "live");
      expect(problems.filter((problem) => !problem.includes("net::ERR_FAILED"))).toEqual([]);
      expect(await policyViolations(page)).toEqual([]);
    } finally {
      stopped.abort();
    }
    expect(await served).toBe(0);
  });
});
