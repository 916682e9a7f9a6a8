import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

import { type Browser, launchBrowser, type Page } from "../../../../tooling/browser/chromium.js";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
}

/** The built site on a static file server under a path, and a browser. */
export class ServedSite {
  readonly origin: string;
  readonly #base: string;
  readonly #browser: Browser;
  readonly #close: () => Promise<void>;

  private constructor(origin: string, base: string, browser: Browser, close: () => Promise<void>) {
    this.origin = origin;
    this.#base = base;
    this.#browser = browser;
    this.#close = close;
  }

  static async start(folder: string, base: string): Promise<ServedSite> {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      const name = decodeURIComponent(pathname);
      const file = path.join(folder, name.startsWith(base) ? name.slice(base.length) : "nothing");
      readFile(name.endsWith("/") ? path.join(file, "index.html") : file).then(
        (bytes) => {
          const type = TYPES[path.extname(file)] ?? (name.endsWith("/") ? TYPES[".html"]! : "application/octet-stream");
          response.writeHead(200, { "content-type": type });
          response.end(bytes);
        },
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const browser = await launchBrowser();
    return new ServedSite(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, base, browser, async () => {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    });
  }

  /** Opens a route in a new page. `complaints` collects its errors, warnings and requests to other hosts. */
  async open(route: string, { width = 1280, height = 900, colorScheme = "light" }: Look = {}) {
    const context = await this.#browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${this.origin}/`) && !/^(?:data|blob):/.test(url)) complaints.push(`asked for ${url}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()} for ${response.url()}`);
    });
    await page.goto(`${this.origin}${this.#base}${route}`);
    return { page, complaints, close: () => context.close() };
  }

  stop(): Promise<void> {
    return this.#close();
  }
}

/** Waits until the visible timelines are drawn. */
export async function timelineOf(page: Page): Promise<void> {
  await page.locator("kubewright-timeline canvas.lanes").first().waitFor();
}
