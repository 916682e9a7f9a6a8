import { createHmac, generateKeyPairSync, randomBytes } from "node:crypto";
import { Agent, type RequestOptions, request as httpsRequest } from "node:https";

import { expect, onTestFinished, test } from "vitest";
import type { Status } from "@kubewright/api";
import { SimulatedClock, realClock, seededRandom } from "@kubewright/clock";

import { type ApiServer, createApiServer } from "../api-server.js";
import type { ApiServerOptions } from "../api-server-options.js";
import { listen } from "../http/listen.js";
import { signingKey } from "../http/signing-key.js";
import { chain, makeAuthority, sign } from "../../../serving/test/certificates.js";
import { certificates } from "../../test/certificates.js";
import type { TlsOptions } from "../http/listen.js";
import type { AuthenticationOptions } from "./authenticator.js";
import { TokenSigner } from "./json-web-token.js";
import { StaticTokens } from "./static-tokens.js";

type Headers = Record<string, string>;

interface Answer {
  readonly status: number;
  readonly value: Omit<Status, "status"> & {
    status: { userInfo: { username: string; groups: string[]; extra?: object }; token: string };
  };
}

const WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

async function served(options: Partial<ApiServerOptions>): Promise<{
  server: ApiServer;
  send: (method: string, path: string, headers?: Headers, value?: unknown) => Promise<Answer>;
}> {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), freeze: true, ...options });
  const { url } = await listen(server);
  onTestFinished(() => server.close());
  return {
    server,
    async send(method, path, headers = {}, value) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...(value === undefined ? {} : { body: JSON.stringify(value) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        value: (response.headers.get("content-type")?.startsWith("application/json") === true
          ? JSON.parse(text)
          : text) as Answer["value"],
      };
    },
  };
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const tokens: AuthenticationOptions = {
  tokens: { secret: { username: "dev", uid: "7", groups: ["devs"] } },
  tokenFile: '# token,user,uid,groups\nt1,alice,1,"admins, devs"\nt2,bob,2\n',
};

test("a token says who one is; a wrong one is a 401, none is anonymous", async () => {
  const { send } = await served({ authentication: tokens });
  const who = async (headers: Headers): Promise<unknown> => (await send("POST", WHO_AM_I, headers, {})).value.status;
  expect(await who(bearer("secret"))).toEqual({
    userInfo: { username: "dev", uid: "7", groups: ["devs", "system:authenticated"] },
  });
  expect(await who({ authorization: "bearer t1" })).toMatchObject({
    userInfo: { username: "alice", uid: "1", groups: ["admins", "devs", "system:authenticated"] },
  });
  expect(await who(bearer("t2"))).toMatchObject({ userInfo: { username: "bob", groups: ["system:authenticated"] } });
  expect(await who({})).toEqual({
    userInfo: { username: "system:anonymous", groups: ["system:unauthenticated"] },
  });
  for (const path of ["/api/v1/pods", "/version", "/nope"]) {
    expect(await send("GET", path, bearer("wrong"))).toEqual({
      status: 401,
      value: {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Unauthorized",
        reason: "Unauthorized",
        code: 401,
      },
    });
  }
});

test("without anonymous access, no credentials are a 401, too", async () => {
  const { send } = await served({ authentication: { ...tokens, anonymous: false } });
  expect((await send("GET", "/readyz")).status).toBe(401);
  expect((await send("GET", "/readyz", bearer("secret"))).status).toBe(200);
});

test("a server without authentication accepts any token and treats its user as anonymous", async () => {
  const { send } = await served({});
  expect((await send("POST", WHO_AM_I, bearer("whatever"), {})).value.status.userInfo.username).toBe(
    "system:anonymous",
  );
});

test("a token file with too few columns is refused with the line that has them", () => {
  expect(() => new StaticTokens().addCsv("a,b,c\n\nt,u\n")).toThrow("line 3 of the token file is not `token,user,uid`");
  const known = new StaticTokens();
  known.addCsv('t,"a ""b"" c",1,"g"');
  expect(known.userOf("t")).toEqual({ username: 'a "b" c', uid: "1", groups: ["g"] });
  expect(known.userOf("")).toBeUndefined();
});

test("a service account's token is good for its account, until it expires or the account is gone", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const { send } = await served({ clock, authentication: tokens });
  const admin = bearer("secret");
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await send("POST", accounts, admin, { metadata: { name: "robot" } });
  const requested = await send("POST", `${accounts}/robot/token`, admin, { spec: { expirationSeconds: 600 } });
  expect(requested).toMatchObject({
    status: 201,
    value: {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name: "robot", namespace: "default", creationTimestamp: "2026-01-01T00:00:00Z" },
      spec: { audiences: ["https://kubernetes.default.svc.cluster.local"], expirationSeconds: 600 },
      status: { expirationTimestamp: "2026-01-01T00:10:00Z" },
    },
  });
  const { token } = requested.value.status;
  expect((await send("POST", WHO_AM_I, bearer(token), {})).value.status.userInfo).toMatchObject({
    username: "system:serviceaccount:default:robot",
    groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^JTI=/)] },
  });
  const review = { spec: { token } };
  expect((await send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", admin, review)).value.status).toMatchObject(
    {
      authenticated: true,
      user: { username: "system:serviceaccount:default:robot" },
    },
  );
  await clock.advance(600_000);
  expect((await send("POST", WHO_AM_I, bearer(token), {})).status).toBe(401);
  const next = (await send("POST", `${accounts}/robot/token`, admin, {})).value.status.token;
  expect((await send("POST", WHO_AM_I, bearer(next), {})).status).toBe(201);
  await send("DELETE", `${accounts}/robot`, admin);
  await send("POST", accounts, admin, { metadata: { name: "robot" } });
  expect((await send("POST", WHO_AM_I, bearer(next), {})).status).toBe(401);
});

