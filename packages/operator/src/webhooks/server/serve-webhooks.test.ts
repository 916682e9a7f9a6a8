import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TLSSocket } from "node:tls";
import { X509Certificate } from "node:crypto";

import {
  configMaps,
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  secrets,
  validatingWebhookConfigurations,
} from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { callWebhook } from "@kubewright/apiserver/http";
import { Client } from "@kubewright/client";
import { SimulatedClock, realClock, seededRandom, silentLogger } from "@kubewright/clock";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";

import { freePort } from "../../../../../conformance/free-port.ts";
import { defineCustomResource } from "../../custom-resource/custom-resource.js";
import { defineVersion } from "../../custom-resource/define-version.js";
import { mutatingWebhook, validatingWebhook } from "../admission-webhook.js";
import { webhookConfigurations } from "../configurations.js";
import { conversionWebhook } from "../conversion-webhook.js";
import { deny } from "../verdict.js";
import type { Webhook } from "../webhook.js";
import { makeCertificate } from "./certificate.js";
import { certificateFiles, ownCertificate, sharedCertificate } from "./certificate-source.js";
import { serveWebhooks } from "./serve-webhooks.js";

const place = { namespace: "default" };
const HOSTS = ["localhost", "127.0.0.1"];
const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const webhooks = [
  validatingWebhook(configMaps, ({ object }) => (object.data?.["a"] === "bad" ? deny("a may not be bad") : undefined)),
  mutatingWebhook(configMaps, ({ object }) => void (object.data = { ...object.data, added: "yes" })),
];

const things = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  scope: "Cluster",
  spec: z.object({ a: z.string() }),
});
const olderThings = defineVersion(things, {
  version: "v1alpha1",
  spec: z.object({ b: z.string() }),
  toStored: ({ spec }) => ({ spec: { a: spec.b } }),
  fromStored: ({ spec }) => ({ spec: { b: spec.a } }),
});

function apiServer() {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), webhooks: callWebhook });
  ended.push(() => server.close());
  return new Client({ transport: server.transport, clock: realClock });
}

type Options = Partial<Parameters<typeof serveWebhooks>[0]>;

async function serve(all: readonly Webhook[], options: Options = {}) {
  const clock = options.clock ?? realClock;
  const served = await serveWebhooks({
    webhooks: all,
    clock,
    certificate: ownCertificate(HOSTS, clock),
    port: 0,
    host: "127.0.0.1",
    logger: silentLogger,
    ...options,
  });
  ended.push(() => served.close());
  return served;
}

test("webhooks and their authority are published to the API server, which calls them over HTTPS", async () => {
  const client = apiServer();
  const port = await freePort();
  const publish = { client, name: "demo", place: { url: `https://localhost:${port}` } };
  await serve(webhooks, { port, publish });
  const create = (name: string, a: string) =>
    client.resource(configMaps).create({ metadata: { name, ...place }, data: { a } });
  expect((await create("a", "good")).data).toEqual({ a: "good", added: "yes" });
  await expect(create("b", "bad")).rejects.toThrow(
    'admission webhook "validate.configmaps.core" denied the request: a may not be bad',
  );
});

test("in existing configurations only the authority is set: the owner's other fields stay", async () => {
  const client = apiServer();
  const port = await freePort();
  const place = { url: `https://localhost:${port}` };
  const { validating } = webhookConfigurations({ name: "demo", webhooks, place });
  const [webhook] = validating!.webhooks!;
  const configurations = client.resource(validatingWebhookConfigurations);
  const chosen = { failurePolicy: "Ignore", timeoutSeconds: 3 };
  await configurations.create({ ...validating!, webhooks: [{ ...webhook!, ...chosen }] });
  for (let run = 1; run <= 2; run++) {
    const served = await serve(webhooks, { port, publish: { client, name: "demo", place } });
    const found = await configurations.get("demo");
    expect(found.webhooks).toMatchObject([{ ...chosen, clientConfig: { caBundle: expect.any(String) as string } }]);
    await served.close();
  }
});

