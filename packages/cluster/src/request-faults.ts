import { describeRequest, statusError } from "@kubewright/apiserver";
import type { Clock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";

import type { NetworkFault, Sender } from "./network.js";
import { type RequestSelector, selects } from "./request-selector.js";

/** Requests that receive another response than the API server's. */
export interface FailingRequests extends RequestSelector {
  /** Names of controller managers and other processes. Default: all. */
  readonly processes?: readonly string[] | undefined;
  /** HTTP status of the response; `timeout`: no response, and the connection breaks after half a minute. */
  readonly with: number | "timeout";
  /** Whether the requests take effect nevertheless. */
  readonly takeEffect: boolean;
  /** Number of the first matching request that fails, from 1. */
  readonly nth: number;
  /** Number of requests that fail from there; may be infinite. */
  readonly times: number;
  /** Minimum number of objects of the resource in the namespace for requests to fail. Default: requests always fail. */
  readonly whileAtLeast?: number | undefined;
}

/** Kills a process right before or after one of its requests takes effect. */
export interface CrashPoint extends Omit<RequestSelector, "components"> {
  readonly components: readonly string[] | undefined;
  readonly nth: number;
  readonly when: "before" | "after";
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};
/** How long a component waits for a missing response. */
const TIMEOUT_MS = 30_000;

export function failingRequests(failing: FailingRequests, clock: Clock): NetworkFault {
  const { components, processes, takeEffect, nth, times, whileAtLeast } = failing;
  let matched = 0;
  return {
    ...(components === undefined ? {} : { components }),
    ...(processes === undefined ? {} : { processes }),
    requests: (request) => selects(failing, request),
    async handle(request, send) {
      if (whileAtLeast !== undefined && (await countObjects(request, send)) < whileAtLeast) return send(request);
      matched++;
      if (matched < nth || matched >= nth + times) return send(request);
      if (takeEffect) await send(request);
      if (failing.with !== "timeout") return errorResponse(failing.with, request);
      await clock.sleep(TIMEOUT_MS, request.signal, { background: true });
      throw Object.assign(new Error(`${request.method} ${request.path}: no answer came`), { code: "ETIMEDOUT" });
    },
  };
}

/** @param crash - Kills the process that the request is from. */
export function crashPoint(point: CrashPoint, crash: (sender: Sender) => void): NetworkFault {
  const { components, nth, when } = point;
  let matched = 0;
  return {
    ...(components === undefined ? {} : { components }),
    requests: (request) => selects(point, request),
    async handle(request, send, sender) {
      if (++matched !== nth) return send(request);
      if (when === "after") await send(request);
      crash(sender);
      throw new Error(`${sender.component} was killed`);
    },
  };
}

function errorResponse(status: number, { method, path }: ApiRequest): ApiResponse {
  const error = statusError(status, REASONS[status] ?? "", `${method} ${path} fails, as the scenario has it`);
  return { status, headers: error.headers, body: { type: "decoded", value: error.status } };
}

/** Returns the number of objects of the request's resource in its namespace. */
async function countObjects(request: ApiRequest, send: Transport): Promise<number> {
  const { resource } = describeRequest(request) ?? {};
  if (resource === undefined) return 0;
  const { group, version, namespace } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const path = `${root}${namespace === "" ? "" : `/namespaces/${namespace}`}/${resource.resource}`;
  const { body } = await send({ method: "GET", path, headers: { accept: "application/json" } });
  return body.type === "decoded" ? ((body.value as { items?: readonly unknown[] }).items?.length ?? 0) : 0;
}
