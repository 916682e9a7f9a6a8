import {
  type ConfigMap,
  configMaps,
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";
import { z } from "zod";

import { defineCustomResource } from "../custom-resource/custom-resource.js";
import { defineVersion } from "../custom-resource/define-version.js";
import { mutatingWebhook, validatingWebhook } from "./admission-webhook.js";
import { answerCall, webhooksInProcess } from "./answer-call.js";
import { webhookConfigurations } from "./configurations.js";
import { conversionWebhook } from "./conversion-webhook.js";
import { allow, deny } from "./verdict.js";
import type { Webhook } from "./webhook.js";

const names = { group: "example.com", kind: "Backup", scope: "Namespaced" } as const;
const backups = defineCustomResource({
  ...names,
  version: "v1",
  spec: z.object({ volume: z.string(), keep: z.int().min(1).optional(), tags: z.array(z.string()).optional() }),
  status: z.object({ phase: z.string() }),
});
const older = defineVersion(backups, {
  version: "v1alpha1",
  spec: z.object({ claim: z.string() }),
  toStored: ({ spec }) => ({ spec: { volume: spec.claim }, metadata: { labels: { was: "v1alpha1" } } }),
  fromStored: ({ spec }) => ({ spec: { claim: spec.volume } }),
});
const place = { namespace: "default" };

/** An API server in simulated time that calls these webhooks. */
async function serving(...webhooks: Webhook[]) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    freeze: true,
    webhooks: webhooksInProcess(webhooks),
  });
  const client = new Client({ transport: server.transport, clock });
  await client.resource(customResourceDefinitions).create(backups.crd);
  const found = webhookConfigurations({ name: "backup-operator", webhooks, place: { url: "https://hooks.test" } });
  if (found.validating) await client.resource(validatingWebhookConfigurations).create(found.validating);
  if (found.mutating) await client.resource(mutatingWebhookConfigurations).create(found.mutating);
  await clock.advance(5_000);
  return { client, server };
}

test("a validating webhook denies with its message, warns, and receives the user and the operation", async () => {
  const asked: unknown[] = [];
  const { client, server } = await serving(
    validatingWebhook(backups, ({ object, oldObject, operation, user, dryRun, name, namespace }) => {
      asked.push({ operation, name, namespace, dryRun, user: user.username, before: oldObject?.spec.volume });
      if (oldObject !== undefined && oldObject.spec.volume !== object.spec.volume)
        return deny("spec.volume may not change: make another Backup", { code: 422, reason: "Invalid" });
      return object.spec.volume === "tmp" ? allow({ warnings: ["tmp is emptied at night"] }) : undefined;
    }),
  );
  const backup = backups.make({ metadata: { name: "a", ...place }, spec: { volume: "data" } });
  const created = await client.resource(backups).create(backup);
  const change = client.resource(backups).update({ ...created, spec: { volume: "tmp" } }, { dryRun: "All" });
  await expect(change).rejects.toMatchObject({
    status: { code: 422, reason: "Invalid" },
    message: expect.stringContaining("spec.volume may not change: make another Backup") as string,
  });
  expect(asked).toEqual([
    {
      operation: "CREATE",
      name: "a",
      namespace: "default",
      dryRun: false,
      user: "system:apiserver",
      before: undefined,
    },
    { operation: "UPDATE", name: "a", namespace: "default", dryRun: true, user: "system:apiserver", before: "data" },
  ]);
  const body = {
    type: "decoded",
    value: { ...backup, metadata: { name: "b", ...place }, spec: { volume: "tmp" } },
  } as const;
  const path = "/apis/example.com/v1/namespaces/default/backups";
  const { headers } = await server.transport({ method: "POST", path, headers: {}, body });
  expect(headers["warning"]).toEqual(['299 - "tmp is emptied at night"']);
  await server.close();
});

test("a webhook for DELETE receives the stored object", async () => {
  const { client, server } = await serving(
    validatingWebhook(
      configMaps,
      ({ oldObject }) => (oldObject.data?.["keep"] === "yes" ? deny("it is to be kept") : undefined),
      { operations: ["DELETE"] },
    ),
  );
  const make = (name: string, keep: string): Promise<unknown> =>
    client.resource(configMaps).create({ metadata: { name, ...place }, data: { keep } });
  await make("a", "yes");
  await make("b", "no");
  await expect(client.resource(configMaps).delete("a", place)).rejects.toThrow("it is to be kept");
  await client.resource(configMaps).delete("b", place);
  await server.close();
});

