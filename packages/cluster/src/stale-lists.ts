import { describeRequest, statusError } from "@kubewright/apiserver";
import type { Clock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";

import type { NetworkFault } from "./network.js";

/** Lists of an API server whose watch cache lags behind the store by the given time. */
export interface StaleLists {
  /** Names of components. Default: all. */
  readonly components?: readonly string[] | undefined;
  /** Plural names. Default: all. */
  readonly resources?: readonly string[] | undefined;
  readonly byMs: number;
}

/** How long a server waits until its cache has the requested version. */
const WAIT_MS = 3_000;

/**
 * Answers lists from an earlier state:
 *
 * - A list at any version ("0") gets the state of the cache.
 * - A list at a minimum version waits 3 s for the cache, then fails because the version is too large.
 * - A list without a version gets the latest state, as in Kubernetes: informers fall back on it.
 *
 * Streaming lists are refused, as by servers without them.
 *
 * @param versionAt - Returns the version of the last write before the given milliseconds; `undefined` when it is
 * unknown.
 */
export function staleLists(
  { components, resources, byMs }: StaleLists,
  versionAt: (agoMs: number) => number | undefined,
  clock: Clock,
): NetworkFault {
  return {
    ...(components === undefined ? {} : { components }),
    requests: (request) => {
      const info = describeRequest(request);
      if (info?.resource === undefined || (info.verb !== "list" && info.verb !== "watch")) return false;
      return resources === undefined || resources.includes(info.resource.resource);
    },
    async handle(request, send) {
      const queryIndex = request.path.indexOf("?");
      const query = new URLSearchParams(queryIndex < 0 ? "" : request.path.slice(queryIndex + 1));
      if (query.get("watch") === "true" || query.get("watch") === "1") {
        if (query.get("sendInitialEvents") !== "true") return send(request);
        const error = statusError(
          422,
          "Invalid",
          "sendInitialEvents: Forbidden: lists are not streamed by this server",
        );
        return { status: 422, headers: error.headers, body: { type: "decoded", value: error.status } };
      }
      let version = versionAt(byMs);
      const text = query.get("resourceVersion") ?? "";
      const requested = Number(text);
      const isExact = text === "" || query.get("resourceVersionMatch") === "Exact" || query.has("continue");
      if (version === undefined || isExact || Number.isNaN(requested)) return send(request);
      if (requested > version) {
        await clock.sleep(WAIT_MS, request.signal, { background: true });
        version = versionAt(byMs) ?? requested;
        if (requested > version) return tooLargeResourceVersion(requested, version);
      }
      query.set("resourceVersion", String(version));
      query.set("resourceVersionMatch", "Exact");
      // A cache answers without chunks.
      query.delete("limit");
      const answer = await send(withQuery(request, query));
      // The store no longer has this version.
      return answer.status === 410 ? send(request) : answer;
    },
  };
}

/** Upstream: apiserver/pkg/storage/errors.go NewTooLargeResourceVersionError. */
function tooLargeResourceVersion(requested: number, current: number): ApiResponse {
  const error = statusError(504, "Timeout", `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
  return { status: 504, headers: error.headers, body: { type: "decoded", value: error.status } };
}

function withQuery(request: ApiRequest, query: URLSearchParams): ApiRequest {
  return { ...request, path: `${request.path.split("?", 1)[0]!}?${query.toString()}` };
}