test("a URL replaces the service of existing configurations, and the owner's other fields stay", async () => {
  const client = apiServer();
  const port = await freePort();
  const service = { name: "demo", namespace: "default" };
  const all = [...webhooks, conversionWebhook(things, [olderThings])];
  const { validating, mutating, definitions } = webhookConfigurations({
    name: "demo",
    webhooks: all,
    place: { service },
    ca: "installer",
  });
  const chosen = { failurePolicy: "Ignore", timeoutSeconds: 3 };
  const others = { ...validating!.webhooks![0]!, name: "of.another.owner" };
  await client
    .resource(validatingWebhookConfigurations)
    .create({ ...validating!, webhooks: [others, { ...validating!.webhooks![0]!, ...chosen }] });
  // An older release of the operator had no mutating webhooks.
  await client.resource(mutatingWebhookConfigurations).create({ ...mutating!, webhooks: [] });
  await client.resource(customResourceDefinitions).create(definitions[0]!);
  const url = `https://localhost:${port}`;
  await serve(all, { port, publish: { client, name: "demo", place: { url } } });
  const caBundle = expect.any(String) as string;
  const found = await client.resource(validatingWebhookConfigurations).get("demo");
  expect(found.webhooks).toMatchObject([
    { name: "of.another.owner", clientConfig: { service } },
    { ...chosen, clientConfig: { url: `${url}/validate/core/v1/configmaps`, caBundle } },
  ]);
  expect(found.webhooks?.[1]?.clientConfig.service).toBeUndefined();
  const added = await client.resource(mutatingWebhookConfigurations).get("demo");
  expect(added.webhooks).toMatchObject([
    { failurePolicy: "Fail", clientConfig: { url: `${url}/mutate/core/v1/configmaps` } },
  ]);
  const { spec } = await client.resource(customResourceDefinitions).get("things.example.com");
  expect(spec.conversion?.webhook?.clientConfig).toEqual({ url: `${url}/convert/example.com/things`, caBundle });
});

test("a new authority replaces the old one, also in configurations that the operator created", async () => {
  const client = apiServer();
  const port = await freePort();
  const publish = { client, name: "demo", place: { url: `https://localhost:${port}` } };
  const configurations = client.resource(validatingWebhookConfigurations);
  const published: (string | undefined)[] = [];
  for (let run = 1; run <= 2; run++) {
    const served = await serve(webhooks, { port, publish });
    published.push((await configurations.get("demo")).webhooks?.[0]?.clientConfig.caBundle);
    await served.close();
  }
  expect(new Set(published).size).toBe(2);
  expect((await configurations.get("demo")).webhooks).toMatchObject([{ failurePolicy: "Fail" }]);
});

test("the conversion webhook is published into the CustomResourceDefinition, which keeps the rest", async () => {
  const client = apiServer();
  await client.resource(customResourceDefinitions).create(things.crd);
  const service = { name: "things", namespace: "default" };
  await serve([conversionWebhook(things, [olderThings])], { publish: { client, name: "things", place: { service } } });
  const { spec } = await client.resource(customResourceDefinitions).get("things.example.com");
  expect(spec.conversion).toMatchObject({
    strategy: "Webhook",
    webhook: { clientConfig: { service: { ...service, path: "/convert/example.com/things" } } },
  });
  expect(spec.versions).toHaveLength(1);
});

test("the API server converts objects over HTTPS for every version that they are written and read in", async () => {
  const client = apiServer();
  const port = await freePort();
  const converting = [conversionWebhook(things, [olderThings])];
  const place = { url: `https://localhost:${port}` };
  // As with manifests: the webhook is registered from the start, and its authority is published when it is served.
  const [definition] = webhookConfigurations({ name: "things", webhooks: converting, place }).definitions;
  await client.resource(customResourceDefinitions).create(definition!);
  await serve(converting, { port, publish: { client, name: "things", place } });
  const metadata = { name: "one" };
  await expect
    .poll(() => client.resource(olderThings).create(olderThings.make({ metadata, spec: { b: "x" } })))
    .toBeDefined();
  expect(await client.resource(things).get("one")).toMatchObject({ apiVersion: "example.com/v1", spec: { a: "x" } });
  expect((await client.resource(olderThings).list()).items).toMatchObject([{ spec: { b: "x" } }]);
});

interface Sent {
  readonly method?: string;
  readonly type?: string;
  readonly body?: string | Buffer;
}

