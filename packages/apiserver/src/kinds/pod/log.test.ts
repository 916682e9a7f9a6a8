import { expect, test } from "vitest";
import type { PodStatus, Status } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import { createApiServer } from "../../api-server.js";

const PODS = "/api/v1/namespaces/default/pods";

async function logOf(query: string, status?: PodStatus, spec: object = {}): Promise<unknown> {
  const { transport } = createApiServer({
    clock: new SimulatedClock("2026-01-01T00:00:00Z"),
    random: seededRandom(1),
    freeze: true,
  });
  const send = async (method: "GET" | "POST" | "PATCH", path: string, value?: unknown): Promise<unknown> => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const response = await transport({
      method,
      path,
      headers,
      ...(value === undefined ? {} : { body: { type: "decoded", value } }),
    });
    const answer = (response.body as { value: unknown }).value;
    return response.status === 400 ? (answer as Status).message : answer;
  };
  const containers = [{ name: "c", image: "i" }];
  await send("POST", PODS, { metadata: { name: "p" }, spec: { nodeName: "n", containers, ...spec } });
  if (status !== undefined) await send("PATCH", `${PODS}/p/status`, { status });
  return send("GET", `${PODS}/p/log${query}`);
}

const container = { name: "c", image: "i", imageID: "", ready: false, restartCount: 0 };

test("the log of a terminated container is one line that explains the simulation and the exit", async () => {
  const terminated = {
    exitCode: 1,
    reason: "Error",
    startedAt: "2026-01-01T00:00:01Z",
    finishedAt: "2026-01-01T00:00:05Z",
  };
  expect(await logOf("", { containerStatuses: [{ ...container, state: { terminated } }] })).toBe(
    'no output: kubewright runs no containers, "c" was only simulated; started 2026-01-01T00:00:01Z, ended 2026-01-01T00:00:05Z with exit code 1 (Error)\n',
  );
});

test("the log of a running container shows its start time", async () => {
  const running = { startedAt: "2026-01-01T00:00:01Z" };
  expect(await logOf("?container=c", { containerStatuses: [{ ...container, state: { running } }] })).toBe(
    'no output: kubewright runs no containers, "c" was only simulated; running since 2026-01-01T00:00:01Z\n',
  );
});

test("requests that a kubelet refuses get the kubelet's message", async () => {
  const waiting = { containerStatuses: [{ ...container, state: { waiting: { reason: "ContainerCreating" } } }] };
  expect(await logOf("", waiting)).toBe('container "c" in pod "p" is waiting to start: ContainerCreating');
  expect(await logOf("?previous=true", waiting)).toBe('previous terminated container "c" in pod "p" not found');
  expect(await logOf("?container=x")).toBe("container x is not valid for pod p");
  expect(await logOf("", undefined)).toBe('container "c" in pod "p" is not available');
  const two = { containers: ["a", "b"].map((name) => ({ name, image: "i" })) };
  expect(await logOf("", undefined, two)).toBe("a container name must be specified for pod p, choose one of: [a b]");
  expect(await logOf("", undefined, { nodeName: "" })).toBe("");
});
