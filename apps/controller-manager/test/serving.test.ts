import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { Agent } from "node:https";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect as connectTls } from "node:tls";

import { configMaps } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { type Clock, SimulatedClock, realClock, seededRandom } from "@kubewright/clock";
import { type Logger, silentLogger } from "@kubewright/controller";
import { describe, expect, test } from "vitest";

import { type ControllerManagerOptions, defaultOptions } from "../src/options.js";
import type { HttpHandler } from "../src/serving/http-message.js";
import { textReply } from "../src/serving/http-message.js";
import { nodeServingIo } from "../src/serving/node-serving-io.js";
import { type SecureServing, startSecureServing } from "../src/serving/secure-serving.js";
import { makeAuthority, sign } from "../../../packages/serving/test/certificates.js";
import { DELEGATION, MONITORING, startRbacCluster } from "./rbac-cluster.js";
import { sendRequest, bearer } from "./https-client.js";
import type { Scope } from "./scope.js";

interface Served extends SecureServing {
  readonly lines: readonly string[];
}

/** Serves on a free port, independent of the options. Closed at the end of the test. */
async function serve(
  scope: Scope,
  options: Partial<ControllerManagerOptions>,
  { handler = async () => textReply(200, "served"), clock = realClock }: { handler?: HttpHandler; clock?: Clock } = {},
): Promise<Served> {
  const lines: string[] = [];
  const note = (_fields: object, message: string): void => void lines.push(message);
  const logger: Logger = { ...silentLogger, info: note, warn: note, error: note };
  const io = nodeServingIo();
  const serving = await startSecureServing({
    options: { ...defaultOptions, bindAddress: "127.0.0.1", ...options },
    handler,
    io: { ...io, listen: (listen) => io.listen({ ...listen, port: 0 }) },
    env: {},
    userAgent: "test",
    clock,
    random: seededRandom(1),
    logger,
  });
  scope.onTestFinished(() => serving!.close());
  return { ...serving!, lines };
}