test("a mutating webhook changes its draft, or answers with another object, or refuses", async () => {
  const { client, server } = await serving(
    mutatingWebhook(backups, ({ object }) => {
      object.spec.keep ??= 7;
      object.spec.tags = (object.spec.tags ?? []).filter((tag) => tag !== "old");
      delete object.metadata.annotations;
    }),
    mutatingWebhook(configMaps, ({ object, operation }): ConfigMap | ReturnType<typeof deny> =>
      operation === "CREATE" && object.metadata.name === "no"
        ? deny("not that name")
        : { ...object, data: { ...object.data, by: "webhook" } },
    ),
  );
  const metadata = { name: "a", ...place, annotations: { a: "1" } };
  const spec = { volume: "data", tags: ["old", "new", "old", "newer"] };
  const created = await client.resource(backups).create(backups.make({ metadata, spec }));
  expect(created.spec).toEqual({ volume: "data", keep: 7, tags: ["new", "newer"] });
  expect(created.metadata.annotations).toBeUndefined();
  const map = await client.resource(configMaps).create({ metadata: { name: "b", ...place } });
  expect(map.data).toEqual({ by: "webhook" });
  await expect(client.resource(configMaps).create({ metadata: { name: "no", ...place } })).rejects.toThrow(
    "not that name",
  );
  await server.close();
});

test("a webhook that fails has no answer, and its failure policy decides", async () => {
  const fails = (): never => {
    throw new Error("the database is away");
  };
  const { client, server } = await serving(
    validatingWebhook(backups, fails),
    validatingWebhook(configMaps, fails, { failurePolicy: "Ignore" }),
  );
  await expect(
    client.resource(backups).create(backups.make({ metadata: { name: "a", ...place }, spec: { volume: "data" } })),
  ).rejects.toThrow("validate.backups.example.com: the database is away");
  await client.resource(configMaps).create({ metadata: { name: "a", ...place } });
  await server.close();
});

const conversion = conversionWebhook(backups, [older]);

function convert(desiredAPIVersion: string, ...objects: object[]): Promise<unknown> {
  const request = { uid: "u1", desiredAPIVersion, objects };
  return conversion.review({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request });
}

const window = z.object({ from: z.string(), zone: z.string().optional() });
const newer = defineCustomResource({
  ...names,
  version: "v1",
  spec: z.object({
    volume: z.string(),
    at: z.string().default("12:30"),
    keep: z.int().optional(),
    tags: z.array(z.string()).optional(),
    window: window.optional(),
  }),
});
/** Has no keep, and sets `at` to its default; `from` is the whole window, `tag` the first tag. */
const lossy = defineVersion(newer, {
  version: "v1alpha1",
  spec: z.object({ claim: z.string(), from: z.string().optional(), tag: z.string().optional() }),
  toStored: ({ spec }) => ({
    spec: {
      volume: spec.claim,
      at: "12:30",
      keep: undefined,
      ...(spec.tag === undefined ? {} : { tags: [spec.tag] }),
      ...(spec.from === undefined ? {} : { window: { from: spec.from } }),
    },
  }),
  fromStored: ({ spec }) => ({ spec: { claim: spec.volume, from: spec.window?.from, tag: spec.tags?.[0] } }),
});
const full = { volume: "data", at: "18:00", keep: 7, tags: ["a", "b"], window: { from: "00:00", zone: "UTC" } };

/** An API server with an object of {@link newer} that has all fields, and its conversion webhook. */
async function converting() {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const webhooks = [conversionWebhook(newer, [lossy])];
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    freeze: true,
    webhooks: webhooksInProcess(webhooks),
  });
  const client = new Client({ transport: server.transport, clock });
  const { definitions } = webhookConfigurations({ name: "x", webhooks, place: { url: "https://hooks.test" } });
  await client.resource(customResourceDefinitions).create(definitions[0]!);
  await clock.advance(5_000);
  await client.resource(newer).create({ metadata: { name: "a", ...place }, spec: full });
  const patchOld = async (spec: object): Promise<unknown> => {
    await client.resource(lossy).patch("a", { type: "merge", body: { spec } }, place);
    return (await client.resource(newer).get("a", place)).spec;
  };
  return { client, patchOld, end: () => server.close() };
}

test("a patch through another version changes what it says, and loses no field of the stored object", async () => {
  const { client, patchOld, end } = await converting();
  expect(await patchOld({ claim: "other" })).toEqual({ ...full, volume: "other" });
  const old = await client.resource(lossy).get("a", place);
  expect(old.spec).toEqual({ claim: "other", from: "00:00", tag: "a" });
  expect(Object.keys(old.metadata.annotations ?? {})).toEqual(["example.com/conversion-data"]);
  expect((await client.resource(newer).get("a", place)).metadata.annotations).toBeUndefined();
  await client.resource(lossy).update({ ...old, spec: { ...old.spec, claim: "third" } });
  const body = { apiVersion: "example.com/v1alpha1", kind: "Backup", spec: { claim: "fourth" } };
  await client.resource(lossy).patch("a", { type: "apply", body }, { ...place, fieldManager: "kubectl", force: true });
  expect((await client.resource(newer).get("a", place)).spec).toEqual({ ...full, volume: "fourth" });
  await end();
});

