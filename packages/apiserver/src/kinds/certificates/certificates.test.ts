import type { CertificateSigningRequest, KubernetesObject } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create, update } from "../../../test/strategy-calls.js";
import { createApiServer } from "../../api-server.js";
import { certificateSigningRequestStrategy } from "./certificate-signing-request.js";

function pem(type: string, bytes: string): string {
  return btoa(`-----BEGIN ${type}-----\n${btoa(bytes)}\n-----END ${type}-----\n`);
}

const request = pem("CERTIFICATE REQUEST", "\x30\x03\x02\x01\x00");
const manifest = (spec: object = {}): object => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name: "me" },
  spec: { request, signerName: "example.com/me", usages: ["client auth"], ...spec },
});
const messageOf = (spec: object): string => create(certificateSigningRequestStrategy, manifest(spec)).message;

test("a request needs a signer, known usages and a minimum duration", () => {
  const signer = fc.constantFrom(
    "example.com/me",
    "example.com/a.b",
    "example/me",
    "example.com",
    "a.b/c/d",
    "a.b/C",
    "",
  );
  const usage = fc.constantFrom("client auth", "server auth", "any", "walking");
  const seconds = fc.option(fc.constantFrom(0, 599, 600, 86_400), { nil: undefined });
  fc.assert(
    fc.property(signer, fc.array(usage, { maxLength: 3 }), seconds, (signerName, usages, expirationSeconds) => {
      const message = messageOf({ signerName, usages, expirationSeconds });
      const fine =
        ["example.com/me", "example.com/a.b"].includes(signerName) &&
        usages.length > 0 &&
        !usages.includes("walking") &&
        new Set(usages).size === usages.length &&
        (expirationSeconds ?? 600) >= 600;
      expect(message === "").toBe(fine);
    }),
  );
});

test.each([
  ["", "PEM block type must be CERTIFICATE REQUEST"],
  [btoa("hello"), "PEM block type must be CERTIFICATE REQUEST"],
  [pem("CERTIFICATE", "\x30\x00"), "PEM block type must be CERTIFICATE REQUEST"],
  [pem("CERTIFICATE REQUEST", "\x30\x05\x02"), "asn1: syntax error: data truncated"],
])("%j is not a certificate request", (text, sentence) => {
  expect(messageOf({ request: text })).toBe(`spec.request: Invalid value: ${JSON.stringify(text)}: ${sentence}`);
});

test("the spec of a request is immutable", () => {
  const { object } = create(certificateSigningRequestStrategy, manifest());
  const changed = update(certificateSigningRequestStrategy, object, (next) => {
    next.spec.usages = ["server auth"];
    next.status = { certificate: "x" };
    next.metadata.labels = { a: "b" };
  });
  expect(changed.object.metadata.labels).toEqual({ a: "b" });
  expect(changed.object).toMatchObject({ spec: object.spec, status: {} });
});

const PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const certificate = pem("CERTIFICATE", "\x30\x00");

type Send = (method: ApiRequest["method"], path: string, body: object) => Promise<[number, CertificateSigningRequest]>;

/** Creates a server and a client that may do everything, except what requires permission to approve or sign. */
function createClient(allowed: readonly string[] = []): Send {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    authorization: ({ verb, resource }) => ({
      allowed: resource?.resource !== "signers" || allowed.includes(`${verb} ${resource.name}`),
      reason: "",
    }),
  });
  const transport = server.transportAs({ username: "dev", uid: "7", groups: ["developers"] });
  return async (method, path, value) => {
    const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
    const { status, body } = await transport({ method, path, headers, body: { type: "decoded", value } });
    const answer = body.type === "decoded" ? (body.value as KubernetesObject) : undefined;
    return [status, answer as CertificateSigningRequest];
  };
}

test("the server sets a request's user from the authenticated user", async () => {
  const [status, created] = await createClient()(
    "POST",
    PATH,
    manifest({ username: "root", groups: ["system:masters"] }),
  );
  expect(status).toBe(201);
  expect(created.spec).toMatchObject({ username: "dev", uid: "7", groups: ["developers", "system:authenticated"] });
  expect(created.metadata).not.toHaveProperty("generation");
});

const approved = { status: { conditions: [{ type: "Approved", status: "True", reason: "Fine" }] } };

test("approval requires permission for the signer", async () => {
  const refused = createClient();
  await refused("POST", PATH, manifest());
  expect((await refused("PATCH", `${PATH}/me/approval`, approved))[0]).toBe(403);
  const send = createClient(["approve example.com/*"]);
  await send("POST", PATH, manifest());
  const [status, answer] = await send("PATCH", `${PATH}/me/approval`, approved);
  expect(status).toBe(200);
  const now = "2026-01-01T00:00:00Z";
  expect(answer.status?.conditions).toEqual([
    { type: "Approved", status: "True", reason: "Fine", lastUpdateTime: now, lastTransitionTime: now },
  ]);
  expect((await send("PATCH", `${PATH}/me/approval`, { status: { conditions: null } }))[0]).toBe(422);
});

test("a certificate is issued once, through status, with permission to sign", async () => {
  const refused = createClient();
  await refused("POST", PATH, manifest());
  expect((await refused("PATCH", `${PATH}/me/status`, { status: { certificate } }))[0]).toBe(403);
  const send = createClient(["sign example.com/me"]);
  await send("POST", PATH, manifest());
  expect((await send("PATCH", `${PATH}/me`, { status: { certificate } }))[1].status).toEqual({});
  expect((await send("PATCH", `${PATH}/me/status`, approved))[0]).toBe(422);
  expect((await send("PATCH", `${PATH}/me/status`, { status: { certificate } }))[0]).toBe(200);
  const other = pem("CERTIFICATE", "\x30\x01\x00");
  expect((await send("PATCH", `${PATH}/me/status`, { status: { certificate: other } }))[0]).toBe(422);
});
