import type { KubernetesObject, Status } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { type ApiServer, createApiServer } from "../index.js";

interface Scaled extends KubernetesObject {
  spec: { replicas?: number };
}

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const KINDS = {
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

function newServer(): ApiServer {
  return createApiServer({ clock: new SimulatedClock("2026-01-01T00:00:00Z"), random: seededRandom(1), freeze: true });
}

async function send(server: ApiServer, method: string, path: string, value?: object, type = "application/json") {
  const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
  const answer = await server.transport({ method, path, headers: { "content-type": type }, ...body } as never);
  return (answer.body as { value: unknown }).value as Scaled & Status;
}

async function withDeployment(): Promise<ApiServer> {
  const server = newServer();
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "x" }] } };
  const spec = { replicas: 1, selector: { matchLabels: { a: "b" } }, template };
  await send(server, "POST", `${DEPLOYMENTS}?fieldManager=maker`, { metadata: { name: "d" }, spec });
  return server;
}

const scale = (replicas?: number): object => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "d" },
  spec: replicas === undefined ? {} : { replicas },
});

async function ownersOf(server: ApiServer): Promise<string[]> {
  const { metadata } = await send(server, "GET", `${DEPLOYMENTS}/d`);
  return (metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => (fieldsV1 as { "f:spec"?: object })["f:spec"]?.hasOwnProperty("f:replicas"))
    .map(({ manager, operation, subresource = "" }) => `${manager} ${operation} ${subresource}`);
}

test("however it is scaled, one owns the number: who changed it last", async () => {
  const server = await withDeployment();
  expect(await ownersOf(server)).toEqual(["maker Update "]);
  const way = fc.record({
    replicas: fc.integer({ min: 1, max: 9 }),
    by: fc.constantFrom("a", "b"),
    kind: fc.constantFrom("merge", "strategic"),
  });
  let replicas = 1;
  let owner = "maker Update ";
  for (const { replicas: next, by, kind } of fc.sample(way, { numRuns: 40, seed: 3 })) {
    const answer = await send(
      server,
      "PATCH",
      `${DEPLOYMENTS}/d/scale?fieldManager=${by}`,
      { spec: { replicas: next } },
      KINDS[kind],
    );
    expect(answer.spec.replicas).toBe(next);
    if (next !== replicas) owner = `${by} Update scale`;
    replicas = next;
    expect(await ownersOf(server)).toEqual([owner]);
  }
  await server.close();
});

test("applying another number than its owner's is a conflict, and force takes it over", async () => {
  const server = await withDeployment();
  const apply = (by: string, replicas: number, query = "") =>
    send(server, "PATCH", `${DEPLOYMENTS}/d/scale?fieldManager=${by}${query}`, scale(replicas), KINDS.apply);
  const refused = await apply("hpa", 5);
  expect([refused.code, refused.message]).toEqual([
    409,
    'Apply failed with 1 conflict: conflict with "maker" using apps/v1: .spec.replicas',
  ]);
  expect((await apply("hpa", 5, "&force=true")).spec).toEqual({ replicas: 5 });
  expect(await ownersOf(server)).toEqual(["hpa Apply scale"]);
  expect((await apply("hpa", 6)).spec).toEqual({ replicas: 6 });
  expect((await apply("other", 6)).spec).toEqual({ replicas: 6 });
  expect(await ownersOf(server)).toEqual(["hpa Apply scale", "other Apply scale"]);
  expect((await apply("hpa", 7)).message).toBe(
    'Apply failed with 1 conflict: conflict with "other" with subresource "scale": .spec.replicas',
  );
  await server.close();
});

test("what is sent must be the Scale of that object", async () => {
  const server = await withDeployment();
  const put = async (body: object) => (await send(server, "PUT", `${DEPLOYMENTS}/d/scale`, body)).message;
  expect(await put({ ...scale(2), metadata: { name: "other" } })).toBe(
    "the name of the object (other) does not match the name on the URL (d)",
  );
  expect(await put({ ...scale(2), apiVersion: "apps/v1", kind: "Deployment" })).toBe(
    'Deployment in version "v1" cannot be handled as a Scale: converting (v1.Deployment) to (autoscaling.Scale): unknown conversion',
  );
  expect(await put(scale(2))).toBeUndefined();
  await server.close();
});
