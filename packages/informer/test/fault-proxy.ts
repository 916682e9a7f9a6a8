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

/** Handles one request instead of forwarding it. */
export type Fault = (exchange: Exchange) => Promise<void>;

/**
 * A proxy between a client and an API server, over real sockets, that injects faults. Forwards requests without a fault
 * line by line.
 */
export class FaultProxy {
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: false });
  readonly #sockets = new Set<Socket>();
  readonly #faults: { readonly verb: Verb; readonly fault: Fault }[] = [];
  readonly #upstream: URL;
  /** Forwarded watch lines, the newest last, for replays. */
  readonly #passed: string[] = [];
  /** Received requests in order: `list`, `watch`, or `stream` (a watch that begins with the existing objects). */
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

  /** Number of open client connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Number of faults of this kind that no request has met yet. */
  waiting(verb: Verb): number {
    return this.#faults.filter((entry) => entry.verb === verb).length;
  }

  /** Drops the pending faults. */
  forget(): void {
    this.#faults.length = 0;
  }

  /** Applies one fault each to the next requests of a kind. */
  inject(verb: Verb, ...faults: readonly Fault[]): void {
    for (const fault of faults) this.#faults.push({ verb, fault });
  }

  /** Resets every open connection. */
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
      // The client or the server has closed the connection.
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

/** One request and its response. */
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

  /** Watch lines forwarded so far, by all exchanges. */
  get passed(): readonly string[] {
    return this.context.passed;
  }

  /** Returns the next line of the server's response, without its end. @throws Error if there is none. */
  async line(): Promise<string> {
    this.#lines ??= this.#read();
    const next = await this.#lines.next();
    if (next.done === true) throw new Error("the server's answer has ended");
    return next.value;
  }

  /** Forwards `count` lines; by default all. */
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

  /** Resets the connection without ending the response, like a machine that fails. */
  cut(): void {
    this.#gone.abort();
    this.outgoing.socket?.resetAndDestroy();
  }

  /** Ends the response properly, even if it is incomplete. */
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
