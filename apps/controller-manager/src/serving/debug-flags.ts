import { parseVerbosity } from "../flag-values.js";
import { textReply } from "./http-message.js";
import type { Route } from "./router.js";

/** The log verbosity, which can change while the process runs. */
export interface Verbosity {
  set(level: number): void;
}

const INDEX = "<html><head><title>/debug/flags/</title></head><body>/debug/flags/<br><br>v<br></body></html>\n";

/**
 * `/debug/flags` and `/debug/flags/v`, which a PUT changes. Upstream's `/debug/pprof` is absent: it is specific to Go.
 *
 * @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/server/routes/debugsocket.go and flags.go
 */
export function debugFlagRoutes(verbosity: Verbosity): readonly Route[] {
  const index = (): ReturnType<typeof textReply> =>
    textReply(200, INDEX, { "content-type": "text/html; charset=utf-8" });
  return [
    { path: "/debug/flags", handle: index },
    { path: "/debug/flags/", prefix: true, handle: index },
    {
      path: "/debug/flags/v",
      handle: async (request) => {
        if (request.method !== "PUT") return textReply(406, "unsupported http method\n");
        const body = await request.body();
        let level: number;
        try {
          level = parseVerbosity("v", body);
        } catch {
          const why = `strconv.ParseInt: parsing ${JSON.stringify(body)}: invalid syntax`;
          return textReply(400, `error setting klog.logging.verbosity: ${why}\n`);
        }
        verbosity.set(level);
        return textReply(200, `successfully set klog.logging.verbosity to ${body}`);
      },
    },
  ];
}
