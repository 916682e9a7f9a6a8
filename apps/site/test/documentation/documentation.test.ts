import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { accessibilityViolations } from "../../../../tooling/browser/accessibility.js";
import { browserPath } from "../../../../tooling/browser/chromium.js";
import { ServedSite, timelineOf } from "./served-site.js";

const root = path.resolve(import.meta.dirname, "../../../..");
const built = path.join(root, ".test-output/site");
const screenshots = path.join(root, ".test-output/site-looks");
/** The base path on GitHub Pages. */
const BASE = "/kubewright/";
/** A target of links that is not checked here: the playground has its own tests. */
const PLAYGROUND = `${BASE}play/`;
/** Rules of axe whose results depend on the theme. */
const COLOURS = ["color-contrast", "link-in-text-block"];
/** One page of each kind. */
const SAMPLE = [
  "",
  "start/packages.html",
  "concepts/expectations.html",
  "how-to/cronjob-did-not-run.html",
  "scenarios.html",
  "comparison.html",
  "operators.html",
  "reference/commands/run.html",
  "reference/scenario.html",
  "packages/workqueue.html",
  "api/workqueue.html",
];

let output = "";

beforeAll(() => {
  const args = [path.join(root, "apps/site/build.ts"), "--base", BASE, "--out", built];
  const api = ["@kubewright/workqueue", "@kubewright/clock"].flatMap((name) => ["--api", name]);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, ...api], { encoding: "utf8" });
  output = `${stdout}${stderr}`;
  if (status !== 0) throw new Error(`the site could not be built: ${output}`);
}, 900_000);

test("the site is built without warnings", () => {
  const lines = stripVTControlCharacters(output).split(/[\n\r]/);
  expect(
    lines.filter((line) => !/^(?:[-✓] (?:building client \+ server bundles|rendering pages)\.\.\.)?$/.test(line)),
  ).toEqual([]);
});

/** Yields the HTML of all pages, with their files. */
function* allPages(): Generator<{ readonly file: string; readonly html: string }> {
  for (const file of readdirSync(built, { recursive: true, encoding: "utf8" }))
    if (file.endsWith(".html") && !file.startsWith("play/") && file !== "404.html")
      yield { file, html: readFileSync(path.join(built, file), "utf8") };
}

test("every link of every page leads to a page, and to a heading of it", () => {
  const pages = new Map<string, { readonly ids: ReadonlySet<string>; readonly links: readonly string[] }>();
  for (const { file, html } of allPages()) {
    const values = (name: string): string[] =>
      [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value]) => value!.replaceAll("&amp;", "&"));
    pages.set(file, { ids: new Set(values("id")), links: [...values("href"), ...values("src")] });
  }
  const deadLinks: string[] = [];
  for (const [file, { links }] of pages)
    for (const link of links) {
      const { pathname, hash, host } = new URL(link, `http://site${BASE}${file}`);
      if (host !== "site" || pathname.startsWith(PLAYGROUND)) continue;
      const name = decodeURIComponent(pathname.slice(BASE.length)) || "index.html";
      const target = name.endsWith("/") ? `${name}index.html` : name;
      const heading = decodeURIComponent(hash.slice(1));
      if (!pathname.startsWith(BASE) || !existsSync(path.join(built, target))) deadLinks.push(`${file}: ${link}`);
      else if (heading !== "" && pages.get(target)?.ids.has(heading) === false) deadLinks.push(`${file}: ${link}`);
    }
  expect(pages.size).toBeGreaterThan(70);
  expect([...new Set(deadLinks)]).toEqual([]);
});

/** Rules of axe that need no browser, for all pages. The tests with a browser check only a sample. */
test("every page has named columns, ordered headings, and pictures with a text alternative", () => {
  const wrong: string[] = [];
  for (const { file, html } of allPages()) {
    if (/<th[^>]*>\s*<\/th>/.test(html)) wrong.push(`${file}: a column without a name`);
    const headings = [...html.matchAll(/<h([1-6]) id="([^"]*)"/g)].map(([, level, id]) => ({
      level: Number(level),
      id,
    }));
    for (const [index, { level, id }] of headings.entries())
      if (level > (headings[index - 1]?.level ?? 0) + 1) wrong.push(`${file}: the heading ${id} skips a level`);
    for (const [image] of html.matchAll(/<img\b[^>]*>/g))
      if (!/\salt="[^"]+"/.test(image)) wrong.push(`${file}: ${image}`);
  }
  expect(wrong).toEqual([]);
});

