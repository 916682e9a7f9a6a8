import { type HttpHandler, type HttpReply, type HttpRequest, notFoundReply } from "./http-message.js";

export interface Route {
  readonly path: string;
  /** Matches all paths below `path` too. Default false. */
  readonly prefix?: boolean;
  /** Shown at `/statusz`. Default false. */
  readonly listed?: boolean;
  readonly handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>;
}

/**
 * Routes requests to the endpoints of this process: by exact path, then by the longest matching prefix. Routes can be
 * added while it serves.
 *
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/server/mux/pathrecorder.go
 */
export class Router {
  readonly #exact = new Map<string, Route>();
  readonly #prefixes: Route[] = [];

  /** @throws Error when the path has a route already. */
  add(...routes: readonly Route[]): void {
    for (const route of routes) {
      if (this.#exact.has(route.path)) throw new Error(`path ${route.path} has two handlers`);
      this.#exact.set(route.path, route);
      if (!route.prefix) continue;
      this.#prefixes.push(route);
      this.#prefixes.sort((a, b) => b.path.length - a.path.length);
    }
  }

  /** The first segments of the listed paths, sorted. */
  get listedPaths(): string[] {
    const listed = [...this.#exact.values()].filter((route) => route.listed);
    return [...new Set(listed.map(({ path }) => `/${path.split("/")[1]!}`))].sort();
  }

  readonly handle: HttpHandler = async (request) => {
    const { path } = request;
    const route =
      this.#exact.get(path) ??
      this.#prefixes.find((prefix) => path.startsWith(prefix.path.endsWith("/") ? prefix.path : `${prefix.path}/`));
    return route === undefined ? notFoundReply() : route.handle(request);
  };
}
