import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { build } from "tsup";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { styleText } from "../src/element/style-text.js";
import { elementStyle } from "../style-text.js";
import { script } from "../tsup.config.js";
import { aReport } from "./a-report.js";
import { Site } from "./browser.js";
import { axeScript } from "../../../tooling/browser/accessibility.js";
import { browserPath, type Page } from "../../../tooling/browser/chromium.js";

test("the element's style sheet is generated from the page's current style sheets", async () => {
  expect(styleText).toBe(await elementStyle());
});

test("it can be imported where there is no document", async () => {
  const { defineKubewrightTimeline } = await import("../src/index.js");
  expect(defineKubewrightTimeline).toBeTypeOf("function");
});

const HOSTILE = `<img src=x onerror="document.title='pwned'">`;
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:";

/** The element's interface for the page's script. */
interface Shown {
  data: unknown;
}

const page = (body: string): { type: string; text: string } => ({
  type: "text/html; charset=utf-8",
  text: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,"></head>
<body><main><h1>A page</h1>${body}</main><script src="/timeline.js"></script></body></html>`,
});
const json = (data: unknown): string => JSON.stringify(data).replaceAll("<", "\\u003c");
const waitForLanes = (shown: Page): Promise<unknown> => shown.locator("kubewright-timeline canvas.lanes").waitFor();

describe.skipIf(browserPath === undefined)("in a host page", () => {
  let site: Site;

  beforeAll(async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "kubewright-timeline-"));
    const entry = { timeline: path.join(import.meta.dirname, "..", script.entry.timeline) };
    await build({ ...script, config: false, outDir: folder, entry });
    const text = readFileSync(path.join(folder, "timeline.js"), "utf8");
    rmSync(folder, { recursive: true });
    const child = (data: unknown): string => `<script type="application/json">${json(data)}</script>`;
    site = await Site.start(
      {
        "/timeline.js": { type: "text/javascript", text },
        "/report.json": { type: "application/json", text: JSON.stringify(aReport()) },
        "/child": page(`<kubewright-timeline>${child(aReport())}</kubewright-timeline>`),
        "/src": page(`<kubewright-timeline src="/report.json" theme="dark" zone="Asia/Tokyo"></kubewright-timeline>`),
        "/hostile": page(`<kubewright-timeline>${child(aReport(HOSTILE))}</kubewright-timeline>`),
        "/missing": page(`<kubewright-timeline src="/nothing.json"></kubewright-timeline>`),
        "/empty": page(`<kubewright-timeline></kubewright-timeline>`),
      },
      POLICY,
    );
  });
  afterAll(() => site.stop());

  test("data in a child script element is shown under a content security policy that allows only the server's files", async () => {
    const { page: shown, complaints } = await site.open("/child");
    await waitForLanes(shown);
    const element = shown.locator("kubewright-timeline");
    await expect.poll(() => element.locator(".facts").textContent()).toContain("2026-03-02 00:00");
    // The element uses its own style, not that of the host page.
    expect(await element.evaluate((node) => getComputedStyle(node.shadowRoot!.querySelector(".frame")!).fontSize)).toBe(
      "13px",
    );
    expect(await shown.evaluate(() => getComputedStyle(document.body).fontSize)).toBe("16px");
    expect(complaints).toEqual([]);
  });

  test("src, theme and zone set the data and its presentation, and can be changed", async () => {
    const { page: shown, complaints } = await site.open("/src");
    await waitForLanes(shown);
    const element = shown.locator("kubewright-timeline");
    const facts = (): Promise<string | null> => element.locator(".facts").textContent();
    await expect.poll(facts).toContain("2026-03-02 09:00");
    const scheme = (): Promise<string> =>
      element.evaluate((node) => getComputedStyle(node.shadowRoot!.querySelector(".frame")!).colorScheme);
    expect(await scheme()).toBe("dark");
    await element.evaluate((node) => {
      node.setAttribute("theme", "light");
      node.setAttribute("zone", "UTC");
    });
    await expect.poll(facts).toContain("2026-03-02 00:00");
    expect(await scheme()).toBe("light");
    expect(await shown.evaluate(() => document.documentElement.dataset["theme"])).toBeUndefined();
    expect(complaints).toEqual([]);
  });

  test("it has the color scheme of the host page, and neither a title nor a theme switch", async () => {
    const { page: shown, complaints } = await site.open("/child");
    await waitForLanes(shown);
    const element = shown.locator("kubewright-timeline");
    const background = (): Promise<string> =>
      element.evaluate((node) => getComputedStyle(node.shadowRoot!.querySelector(".timeline")!).backgroundColor);
    const picture = (): Promise<string> =>
      element.evaluate((node) => node.shadowRoot!.querySelector<HTMLCanvasElement>("canvas.lanes")!.toDataURL());
    expect(await background()).toBe("rgb(255, 255, 255)");
    const light = await picture();
    await shown.evaluate(() => void (document.documentElement.style.colorScheme = "dark"));
    await expect.poll(background).toBe("rgb(17, 22, 29)");
    await expect.poll(picture).not.toBe(light);
    expect(await element.getByText("kubewright", { exact: true }).count()).toBe(0);
    expect(await element.getByRole("button", { name: /Dark or light/ }).count()).toBe(0);
    await element.getByRole("button", { name: /^Keys/ }).press("d");
    expect(await background()).toBe("rgb(17, 22, 29)");
    expect(complaints).toEqual([]);
  });

  test("the data can be replaced, and the view stays", async () => {
    const { page: shown, complaints } = await site.open("/empty");
    const element = shown.locator("kubewright-timeline");
    await element.evaluate((node, data) => void ((node as unknown as Shown).data = data), aReport("first"));
    await waitForLanes(shown);
    await element.getByRole("button", { name: "Table" }).click();
    await element
      .getByRole("rowheader", { name: /first-0/ })
      .or(element.getByText("first-0"))
      .first()
      .waitFor();
    await element.evaluate((node, data) => void ((node as unknown as Shown).data = data), aReport("second"));
    await element.getByText("second-0").first().waitFor();
    expect(await element.getByText("first-0").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("a selection is reported to the host page, and keys outside of the element are ignored", async () => {
    const { page: shown, complaints } = await site.open("/child");
    await waitForLanes(shown);
    await shown.evaluate(() => {
      document.addEventListener("kubewright-select", (event) => {
        document.body.dataset["selected"] = JSON.stringify((event as CustomEvent).detail);
      });
    });
    const element = shown.locator("kubewright-timeline");
    await shown.keyboard.press("t");
    await element.locator("canvas.lanes").waitFor();
    await element.getByRole("button", { name: "Table" }).click();
    await element.getByText("report-5").first().click();
    await expect
      .poll(() => shown.evaluate(() => document.body.dataset["selected"] ?? ""))
      .toBe(
        JSON.stringify({
          kind: "Job",
          namespace: "default",
          name: "report-5",
          slotMs: Date.parse("2026-03-02T05:00:00Z"),
          outcome: "Failed",
        }),
      );
    expect(new URL(shown.url()).hash).toBe("");
    expect(complaints).toEqual([]);
  });

  test("names that contain markup are shown as text", async () => {
    const { page: shown, complaints } = await site.open("/hostile");
    await waitForLanes(shown);
    const element = shown.locator("kubewright-timeline");
    await element.getByRole("button", { name: "Table" }).click();
    await element.locator(".table").getByText(HOSTILE).first().waitFor();
    expect(await element.locator("img").count()).toBe(0);
    expect(await shown.title()).toBe("A page");
    expect(complaints).toEqual([]);
  });

  test("unreadable data is reported", async () => {
    const { page: shown } = await site.open("/missing");
    const alert = shown.locator("kubewright-timeline [role=alert]");
    await expect.poll(() => alert.textContent()).toContain("/nothing.json: 404");
  });

  test("removed from the page and added again, it shows the same", async () => {
    const { page: shown, complaints } = await site.open("/child");
    await waitForLanes(shown);
    await shown.evaluate(() => {
      const node = document.querySelector("kubewright-timeline")!;
      const { parentElement } = node;
      node.remove();
      parentElement!.append(node);
    });
    await waitForLanes(shown);
    expect(complaints).toEqual([]);
  });

  test("axe finds nothing", async () => {
    const { page: shown } = await site.open("/child");
    await waitForLanes(shown);
    // Runs in an isolated world: the page's policy allows no other scripts.
    const session = await shown.context().newCDPSession(shown);
    const { frameTree } = await session.send("Page.getFrameTree");
    const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
      expression: `${axeScript()}; axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => [id, ...nodes.map(({ target }) => String(target))])))`,
      contextId: executionContextId,
      awaitPromise: true,
      returnByValue: true,
    });
    expect(exceptionDetails).toBeUndefined();
    expect(JSON.parse(String(result.value))).toEqual([]);
  });
});
