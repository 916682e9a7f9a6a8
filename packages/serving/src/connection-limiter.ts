import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";

interface Connection {
  readonly client: string;
  readonly socket: Socket;
  /** Number of unanswered requests. */
  requests: number;
}

/**
 * Limits the number of connections of a server without refusing new ones. For a new connection it closes the one that
 * has been without a request for longest. When all have a request, it closes the one with the oldest request. So no
 * client can block others with open connections, whether it sends nothing, half a handshake, half a header, or an
 * occasional request.
 *
 * Node's own `maxConnections` refuses new connections instead.
 */
export class ConnectionLimiter {
  readonly #byClient = new Map<string, Connection>();
  /** Both sets are in order of the last change, oldest first. */
  readonly #idle = new Set<Connection>();
  readonly #busy = new Set<Connection>();

  /** @param maxConnections - At least 1. */
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

  /** Also closes connections during the TLS handshake, which Node's `closeAllConnections` does not. */
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
    // The client's port may already be in use again.
    if (this.#byClient.get(connection.client) === connection) this.#byClient.delete(connection.client);
  }
}

/**
 * Returns the remote address and port, which a connection and its TLS socket have in common. Both are empty for a
 * closed connection.
 */
function clientOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
