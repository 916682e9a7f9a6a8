import { flagGroup } from "../flag.js";
import { float32, int32, text, textNamed } from "../flag-types.js";

/** Connection to the API server. */
export interface ConnectionFlags {
  /** `""`: not given. */
  readonly kubeconfig: string;
  readonly master: string;
}

export interface ClientOptions {
  /** Requests per second of each controller; below 0: no limit; 0: the library's default of 5. */
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  /** Has no effect: bodies are always JSON. */
  readonly kubeApiContentType: string;
}

export const connectionDefaults: ConnectionFlags & ClientOptions = {
  kubeconfig: "",
  master: "",
  kubeApiQps: 20,
  kubeApiBurst: 30,
  kubeApiContentType: "application/json",
};

export const connectionFlags = flagGroup<ConnectionFlags>("Misc", {
  kubeconfig: [
    "kubeconfig",
    textNamed("path"),
    "kubeconfig to connect and authenticate with; default: the cluster this runs in",
  ],
  master: ["master", textNamed("url"), "URL of the API server, in place of the one in the kubeconfig"],
});

export const clientFlags = flagGroup<ClientOptions>("Generic", {
  kubeApiQps: ["kube-api-qps", float32, "requests a second to the API server, of each controller; negative: no limit"],
  kubeApiBurst: ["kube-api-burst", int32, "requests each controller may send at once"],
  kubeApiContentType: ["kube-api-content-type", text, "accepted for compatibility: requests are JSON"],
});

export function connectionErrors({ kubeApiQps, kubeApiBurst }: ClientOptions): string[] {
  return kubeApiQps <= 0 || kubeApiBurst > 0
    ? []
    : ["burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0"];
}