async function temporaryFolder(scope: Scope): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "kubewright-serving-"));
  scope.onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe("who may see what", () => {
  test("case 38: the API server says whose a token is and what they may see", async (scope) => {
    const cluster = await startRbacCluster(scope);
    await cluster.allow("manager", DELEGATION);
    await cluster.allow("prometheus", MONITORING);
    const kubeconfig = await cluster.kubeconfig("manager");
    const { port, lines } = await serve(scope, {
      authenticationKubeconfig: kubeconfig,
      authenticationTokenWebhookCacheTtlMs: 600_000,
      authorizationKubeconfig: kubeconfig,
      authorizationWebhookCacheAuthorizedTtlMs: 600_000,
    });
    expect(lines.at(-1)).toBe(`Serving securely on 127.0.0.1:${port}`);
    expect(await sendRequest(port, "/healthz")).toMatchObject({ status: 200, body: "served" });
    const anonymous = await sendRequest(port, "/metrics");
    expect([anonymous.status, JSON.parse(anonymous.body).message]).toEqual([
      403,
      'forbidden: User "system:anonymous" cannot get path "/metrics"',
    ]);
    expect((await sendRequest(port, "/metrics", bearer("wrong"))).status).toBe(401);
    expect((await sendRequest(port, "/healthz", bearer("wrong"))).status).toBe(401);
    expect((await sendRequest(port, "/metrics", bearer("nobody"))).status).toBe(403);
    expect((await sendRequest(port, "/metrics", bearer("prometheus"))).status).toBe(200);
    expect((await sendRequest(port, "/configz", bearer("prometheus"))).status).toBe(403);
    expect((await sendRequest(port, "/metrics", { ...bearer("prometheus"), method: "DELETE" })).status).toBe(403);
    expect((await sendRequest(port, "/readyz/shutdown", bearer("prometheus"))).status).toBe(200);
    expect((await sendRequest(port, "/configz", bearer("admin"))).status).toBe(200);

    await cluster.stop();
    // The authorization is cached for ten minutes.
    expect((await sendRequest(port, "/metrics", bearer("prometheus"))).status).toBe(200);
    const down = await sendRequest(port, "/statusz");
    expect(down.status).toBe(500);
    expect(down.body).toMatch(/^Internal Server Error: "\/statusz": .+\n$/);
    expect((await sendRequest(port, "/healthz")).status).toBe(200);
  });

  test("without delegated authentication every client is anonymous, with or without a token, and may read the open paths only", async (scope) => {
    const { port, lines } = await serve(scope, {});
    expect((await sendRequest(port, "/healthz", bearer("wrong"))).status).toBe(200);
    expect((await sendRequest(port, "/metrics", bearer("wrong"))).status).toBe(403);
    expect(lines.filter((line) => line.includes("provided"))).toEqual([
      "No authentication-kubeconfig provided in order to lookup client-ca-file in configmap/extension-apiserver-authentication in kube-system, so client certificate authentication won't work.",
      "No authentication-kubeconfig provided in order to lookup requestheader-client-ca-file in configmap/extension-apiserver-authentication in kube-system, so request-header client certificate authentication won't work.",
      "No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens won't work.",
    ]);
  });

  test("a certificate is as good as the authority in --client-ca-file, also when that changes", async (scope) => {
    const folder = await temporaryFolder(scope);
    const [ours, theirs] = [await makeAuthority("ours"), await makeAuthority("theirs")];
    const clientCaFile = path.join(folder, "ca.crt");
    await writeFile(clientCaFile, ours.cert);
    const clock = new SimulatedClock("2026-01-01T00:00:00Z");
    const { port, lines } = await serve(scope, { clientCaFile }, { clock });
    const master = await sign(ours, "admin", "system:masters");
    const forged = await sign(theirs, "admin", "system:masters");
    expect((await sendRequest(port, "/metrics", master)).status).toBe(200);
    expect((await sendRequest(port, "/metrics", await sign(ours, "jane", "devs"))).status).toBe(403);
    expect((await sendRequest(port, "/metrics", forged)).status).toBe(401);
    expect((await sendRequest(port, "/healthz")).status).toBe(200);
    await writeFile(clientCaFile, "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n");
    await expect
      .poll(async () => {
        await clock.advance(10_000);
        return lines.filter((line) => line.startsWith("Could not reload")).length;
      })
      .toBe(1);
    expect((await sendRequest(port, "/metrics", master)).status).toBe(200);
    await writeFile(clientCaFile, theirs.cert);
    await expect
      .poll(async () => {
        await clock.advance(10_000);
        return [
          (await sendRequest(port, "/metrics", forged)).status,
          (await sendRequest(port, "/metrics", master)).status,
        ];
      })
      .toEqual([200, 401]);
  });

  test("a certificate is good from its first second to its last, whenever the connection was made", async (scope) => {
    const folder = await temporaryFolder(scope);
    const ca = await makeAuthority("ca");
    const clientCaFile = path.join(folder, "ca.crt");
    await writeFile(clientCaFile, ca.cert);
    const now = Date.now();
    // The validity must also include the machine's clock, which OpenSSL uses.
    const [notBefore, notAfter] = [now - 3_600_000, now + 3_600_000].map(
      (ms) => new Date(Math.floor(ms / 1000) * 1000),
    );
    const clock = new SimulatedClock(notBefore!.getTime() - 1);
    const { port } = await serve(scope, { clientCaFile }, { clock });
    const master = await sign(ca, "admin", "system:masters", {
      validity: { notBefore: notBefore!, notAfter: notAfter! },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    scope.onTestFinished(() => agent.destroy());
    const ports = new Set<number | undefined>();
    const status = async (): Promise<number> => {
      const answer = await sendRequest(port, "/metrics", { ...master, agent });
      ports.add(answer.localPort);
      return answer.status;
    };
    expect(await status()).toBe(401);
    await clock.advance(1);
    expect(await status()).toBe(200);
    await clock.advance(notAfter!.getTime() - notBefore!.getTime());
    expect(await status()).toBe(200);
    await clock.advance(1);
    expect(await status()).toBe(401);
    expect(ports.size).toBe(1);
  });

  test("who was refused by authorities that are gone by now comes again, over a new connection", async (scope) => {
    const folder = await temporaryFolder(scope);
    const [old, renewed] = [await makeAuthority("old"), await makeAuthority("new")];
    const clientCaFile = path.join(folder, "ca.crt");
    await writeFile(clientCaFile, old.cert);
    const clock = new SimulatedClock("2026-01-01T00:00:00Z");
    const { port } = await serve(scope, { clientCaFile }, { clock });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    scope.onTestFinished(() => agent.destroy());
    const master = await sign(renewed, "admin", "system:masters");
    expect((await sendRequest(port, "/metrics", { ...master, agent })).status).toBe(401);
    await writeFile(clientCaFile, renewed.cert);
    await expect
      .poll(async () => {
        await clock.advance(10_000);
        return (await sendRequest(port, "/metrics", { ...master, agent })).status;
      })
      .toBe(200);
  });

  test("the cluster's ConfigMap names the front proxy to trust", async (scope) => {
    const cluster = await startRbacCluster(scope);
    await cluster.allow("manager", DELEGATION);
    await cluster.allow("prometheus", MONITORING);
    const [clients, proxies] = [await makeAuthority("clients"), await makeAuthority("proxies")];
    await cluster.client.resource(configMaps).create({
      metadata: { name: "extension-apiserver-authentication", namespace: "kube-system" },
      data: {
        "client-ca-file": clients.cert,
        "requestheader-client-ca-file": proxies.cert,
        "requestheader-username-headers": '["X-Remote-User"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-allowed-names": '["front-proxy-client"]',
      },
    });
    const kubeconfig = await cluster.kubeconfig("manager");
    const { port } = await serve(scope, {
      authenticationKubeconfig: kubeconfig,
      authorizationKubeconfig: kubeconfig,
    });
    const asUser = (user: string) => ({ headers: { "x-remote-user": user } });
    const proxy = await sign(proxies, "front-proxy-client");
    expect((await sendRequest(port, "/metrics", { ...proxy, ...asUser("prometheus") })).status).toBe(200);
    expect((await sendRequest(port, "/metrics", { ...proxy, ...asUser("nobody") })).status).toBe(403);
    const grouped = { headers: { "x-remote-user": "x", "x-remote-group": ["a", "system:masters"] } };
    expect((await sendRequest(port, "/metrics", { ...proxy, ...grouped })).status).toBe(200);
    const impostor = await sign(proxies, "somebody");
    expect((await sendRequest(port, "/metrics", { ...impostor, ...asUser("prometheus") })).status).toBe(401);
    const client = await sign(clients, "prometheus");
    expect((await sendRequest(port, "/metrics", { ...client, ...asUser("nobody") })).status).toBe(200);
    expect((await sendRequest(port, "/metrics", asUser("prometheus"))).status).toBe(403);
  });

  test("authorities that cannot be read end the start, unless that is tolerated or not wanted", async (scope) => {
    const cluster = await startRbacCluster(scope);
    const authenticationKubeconfig = await cluster.kubeconfig("nobody");
    const refused = await serve(scope, { authenticationKubeconfig }).catch(errorMessage);
    expect(refused).toMatch(
      /^unable to load configmap based request-header-client-ca-file: configmaps "extension-apiserver-authentication" is forbidden/,
    );
    const tolerant = await serve(scope, { authenticationKubeconfig, authenticationTolerateLookupFailure: true });
    expect(tolerant.lines.some((line) => line.startsWith("Continuing without authentication configuration."))).toBe(
      true,
    );
    expect((await sendRequest(tolerant.port, "/healthz")).status).toBe(200);
    await serve(scope, { authenticationKubeconfig, authenticationSkipLookup: true });
    await expect(serve(scope, { clientCaFile: "/no/such/file" })).rejects.toThrow(
      "open /no/such/file: no such file or directory",
    );
    await expect(serve(scope, { clientCaFile: cluster.folder })).rejects.toThrow(
      `read ${cluster.folder}: is a directory`,
    );
  });
});

describe("the listener", () => {
  test("case 24: a port in use is reported with Go's error text", async (scope) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    scope.onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const identity = await sign(await makeAuthority("ca"), "server");
    await expect(
      nodeServingIo().listen({ address: "127.0.0.1", port, identity, requestClientCertificates: false }),
    ).rejects.toThrow(
      `failed to create listener: failed to listen on 127.0.0.1:${port}: listen tcp 127.0.0.1:${port}: bind: address already in use`,
    );
  });

  test("case 23: port 0 is no server at all", async () => {
    const deps = { options: { ...defaultOptions, securePort: 0 } } as unknown as Parameters<
      typeof startSecureServing
    >[0];
    expect(await startSecureServing(deps)).toBeUndefined();
  });

  test("a certificate that is replaced serves new connections; one that is broken does not replace it", async (scope) => {
    const folder = await temporaryFolder(scope);
    const [tlsCertFile, tlsPrivateKeyFile] = [path.join(folder, "tls.crt"), path.join(folder, "tls.key")];
    const ca = await makeAuthority("ca");
    const replace = async (name: string): Promise<void> => {
      const { cert, key } = await sign(ca, name);
      await writeFile(tlsCertFile, cert);
      await writeFile(tlsPrivateKeyFile, key);
    };
    await replace("first");
    const clock = new SimulatedClock("2026-01-01T00:00:00Z");
    const { port, lines } = await serve(scope, { tlsCertFile, tlsPrivateKeyFile }, { clock });
    const afterAWhile = async (): Promise<string> => {
      await clock.advance(10_000);
      return (await sendRequest(port, "/healthz")).servedBy;
    };
    expect(await afterAWhile()).toBe("first");
    await writeFile(tlsPrivateKeyFile, (await sign(ca, "other")).key);
    await expect
      .poll(async () => [await afterAWhile(), lines.some((line) => line.startsWith("Could not reload"))])
      .toEqual(["first", true]);
    await replace("second");
    await expect.poll(afterAWhile).toBe("second");
    expect(lines.filter((line) => line === "Reloaded")).toHaveLength(1);
  });

  test("a certificate that cannot be used ends the start, and is named", async (scope) => {
    const folder = await temporaryFolder(scope);
    const [tlsCertFile, tlsPrivateKeyFile] = [path.join(folder, "tls.crt"), path.join(folder, "tls.key")];
    const ca = await makeAuthority("ca");
    await writeFile(tlsCertFile, (await sign(ca, "one")).cert);
    for (const key of ["no key", (await sign(ca, "other")).key]) {
      await writeFile(tlsPrivateKeyFile, key);
      for (const options of [
        { tlsCertFile, tlsPrivateKeyFile },
        { tlsSniCertKeys: [`${tlsCertFile},${tlsPrivateKeyFile}`] },
      ]) {
        expect(await serve(scope, options).catch(errorMessage)).toMatch(
          `certificate ${tlsCertFile} and key ${tlsPrivateKeyFile} cannot be used: `,
        );
      }
    }
  });

  test("--tls-sni-cert-key: other names have other certificates, by flag or by what the certificate says", async (scope) => {
    const folder = await temporaryFolder(scope);
    const ca = await makeAuthority("ca");
    const files = async (name: string, dnsName?: string): Promise<string> => {
      const { cert, key } = await sign(ca, name, undefined, dnsName === undefined ? {} : { dnsName });
      await writeFile(path.join(folder, `${name}.crt`), cert);
      await writeFile(path.join(folder, `${name}.key`), key);
      return `${path.join(folder, `${name}.crt`)},${path.join(folder, `${name}.key`)}`;
    };
    const tlsSniCertKeys = [
      `${await files("flagged")}:*.example.com,other.test`,
      await files("telling", "itself.test"),
    ];
    const clock = new SimulatedClock("2026-01-01T00:00:00Z");
    const { port } = await serve(scope, { tlsSniCertKeys }, { clock });
    const servedTo = async (servername: string) => (await sendRequest(port, "/healthz", { servername })).servedBy;
    expect(await servedTo("a.example.com")).toBe("flagged");
    expect(await servedTo("other.test")).toBe("flagged");
    expect(await servedTo("ITSELF.test")).toBe("telling");
    for (const name of ["a.b.example.com", "example.com", "unknown.test"])
      expect(await servedTo(name)).toBe("localhost");
    const { cert, key } = await sign(ca, "renewed");
    await writeFile(path.join(folder, "flagged.crt"), cert);
    await writeFile(path.join(folder, "flagged.key"), key);
    await expect
      .poll(async () => {
        await clock.advance(10_000);
        return servedTo("other.test");
      })
      .toBe("renewed");
    await expect(serve(scope, { tlsSniCertKeys: ["only-one-file"] })).rejects.toThrow(
      '--tls-sni-cert-key "only-one-file": expected comma separated certificate and key file paths',
    );
  });

  test("without a certificate it makes one, and keeps it in --cert-dir for the next start", async (scope) => {
    const folder = path.join(await temporaryFolder(scope), "pki");
    const inMemory = await serve(scope, {});
    expect(inMemory.lines[0]).toBe("Generated self-signed cert in-memory");
    expect((await sendRequest(inMemory.port, "/healthz")).servedBy).toBe("localhost");
    const kept = await serve(scope, { certDir: folder });
    const [crt, key] = [
      path.join(folder, "kube-controller-manager.crt"),
      path.join(folder, "kube-controller-manager.key"),
    ];
    expect(kept.lines[0]).toBe(`Generated self-signed cert (${crt}, ${key})`);
    expect((await stat(key)).mode & 0o777).toBe(0o600);
    const before = await readFile(crt, "utf8");
    // The certificate is valid for a client that verifies it at the listening address.
    expect((await sendRequest(kept.port, "/healthz", { ca: before, rejectUnauthorized: true })).status).toBe(200);
    const again = await serve(scope, { certDir: folder });
    expect(again.lines.some((line) => line.startsWith("Generated"))).toBe(false);
    expect(await readFile(crt, "utf8")).toBe(before);
  });

  test("a key that was there before, for everybody to read, is replaced by one for its owner alone", async (scope) => {
    const folder = await temporaryFolder(scope);
    const key = path.join(folder, "kube-controller-manager.key");
    await writeFile(key, "left over", { mode: 0o644 });
    await serve(scope, { certDir: folder });
    expect((await stat(key)).mode & 0o777).toBe(0o600);
    expect(await readFile(key, "utf8")).toContain("PRIVATE KEY");
  });

  test("--tls-min-version and --tls-cipher-suites bound what a client may speak", async (scope) => {
    const modern = await serve(scope, { tlsMinVersion: "VersionTLS13" });
    expect((await sendRequest(modern.port, "/healthz", { minVersion: "TLSv1.3" })).status).toBe(200);
    await expect(sendRequest(modern.port, "/healthz", { maxVersion: "TLSv1.2" })).rejects.toThrow(/alert|protocol/i);
    const chosen = await serve(scope, { tlsCipherSuites: ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"] });
    const old = { maxVersion: "TLSv1.2" } as const;
    expect((await sendRequest(chosen.port, "/healthz", old)).status).toBe(200);
    await expect(
      sendRequest(chosen.port, "/healthz", { ...old, ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" }),
    ).rejects.toThrow(/alert|handshake/i);
  });

  test("by default it speaks TLS 1.2 and 1.3 without CBC; a cipher suite flag enables CBC", async (scope) => {
    const port = (await serve(scope, {})).port;
    const cbc = { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-SHA" } as const;
    await expect(sendRequest(port, "/healthz", cbc)).rejects.toThrow(/alert|handshake/i);
    expect((await sendRequest(port, "/healthz", { maxVersion: "TLSv1.2" })).status).toBe(200);
    expect((await sendRequest(port, "/healthz", { minVersion: "TLSv1.3" })).status).toBe(200);
    const chosen = await serve(scope, { tlsCipherSuites: ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"] });
    expect((await sendRequest(chosen.port, "/healthz", cbc)).status).toBe(200);
  });

  test("it closes at once, whatever its connections are in the middle of", async (scope) => {
    const { port, close } = await serve(scope, {});
    const silent = connect(port, "127.0.0.1");
    scope.onTestFinished(() => void silent.destroy());
    await once(silent, "connect");
    expect((await sendRequest(port, "/healthz")).status).toBe(200);
    const closed = once(silent, "close");
    await close();
    await closed;
  }, 5_000);

  test("a request that arrives before a handler is set waits for the handler", async (scope) => {
    const identity = await sign(await makeAuthority("ca"), "server");
    const address = { address: "127.0.0.1", port: 0 };
    const listener = await nodeServingIo().listen({ ...address, identity, requestClientCertificates: false });
    scope.onTestFinished(() => listener.close());
    const early = sendRequest(listener.port, "/early");
    const late = new Promise<string>((resolve) => void realClock.sleep(100).then(() => resolve("nothing yet")));
    expect(await Promise.race([early.then(({ body }) => body), late])).toBe("nothing yet");
    listener.serve(async (request) => textReply(200, request.path));
    expect((await early).body).toBe("/early");
  });

  test("a connection without TLS or with invalid HTTP does not affect other clients", async (scope) => {
    const { port } = await serve(scope, {});
    await new Promise<void>((resolve) => {
      const plain = connect(port, "127.0.0.1", () => plain.write("GET /healthz HTTP/1.1\r\n\r\n"));
      plain.on("data", () => undefined);
      plain.on("error", () => undefined);
      plain.on("close", () => resolve());
    });
    // Answered with 431, or disconnected before the response could be read.
    const tooLong = await sendRequest(port, "/healthz", { headers: { "x-long": "x".repeat(100_000) } }).catch(
      () => undefined,
    );
    expect([431, undefined]).toContain(tooLong?.status);
    expect((await sendRequest(port, "/healthz")).status).toBe(200);
  });

  test("long answers are compressed for who wants that, and short ones never", async (scope) => {
    const { port } = await serve(scope, {}, { handler: async ({ path: at }) => textReply(200, at.repeat(300)) });
    const zipped = { headers: { "accept-encoding": "gzip;q=0.5, br" } };
    expect((await sendRequest(port, "/healthz", zipped)).headers["content-encoding"]).toBe("gzip");
    expect((await sendRequest(port, "/healthz", zipped)).body).toBe("/healthz".repeat(300));
    expect((await sendRequest(port, "/healthz")).headers["content-encoding"]).toBeUndefined();
    const refusing = { headers: { "accept-encoding": "gzip;q=0" } };
    expect((await sendRequest(port, "/healthz", refusing)).headers["content-encoding"]).toBeUndefined();
    expect((await sendRequest(port, "/healthz", { method: "HEAD" })).body).toBe("");
  });

  test("a forbidden request is answered before its body has arrived, and the connection is closed", async (scope) => {
    const { port } = await serve(scope, {});
    const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
    socket.write("PUT /debug/flags/v HTTP/1.1\r\nhost: s\r\ncontent-length: 60000\r\n\r\nhalf");
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 403 .*connection: close/is);
  });

  test("a body is read to 64 KiB, and a path that cannot be is refused", async (scope) => {
    const handler: HttpHandler = async (request) => textReply(200, String((await request.body()).length));
    const { port } = await serve(scope, {}, { handler });
    const put = (length: number) => sendRequest(port, "/healthz", { method: "PUT", body: "x".repeat(length) });
    expect((await put(65_536)).body).toBe("65536");
    expect((await put(65_537)).status).toBe(413);
    expect((await put(20_000_000)).status).toBe(413);
    expect((await sendRequest(port, "/%zz")).status).toBe(400);
  });
});
