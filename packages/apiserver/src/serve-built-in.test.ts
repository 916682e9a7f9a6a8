import { expect, test } from "vitest";
import { type KubernetesObject, type LabelSelector } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

import { createApiServer } from "./api-server.js";
import { builtInResource } from "./built-in-resource.js";
import { restoreMember } from "./json.js";
import { specAndStatus } from "./kinds/spec-and-status.js";
import { textReply } from "./reply.js";

interface Crew extends KubernetesObject {
  spec?: { size?: number; selector?: LabelSelector; berths?: { name: string; bunk?: string }[]; approved?: boolean };
  status?: { size?: number; ready?: boolean };
}

/** A kind with every declaration that a kind may have. */
const crews = builtInResource<Crew>({
  definition: { group: "ships.dev", version: "v1", resource: "crews", kind: "Crew", namespaced: true },
  shortNames: ["cr"],
  categories: ["all"],
  storageVersion: "v1beta1",
  types: {
    fields: {
      Crew: "| apiVersion kind metadata:ObjectMeta spec:CrewSpec status+:CrewStatus",
      CrewSpec: "| approved:boolean berths:[name]CrewBerth selector:LabelSelector size:int32",
      CrewBerth: "| bunk name!",
      CrewStatus: "| ready:boolean size:int32",
    },
  },
  strategy: {
    ...specAndStatus<Crew>(),
    applyDefaults({ spec }) {
      if (spec !== undefined) spec.size ??= 1;
    },
    prepareForUpdate(crew, stored) {
      restoreMember(crew, stored, "status");
      crew.spec = { ...crew.spec, approved: stored.spec?.approved ?? false };
    },
    validate({ spec }, errors) {
      if (spec?.size === 13) errors.invalid("spec.size", 13, "brings bad luck");
    },
    fieldSelectors: { "status.ready": ({ status }) => String(status?.ready ?? false) },
    printer: { columns: [{ name: "Size", type: "integer" }], cells: ({ spec }) => [spec?.size ?? 0] },
  },
  subresources: {
    scale: {
      scale: {
        specReplicasPath: ".spec.size",
        statusReplicasPath: ".status.size",
        labelSelectorPath: ".spec.selector",
      },
    },
    approval: {
      strategy: {
        prepareForUpdate(crew, stored) {
          const approved = crew.spec?.approved ?? false;
          for (const member of ["spec", "status"] as const) restoreMember(crew, stored, member);
          crew.spec = { ...crew.spec, approved };
        },
        warningsOnUpdate: () => ["approved crews may sail"],
        resets: "status",
      },
    },
    song: { handlers: { get: ({ target }) => textReply(200, `${target.name} sings\n`) } },
  },
});

function serve(): (method: ApiRequest["method"], path: string, value?: unknown, type?: string) => Promise<Answer> {
  const server = createApiServer({
    clock: new SimulatedClock("2026-01-01T00:00:00Z"),
    random: seededRandom(1),
    freeze: true,
    resources: [crews],
  });
  return async (method, path, value, type = "application/json") => {
    const { status, headers, body } = await server.transport({
      method,
      path: path.startsWith("/") ? path : `/apis/ships.dev/v1/namespaces/default/crews${path && `/${path}`}`,
      headers: { "content-type": type },
      ...(value === undefined ? {} : { body: { type: "decoded", value } }),
    });
    return { status, headers, value: (body as { value: Answer["value"] }).value };
  };
}

interface Answer {
  readonly status: number;
  readonly headers: ApiRequest["headers"];
  readonly value: Crew & { readonly message?: string; readonly resources?: readonly { name: string }[] };
}

const crew = {
  apiVersion: "ships.dev/v1",
  kind: "Crew",
  metadata: { name: "a" },
  spec: { size: 3, selector: { matchLabels: { on: "deck" } }, berths: [{ name: "x", bunk: "up" }, { name: "y" }] },
};

