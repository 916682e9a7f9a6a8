import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { accessibilityViolations } from "../../../../tooling/browser/accessibility.js";
import {
  type Browser,
  type BrowserContext,
  browserPath,
  launchBrowser,
  type Page,
} from "../../../../tooling/browser/chromium.js";
import { kubewright } from "../../../simulator/test/memory-io.js";
import { buildPlayground } from "../../playground/build.ts";
import { linkTo } from "../../playground/page/state/link.ts";
import { NOTHING } from "../../playground/page/state/playground-state.ts";
import { serveFolder } from "../static-server.ts";

const TIMEOUT_MS = 180_000;
const SCREENSHOTS = path.resolve(import.meta.dirname, "../../../../.test-output/playground");
/** Maximum size of the scripts for a first timeline, including the editor and the engine, compressed with gzip. */
const MAX_BYTES = 604_000;

const HOURLY = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: hourly
spec:
  schedule: "0 * * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        metadata:
          annotations: { sim.kubewright.dev/duration: 50m..70m }
        spec:
          restartPolicy: Never
          containers: [{ name: c, image: busybox }]
`;
const OUTAGE = `apiVersion: sim.kubewright.dev/v1
kind: Scenario
for: 6h
events:
  - { at: +2h, for: 90m, controllerDown: cronjob-controller }
`;
/** A definition with a rule that refers to a missing field. */
const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: backups.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: backups, singular: backup, kind: Backup, listKind: BackupList }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          x-kubernetes-validations: [{ rule: "self.days < most" }]
`;
interface Looks {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
}

const MARKUP = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

