import { type Pod, type UnstructuredObject, defineResource, jobs, namespaces, pods } from "@kubewright/api";
import { SimulatedClock } from "@kubewright/clock";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";
import { expect, test } from "vitest";

import { Client } from "./client.js";

/** Returns a client whose server responds to every request with `{}`, and the recorded requests. */
function recordingClient(): { client: Client; requests: ApiRequest[] } {
  const requests: ApiRequest[] = [];
  const transport = async (request: ApiRequest): Promise<ApiResponse> => {
    requests.push(request);
    if (request.path.includes("watch=true"))
      return { status: 200, headers: {}, body: { type: "events", events: (async function* () {})() } };
    return { status: 200, headers: {}, body: { type: "decoded", value: {} } };
  };
  return { client: new Client({ transport, clock: new SimulatedClock(), userAgent: "test/1" }), requests };
}

const pod: Pod = { metadata: { name: "a", namespace: "default" } };

test("reads and writes address the object by group, version, namespace, name and subresource", async () => {
  const { client, requests } = recordingClient();
  const podClient = client.resource(pods);
  await podClient.get("a", { namespace: "default", resourceVersion: "0" });
  await podClient.list();
  await podClient.list({ namespace: "x", labelSelector: "a in (b,c)", limit: 500, continue: "t=" });
  await client.resource(namespaces).get("default");
  await podClient.create(pod, { fieldManager: "m", dryRun: "All" });
  await podClient.update(pod);
  await podClient.updateStatus(pod);
  await podClient.createSubresource("a", "eviction", {}, { namespace: "default" });
  await podClient.delete("a", { namespace: "default" });
  await client.resource(jobs).get("pi", { namespace: "math" });
  await client.getRaw("/version");
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /api/v1/namespaces/default/pods/a?resourceVersion=0",
    "GET /api/v1/pods",
    "GET /api/v1/namespaces/x/pods?labelSelector=a%20in%20(b%2Cc)&limit=500&continue=t%3D",
    "GET /api/v1/namespaces/default",
    "POST /api/v1/namespaces/default/pods?fieldManager=m&dryRun=All",
    "PUT /api/v1/namespaces/default/pods/a",
    "PUT /api/v1/namespaces/default/pods/a/status",
    "POST /api/v1/namespaces/default/pods/a/eviction",
    "DELETE /api/v1/namespaces/default/pods/a",
    "GET /apis/batch/v1/namespaces/math/jobs/pi",
    "GET /version",
  ]);
});

test("a watch asks for one, with its options", async () => {
  const { client, requests } = recordingClient();
  await client.resource(jobs).watch({
    resourceVersion: "5",
    allowWatchBookmarks: true,
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan",
    timeoutSeconds: 300,
  });
  expect(requests[0]!.path).toBe(
    "/apis/batch/v1/jobs?watch=true&resourceVersion=5&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=300",
  );
});

test("every request carries the user agent and accepts JSON", async () => {
  const { client, requests } = recordingClient();
  await client.getRaw("/api");
  expect(requests[0]!.headers).toEqual({ accept: "application/json", "user-agent": "test/1" });
});

test("a write is sent as decoded JSON, with kind and apiVersion put in where the object lacks them", async () => {
  const { client, requests } = recordingClient();
  const widgets = defineResource<UnstructuredObject>({
    group: "example.com",
    version: "v1",
    resource: "widgets",
    kind: "Widget",
    namespaced: true,
  });
  await client.resource(widgets).create({ metadata: { name: "w", namespace: "default" }, size: 3 });
  expect(requests[0]).toMatchObject({
    headers: { "content-type": "application/json" },
    body: {
      type: "decoded",
      value: { kind: "Widget", apiVersion: "example.com/v1", metadata: { name: "w" }, size: 3 },
    },
  });
  const typed = { kind: "Pod", apiVersion: "v1", ...pod };
  await client.resource(pods).update(typed);
  expect(requests[1]!.body).toEqual({ type: "decoded", value: typed });
});

test.each([
  ["json", [{ op: "remove", path: "/a" }], "application/json-patch+json"],
  ["merge", { a: null }, "application/merge-patch+json"],
  ["strategic", { a: null }, "application/strategic-merge-patch+json"],
  ["apply", { a: 1 }, "application/apply-patch+yaml"],
] as const)("a %s patch is sent with its content type", async (type, body, contentType) => {
  const { client, requests } = recordingClient();
  await client
    .resource(pods)
    .patch("a", { type, body } as never, { namespace: "default", subresource: "status", force: true });
  expect(requests[0]).toMatchObject({
    method: "PATCH",
    path: "/api/v1/namespaces/default/pods/a/status?force=true",
    headers: { "content-type": contentType },
  });
  expect(requests[0]!.body).toEqual({ type: "decoded", value: body });
});

test("a deletion always sends DeleteOptions", async () => {
  const { client, requests } = recordingClient();
  await client.resource(pods).delete("a", { namespace: "default" });
  await client.resource(pods).delete("a", {
    namespace: "default",
    propagationPolicy: "Orphan",
    preconditions: { uid: "u" },
    gracePeriodSeconds: 0,
    dryRun: "All",
  });
  expect(requests.map(({ body }) => (body as { value: unknown }).value)).toEqual([
    { kind: "DeleteOptions", apiVersion: "v1" },
    {
      kind: "DeleteOptions",
      apiVersion: "v1",
      propagationPolicy: "Orphan",
      preconditions: { uid: "u" },
      gracePeriodSeconds: 0,
      dryRun: ["All"],
    },
  ]);
});

test("names that cannot stand in a path are refused before anything is sent", async () => {
  const { client, requests } = recordingClient();
  const podClient = client.resource(pods);
  await expect(podClient.get("a/b", { namespace: "default" })).rejects.toThrow('invalid resource name "a/b"');
  await expect(podClient.get("..", { namespace: "default" })).rejects.toThrow('invalid resource name ".."');
  await expect(podClient.get("a", { namespace: "x%y" })).rejects.toThrow('invalid namespace "x%y"');
  await expect(podClient.createSubresource("a", "../../secrets/b", {}, { namespace: "default" })).rejects.toThrow(
    'invalid subresource "../../secrets/b"',
  );
  await expect(podClient.get("", { namespace: "default" })).rejects.toThrow("resource name may not be empty");
  await expect(podClient.get("a")).rejects.toThrow(
    "an empty namespace may not be set when a resource name is provided",
  );
  await expect(podClient.create({ metadata: { name: "a" } })).rejects.toThrow(
    "an empty namespace may not be set to write pods",
  );
  expect(requests).toEqual([]);
});