test("a field that a client changes in another version has its new value, and takes along what is within it", async () => {
  const { patchOld, end } = await converting();
  expect(await patchOld({ from: "01:00" })).toEqual({ ...full, window: { from: "01:00", zone: "UTC" } });
  expect(await patchOld({ tag: "c" })).toMatchObject({ tags: ["c"], keep: 7 });
  const { window: _window, ...rest } = full;
  expect(await patchOld({ from: null })).toEqual({ ...rest, tags: ["c"] });
  await end();
});

test("an annotation that is no conversion data is refused", async () => {
  const { client, end } = await converting();
  const annotations = { "example.com/conversion-data": "none" };
  const write = client.resource(lossy).patch("a", { type: "merge", body: { metadata: { annotations } } }, place);
  await expect(write).rejects.toThrow(
    "metadata.annotations[example.com/conversion-data] is no conversion data: remove it",
  );
  await end();
});

test("objects are converted there and back, and what a conversion does not mention stays", async () => {
  const metadata = { name: "a", uid: "1", annotations: { a: "1" } };
  const old = {
    apiVersion: "example.com/v1alpha1",
    kind: "Backup",
    metadata,
    spec: { claim: "data" },
    status: { phase: "Running" },
  };
  const stored = {
    ...old,
    apiVersion: "example.com/v1",
    metadata: { ...metadata, labels: { was: "v1alpha1" } },
    spec: { volume: "data" },
  };
  expect(await convert("example.com/v1", old, stored)).toEqual({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: { uid: "u1", result: { status: "Success" }, convertedObjects: [stored, stored] },
  });
  expect(await convert("example.com/v1alpha1", stored)).toMatchObject({
    response: { convertedObjects: [{ ...old, metadata: stored.metadata }] },
  });
  expect(await convert("example.com/v2", stored)).toMatchObject({
    response: {
      uid: "u1",
      convertedObjects: [],
      result: {
        status: "Failure",
        message: "Backup has no version example.com/v2: there are example.com/v1, example.com/v1alpha1",
      },
    },
  });
});

test("the definition of several versions names the webhook that converts them", () => {
  const service = { name: "backup-operator", namespace: "backups" };
  const { definitions, validating } = webhookConfigurations({
    name: "x",
    webhooks: [conversion],
    place: { service },
    ca: "PEM",
  });
  expect(validating).toBeUndefined();
  expect(definitions).toMatchObject([
    {
      spec: {
        versions: [
          { name: "v1", storage: true },
          { name: "v1alpha1", storage: false },
        ],
        conversion: {
          strategy: "Webhook",
          webhook: {
            clientConfig: { service: { ...service, path: "/convert/example.com/backups" }, caBundle: "UEVN" },
            conversionReviewVersions: ["v1"],
          },
        },
      },
    },
  ]);
});

test("a request that is no review, or one of another version, is rejected with the reason", async () => {
  const webhooks = [validatingWebhook(backups, () => undefined)];
  const path = "/validate/example.com/v1/backups";
  const review = { apiVersion: "admission.k8s.io/v1beta1", kind: "AdmissionReview", request: { uid: "1" } };
  expect(await answerCall(webhooks, path, review)).toEqual({
    status: 400,
    text: "validate.backups.example.com: expected admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview",
  });
  expect(await answerCall(webhooks, path, { ...review, apiVersion: "admission.k8s.io/v1", request: {} })).toMatchObject(
    {
      status: 400,
      text: expect.stringContaining("has no request with a uid") as string,
    },
  );
  expect(await answerCall(webhooks, "/elsewhere", review)).toEqual({
    status: 404,
    text: "no webhook is served at /elsewhere",
  });
});

test("two webhooks of one name are refused where they are put together, and so are names without dots", () => {
  const twice = [validatingWebhook(backups, () => undefined), validatingWebhook(backups, () => undefined)];
  expect(() => webhooksInProcess(twice)).toThrow("there are two webhooks /validate/example.com/v1/backups");
  expect(() => webhooksInProcess([validatingWebhook(backups, () => undefined, { name: "check" })])).toThrow(
    'webhook "check" needs a name with at least two dots',
  );
  const named = ["a.b.c", "a.b.d"].map((name) => validatingWebhook(backups, () => undefined, { name }));
  expect(() => webhooksInProcess(named)).not.toThrow();
});