test("a declared kind is discovered with its subresources, by name", async () => {
  const { value } = await serve()("GET", "/apis/ships.dev/v1");
  expect(value.resources).toMatchObject([
    { name: "crews", singularName: "crew", kind: "Crew", shortNames: ["cr"], categories: ["all"] },
    { name: "crews/approval", kind: "Crew", verbs: ["get", "patch", "update"] },
    { name: "crews/scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] },
    { name: "crews/song", kind: "Crew", verbs: ["get"] },
    { name: "crews/status", kind: "Crew", verbs: ["get", "patch", "update"] },
  ]);
});

test("its types are read, merged and owned as it declares them", async () => {
  const send = serve();
  const made = await send("POST", "", { ...crew, spec: { ...crew.spec, sails: 2 } });
  expect(made).toMatchObject({ status: 201, headers: { warning: ['299 - "unknown field \\"spec.sails\\""'] } });
  expect(made.value).toMatchObject({ metadata: { generation: 1 }, status: {} });
  const patch = { spec: { berths: [{ name: "y", bunk: "low" }] } };
  const merged = await send("PATCH", "a", patch, "application/strategic-merge-patch+json");
  expect(merged.value.spec?.berths).toEqual([
    { name: "x", bunk: "up" },
    { name: "y", bunk: "low" },
  ]);
  expect(JSON.stringify(merged.value.metadata.managedFields)).toContain('k:{\\"name\\":\\"y\\"}');
});

test("`status` takes the status only, `approval` what its strategy lets through, and the object neither", async () => {
  const send = serve();
  await send("POST", "", crew);
  const changed = { ...crew, spec: { ...crew.spec, size: 5, approved: true }, status: { ready: true } };
  expect((await send("PUT", "a/status", changed)).value).toMatchObject({
    metadata: { generation: 1 },
    spec: { size: 3 },
    status: { ready: true },
  });
  const approval = await send("PUT", "a/approval", changed);
  expect(approval.value).toMatchObject({ metadata: { generation: 1 }, spec: { size: 3, approved: true } });
  expect(approval.headers["warning"]).toEqual(['299 - "approved crews may sail"']);
  const written = await send("PUT", "a", { ...changed, spec: { ...changed.spec, approved: false }, status: {} });
  expect(written.value).toMatchObject({
    metadata: { generation: 2 },
    spec: { size: 5, approved: true },
    status: { ready: true },
  });
  const [, owner] = approval.value.metadata.managedFields!;
  expect(owner).toMatchObject({ subresource: "approval", fieldsV1: { "f:spec": { "f:approved": {} } } });
});

test("`scale` reads and writes the number of replicas", async () => {
  const send = serve();
  await send("POST", "", crew);
  expect((await send("GET", "a/scale")).value).toMatchObject({
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    spec: { replicas: 3 },
    status: { replicas: 0, selector: "on=deck" },
  });
  const scaled = await send("PATCH", "a/scale", { spec: { replicas: 7 } }, "application/merge-patch+json");
  expect(scaled.value).toMatchObject({ kind: "Scale", spec: { replicas: 7 } });
  expect((await send("GET", "a")).value).toMatchObject({ metadata: { generation: 2 }, spec: { size: 7 } });
  expect(await send("PATCH", "a/scale", { spec: { replicas: -1 } }, "application/merge-patch+json")).toMatchObject({
    status: 422,
    value: {
      message: 'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    },
  });
  const unlucky = await send("PATCH", "a/scale", { spec: { replicas: 13 } }, "application/merge-patch+json");
  expect(unlucky.value.message).toContain('Crew.ships.dev "a" is invalid: spec.size: Invalid value: 13');
});

test("a subresource of its own answers for its verbs, and for no others", async () => {
  const send = serve();
  await send("POST", "", crew);
  expect((await send("GET", "a/song")).status).toBe(200);
  expect((await send("POST", "a/song", crew)).status).toBe(405);
  expect((await send("GET", "a/dance")).status).toBe(404);
});
