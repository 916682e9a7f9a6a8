import { type Server, connect, createServer } from "node:net";

import { type ApiServer, type StoreSnapshot, createApiServer } from "@kubewright/apiserver";
import { type TlsOptions, listen } from "@kubewright/apiserver/http";
import { Client } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";

import { freePort } from "../../../conformance/free-port.ts";
import type { Scope } from "./scope.js";

/** What a life of the API server differs in from the one before. */
export interface ServerConfig {
  readonly restore?: StoreSnapshot;
  /** Who may connect with them: administrators all. */
  readonly tokens?: readonly string[];
  readonly tls: TlsOptions;
}

/** An API server in this process that can be stopped and started again where it was, over HTTPS. Gone with the test. */
export class RestartableServer {
  readonly #scope: Scope;
  /** One that is still free when it comes back. */
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

  /** The server that is up. */
  get current(): ApiServer {
    if (this.#server === undefined) throw new Error("the API server is down");
    return this.#server;
  }

  /** Reaches the server that is up, whatever its port and its credentials are. */
  get client(): Client {
    return new Client({ transport: this.current.transport, clock: realClock, userAgent: "test" });
  }

  async stop(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
    await this.#waitUntilDown();
  }

  /** `prepare` is done before the port is open. */
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

  /** Takes the port of the server that is down, and hangs up on whoever calls, until so many have. */
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
   * A child process that another test is starting has our listener too, until it runs its program: as long as that takes, the
   * port is taken.
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
