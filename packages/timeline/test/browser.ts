import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { type Browser, launchBrowser, type Page } from "../../../tooling/browser/chromium.js";

/** Files of a server, by path. */
export type Files = Readonly<Record<string, { readonly type: string; readonly text: string }>>;

/** A server of a few files with a strict content security policy, and a browser. */
export class Site {
  readonly url: string;
  readonly #server: Server;
  readonly #browser: Browser;

  private constructor(server: Server, browser: Browser) {
    this.#server = server;
    this.#browser = browser;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param policy - The content security policy of every response. */
  static async start(files: Files, policy: string): Promise<Site> {
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      const file = files[request.url?.split("?")[0] ?? ""];
      response.writeHead(file === undefined ? 404 : 200, {
        "content-type": file?.type ?? "text/plain",
        "content-security-policy": policy,
      });
      response.end(file?.text ?? "");
    };
    const server = createServer(answer);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const browser = await launchBrowser();
    return new Site(server, browser);
  }

  /** Opens a page. `complaints` collects its errors and its requests to other hosts. */
  async open(path: string): Promise<{ readonly page: Page; readonly complaints: string[] }> {
    const context = await this.#browser.newContext({ viewport: { width: 1000, height: 900 }, colorScheme: "light" });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(this.url)) complaints.push(`asked for ${request.url()}`);
    });
    await page.goto(`${this.url}${path}`);
    return { page, complaints };
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}
