import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { build } from "tsup";
import type { ReportData } from "@kubewright/timeline/data";
import { htmlPage, type PageAssets } from "@kubewright/analysis/page";

import { type Browser, type BrowserContext, launchBrowser, type Page } from "../../../tooling/browser/chromium.js";
import { runCli } from "../src/cli.js";
import type { Io } from "../src/io/io.js";
import { page, style } from "../tsup.config.js";

interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  /** Selector of the element that shows that the page is ready. Default: the lanes. */
  readonly waitFor?: string;
}

const root = path.resolve(import.meta.dirname, "../../..");
/** Folder of screenshots, for review. */
export const SCREENSHOTS = path.join(root, ".test-output/page");

/** The page, bundled from source as `npm run build` does it, a browser, and files for it. */
export class PageFixture {
  readonly folder: string;
  readonly assets: PageAssets;
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];

  private constructor(folder: string, assets: PageAssets, browser: Browser) {
    this.folder = folder;
    this.assets = assets;
    this.#browser = browser;
  }

  static async start(): Promise<PageFixture> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const folder = mkdtempSync(path.join(tmpdir(), "kubewright-page-"));
    for (const options of [page, style])
      await build({ ...options, config: false, outDir: folder, entry: absolute(options.entry) });
    const [script, css] = await Promise.all(
      ["page.js", "page.css"].map((name) => readFile(path.join(folder, name), "utf8")),
    );
    const assets = { script: script!, style: css!, scriptHash: sha256(script!), styleHash: sha256(css!) };
    const browser = await launchBrowser();
    return new PageFixture(folder, assets, browser);
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async closePages(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }

  /** Writes a file and returns its URL. */
  write(name: string, text: string): string {
    const file = path.join(this.folder, name);
    writeFileSync(file, text);
    return pathToFileURL(file).href;
  }

  /** Writes a report with the given data. */
  async report(name: string, data: ReportData): Promise<string> {
    return this.write(name, await htmlPage(this.assets, data));
  }

  /** Writes the page of `kubewright run … --html` for these manifests. */
  async run(
    name: string,
    manifests: string,
    flags: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    return this.#command(["run", "manifests.yaml", "--html", name, ...flags], name, {
      "manifests.yaml": manifests,
      ...more,
    });
  }

  /** Writes the page of `kubewright spread … --html` for these manifests. */
  spread(name: string, manifests: string, flags: readonly string[]): Promise<string> {
    return this.#command(["spread", "manifests.yaml", "--html", name, ...flags], name, { "manifests.yaml": manifests });
  }

  async #command(args: readonly string[], name: string, content: Readonly<Record<string, string>>): Promise<string> {
    const files = new Map(Object.entries(content));
    const said: string[] = [];
    const code = await runCli(args, this.io({ files, said }), "0.0.0");
    if (code !== 0) throw new Error(said.join(""));
    return this.write(name, files.get(name)!);
  }

  /** Returns an `Io` with only these files and the built page. */
  io({ files = new Map<string, string>(), said = [] as string[], stopped = new AbortController().signal } = {}): Io {
    const output = { write: (text: string) => void said.push(text), isTerminal: false, columns: 0, hasColours: false };
    return {
      stdout: output,
      stderr: output,
      readFile: async (file) => files.get(file) ?? Promise.reject(new Error("ENOENT: no such file")),
      listFolder: async () => undefined,
      openFile: async (file) => {
        files.set(file, "");
        return {
          write: async (text) => void files.set(file, files.get(file)! + text),
          close: async () => {},
          discard: async () => {},
        };
      },
      stopped,
      timeZoneData: "test",
      // `run` starts at 2026-01-01T00:00:00Z.
      now: () => Date.parse("2025-12-31T23:30:00Z"),
      pageAssets: async () => this.assets,
    };
  }

  /** Opens a page, and collects its errors and warnings in `problems`. */
  async open(
    url: string,
    { width = 1440, height = 900, colorScheme = "light", waitFor = "canvas.lanes" }: OpenOptions = {},
  ): Promise<{ page: Page; problems: string[] }> {
    const context = await this.#browser.newContext({ viewport: { width, height }, colorScheme });
    this.#contexts.push(context);
    await context.addInitScript({
      content:
        "window.violations = []; document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective + ' ' + event.blockedURI));",
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("dialog", (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(url, { timeout: 60_000 });
    await page.locator(waitFor).waitFor();
    return { page, problems };
  }

  async screenshot(page: Page, name: string): Promise<void> {
    await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) });
  }
}

function absolute(entry: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entry).map(([name, file]) => [name, path.resolve(import.meta.dirname, "..", file)]),
  );
}

function sha256(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
