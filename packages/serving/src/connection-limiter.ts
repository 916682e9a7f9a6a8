import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";

interface Connection {
  readonly client: string;
  readonly socket: Socket;
  /** Those that are not answered yet. */
  requests: number;
}

/**
 * Keeps a server to a number of connections, and its door open: for whoever comes then, the connection is ended that has
 * had no request for longest, or, when all have one, the one whose request is the oldest. So nobody keeps others out by
 * holding connections open, whether they send nothing, half a handshake, half a header, or a request now and then.
 *
 * Node's own `maxConnections` turns away whoever comes instead.
 */
export class ConnectionLimiter {
  readonly #byClient = new Map<string, Connection>();
  /** Both longest unchanged first. */
  readonly #idle = new Set<Connection>();
  readonly #busy = new Set<Connection>();

  /** @maxConnections maxConnections - At least 1. */
  constructor(server: HttpServer | HttpsServer, maxConnections: number) {
    server.on("connection", (socket: Socket) => {
      if (this.#idle.size + this.#busy.size >= maxConnections) this.#closeOldest();
      this.#add(socket);
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = this.#byClient.get(clientOf(socket));
      if (connection === undefined) return;
      this.#begin(connection);
      response.once("close", () => this.#finish(connection));
    });
  }

  /** Those in the middle of a TLS handshake, too, which Node's `closeAllConnections` leaves alone. */
  closeAll(): void {
    for (const connection of [...this.#idle, ...this.#busy]) connection.socket.destroy();
  }

  #add(socket: Socket): void {
    const connection: Connection = { client: clientOf(socket), socket, requests: 0 };
    this.#byClient.set(connection.client, connection);
    this.#idle.add(connection);
    socket.once("close", () => this.#forget(connection));
  }

  #begin(connection: Connection): void {
    connection.requests += 1;
    if (this.#idle.delete(connection)) this.#busy.add(connection);
  }

  #finish(connection: Connection): void {
    connection.requests -= 1;
    if (connection.requests === 0 && this.#busy.delete(connection)) this.#idle.add(connection);
  }

  #closeOldest(): void {
    const [longest] = this.#idle.size > 0 ? this.#idle : this.#busy;
    if (longest === undefined) return;
    this.#forget(longest);
    longest.socket.destroy();
  }

  #forget(connection: Connection): void {
    this.#idle.delete(connection);
    this.#busy.delete(connection);
    // The client's port may be in use again.
    if (this.#byClient.get(connection.client) === connection) this.#byClient.delete(connection.client);
  }
}

/** The other end, which a connection and the TLS on top of it have in common; of one that is gone already, nobody's. */
function clientOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
