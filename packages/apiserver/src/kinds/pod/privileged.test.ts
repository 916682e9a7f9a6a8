import type { Status } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { type ApiServer, createApiServer } from "../../index.js";

const spec = {
  restartPolicy: "Never",
  containers: [{ name: "c", image: "docker:dind", securityContext: { privileged: true } }],
};
const POD = { path: "/api/v1/namespaces/default/pods", value: { metadata: { name: "p" }, spec } };
const JOB = {
  path: "/apis/batch/v1/namespaces/default/jobs",
  value: { metadata: { name: "j" }, spec: { template: { spec } } },
};

function newServer(options: { allowPrivileged?: boolean }): ApiServer {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  return createApiServer({ clock, random: seededRandom(1), freeze: true, ...options });
}

async function messageOf(server: ApiServer, { path, value }: typeof POD | typeof JOB): Promise<string | undefined> {
  const { body } = await server.transport({ method: "POST", path, headers: {}, body: { type: "decoded", value } });
  return ((body as { value: unknown }).value as Status).message;
}

test("a server may refuse privileged containers, in pods and in templates", async () => {
  const server = newServer({ allowPrivileged: false });
  const refused = "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy";
  expect(await messageOf(server, POD)).toBe(`Pod "p" is invalid: ${refused}`);
  expect(await messageOf(server, JOB)).toBe(
    `Job.batch "j" is invalid: ${refused.replace("spec.", "spec.template.spec.")}`,
  );
  await server.close();
});

test("a server allows privileged containers by default", async () => {
  const server = newServer({});
  expect(await messageOf(server, POD)).toBeUndefined();
  expect(await messageOf(server, JOB)).toBeUndefined();
  await server.close();
});
