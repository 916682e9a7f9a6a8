import {
  Agent,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
  request as httpRequest,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type Verb = "list" | "watch";

/** What the proxy does with one request, in place of passing it on. */
export type Fault = (exchange: Exchange) => Promise<void>;

/**
 * Stands between a client and an API server, over real sockets, and spoils what it is told to spoil. Requests without a
 * fault waiting for them are passed on, line by line as lines come.
 */
export class FaultProxy {
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: false });
  readonly #sockets = new Set<Socket>();
  readonly #faults: { readonly verb: Verb; readonly fault: Fault }[] = [];
  readonly #upstream: URL;
  /** Lines of watches as they were passed on, the newest last: what a replay plays. */
  readonly #passed: string[] = [];
  /** Requests as they came, e.g. `list`, `watch`, `stream` (a watch that asks for what is there first). */
  readonly requests: string[] = [];
  down = false;

  private constructor(upstream: string) {
    this.#upstream = new URL(upstream);
    this.#server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      if (this.down) socket.resetAndDestroy();
    });
  }

  static async start(upstream: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(upstream);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that are open from clients. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Faults that no request of this kind has met yet. */
  waiting(verb: Verb): number {
    return this.#faults.filter((entry) => entry.verb === verb).length;
  }

  /** Drops the faults that no request has met. */
  forget(): void {
    this.#faults.length = 0;
  }

  /** The next requests of a kind meet these, one each. */
  inject(verb: Verb, ...faults: readonly Fault[]): void {
    for (const fault of faults) this.#faults.push({ verb, fault });
  }

  /** Breaks every open connection. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cutAll();
    this.#agent.destroy();
    await closed;
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    outgoing.on("error", () => {});
    const url = incoming.url ?? "/";
    const verb: Verb = url.includes("watch=true") ? "watch" : "list";
    this.requests.push(url.includes("sendInitialEvents=true") ? "stream" : verb);
    const index = this.#faults.findIndex((entry) => entry.verb === verb);
    const [met] = index < 0 ? [] : this.#faults.splice(index, 1);
    const fault = met?.fault ?? passOn;
    const exchange = new Exchange(incoming, outgoing, {
      verb,
      passed: this.#passed,
      open: (gone) => this.#open(incoming, gone),
    });
    try {
      await fault(exchange);
      exchange.end();
    } catch {
      // The client or the server went away.
      exchange.cut();
    }
  }

  #open(incoming: IncomingMessage, gone: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.#upstream;
      const request = httpRequest(
        {
          hostname,
          port,
          agent: this.#agent,
          method: incoming.method,
          path: incoming.url,
          headers: { accept: "application/json" },
          signal: gone,
        },
        resolve,
      );
      request.once("error", reject);
      request.end();
    });
  }
}

const passOn: Fault = async (exchange) => {
  await exchange.pass();
};

/** One request and its answer. */
export class Exchange {
  readonly #gone = new AbortController();
  #lines: AsyncGenerator<string> | undefined;

  constructor(
    readonly incoming: IncomingMessage,
    readonly outgoing: ServerResponse,
    private readonly context: {
      readonly verb: Verb;
      readonly passed: string[];
      readonly open: (gone: AbortSignal) => Promise<IncomingMessage>;
    },
  ) {
    outgoing.once("close", () => this.#gone.abort());
  }

  /** Lines of watches passed on so far, by any exchange. */
  get passed(): readonly string[] {
    return this.context.passed;
  }

  /** The next line of the server's answer, without its end. @throws Error when there is none. */
  async line(): Promise<string> {
    this.#lines ??= this.#read();
    const next = await this.#lines.next();
    if (next.done === true) throw new Error("the server's answer has ended");
    return next.value;
  }

  /** Passes so many lines on, or all there are. */
  async pass(count = Infinity, { eachMs = 0 }: { readonly eachMs?: number } = {}): Promise<void> {
    for (let passed = 0; passed < count; passed++) {
      let line: string;
      try {
        line = await this.line();
      } catch (error) {
        if (count === Infinity) return;
        throw error;
      }
      if (eachMs > 0) await sleep(eachMs);
      if (this.context.verb === "watch") {
        this.context.passed.push(line);
        if (this.context.passed.length > 100) this.context.passed.shift();
      }
      await this.send(`${line}\n`);
    }
  }

  async send(text: string | Uint8Array): Promise<void> {
    if (this.outgoing.destroyed) throw new Error("the client is gone");
    if (!this.outgoing.headersSent) this.outgoing.writeHead(200, { "content-type": "application/json" });
    await new Promise<void>((resolve, reject) =>
      this.outgoing.write(text, (error) => (error == null ? resolve() : reject(error))),
    );
  }

  answer(status: number, body: string, headers: Record<string, string> = {}): void {
    this.outgoing.writeHead(status, { "content-type": "application/json", ...headers });
    this.outgoing.end(body);
  }

  /** As when the other side's machine dies: no end of the answer, but a reset. */
  cut(): void {
    this.#gone.abort();
    this.outgoing.socket?.resetAndDestroy();
  }

  /** A proper end of the answer, whatever is missing. */
  end(): void {
    this.#gone.abort();
    if (!this.outgoing.writableEnded) this.outgoing.end();
  }

  async *#read(): AsyncGenerator<string> {
    const answer = await this.context.open(this.#gone.signal);
    if (!this.outgoing.headersSent) {
      const { "content-length": _length, "transfer-encoding": _encoding, connection: _c, ...headers } = answer.headers;
      this.outgoing.writeHead(answer.statusCode ?? 500, headers);
      this.outgoing.flushHeaders();
    }
    answer.setEncoding("utf8");
    let rest = "";
    for await (const chunk of answer as AsyncIterable<string>) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      yield* lines;
    }
    if (rest !== "") yield rest;
  }
}
