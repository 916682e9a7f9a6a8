import { X509Certificate } from "node:crypto";

import { describe, expect, test } from "vitest";

import { type Certificate, makeAuthority, sign } from "../test/certificates.js";
import { certificateChains } from "./certificate-chains.js";
import { parseCertificates } from "./pem.js";

const x509 = ({ cert }: Certificate): X509Certificate => new X509Certificate(cert);

function chains(leaf: Certificate, along: readonly Certificate[], authorities: readonly Certificate[]) {
  return certificateChains(x509(leaf), along.map(x509), authorities.map(x509));
}

const VALID = [expect.anything()];

test("who was signed by the authority is vouched for, for as long as both certificates are valid", async () => {
  const ca = await makeAuthority("ca", { validity: { notBefore: "2020-01-01", notAfter: "2026-07-01" } });
  const leaf = await sign(ca, "jane", undefined, { validity: { notBefore: "2025-01-01", notAfter: "2027-01-01" } });
  const validity = { fromMs: Date.parse("2025-01-01"), untilMs: Date.parse("2026-07-01") };
  expect(chains(leaf, [], [ca])).toEqual([validity]);
  expect(chains(leaf, [], [await makeAuthority("other"), ca])).toEqual([validity]);
  expect(chains(leaf, [], [])).toEqual([]);
});

test("who was signed through others brings them along, in any order", async () => {
  const root = await makeAuthority("root");
  const middle = await makeAuthority("middle", { issuer: root });
  const brief = { notBefore: "2026-01-01", notAfter: "2026-02-01" };
  const last = await makeAuthority("last", { issuer: middle, validity: brief });
  const leaf = await sign(last, "jane");
  const validity = { fromMs: Date.parse(brief.notBefore), untilMs: Date.parse(brief.notAfter) };
  const stranger = await makeAuthority("stranger");
  expect(chains(leaf, [last, middle], [root])).toEqual([validity]);
  expect(chains(leaf, [stranger, middle, root, last], [root])).toEqual([validity]);
  expect(chains(leaf, [last], [root])).toEqual([]);
  expect(chains(leaf, [last, middle, root], [stranger])).toEqual([]);
});

test("a given authority is trusted whatever its issuer, and so is a client's own certificate", async () => {
  const middle = await makeAuthority("middle", { issuer: await makeAuthority("root") });
  expect(chains(await sign(middle, "jane"), [], [middle])).toEqual(VALID);
  const jane = await sign(middle, "jane");
  expect(chains(jane, [], [jane])).toEqual(VALID);
  expect(chains(await sign(jane, "joe"), [jane], [jane])).toEqual([]);
});

describe("a client certificate is not trusted because of", () => {
  test("a name: only a signature counts", async () => {
    const [clients, proxies] = [await makeAuthority("clients"), await makeAuthority("proxies")];
    const jane = await sign(clients, "jane");
    const forged = await makeAuthority("clients", { issuer: await makeAuthority("proxies") });
    expect(chains(jane, [forged, proxies], [proxies])).toEqual([]);
    expect(chains(jane, [forged, proxies], [clients])).toEqual(VALID);
    expect(chains(await sign(await makeAuthority("clients"), "jane"), [clients], [clients])).toEqual([]);
  });

  test("a key alone: the name counts, too", async () => {
    const { key } = await makeAuthority("clients");
    const [ca, renamed] = [await makeAuthority("clients", { key }), await makeAuthority("proxies", { key })];
    expect(chains(await sign(ca, "jane"), [], [renamed])).toEqual([]);
  });

  test("one that is no authority, or whose key may not sign certificates", async () => {
    const root = await makeAuthority("root");
    const jane = await sign(root, "jane");
    expect(chains(await sign(jane, "joe"), [jane], [root])).toEqual([]);
    const no = await makeAuthority("middle", { issuer: root, isAuthority: false });
    expect(chains(await sign(no, "joe"), [no], [root])).toEqual([]);
    const other = await makeAuthority("middle", { issuer: root, signsCertificates: false });
    expect(chains(await sign(other, "joe"), [other], [root])).toEqual([]);
    for (const options of [{ isAuthority: false }, { signsCertificates: false }]) {
      const ca = await makeAuthority("ca", options);
      expect(chains(await sign(ca, "joe"), [], [ca])).toEqual([]);
    }
  });

  test("certificates that are for something else than clients", async () => {
    const root = await makeAuthority("root");
    expect(chains(await sign(root, "joe", undefined, { usage: "servers" }), [], [root])).toEqual([]);
    for (const usage of ["clients", "both", "unsaid"] as const)
      expect(chains(await sign(root, "joe", undefined, { usage }), [], [root])).toEqual(VALID);
    const servers = await makeAuthority("servers", { issuer: root, usage: "servers" });
    expect(chains(await sign(servers, "joe"), [servers], [root])).toEqual([]);
  });
});

test("every way counts: each is as good as the certificates on it", async () => {
  const root = await makeAuthority("root");
  const old = await makeAuthority("middle", {
    issuer: root,
    validity: { notBefore: "2020-01-01", notAfter: "2021-01-01" },
  });
  const leaf = await sign(old, "jane");
  const renewed = await renew(old, root);
  expect(chains(leaf, [old, renewed], [root]).map(({ untilMs }) => new Date(untilMs).getUTCFullYear())).toEqual([
    2021, 2049,
  ]);
});

test("authorities that vouch for each other lead nowhere, and at an end", async () => {
  const first = await makeAuthority("first");
  const second = await makeAuthority("second", { issuer: first });
  const crossed = await renew(first, await makeAuthority("second", { key: second.key }));
  const leaf = await sign(second, "jane");
  expect(chains(leaf, [second, crossed, first], [await makeAuthority("root")])).toEqual([]);
  expect(chains(leaf, [second, crossed, first], [first])).not.toEqual([]);
});

test("at most a hundred signatures are verified for many certificates of one name", async () => {
  const root = await makeAuthority("root");
  const middle = await makeAuthority("middle", { issuer: root });
  const leaf = await sign(middle, "jane");
  const { key } = await makeAuthority("impostor");
  const impostors = await Promise.all(
    Array.from({ length: 100 }, () => makeAuthority("middle", { issuer: root, key })),
  );
  expect(chains(leaf, [...impostors.slice(2), middle], [root])).toEqual(VALID);
  expect(chains(leaf, [...impostors, middle], [root])).toEqual([]);
});

test("a text is as many certificates as are in it, and all must be readable", async () => {
  const [one, two] = [await makeAuthority("one"), await makeAuthority("two")];
  const text = `# ours\n${one.cert}\n${two.key}\n${two.cert}`;
  expect(parseCertificates(text).map(({ subject }) => subject)).toEqual(["CN=one", "CN=two"]);
  expect(() => parseCertificates(one.key)).toThrow("there is no certificate in PEM");
  const broken = "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----";
  expect(() => parseCertificates(`${one.cert}\n${broken}`)).toThrow("a certificate in PEM cannot be read");
});

/** Creates a certificate with the same name and key from another issuer, valid for longer. */
async function renew({ cert, key }: Certificate, issuer: Certificate): Promise<Certificate> {
  const name = new X509Certificate(cert).subject.replace("CN=", "");
  return makeAuthority(name, { issuer, key });
}
