import { type Server, connect, createServer } from "node:net";

import { type ApiServer, type StoreSnapshot, createApiServer } from "@kubewright/apiserver";
import { type TlsOptions, listen } from "@kubewright/apiserver/http";
import { Client } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";

import { freePort } from "../../../conformance/free-port.ts";
import type { Scope } from "./scope.js";

/** Settings that may differ between runs of the API server. */
export interface ServerConfig {
  readonly restore?: StoreSnapshot;
  /** Accepted tokens, all of administrators. */
  readonly tokens?: readonly string[];
  readonly tls: TlsOptions;
}

/**
 * An API server in this process, over HTTPS, that can be stopped and restarted on the same port. Closed at the end of
 * the test.
 */
export class RestartableServer {
  readonly #scope: Scope;
  /** A port that stays free while the server is down. */
  readonly #port: number;
  #server: ApiServer | undefined;
  #starts = 0;

  private constructor(scope: Scope, port: number) {
    this.#scope = scope;
    this.#port = port;
  }

  static async start(scope: Scope, config: ServerConfig): Promise<RestartableServer> {
    const server = new RestartableServer(scope, await freePort());
    await server.start(config);
    scope.onTestFinished(() => server.stop());
    return server;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** The running server. */
  get current(): ApiServer {
    if (this.#server === undefined) throw new Error("the API server is down");
    return this.#server;
  }

  /** A client of the running server, independent of its port and credentials. */
  get client(): Client {
    return new Client({ transport: this.current.transport, clock: realClock, userAgent: "test" });
  }

  async stop(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
    await this.#waitUntilDown();
  }

  /** Starts the server. `prepare` runs before the port is open. */
  async start({ restore, tokens, tls }: ServerConfig, prepare?: (server: ApiServer) => Promise<void>): Promise<void> {
    const access = Object.fromEntries((tokens ?? []).map((token) => [token, ADMINISTRATOR]));
    const server = createApiServer({
      clock: realClock,
      random: seededRandom(++this.#starts),
      authentication: { anonymous: false, tokens: access },
      ...(restore === undefined ? {} : { restore }),
    });
    await prepare?.(server);
    await listen(server, { port: this.#port, tls });
    this.#server = server;
  }

  /** Listens on the port of the stopped server and closes each connection, until `count` connections were made. */
  async dropConnections(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let seen = 0;
    const server: Server = createServer((socket) => {
      socket.on("error", () => undefined).destroy();
      if (++seen === count) resolve();
    });
    this.#scope.onTestFinished(() => void server.close());
    await new Promise<void>((listening) => server.listen(this.#port, "127.0.0.1", listening));
    await promise;
    await new Promise((closed) => server.close(closed));
    await this.#waitUntilDown();
  }

  /**
   * Waits until the port is closed. A child process that another test starts inherits the listener until it executes
   * its program, and keeps the port in use for that time.
   */
  async #waitUntilDown(): Promise<void> {
    while (await answers(this.#port)) await realClock.sleep(5);
  }
}

const ADMINISTRATOR = { username: "kubernetes-admin", groups: ["system:masters"] };

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