test("the figures of the page on fidelity are those of the recordings", () => {
  const page = readFileSync(path.join(root, "docs/fidelity.md"), "utf8");
  const listed = JSON.parse(readFileSync(path.join(root, "conformance/passing.json"), "utf8")) as Record<
    "controllers" | "podgc" | "api",
    readonly string[]
  >;
  const lines = (file: string): number =>
    readFileSync(path.join(root, "conformance/cron", file), "utf8")
      .trim()
      .split("\n").length;
  const figures = Object.fromEntries(
    [...page.matchAll(/^\| ([^|]+?) +\|[^|]*\| ([\d,]+) +\|/gm)].map(([, suite, cases]) => [
      suite,
      Number(cases!.replaceAll(",", "")),
    ]),
  );
  expect(figures).toEqual({
    Controllers: listed.controllers.length,
    PodGC: listed.podgc.length,
    API: listed.api.length,
    Schedules: lines("robfig-next.jsonl"),
    "Refused schedules": lines("robfig-invalid.jsonl"),
  });
});

describe.skipIf(browserPath === undefined)("in a browser", () => {
  let site: ServedSite;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    site = await ServedSite.start(built, BASE);
  });
  afterAll(() => site?.stop());

  test.each(SAMPLE)("page %j logs no error, sends no request to other hosts, and is accessible", async (route) => {
    const { page, complaints, close } = await site.open(route);
    // Disables the color transitions of an opening page.
    await page.addStyleTag({ content: "*, *::before, *::after { transition: none !important }" });
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("html.dark").waitFor();
    expect(await accessibilityViolations(page, COLOURS)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBe(0);
    await page.waitForLoadState("networkidle");
    expect(complaints).toEqual([]);
    await close();
  });

  test("an example is shown as a timeline and as text", async () => {
    const { page, complaints, close } = await site.open("concepts/finalizer-tracking.html");
    await page.locator(".played-timeline").scrollIntoViewIfNeeded();
    await timelineOf(page);
    await page.getByText("What the terminal prints").click();
    await page.getByText("Complete in 10m30s (3 ok)").last().waitFor();
    expect(await page.getByRole("link", { name: "Open in the playground" }).getAttribute("href")).toMatch(
      /^\/kubewright\/play\/#1\.[\w-]+$/,
    );
    expect(complaints).toEqual([]);
    await close();
  });

  test("a search finds the page that answers it, and leads there", async () => {
    const { page, complaints, close } = await site.open("");
    await page.getByRole("button", { name: "Search" }).first().click();
    await page.locator("#localsearch-input").fill("too many missed start times");
    await page.locator("#localsearch-list a").first().click();
    await page.waitForURL(/how-to\/missed-start-times/);
    expect(complaints).toEqual([]);
    await close();
  });

  test("screenshots are written for review", async () => {
    const looks = [
      { name: "start-wide", route: "", width: 1440 },
      { name: "start-phone", route: "", width: 390 },
      { name: "concept-dark", route: "concepts/expectations.html", width: 1280, colorScheme: "dark" },
      { name: "how-to-phone-dark", route: "how-to/cronjob-did-not-run.html", width: 390, colorScheme: "dark" },
    ] as const;
    for (const { name, route, ...look } of looks) {
      const { page, close } = await site.open(route, look);
      await page.locator(".played-timeline").first().scrollIntoViewIfNeeded();
      await timelineOf(page);
      await page.evaluate("window.scrollTo(0, 0)");
      await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
      await close();
    }
    expect(readdirSync(screenshots)).toEqual(expect.arrayContaining(looks.map(({ name }) => `${name}.png`)));
  });
});
