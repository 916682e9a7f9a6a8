import { expect, test } from "vitest";
import type { ConfigMap, Status } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";

import { createApiServer } from "../api-server.js";
import { forbidden } from "../api-error.js";
import type { AdmissionPlugin } from "./admission.js";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

interface Answer {
  readonly status: number;
  readonly headers: ApiRequest["headers"];
  readonly value: ConfigMap & Status;
}

type Send = (method: ApiRequest["method"], path: string, value?: unknown, type?: string) => Promise<Answer>;

function serve(...admission: AdmissionPlugin[]): { send: Send; clock: SimulatedClock } {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, admission });
  const send: Send = async (method, path, value, type = "application/json") => {
    const { status, headers, body } = await server.transport({
      method,
      path,
      headers: { "content-type": type },
      ...(value === undefined ? {} : { body: { type: "decoded", value } }),
    });
    return { status, headers, value: (body as { value: Answer["value"] }).value };
  };
  return { send, clock };
}

const isConfigMap = ({ kind }: { readonly kind: string }): boolean => kind === "ConfigMap";

function configMap(data: Record<string, string>, name = "a"): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

/** A plugin that logs its calls and marks the object. */
function marker(name: string, log: string[], wait?: () => Promise<void>): AdmissionPlugin {
  return {
    concerns: isConfigMap,
    mutate(attributes) {
      const { operation, object, oldObject } = attributes;
      log.push(`${name} ${operation} ${oldObject === undefined ? "new" : "old"}`);
      const mark = (): void => {
        const { data } = object as ConfigMap;
        (object as ConfigMap).data = { ...data, [name]: "seen" };
      };
      return wait === undefined ? mark() : wait().then(mark);
    },
    validate({ operation, subresource, dryRun, user, namespace, name: object }) {
      log.push(`${name} may ${operation} ${namespace}/${object}${subresource} ${dryRun} ${user.username}`);
    },
  };
}

