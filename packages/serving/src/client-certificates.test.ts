import { constants } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type ConnectionOptions, type TLSSocket, connect, createSecureContext } from "node:tls";

import { generate } from "selfsigned";
import { type TestContext, beforeAll, describe, expect, test } from "vitest";

import { type Certificate, chain, makeAuthority, sign } from "../test/certificates.js";
import { DEFAULT_CIPHERS } from "./ciphers.js";
import { type ClientCertificate, ClientCertificates } from "./client-certificates.js";

let clients: Certificate;
let proxies: Certificate;
let identity: Certificate;
beforeAll(async () => {
  [clients, proxies] = [await makeAuthority("clients"), await makeAuthority("proxies")];
  identity = await sign(clients, "server");
});

/**
 * Starts a server with the authorities `clients` and `proxies`. Returns a function that connects and returns the
 * server's view of the client certificate.
 */
async function serve(scope: TestContext) {
  const options = {
    ...identity,
    ca: [clients.cert, proxies.cert],
    ciphers: DEFAULT_CIPHERS,
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
  const named = createSecureContext(options);
  const server = createServer({
    ...options,
    requestCert: true,
    rejectUnauthorized: false,
    SNICallback: (name, answer) => answer(null, name === "named" ? named : undefined),
  });
  const certificates = new ClientCertificates(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  scope.onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async (shown: Partial<Certificate>, given: ConnectionOptions = {}): Promise<ClientCertificate | undefined> => {
    const accepted = once(server, "secureConnection");
    const client = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...shown, ...given });
    const [socket] = (await accepted) as [TLSSocket];
    const certificate = certificates.of(socket);
    expect(certificates.of(socket)).toBe(certificate);
    client.destroy();
    return certificate;
  };
}

const NOW = Date.parse("2026-01-01T00:00:00Z");

describe.each<{ name: string; given: ConnectionOptions }>([
  { name: "TLS 1.2", given: { maxVersion: "TLSv1.2" } },
  { name: "TLS 1.3", given: { minVersion: "TLSv1.3" } },
  { name: "a certificate for another name", given: { servername: "named" } },
])("over $name", ({ given }) => {
  test("each certificate is verified only against the authorities that signed it", async (scope) => {
    const show = await serve(scope);
    const verdicts = async (shown: Certificate): Promise<unknown[]> => {
      const certificate = await show(shown, given);
      return [clients, proxies].map(({ cert }) => certificate!.problem(cert, NOW));
    };
    const unknown = "x509: certificate signed by unknown authority";
    const jane = await sign(clients, "jane");
    expect(await verdicts(jane)).toEqual([undefined, unknown]);
    const forged = await makeAuthority("clients", { issuer: await makeAuthority("proxies") });
    expect(await verdicts(chain(jane, forged, proxies))).toEqual([undefined, unknown]);
    const middle = await makeAuthority("middle", { issuer: proxies });
    const front = await sign(middle, "front");
    expect(await verdicts(chain(front, middle))).toEqual([unknown, undefined]);
    expect(await verdicts(chain(front, jane, forged, proxies, middle))).toEqual([unknown, undefined]);
    const alone = "x509: UNABLE_TO_VERIFY_LEAF_SIGNATURE";
    expect(await verdicts(front)).toEqual([alone, alone]);
  });
});

test("who shows none has none", async (scope) => {
  const show = await serve(scope);
  expect(await show({})).toBeUndefined();
  expect(await show({}, { maxVersion: "TLSv1.2" })).toBeUndefined();
});

test("the last common name and all organizations are whose it is", async (scope) => {
  const show = await serve(scope);
  const names = [
    { name: "commonName", value: "first" },
    { name: "organizationName", value: "devs" },
    { name: "organizationName", value: "ops" },
    { name: "commonName", value: "last" },
  ];
  const { cert, private: key } = await generate(names, { keyType: "ec", curve: "P-256", ca: clients });
  const certificate = await show({ cert, key });
  expect(certificate).toMatchObject({
    commonName: "last",
    organizations: ["devs", "ops"],
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const nameless = await generate([{ name: "organizationName", value: "devs" }], { keyType: "ec", ca: clients });
  expect((await show({ cert: nameless.cert, key: nameless.private }))!.commonName).toBe("");
});

test("every call checks the current time and the given authorities", async (scope) => {
  const show = await serve(scope);
  const certificate = (await show(await sign(clients, "jane")))!;
  const { notAfterMs } = certificate;
  expect(certificate.problem(clients.cert, notAfterMs)).toBeUndefined();
  expect(certificate.problem(clients.cert, notAfterMs + 1)).toBe(
    "x509: certificate has expired or is not yet valid: current time 2049-01-01T00:00:00.001Z",
  );
  expect(certificate.problem(clients.cert, Date.parse("2019-01-01"))).toMatch("not yet valid");
  for (let other = 0; other < 3; other++)
    expect(certificate.problem((await makeAuthority("clients")).cert, NOW)).toMatch("unknown authority");
  expect(certificate.problem(clients.cert, NOW)).toBeUndefined();
  expect(() => certificate.problem("", NOW)).toThrow("there is no certificate in PEM");
});

test("what OpenSSL refuses stays refused", async (scope) => {
  const show = await serve(scope);
  expect((await show(await sign(clients, "jane")))!.isRefused).toBe(false);
  const brief = { validity: { notBefore: "2020-01-01", notAfter: "2021-01-01" } };
  const late = (await show(await sign(clients, "jane", undefined, brief)))!;
  expect([late.isRefused, late.problem(clients.cert, Date.parse("2020-06-01"))]).toEqual([
    true,
    "x509: CERT_HAS_EXPIRED",
  ]);
  const stranger = (await show(await sign(await makeAuthority("clients"), "jane")))!;
  expect([stranger.isRefused, stranger.problem(clients.cert, NOW)]).toEqual([true, "x509: CERT_SIGNATURE_FAILURE"]);
});