describe.skipIf(browserPath === undefined)("the playground, from a plain web server", { timeout: TIMEOUT_MS }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-playground-"));
  const contexts: BrowserContext[] = [];
  let browser: Browser;
  let server: Awaited<ReturnType<typeof serveFolder>>;

  beforeAll(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await buildPlayground(path.join(folder, "play"));
    server = await serveFolder(folder);
    browser = await launchBrowser();
  }, TIMEOUT_MS);
  afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  interface Opened {
    readonly page: Page;
    readonly context: BrowserContext;
    /** Problems of the page: errors, warnings, policy violations, dialogs, and requests to other hosts. */
    readonly problems: string[];
  }

  const open = async (
    fragment = "",
    { width = 1440, height = 900, colorScheme = "light" }: Looks = {},
  ): Promise<Opened> => {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, acceptDownloads: true });
    contexts.push(context);
    context.setDefaultTimeout(90_000);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const problems: string[] = [];
    context.on("request", (request) => {
      if (!/^(blob|data|file):/.test(request.url()) && !request.url().startsWith(server.url))
        problems.push(`request to ${request.url()}`);
    });
    const page = await newPage(context, problems);
    await page.goto(`${server.url}play/${fragment}`);
    return { page, context, problems };
  };
  const newPage = async (context: BrowserContext, problems: string[]): Promise<Page> => {
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("dialog", (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    return page;
  };
  const of = (manifests: string, scenario = ""): Promise<string> => linkTo({ ...NOTHING, manifests, scenario });
  const lane = (page: Page, name: string): ReturnType<Page["locator"]> =>
    page.getByRole("treeitem", { name: new RegExp(name) }).first();
  /** Replaces the text of the editor. */
  const write = async (page: Page, text: string): Promise<void> => {
    await page.getByRole("textbox", { name: "manifests.yaml" }).click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(text);
  };
  const summary = async (page: Page): Promise<string> => {
    await page.getByRole("tab", { name: "Summary" }).click();
    return page.locator(".summary").first().innerText();
  };
  const tab = (page: Page, name: string): Promise<void> => page.getByRole("tab", { name }).click();

  test("reports a mistake at its line, simulates after the correction, and restores a shared link", async () => {
    const { page, context, problems } = await open();
    await lane(page, "report").waitFor();
    const played = await page.evaluate<number>("performance.getEntriesByName('played')[0].startTime");
    // The duration is only printed, because it depends on the machine.
    console.log(`playground: the first timeline is shown after ${Math.round(played)} ms`);
    await write(page, HOURLY.replace("Forbid", "Forbidden"));
    const problem = page.getByRole("button", { name: /concurrencyPolicy/ });
    await problem.waitFor();
    expect(await problem.innerText()).toMatch(/Unsupported value: "Forbidden"[^]*manifests\.yaml:7:\d+/);
    await page.locator(".cm-lint-marker-error").waitFor();
    expect(await page.locator(".cm-lintRange-error").innerText()).toContain("Forbidden");
    await page.screenshot({ path: path.join(SCREENSHOTS, "mistake.png") });

    await problem.click();
    await page.keyboard.press("End");
    for (let index = 0; index < "den".length; index++) await page.keyboard.press("Backspace");
    await problem.waitFor({ state: "detached" });
    await lane(page, "hourly").waitFor();
    expect(await page.locator(".cm-lint-marker-error").count()).toBe(0);

    await page.getByRole("button", { name: /^\+ API server is down/ }).click();
    await page.getByRole("textbox", { name: "At", exact: true }).fill("+2h");
    await page.keyboard.press("Tab");
    await tab(page, "scenario.yaml");
    const scenario = page.getByRole("textbox", { name: "scenario.yaml" });
    await expect.poll(() => scenario.innerText()).toMatch(/events:\s+- at: \+2h\s+for: 3h\s+apiServerDown: all/);
    await expect
      .poll(() => page.locator(".axis .bands text").allTextContents())
      .toContainEqual(expect.stringMatching(/apiServerDown|API server/));
    await page.getByLabel("Kubernetes").selectOption("1.33");
    const facts = (shown: Page): Promise<string | null> => shown.locator(".facts").first().textContent();
    await expect.poll(() => facts(page)).toContain("Kubernetes v1.33");
    const printed = await summary(page);

    await page.getByRole("button", { name: "Share" }).click();
    await page.getByText("The link is copied").waitFor();
    const link = await page.evaluate<string>("navigator.clipboard.readText()");
    const other = await newPage(context, problems);
    await other.goto(link);
    await lane(other, "hourly").waitFor();
    expect(await facts(other)).toBe(await facts(page));
    await expect.poll(() => summary(other)).toBe(printed);
    expect(printed).toMatch(/hourly/);
    expect(problems).toEqual([]);
  });

  test("simulates futures and makes a self-contained report, without a network", async () => {
    const { page, context, problems } = await open(await of(HOURLY, OUTAGE));
    await lane(page, "hourly").waitFor();
    await page.evaluate("navigator.serviceWorker.ready");
    await expect.poll(() => page.evaluate("navigator.serviceWorker.controller !== null")).toBe(true);
    await context.setOffline(true);
    await tab(page, "Futures");
    await page.getByRole("button", { name: "Simulate 100 futures" }).click();
    await page.getByText(/^100 futures in/).waitFor();
    await page.getByText("100 futures, seeds 1-100").waitFor();
    await page.screenshot({ path: path.join(SCREENSHOTS, "futures.png") });

    await write(page, HOURLY.replace("name: hourly", "name: other"));
    await page.getByText("Changed since").waitFor();
    await tab(page, "Timeline");
    await lane(page, "other").waitFor();

    const saved = async (item: string): Promise<string> => {
      await page.getByRole("button", { name: "Download" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: new RegExp(`^${item}`) }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(item);
      const file = path.join(folder, item);
      await download.saveAs(file);
      return file;
    };
    await page.getByLabel("Kubernetes").selectOption("1.34");
    await lane(page, "other").waitFor();
    await expect.poll(() => page.locator(".facts").first().textContent()).toContain("Kubernetes v1.34");
    const [trace, manifests, scenario] = [
      readFileSync(await saved("trace.jsonl"), "utf8"),
      readFileSync(await saved("manifests.yaml"), "utf8"),
      readFileSync(await saved("scenario.yaml"), "utf8"),
    ];
    await page.getByRole("button", { name: "Download" }).click();
    const command = await page.locator(".command").innerText();
    await page.keyboard.press("Escape");
    expect(command).toMatch(
      /^npx kubewright run manifests\.yaml --scenario scenario\.yaml --start \d{4}-\d\d-\d\dT\d\d:00:00Z --kubernetes 1\.34$/,
    );
    // The downloaded files and the command produce the same result in a terminal.
    const { stdout } = await kubewright([...command.split(" ").slice(2), "--json", "-"], {
      files: { "manifests.yaml": manifests, "scenario.yaml": scenario },
      timeZoneData: "unknown",
    });
    expect(trace.length).toBeGreaterThan(10_000);
    expect(sha256(trace)).toBe(sha256(stdout));
    const report = await saved("report.html");
    const opened = await newPage(context, problems);
    await opened.goto(pathToFileURL(report).href);
    await lane(opened, "other").waitFor();
    expect(problems).toEqual([]);
  });

  test("completes fields and values from the API's schemas, with their descriptions", async () => {
    const { page, problems } = await open(await of(HOURLY.replace("  concurrencyPolicy: Forbid\n", "")));
    await lane(page, "hourly").waitFor();
    await page.getByText('"0 * * * *"', { exact: true }).click();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.keyboard.type("concur");
    await page.getByRole("option", { name: /concurrencyPolicy/ }).waitFor();
    await page.screenshot({ path: path.join(SCREENSHOTS, "completion.png") });
    await expect
      .poll(async () => {
        await page.keyboard.press("Tab");
        return page.getByRole("textbox", { name: "manifests.yaml" }).innerText();
      })
      .toContain("concurrencyPolicy: ");
    await page.keyboard.type("Re");
    await page.getByRole("option", { name: /Replace/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("restartPolicy").hover();
    await page.getByText(/Restart policy for all containers within the pod/).waitFor();
    expect(problems).toEqual([]);
  });

  test("checks CustomResourceDefinitions, for which it loads the expression engine", async () => {
    const { page, problems } = await open(await of([HOURLY, DEFINITION].join("---\n")));
    await page.getByRole("button", { name: /undeclared reference to 'most'/ }).waitFor();
    await lane(page, "hourly").waitFor();
    expect(problems).toEqual([]);
  });

  test.each([
    ["wide", {}],
    ["dark", { colorScheme: "dark" }],
    ["narrow", { width: 390, height: 844 }],
  ] as const)("is accessible: %s", async (name, options) => {
    const { page, problems } = await open("#example=weekend-outage", options);
    await lane(page, "hourly").waitFor();
    await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`), fullPage: name === "narrow" });
    const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
    expect(await page.evaluate(isWide)).toBe(false);
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
    if (name !== "dark") return;
    await tab(page, "scenario.yaml");
    await tab(page, "Futures");
    await page.getByRole("button", { name: "Download" }).click();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("runs no script from a manifest, a scenario or a link", async () => {
    const hostile = HOURLY.replace("name: hourly", `name: hourly\n  annotations: { note: '${MARKUP}' }`)
      .replace("busybox", `'${MARKUP}'`)
      .concat(`---\nkind: Job\napiVersion: batch/v1\nmetadata: { name: '${MARKUP}' }\n---\nkind: '${MARKUP}'\n`);
    const scenario = `apiVersion: sim.kubewright.dev/v1\nkind: Scenario\nname: '${MARKUP}'\ndescription: '${MARKUP}'\nevents:\n  - { at: '${MARKUP}', suspend: { kind: CronJob, name: '${MARKUP}' } }\n`;
    const { page, problems } = await open(await of(hostile, scenario));
    await page
      .getByRole("button", { name: /onerror/ })
      .first()
      .waitFor();
    await tab(page, "Summary");
    await tab(page, "Futures");
    await page.goto(`${server.url}play/${await of(hostile)}`);
    await page.reload();
    await page
      .getByRole("button", { name: /onerror/ })
      .first()
      .waitFor();
    await lane(page, "hourly").click();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(problems).toEqual([]);
  });

  test("runs and requests only its own files, even with injected markup", async () => {
    const { page, problems } = await open();
    await lane(page, "report").waitFor();
    expect(problems).toEqual([]);
    const elsewhere = server.url.replace("127.0.0.1", "localhost");
    const happened = await page.evaluate<string[]>(`(async () => {
      const happened = [];
      const script = document.createElement("script");
      script.textContent = 'window.hacked = 2';
      document.body.append(script);
      const image = document.createElement("div");
      image.innerHTML = '<img src="x" onerror="window.hacked = 1">';
      await new Promise((resolve) => image.firstChild.addEventListener("error", resolve));
      if (window.hacked !== undefined) happened.push('script ' + window.hacked);
      for (const url of ["./", "${elsewhere}"])
        await fetch(url).then(() => happened.push("fetch of " + url), () => {});
      await new Promise((resolve) => {
        Object.assign(new Image(), { onload: () => resolve(happened.push("an image")), onerror: resolve, src: "${elsewhere}play/icon.svg" });
      });
      const frame = document.createElement("iframe");
      frame.src = "${elsewhere}";
      await new Promise((resolve) => { frame.onload = resolve; document.body.append(frame); });
      return happened;
    })()`);
    expect(happened).toEqual([]);
    for (const directive of ["script-src", "connect-src", "img-src", "frame-src|default-src"])
      expect(problems.join("\n")).toMatch(new RegExp(directive));
  });

  test("reports a bad link, and still shows an example", async () => {
    const { page, problems } = await open("#1.bm8");
    await page
      .getByRole("alert")
      .getByText(/^This link is damaged/)
      .waitFor();
    await lane(page, "report").waitFor();
    expect(problems).toEqual([]);
  });

  test("is small", () => {
    const assets = path.join(folder, "play/assets");
    const html = readFileSync(path.join(folder, "play/index.html"), "utf8");
    const first = new Set(
      [...html.matchAll(/(?:src|data-engine)="\.\/assets\/([^"]+\.js)"/g)].map(([, name]) => name!),
    );
    expect(first.size).toBe(3);
    for (const name of first)
      for (const [, imported] of readFileSync(path.join(assets, name), "utf8").matchAll(
        /\b(?:from|import)"\.\/([\w-]+\.js)"/g,
      ))
        first.add(imported!);
    const sizes = readdirSync(assets)
      .filter((name) => name.endsWith(".js"))
      .map((name) => ({ name, bytes: gzipSync(readFileSync(path.join(assets, name))).length }));
    const sum = (some: typeof sizes): number => some.reduce((total, { bytes }) => total + bytes, 0);
    const needed = sum(sizes.filter(({ name }) => first.has(name)));
    console.log(`playground: ${needed} bytes of scripts for the first timeline, ${sum(sizes)} with all that is kept`);
    expect(needed).toBeLessThan(MAX_BYTES);
  });
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
