import { configMaps, customResourceDefinitions, defineResource, jobs, type KubernetesObject } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { listen } from "@kubewright/apiserver/http";
import { Client, type ResourceClient } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";
import { createHttpTransport } from "@kubewright/transport-http";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";

interface Widget extends KubernetesObject {
  readonly spec?: unknown;
}

const widgets = defineResource<Widget>({
  group: "example.com",
  version: "v1",
  resource: "widgets",
  kind: "Widget",
  namespaced: true,
});

/** Connects a client in process and a client over HTTP to one server. */
async function start(): Promise<{ readonly inProcess: Client; readonly overHttp: Client }> {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), freeze: true });
  const { url } = await listen(server);
  const http = createHttpTransport({ server: url });
  onTestFinished(async () => {
    await http.close();
    await server.close();
  });
  const inProcess = new Client({ transport: server.transport, clock: realClock, userAgent: "same" });
  const openSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
  await inProcess.resource(customResourceDefinitions).create({
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: openSchema } }],
    },
  });
  await expect.poll(() => inProcess.resource(widgets).list({ namespace: "default" })).toBeDefined();
  return { inProcess, overHttp: new Client({ transport: http.transport, clock: realClock, userAgent: "same" }) };
}

/** Returns the answer as JSON without what differs between any two requests, or the error. */
async function outcomeOf(answer: Promise<unknown>): Promise<unknown> {
  try {
    const object = (await answer) as KubernetesObject;
    const { uid = "", creationTimestamp: _created, managedFields: _managers, ...metadata } = object.metadata;
    return JSON.parse(JSON.stringify({ ...object, metadata }).replaceAll(uid, "UID")) as unknown;
  } catch (error) {
    const { name, message } = error as Error;
    return { name, message };
  }
}

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 3, arbitrary: fc.string() },
    { weight: 3, arbitrary: fc.double() },
    { weight: 2, arbitrary: fc.constantFrom(undefined, null, true, -0, 7) },
    { weight: 2, arbitrary: fc.date() },
    fc.constantFrom(Symbol("s"), 1n, () => 1, new Map([["a", 1]]), Object(1) as unknown),
    { weight: 3, arbitrary: fc.array(tie("any"), { maxLength: 4 }) },
    { weight: 4, arbitrary: fc.dictionary(fc.string({ maxLength: 5 }), tie("any"), { maxKeys: 4 }) },
    tie("any").map((inner) => ({ toJSON: () => inner })),
  ),
})).any;

const writes: readonly ((client: Client, sent: never) => Promise<unknown>)[] = [
  (client, spec) => createIn(client.resource(widgets), { spec }),
  (client, status) => createIn(client.resource(widgets), { status } as never),
  (client, annotations) => createIn(client.resource(configMaps), { metadata: { name: "w", annotations } }),
  (client, data) => createIn(client.resource(configMaps), { data }),
  (client, spec) => createIn(client.resource(jobs), { spec }),
  (client, args) =>
    createIn(client.resource(jobs), {
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "b", args: [args] }] } } },
    }),
];

function createIn<T extends KubernetesObject>(resource: ResourceClient<T>, object: Partial<T>): Promise<unknown> {
  const named = { metadata: { name: "w" }, ...object } as unknown as Parameters<typeof resource.create>[0];
  return resource.create(named, { namespace: "default", dryRun: "All" });
}

test("any value has the same result in process and over HTTP", async () => {
  const { inProcess, overHttp } = await start();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...writes), value, async (write, sent) => {
      const expected = await outcomeOf(write(overHttp, sent as never));
      expect(await outcomeOf(write(inProcess, sent as never))).toEqual(expected);
    }),
    { numRuns: 400 },
  );
});

test("a Date and undefined members are stored as over HTTP, and NaN is refused with the same message", async () => {
  const { inProcess, overHttp } = await start();
  for (const client of [inProcess, overHttp]) {
    const spec = { due: new Date("2026-01-01T00:00:00Z"), colour: undefined, parts: [{ size: undefined }] };
    expect(
      await client.resource(widgets).create({ metadata: { name: "w" }, spec }, { namespace: "default" }),
    ).toMatchObject({ spec: { due: "2026-01-01T00:00:00.000Z", parts: [{}] } });
    const patch = client
      .resource(widgets)
      .patch("w", { type: "merge", body: { spec: { size: Number.NaN } } }, { namespace: "default" });
    await expect(patch).rejects.toThrow(
      "PATCH /apis/example.com/v1/namespaces/default/widgets/w: " +
        "spec.size is NaN, which JSON cannot hold: set a finite number or leave the field out",
    );
    await client.resource(widgets).delete("w", { namespace: "default" });
  }
});