test("all that change the object are asked in order, then all that may refuse it, with what is asked for", async () => {
  const log: string[] = [];
  const { send } = serve(marker("one", log), marker("two", log));
  const created = await send("POST", `${CONFIG_MAPS}?dryRun=All`, configMap({}));
  expect(created.value.data).toEqual({ one: "seen", two: "seen" });
  await send("POST", CONFIG_MAPS, configMap({}));
  await send("PATCH", `${CONFIG_MAPS}/a`, { data: { three: "x" } }, "application/merge-patch+json");
  await send("DELETE", `${CONFIG_MAPS}/a`);
  await send("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "s" } });
  const user = "system:apiserver";
  expect(log).toEqual([
    "one CREATE new",
    "two CREATE new",
    `one may CREATE default/a true ${user}`,
    `two may CREATE default/a true ${user}`,
    "one CREATE new",
    "two CREATE new",
    `one may CREATE default/a false ${user}`,
    `two may CREATE default/a false ${user}`,
    "one UPDATE old",
    "two UPDATE old",
    `one may UPDATE default/a false ${user}`,
    `two may UPDATE default/a false ${user}`,
    `one may DELETE default/a false ${user}`,
    `two may DELETE default/a false ${user}`,
  ]);
});

test("what a plugin made of the object is validated, and its refusals and warnings are answered", async () => {
  const { send } = serve({
    concerns: isConfigMap,
    mutate(attributes) {
      const { object } = attributes;
      attributes.warn("names are made up here");
      attributes.object = { ...object!, metadata: { ...object!.metadata, name: "Not A Name" } };
    },
  });
  const invalid = await send("POST", CONFIG_MAPS, configMap({}));
  expect(invalid).toMatchObject({ status: 422, headers: { warning: ['299 - "names are made up here"'] } });
  const { send: refused } = serve({
    validate({ resource, operation, name }) {
      if (resource.kind === "ConfigMap" && operation === "DELETE") throw forbidden(resource, name, "it is needed");
    },
  });
  await refused("POST", CONFIG_MAPS, configMap({}));
  expect(await refused("DELETE", CONFIG_MAPS)).toMatchObject({
    status: 403,
    value: { message: 'configmaps "a" is forbidden: it is needed' },
  });
  expect((await refused("GET", `${CONFIG_MAPS}/a`)).status).toBe(200);
});

test("a plugin that waits is waited for", async () => {
  const log: string[] = [];
  const { send, clock } = serve(
    marker("late", log, () => clock.sleep(1000)),
    marker("next", log),
  );
  let answer: Answer | undefined;
  void send("POST", CONFIG_MAPS, configMap({})).then((later) => (answer = later));
  await clock.advance(999);
  expect([answer, log]).toEqual([undefined, ["late CREATE new"]]);
  await clock.advance(1);
  expect(answer?.value.data).toEqual({ late: "seen", next: "seen" });
});

test("an update restarts from the object stored while a plugin waited; with a stale resourceVersion it conflicts", async () => {
  const clocks: SimulatedClock[] = [];
  const slow: AdmissionPlugin = {
    concerns: isConfigMap,
    validate: ({ object }) => ((object as ConfigMap).data?.["slow"] ? clocks[0]!.sleep(1000) : undefined),
  };
  const { send, clock } = serve(slow);
  clocks.push(clock);
  const { value: first } = await send("POST", CONFIG_MAPS, configMap({}));
  const patched = send("PATCH", `${CONFIG_MAPS}/a`, { data: { slow: "1" } }, "application/merge-patch+json");
  const updated = send("PUT", `${CONFIG_MAPS}/a`, { ...first, data: { slow: "2" } });
  await clock.advance(500);
  await send("PATCH", `${CONFIG_MAPS}/a`, { data: { quick: "3" } }, "application/merge-patch+json");
  await clock.advance(3000);
  expect((await updated).status).toBe(409);
  expect((await patched).value.data).toEqual({ slow: "1", quick: "3" });
});

test("two that are created while plugins wait do not become one", async () => {
  const clocks: SimulatedClock[] = [];
  const { send, clock } = serve({ concerns: isConfigMap, validate: () => clocks[0]!.sleep(1000) });
  clocks.push(clock);
  const both = [send("POST", CONFIG_MAPS, configMap({})), send("POST", CONFIG_MAPS, configMap({}))];
  await clock.advance(1000);
  expect((await Promise.all(both)).map(({ status }) => status)).toEqual([201, 409]);
});

test("an object that goes while a plugin waits is not deleted twice", async () => {
  const clocks: SimulatedClock[] = [];
  const slow: AdmissionPlugin = {
    concerns: isConfigMap,
    validate: ({ operation }) => (operation === "DELETE" ? clocks[0]!.sleep(1000) : undefined),
  };
  const { send, clock } = serve(slow);
  clocks.push(clock);
  await send("POST", CONFIG_MAPS, configMap({}));
  const both = [send("DELETE", `${CONFIG_MAPS}/a`), send("DELETE", `${CONFIG_MAPS}/a`)];
  const all = send("DELETE", CONFIG_MAPS);
  await clock.advance(1000);
  expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 404]);
  expect((await all).status).toBe(200);
});

test("a plugin that is idle is asked whether it still is only when a resource gets its first object or loses its last", async () => {
  const secrets = "/api/v1/namespaces/default/secrets";
  const log: string[] = [];
  const { send } = serve({
    concerns: isConfigMap,
    isIdle: ({ registry }) => {
      log.push("asked");
      return registry.find("", "v1", "secrets")!.storage.size === 0;
    },
    validate: ({ operation }) => {
      log.push(operation);
    },
  });
  const takeLog = (): string[] => log.splice(0);
  await send("POST", CONFIG_MAPS, configMap({}, "first"));
  takeLog();
  await send("POST", CONFIG_MAPS, configMap({}));
  expect(takeLog()).toEqual(["asked"]);
  await send("PUT", `${CONFIG_MAPS}/a`, configMap({ b: "c" }));
  expect(takeLog()).toEqual([]);
  for (const name of ["one", "two"]) await send("POST", secrets, { metadata: { name } });
  await send("PUT", `${CONFIG_MAPS}/a`, configMap({ b: "d" }));
  await send("PUT", `${CONFIG_MAPS}/a`, configMap({ b: "e" }));
  expect(takeLog()).toEqual(["asked", "UPDATE", "UPDATE"]);
  await send("DELETE", `${secrets}/one`);
  await send("DELETE", `${CONFIG_MAPS}/a`);
  expect(takeLog()).toEqual(["DELETE"]);
  await send("DELETE", `${secrets}/two`);
  await send("DELETE", `${CONFIG_MAPS}/first`);
  expect(takeLog()).toEqual(["asked"]);
});
