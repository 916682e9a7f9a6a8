import { type DeepReadonly, type Job, type Pod, jobs, namespaces, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { Client, isAlreadyExists, isNotFound } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";
import type { Scope } from "./scope.js";

/** An API server over HTTP in this process, without other components. Closed at the end of the test. */
export interface TestCluster {
  readonly url: string;
  readonly client: Client;
}

export async function startCluster(scope: Scope): Promise<TestCluster> {
  const server = createApiServer({ clock: realClock, random: seededRandom(1) });
  const listener = await listen(server, { port: 0 });
  scope.onTestFinished(async () => {
    await listener.close();
    await server.close();
  });
  const client = new Client({ transport: server.transport, clock: realClock, userAgent: "test" });
  for (const name of ["default", "kube-system"]) {
    await client
      .resource(namespaces)
      .create({ metadata: { name } })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
  }
  return { url: listener.url, client };
}

/** Simulates the kubelet: every pod runs and succeeds after `runMs`. Stops at the end of the test. */
export function runPods(scope: Scope, client: Client, runMs: number): void {
  const stop = new AbortController();
  scope.onTestFinished(() => stop.abort());
  const podClient = client.resource(pods);
  const run = async (pod: DeepReadonly<Pod>): Promise<void> => {
    const { name = "", namespace } = pod.metadata;
    await realClock.sleep(runMs, stop.signal);
    const terminated = {
      exitCode: 0,
      reason: "Completed",
      finishedAt: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    };
    const status = {
      phase: "Succeeded",
      containerStatuses: [
        { name: "main", image: "i", imageID: "", ready: false, restartCount: 0, state: { terminated } },
      ],
    };
    await podClient
      .patch(name, { type: "merge", body: { status } }, { namespace, subresource: "status" })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  };
  const watch = async (): Promise<void> => {
    for await (const event of await podClient.watch({ signal: stop.signal })) {
      if (event.type === "ADDED") void run(event.object).catch(() => undefined);
    }
  };
  void watch().catch(() => undefined);
}

export function job(name: string, spec: { completions: number; parallelism: number }): Job {
  const container = { name: "main", image: "busybox", command: ["true"] };
  return {
    metadata: { name, namespace: "default" },
    spec: { ...spec, template: { spec: { restartPolicy: "Never", containers: [container] } } },
  };
}

/** Resolves with the Job when it has a condition. */
export async function jobWithCondition(client: Client, name: string, type: string): Promise<DeepReadonly<Job>> {
  for (;;) {
    const found = await client.resource(jobs).get(name, { namespace: "default" });
    if (found.status?.conditions?.some((condition) => condition.type === type && condition.status === "True"))
      return found;
    await realClock.sleep(50);
  }
}
