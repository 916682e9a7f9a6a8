import path from "node:path";

import { type StartedServer, startChild } from "@kubewright/testing/processes";

export type RunningApiServer = StartedServer;

export interface ApiServerLauncher {
  readonly name: string;
  /** A new cluster; `folder` is for its files. */
  readonly start: (folder: string) => Promise<RunningApiServer>;
  /** Whether the objects of a deleted namespace go with it: in a real cluster that takes a controller we do not have. */
  readonly emptiesNamespaces: boolean;
}

const SERVE = path.join(import.meta.dirname, "../apps/simulator/bin/kubewright.js");
const TOKEN = "conformance";

/** `kubewright serve` with these flags, on a free port. */
export function embeddedApiServer(flags: readonly string[], { secure = false } = {}): ApiServerLauncher {
  return {
    name: "kubewright serve",
    emptiesNamespaces: true,
    start: async (folder) => {
      const kubeconfig = path.join(folder, "kubeconfig");
      const access = secure ? ["--tls", "--token", TOKEN] : [];
      const server = startChild("kubewright serve", process.execPath, [
        SERVE,
        "serve",
        "--port=0",
        "--kubelet=none",
        `--kubeconfig=${kubeconfig}`,
        ...access,
        ...flags,
      ]);
      try {
        const [, url] = await server.waitForOutput(/Serving on (\S+)/);
        return { url: url!, token: secure ? TOKEN : "", kubeconfig, stop: server.stop };
      } catch (error) {
        await server.stop();
        throw error;
      }
    },
  };
}