test("a token bound to a pod ends with the pod, and one for another audience is not for this server", async () => {
  const { send } = await served({ authentication: tokens });
  const admin = bearer("secret");
  const namespace = "/api/v1/namespaces/default";
  await send("POST", `${namespace}/serviceaccounts`, admin, { metadata: { name: "robot" } });
  await send("POST", `${namespace}/pods`, admin, {
    metadata: { name: "p" },
    spec: { serviceAccountName: "robot", containers: [{ name: "c", image: "i" }] },
  });
  const request = async (spec: object): Promise<Answer> =>
    send("POST", `${namespace}/serviceaccounts/robot/token`, admin, { spec });
  const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "p" };
  const bound = (await request({ boundObjectRef })).value.status.token;
  expect((await send("POST", WHO_AM_I, bearer(bound), {})).status).toBe(201);
  await send("DELETE", `${namespace}/pods/p`, admin);
  expect((await send("POST", WHO_AM_I, bearer(bound), {})).status).toBe(401);
  const foreign = (await request({ audiences: ["vault"] })).value.status.token;
  expect((await send("POST", WHO_AM_I, bearer(foreign), {})).status).toBe(401);
  expect((await request({ boundObjectRef })).value.message).toBe('pods "p" not found');
  await send("POST", `${namespace}/pods`, admin, {
    metadata: { name: "other" },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  expect((await request({ boundObjectRef: { ...boundObjectRef, name: "other" } })).value).toMatchObject({
    code: 400,
    message: 'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
  });
  expect((await request({ expirationSeconds: 60 })).value.message).toBe(
    'TokenRequest.authentication.k8s.io "robot" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
  );
  expect((await send("POST", `${namespace}/serviceaccounts/nobody/token`, admin, {})).value.message).toBe(
    'serviceaccounts "nobody" not found',
  );
});

test("tokens are signed with the given key, and tokens of other keys are refused", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const keys = [signingKey(pem), signingKey(certificates.serverKey), "a secret of thirty-two bytes, or more"];
  const signers = keys.map((key) => new TokenSigner(key));
  for (const [index, signer] of signers.entries()) {
    const token = signer.sign({ sub: "x" });
    expect(signers.map((other) => other.verify(token)?.["sub"])).toEqual(
      signers.map((_, other) => (other === index ? "x" : undefined)),
    );
    const [header, payload, signature] = token.split(".");
    const forged = Buffer.from('{"sub":"y"}').toString("base64url");
    expect(signer.verify(`${header}.${forged}.${signature}`)).toBeUndefined();
    expect(
      signer.verify(`${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${payload}.`),
    ).toBeUndefined();
  }
  expect(() => new TokenSigner("short")).toThrow("a signing secret of 5 bytes is too short: give at least 32");
  expect(() => new TokenSigner(pem)).toThrow("a private key in PEM signs by `signingKey(pem)`");
  expect(() => signingKey("nonsense")).toThrow("the signing key cannot be read: give a private key in PEM");
});

test("secrets of any length give standard HS256 signatures", () => {
  for (const length of [32, 63, 64, 65, 200]) {
    const secret = randomBytes(length);
    const [header, payload, signature] = new TokenSigner(secret).sign({ sub: "ü", n: length }).split(".");
    expect(signature).toBe(createHmac("sha256", secret).update(`${header}.${payload}`).digest("base64url"));
    expect(JSON.parse(Buffer.from(payload!, "base64url").toString())).toEqual({ sub: "ü", n: length });
  }
});

test("equal seeds give different signing keys when authentication is on", async () => {
  const made = async (authentication: AuthenticationOptions | undefined): Promise<string> => {
    const clock = new SimulatedClock("2026-01-01T00:00:00Z");
    const { send } = await served({ clock, ...(authentication === undefined ? {} : { authentication }) });
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await send("POST", accounts, {}, { metadata: { name: "robot" } });
    return (await send("POST", `${accounts}/robot/token`, {}, {})).value.status.token;
  };
  expect(await made(undefined)).toBe(await made(undefined));
  expect(await made({})).not.toBe(await made({}));
});

