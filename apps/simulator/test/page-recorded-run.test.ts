import { builtInInvariants, runPlan } from "@kubewright/simulation";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { browserPath, type Page } from "../../../tooling/browser/chromium.js";
import { fuzzPage } from "../src/fuzz-page/fuzz-page.js";
import { mutantRunner, stalePlan } from "./stale-plan.js";
import { PageFixture } from "./page-fixture.js";
import { accessibilityViolations } from "../../../tooling/browser/accessibility.js";
import { policyViolations } from "./page-checks.js";

const TIMEOUT_MS = 180_000;
const COMMAND = "kubewright fuzz --replay plan.yaml --mutant job-finished-forgotten";

describe.skipIf(browserPath === undefined)("the page of a violating run", { timeout: TIMEOUT_MS }, () => {
  let fixture: PageFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await PageFixture.start();
    const runner = await mutantRunner("job-finished-forgotten");
    const options = { runner, invariants: builtInInvariants, command: COMMAND };
    url = fixture.write("wrong.html", await fuzzPage(stalePlan(), options, fixture.io()));
  }, TIMEOUT_MS);
  afterEach(() => fixture.closePages());
  afterAll(() => fixture?.stop());

  const waitFor = ".run-chart >> nth=0";
  const now = (page: Page): Promise<string> => page.locator(".step-now").innerText();

  test.each([
    ["recorded-run", {}],
    ["recorded-run-dark", { colorScheme: "dark" }],
    ["recorded-run-narrow", { width: 420, height: 860 }],
  ] as const)("as %s: steps, cached view, no accessibility violations", async (name, options) => {
    const { page, problems } = await fixture.open(url, { waitFor, ...options });
    await fixture.screenshot(page, name);
    await page.locator(".steps").evaluate((element) => element.scrollIntoView());
    await fixture.screenshot(page, `${name}-steps`);
    await page.locator(".copied").first().scrollIntoViewIfNeeded();
    await fixture.screenshot(page, `${name}-plan`);
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(problems).toEqual([]);
    expect(await policyViolations(page)).toEqual([]);
  });

  test("the page alone names the cause", async () => {
    const { page } = await fixture.open(url, { waitFor });
    expect(await page.locator("main h1").innerText()).toMatch(
      /^S4 no pod after termination: Job default\/pi gets Pod /,
    );
    const narrative = await page.locator(".narrative").innerText();
    expect(narrative).toContain("job-controller hears nothing new of Jobs.");
    expect(narrative).toMatch(/condition Complete: none → True/);
    expect(narrative).toMatch(
      /job-controller saw in its caches that Job default\/pi was at version \d+, received at \+2s; that was out of date since \+11s/,
    );
    expect(narrative).toMatch(/job-controller decides for Job default\/pi: creating 1 pod: 0 active, 1 wanted/);
    expect(narrative).toContain("No pod is created for a Job that is stored as Complete or Failed");
    expect(await page.locator(".copied pre").allInnerTexts()).toEqual([
      COMMAND,
      expect.stringContaining("staleCache:"),
    ]);
  });

  test("keys and buttons move between steps, and a sentence links to its step", async () => {
    const { page } = await fixture.open(url, { waitFor });
    const wrong = await now(page);
    expect(wrong).toMatch(/^Step \d+ of \d+, \+11(\.\d+)?s: S4 no pod after termination does not hold/);
    await page.keyboard.press("ArrowLeft");
    expect(await now(page)).toMatch(/Pod default\/pi-\w+ is created by job-controller/);
    await page.keyboard.press("ArrowLeft");
    expect(await now(page)).toContain("decides for Job default/pi: creating 1 pod");
    await page.keyboard.press("v");
    expect(await now(page)).toBe(wrong);
    await page.getByRole("button", { name: "Previous step" }).click();
    await page.getByRole("button", { name: "Next step" }).click();
    expect(await now(page)).toBe(wrong);
    await page.locator(".narrative .link", { hasText: "hears nothing new" }).first().click();
    expect(await now(page)).toMatch(/\+5s: job-controller hears nothing new of Jobs/);
    // A focused select uses the arrow keys itself.
    await page.getByLabel("Whose versions are shown").focus();
    const before = await now(page);
    await page.keyboard.press("ArrowRight");
    expect(await now(page)).toBe(before);
  });

  test("a stale cache is marked as stale, with its differences", async () => {
    const { page } = await fixture.open(url, { waitFor });
    const stale = page.locator(".run-box .stale title");
    expect(await stale.allTextContents()).toContainEqual(expect.stringMatching(/^Job default\/pi: v\d+, stale$/));
    const versions = page.locator(".cached-view .versions");
    const [, stored, cached] = /version\s+version (\d+)\s+≠ version (\d+), stale/.exec(await versions.innerText())!;
    expect(Number(cached)).toBeLessThan(Number(stored));
    const complete = page.locator(".cached-view tr", { hasText: "conditions[Complete].status" });
    expect(await complete.locator(".differs").innerText()).toBe("≠ –");
    await page.locator(".narrative .link", { hasText: "hears nothing new" }).first().click();
    expect(await versions.locator(".differs").count()).toBe(0);
    await page.getByLabel("Whose versions are shown").selectOption({ index: 1 });
    expect(await page.locator(".cached-view caption").innerText()).toMatch(/^Pod default\/pi-/);
  });

  test("other objects and passive controllers are shown on request", async () => {
    const { page } = await fixture.open(url, { waitFor });
    const labels = page.locator(".run-labels .group");
    expect(await labels.allInnerTexts()).toEqual(["What goes wrong", "API server", "Others", "job-controller"]);
    await page.getByLabel("controllers that only look on").check();
    expect(await labels.allInnerTexts()).toContain("garbage-collector-controller");
    const few = await page.locator("select option").count();
    await page.getByLabel("other objects").check();
    expect(await page.locator("select option").count()).toBeGreaterThan(few);
    await page.getByText("All steps as a table").click();
    await expect.poll(() => page.locator(".all-steps tbody tr").count()).toBeGreaterThan(50);
  });

  test("no network request is sent, and no name or plan can run as a script", async () => {
    const attack = `</script><img src=x onerror="alert(1)"><svg onload=alert(2)>&quot;'\${alert(3)}<!--<script>alert(4)</script>`;
    const plan = { ...stalePlan(), name: attack, description: attack };
    const invariants = [
      {
        name: attack,
        sentence: attack,
        watch: (_world: unknown, violated: (subject: string, message: string) => void) => ({
          onChange: ({ object }: { object: { kind?: string } }) =>
            object.kind === "Job" && violated("Job default/pi", attack),
        }),
      },
    ];
    const html = await fuzzPage(plan, { runner: runPlan, invariants, command: attack }, fixture.io());
    const hostile = fixture.write("hostile.html", html);
    const { page, problems } = await fixture.open(hostile, { waitFor });
    const requested: string[] = [];
    page.on("request", (request) => requested.push(request.url()));
    await page.reload();
    await page.locator(waitFor).waitFor();
    await page.getByText("All steps as a table").click();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    expect(await page.locator("main h1").innerText()).toContain("<img src=x onerror=");
    expect(
      await page.evaluate("document.querySelectorAll('img, iframe, object, embed, [onerror], [onload]').length"),
    ).toBe(0);
    expect(await page.evaluate("document.scripts.length")).toBe(2);
    expect(requested.filter((address) => !address.startsWith("data:"))).toEqual([hostile]);
    expect(await policyViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
