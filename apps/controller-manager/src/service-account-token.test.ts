import { namespaces, serviceAccounts } from "@kubewright/api";
import type { ApiRequest, ApiResponse, Transport } from "@kubewright/transport";
import { expect, test } from "vitest";

import { SimulatedManagers } from "../test/simulated-managers.js";

/** Issues tokens as an API server does, and accepts requests with a valid token. */
class Tokens {
  readonly issued: { readonly name: string; readonly token: string; readonly atMs: number }[] = [];
  readonly seen: { readonly authorization: string | undefined; readonly request: ApiRequest }[] = [];
  readonly revoked = new Set<string>();
  fail = 0;

  constructor(
    readonly world: SimulatedManagers,
    readonly lifeSeconds = 3_600,
  ) {}

  /** For requests of the manager. */
  readonly issuing = (transport: Transport): Transport => {
    return async (request) => {
      const name = /\/serviceaccounts\/([^/]+)\/token$/.exec(request.path)?.[1];
      if (request.method !== "POST" || name === undefined) return transport(request);
      if (this.fail-- > 0) throw new Error("no tokens today");
      const token = `${name}-${this.issued.length}`;
      this.issued.push({ name, token, atMs: this.world.clock.monotonic() });
      return answer(201, { spec: { expirationSeconds: this.lifeSeconds }, status: { token } });
    };
  };

  /** For requests with tokens. */
  readonly checking: Transport = async (request) => {
    const authorization = request.headers.authorization as string | undefined;
    this.seen.push({ authorization, request });
    const known = this.issued.find(({ token }) => authorization === `Bearer ${token}`);
    const ageMs = this.world.clock.monotonic() - (known?.atMs ?? 0);
    if (known === undefined || this.revoked.has(known.token) || ageMs > this.lifeSeconds * 1_000)
      return answer(401, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 401 });
    return this.world.server.transport(request);
  };

  get refused(): number {
    return this.seen.filter(
      ({ authorization }) => !this.issued.some(({ token }) => authorization === `Bearer ${token}`),
    ).length;
  }
}

function answer(status: number, value: object): ApiResponse {
  return { status, headers: {}, body: { type: "decoded", value } };
}

async function setUp(lifeSeconds?: number) {
  const world = await SimulatedManagers.create();
  const tokens = new Tokens(world, lifeSeconds);
  const start = (controllers = ["job", "podgc"]) =>
    world.start(
      { controllers, useServiceAccountCredentials: true },
      { wrap: tokens.issuing, anonymous: tokens.checking },
    );
  return { world, tokens, start };
}

test("each controller acts as a ServiceAccount of its own, which is made; informers act as the manager", async () => {
  const { world, tokens, start } = await setUp();
  const manager = start();
  await world.clock.advance(1_000);
  await world.createJob();
  await world.clock.advance(3_000);
  expect(await world.countPods()).toBe(2);
  const { items } = await world.client.resource(serviceAccounts).list({ namespace: "kube-system" });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(
    expect.arrayContaining(["job-controller", "pod-garbage-collector"]),
  );
  const creations = tokens.seen.filter(({ request }) => request.method === "POST" && request.path.endsWith("/pods"));
  expect(creations.map(({ authorization }) => authorization)).toEqual([
    "Bearer job-controller-0",
    "Bearer job-controller-0",
  ]);
  expect(creations[0]!.request.headers["user-agent"]).toMatch(/\/system:serviceaccount:kube-system:job-controller$/);
  expect(manager.requests.some(({ method, path }) => method === "POST" && path.endsWith("/pods"))).toBe(false);
  expect(manager.requests.some(({ path }) => path.includes("/api/v1/pods?"))).toBe(true);
});

test("a token is renewed when a fifth of its life is left, and no request fails for it", async () => {
  const { world, tokens, start } = await setUp(1_000);
  start(["job"]);
  await world.clock.advance(1_000);
  for (let round = 0; round < 40; round++) {
    await world.createJob(`job-${round}`);
    await world.clock.advance(100_000);
  }
  const gaps = tokens.issued.slice(1).map(({ atMs }, index) => atMs - tokens.issued[index]!.atMs);
  expect(gaps.length).toBeGreaterThan(2);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(800_000);
  expect(Math.max(...gaps)).toBeLessThan(1_000_000);
  expect(tokens.seen.map(({ authorization }) => authorization)).not.toContain(undefined);
  expect(tokens.refused).toBe(0);
  expect(await world.countPods()).toBe(80);
});

test("a token that is refused is replaced for the next request", async () => {
  const { world, tokens, start } = await setUp();
  start(["job"]);
  await world.clock.advance(1_000);
  tokens.revoked.add("job-controller-0");
  await world.createJob();
  await world.clock.advance(60_000);
  expect(await world.countPods()).toBe(2);
  expect(tokens.issued).toHaveLength(2);
});

test("a token that cannot be had after four attempts ends the manager before any controller has begun", async () => {
  const { world, tokens, start } = await setUp();
  tokens.fail = 4;
  const manager = start(["job"]);
  await world.clock.advance(3_400);
  expect(manager.state()).toBe("running");
  await world.clock.advance(1_000);
  expect(manager.state()).toBe(
    "Error building controllers: job-controller: failed to get token for kube-system/job-controller: no tokens today",
  );
});

test("kube-system itself is created when missing", async () => {
  const { world, start } = await setUp();
  await world.client.resource(namespaces).get("kube-system");
  const manager = start(["job"]);
  await world.clock.advance(1_000);
  expect(
    manager.requests.filter(({ method, path }) => method === "POST" && path === "/api/v1/namespaces"),
  ).toHaveLength(1);
  expect(manager.state()).toBe("running");
});