test("a user that may impersonate acts as another user; other users get 403", async () => {
  const { send } = await served({
    authentication: { tokens: { root: { username: "root", groups: ["system:masters"] }, dev: { username: "dev" } } },
    authorization: "RBAC",
  });
  const as = { "impersonate-user": "jane", "impersonate-group": "a, b", "impersonate-extra-scopes%2fx": "y" };
  expect((await send("POST", WHO_AM_I, { ...bearer("root"), ...as }, {})).value.status.userInfo).toEqual({
    username: "jane",
    groups: ["a", "b", "system:authenticated"],
    extra: { "scopes/x": ["y"] },
  });
  expect((await send("GET", "/api/v1/pods", { ...bearer("root"), ...as })).status).toBe(403);
  expect((await send("GET", "/api/v1/pods", { ...bearer("dev"), ...as })).value.message).toBe(
    'users "jane" is forbidden: User "dev" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
});

/** Starts a server with client certificates. Returns a function that asks the server who the client is. */
async function listenTls(
  tls: Partial<TlsOptions> = {},
): Promise<(given?: RequestOptions) => Promise<Answer & { readonly connection: number | undefined }>> {
  const server = createApiServer({ clock: realClock, random: seededRandom(1), authentication: tokens });
  onTestFinished(() => server.close());
  const { url, port } = await listen(server, {
    tls: { cert: certificates.serverCert, key: certificates.serverKey, clientCA: certificates.ca, ...tls },
  });
  expect(url).toBe(`https://127.0.0.1:${port}`);
  return (given = {}) =>
    new Promise((resolve, reject) => {
      const options = { method: "POST", ca: certificates.ca, headers: { "content-type": "application/json" } };
      const request = httpsRequest(`${url}${WHO_AM_I}`, { ...options, agent: false, ...given }, (response) => {
        const { localPort: connection } = response.socket;
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, value: JSON.parse(text) as Answer["value"], connection }),
        );
      });
      request.on("error", reject);
      request.end("{}");
    });
}

test("over TLS a client's certificate names its user and groups; a stranger's is a 401", async () => {
  const who = await listenTls();
  const user = await who({ cert: certificates.clientCert, key: certificates.clientKey });
  expect(user.value.status.userInfo).toEqual({
    username: "dev",
    groups: ["developers", "testers", "system:authenticated"],
    extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
  });
  expect((await who()).value.status.userInfo.username).toBe("system:anonymous");
  expect((await who({ cert: certificates.strangerCert, key: certificates.strangerKey })).status).toBe(401);
});

test("a client's certificate is good from its first second to its last, on connections that are open, too", async () => {
  const ca = await makeAuthority("ca");
  const [fromMs, untilMs] = [-3_600_000, 3_600_000].map((ms) => Math.floor((Date.now() + ms) / 1000) * 1000);
  // Also valid by the machine's clock, which OpenSSL uses.
  const validity = { notBefore: new Date(fromMs!), notAfter: new Date(untilMs!) };
  const dev = await sign(ca, "dev", "developers", { validity });
  const clock = new SimulatedClock(fromMs! - 1);
  const who = await listenTls({ clientCA: Buffer.from(ca.cert), clock });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const connections = new Set<number | undefined>();
  const status = async (): Promise<number> => {
    const answer = await who({ ...dev, agent });
    connections.add(answer.connection);
    return answer.status;
  };
  expect(await status()).toBe(401);
  await clock.advance(1);
  expect(await status()).toBe(201);
  await clock.advance(untilMs! - fromMs!);
  expect(await status()).toBe(201);
  await clock.advance(1);
  expect(await status()).toBe(401);
  expect(connections.size).toBe(1);
});

test("the certificates between a client's and the authority come along, and are verified", async () => {
  const ca = await makeAuthority("ca");
  const who = await listenTls({ clientCA: ca.cert });
  const middle = await makeAuthority("middle", { issuer: ca });
  const dev = await sign(middle, "dev");
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    // The second connection offers to resume the session, without a certificate.
    const agent = new Agent();
    for (let times = 0; times < 2; times++) {
      const { value } = await who({ ...chain(dev, middle), maxVersion, agent });
      expect(value.status.userInfo.username).toBe("dev");
    }
  }
  expect((await who(chain(dev, await makeAuthority("middle", { issuer: ca })))).status).toBe(401);
  expect((await who(chain(await sign(dev, "root", "system:masters"), dev, middle))).status).toBe(401);
});

test("TLS is 1.2 or 1.3, without CBC", async () => {
  const who = await listenTls();
  await expect(who({ maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-SHA" })).rejects.toThrow(/alert|handshake/i);
  const older = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" } as const;
  await expect(who(older)).rejects.toThrow(/alert|protocol/i);
  for (const version of ["TLSv1.2", "TLSv1.3"] as const)
    expect((await who({ minVersion: version, maxVersion: version })).status).toBe(201);
});

test("a certificate, key or authority that cannot be used is an error", async () => {
  await expect(listenTls({ cert: "x", key: "y" })).rejects.toThrow("the TLS certificate and key cannot be used");
  await expect(listenTls({ clientCA: "x" })).rejects.toThrow(
    "the client CA cannot be used: there is no certificate in PEM",
  );
});
