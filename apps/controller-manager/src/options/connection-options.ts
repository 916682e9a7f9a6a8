import { type OptionsOf, option, optionGroup } from "../flag.js";
import { float32, int32, text, textNamed } from "../flag-types.js";

/** Connection to the API server. */
export const connectionOptions = optionGroup("Misc", {
  /** `""`: not given. */
  kubeconfig: option(
    textNamed("path"),
    "",
    "kubeconfig to connect and authenticate with; default: the cluster this runs in",
  ),
  master: option(textNamed("url"), "", "URL of the API server, in place of the one in the kubeconfig"),
});

export type ConnectionOptions = OptionsOf<typeof connectionOptions>;

export const clientOptions = optionGroup("Generic", {
  /** Requests per second of each controller; below 0: no limit; 0: the library's default of 5. */
  kubeApiQps: option(float32, 20, "requests a second to the API server, of each controller; negative: no limit"),
  kubeApiBurst: option(int32, 30, "requests each controller may send at once"),
  /** Has no effect: bodies are always JSON. */
  kubeApiContentType: option(text, "application/json", "accepted for compatibility: requests are JSON"),
});

type ClientOptions = OptionsOf<typeof clientOptions>;

export function connectionErrors({ kubeApiQps, kubeApiBurst }: ClientOptions): string[] {
  return kubeApiQps <= 0 || kubeApiBurst > 0
    ? []
    : ["burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0"];
}
