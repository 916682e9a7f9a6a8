import type { ResourceDefinition } from "@kubewright/api";
import { statusError } from "@kubewright/apiserver";
import type { Clock } from "@kubewright/clock";
import type { Network, NetworkFault } from "@kubewright/cluster";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";

import { type DurationLike, milliseconds } from "./duration.js";
import { attributesOf, requestText } from "./request-record.js";

export type RequestVerb =
  "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection" | (string & {});

/** Selects requests. All given fields must match. */
export interface RequestRule {
  /**
   * The sender: the name that a controller runs under. In process also `job-controller` and so on, `scheduler`,
   * `kubelet`.
   */
  readonly by?: string | readonly string[];
  readonly verb?: RequestVerb | readonly RequestVerb[];
  /** A definition, or the plural name. */
  readonly resource?: Pick<ResourceDefinition, "group" | "resource"> | string;
  /** For example `status`. `""` selects the object itself. Default: both. */
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface CountedRule extends RequestRule {
  /** Number of affected requests. Default: all, until the fault is ended. */
  readonly times?: number;
}

export interface Refusal extends CountedRule {
  /** HTTP status: 409, 503 and so on. */
  readonly status: number;
  /** Default: Kubernetes' reason for the status, such as `Conflict`. */
  readonly reason?: string;
  readonly message?: string;
  /** Sent as `Retry-After`. Clients retry such a request by themselves, up to ten times. */
  readonly retryAfterSeconds?: number;
}

export interface Delay extends CountedRule {
  /** Time by which the requests reach the server later. */
  readonly for: DurationLike;
}

/** An active fault. */
export interface Fault extends Disposable {
  /** Number of affected requests. */
  readonly count: number;
  /** Ends the fault. Further calls have no effect. */
  end(): void;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Injects faults between controllers and the API server by rule. The test's own client is never affected. */
export class TestFaults {
  readonly #network: Network;
  readonly #clock: Clock;

  constructor({ network, clock }: { readonly network: Network; readonly clock: Clock }) {
    this.#network = network;
    this.#clock = clock;
  }

  /** Answers requests with an error. The requests do not reach the server. */
  refuse(refusal: Refusal): Fault {
    const { status, reason = REASONS[status] ?? "", message, retryAfterSeconds } = refusal;
    return this.#begin(refusal, async (request) => {
      const text = message ?? `the test refuses to ${requestText({ ...attributesOf(request), path: request.path })}`;
      const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
      const error = statusError(status, reason, text, details);
      return { status, headers: error.headers, body: { type: "decoded", value: error.status } };
    });
  }

  /** Delays requests on the way to the server. */
  delay({ for: duration, ...rule }: Delay): Fault {
    const delayMs = milliseconds(duration, "faults.delay: for");
    return this.#begin(rule, async (request, send) => {
      await this.#clock.sleep(delayMs, request.signal);
      return send(request);
    });
  }

  /**
   * Runs an action just before a request reaches the server, such as a write of another client. The data that the
   * sender has read is then stale. Default: before the first matching request.
   */
  before({ times = 1, ...rule }: CountedRule, action: () => unknown): Fault {
    return this.#begin({ ...rule, times }, async (request, send) => {
      await action();
      return send(request);
    });
  }

  /**
   * Executes requests on the server, and then breaks the connection before the response. The sender does not know the
   * outcome.
   */
  loseAnswers(rule: CountedRule = {}): Fault {
    return this.#begin(rule, async (request, send) => {
      await send(request);
      const text = requestText({ ...attributesOf(request), path: request.path });
      throw Object.assign(new Error(`read ECONNRESET: the test loses the answer to ${text}`), { code: "ECONNRESET" });
    });
  }

  /** Holds back all watch events until the fault ends. Caches fed by these watches become stale. */
  holdWatches({ by, resource }: Pick<RequestRule, "by"> & { readonly resource: RequestRule["resource"] & {} }): Fault {
    const heldBackResources = [typeof resource === "string" ? resource : resource.resource];
    return fault(this.#network.begin({ ...componentsOf(by), heldBackResources }), () => 0);
  }

  /** Closes open watches, as a server or a proxy may do at any time. Returns their number. */
  cutWatches(rule: Pick<RequestRule, "by" | "resource" | "namespace"> = {}): number {
    return this.#network.cutWatches({ ...componentsOf(rule.by), requests: (request) => fits(rule, request) });
  }

  /** Disconnects the named components, or all, from the API server: connections are refused, and watches closed. */
  disconnect({ by }: Pick<RequestRule, "by"> = {}): Fault {
    return fault(this.#network.begin({ ...componentsOf(by), down: true }), () => 0);
  }

  #begin(
    { times = Infinity, ...rule }: CountedRule,
    handle: (request: ApiRequest, send: (request: ApiRequest) => Promise<ApiResponse>) => Promise<ApiResponse>,
  ): Fault {
    if (!(times > 0)) throw new RangeError(`faults: times must be positive, not ${times}`);
    let count = 0;
    const end = this.#network.begin({
      ...componentsOf(rule.by),
      requests: (request) => fits(rule, request),
      handle: (request, send) => {
        // More than `times` requests may be in flight, when another fault releases them late.
        if (count >= times) return send(request);
        if (++count >= times) end();
        return handle(request, send);
      },
    });
    return fault(end, () => count);
  }
}

function fault(end: () => void, count: () => number): Fault {
  return {
    get count() {
      return count();
    },
    end,
    [Symbol.dispose]: end,
  };
}

function componentsOf(by: RequestRule["by"]): Pick<NetworkFault, "components"> {
  if (by === undefined) return {};
  return { components: typeof by === "string" ? [by] : by };
}

function fits(rule: RequestRule, request: ApiRequest): boolean {
  const { verb, resource, subresource, namespace, name } = rule;
  const attributes = attributesOf(request);
  if (verb !== undefined && !(typeof verb === "string" ? [verb] : verb).includes(attributes.verb)) return false;
  if (typeof resource === "string" && resource !== attributes.resource) return false;
  if (
    typeof resource === "object" &&
    (resource.resource !== attributes.resource || resource.group !== attributes.group)
  )
    return false;
  if (subresource !== undefined && subresource !== attributes.subresource) return false;
  if (namespace !== undefined && namespace !== attributes.namespace) return false;
  return name === undefined || name === attributes.name;
}
