import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { Client } from "@kubewright/client";
import { realClock } from "@kubewright/clock";
import { createHttpTransport, loadKubeConfig } from "@kubewright/transport-http";

import { type ApiServerLauncher, type RunningApiServer } from "../../../conformance/api-server.ts";
import type { Scope } from "./scope.js";

/** An API server in separate processes, with a client. Stopped at the end of the test. */
export interface LaunchedCluster extends Pick<RunningApiServer, "url" | "token" | "kubeconfig"> {
  readonly client: Client;
}

export async function launchCluster(scope: Scope, launcher: ApiServerLauncher): Promise<LaunchedCluster> {
  const server = await launcher.start(scratchFolder(scope));
  scope.onTestFinished(server.stop);
  const { transport, close } = createHttpTransport(await loadKubeConfig({ path: server.kubeconfig }));
  scope.onTestFinished(close);
  return { ...server, client: new Client({ transport, clock: realClock, userAgent: "test" }) };
}

/** Creates a temporary folder, which is deleted at the end of the test. */
export function scratchFolder(scope: Scope): string {
  const folder = mkdtempSync(path.join(tmpdir(), "kubewright-test-"));
  scope.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