function post(port: number, to: string, { method = "POST", type = "application/json", body = "" }: Sent, ca?: string) {
  return new Promise<{ status: number; text: string; serial: string }>((resolve, reject) => {
    const options = {
      method,
      port,
      host: "127.0.0.1",
      path: to,
      headers: { "content-type": type },
      agent: false,
    } as const;
    const sent = request({ ...options, ...(ca === undefined ? { rejectUnauthorized: false } : { ca }) }, (response) => {
      let text = "";
      const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
      response.on("data", (piece: Buffer) => (text += piece.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text, serial: serialNumber }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

test("a request that is no review gets a status and a line with the reason", async () => {
  const { port } = await serve(webhooks);
  const to = "/validate/core/v1/configmaps";
  expect(await post(port, "/elsewhere", {})).toMatchObject({ status: 404, text: "no webhook is served at /elsewhere" });
  expect(await post(port, to, { method: "PUT" })).toMatchObject({ status: 405 });
  expect(await post(port, to, { type: "text/plain" })).toMatchObject({ status: 415 });
  expect(await post(port, to, { body: "{" })).toMatchObject({
    status: 400,
    text: expect.stringContaining("the review is no JSON") as string,
  });
  expect(await post(port, to, { body: "{}" })).toMatchObject({ status: 400 });
  const tooLong = Buffer.alloc(7 * 1024 * 1024 + 1, " ");
  expect(await post(port, to, { body: tooLong })).toEqual(
    expect.objectContaining({ status: 413, text: "the review is longer than 7340032 bytes" }),
  );
});

test("files are read again, and new connections get the new certificate", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "webhooks-"));
  ended.push(() => rm(folder, { recursive: true }));
  const files = {
    cert: path.join(folder, "tls.crt"),
    key: path.join(folder, "tls.key"),
    ca: path.join(folder, "ca.crt"),
  };
  const write = async () => {
    const made = await makeCertificate(HOSTS, Date.now());
    await Promise.all([writeFile(files.cert, made.cert), writeFile(files.key, made.key), writeFile(files.ca, made.ca)]);
    return { ca: made.ca, serial: new X509Certificate(made.cert).serialNumber };
  };
  const before = await write();
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const { port } = await serve(webhooks, { clock, certificate: certificateFiles(files) });
  expect((await post(port, "/", {}, before.ca)).serial).toBe(before.serial);
  const after = await write();
  await expect
    .poll(async () => {
      await clock.advance(60_000);
      return (await post(port, "/", {})).serial;
    })
    .toBe(after.serial);
  await expect(certificateFiles({ ...files, key: path.join(folder, "none") })()).rejects.toThrow(
    `cannot read ${path.join(folder, "none")}: no such file`,
  );
});

test("replicas share one certificate, and renew it before it ends, of the same authority", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1) });
  ended.push(() => server.close());
  const client = new Client({ transport: server.transport, clock });
  const secret = { name: "webhook-certificate", ...place };
  const [one, other] = [0, 1].map(() => sharedCertificate(client, secret, ["hooks.default.svc"], clock));
  const [first, second] = await Promise.all([one!(), other!()] as const);
  expect(first).toEqual(second);
  expect(Object.keys((await client.resource(secrets).get(secret.name, place)).data ?? {}).sort()).toEqual([
    "ca.crt",
    "ca.key",
    "tls.crt",
    "tls.key",
  ]);
  const day = 86_400_000;
  await clock.advance(200 * day);
  expect(await one!()).toEqual(first);
  await clock.advance(60 * day);
  const renewed = await one!();
  expect(renewed.cert).not.toBe(first.cert);
  expect(renewed.ca).toBe(first.ca);
  expect(await other!()).toEqual(renewed);
  const [leaf, authority] = [new X509Certificate(renewed.cert), new X509Certificate(renewed.ca!)];
  expect(leaf.verify(authority.publicKey)).toBe(true);
  expect(leaf.subjectAltName).toBe("DNS:hooks.default.svc");
});

test("a port in use is reported in one line", async () => {
  const { port } = await serve(webhooks);
  await expect(serve(webhooks, { port })).rejects.toThrow(`port ${port} is taken: give webhooks another one`);
});
