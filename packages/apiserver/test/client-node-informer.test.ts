import {
  ListWatch,
  KubeConfig,
  Watch,
  type KubernetesListObject,
  type KubernetesObject as ClientObject,
} from "@kubernetes/client-node";
import { expect, test, vi } from "vitest";
import type { KubernetesObject } from "@kubewright/api";
import { realClock, seededRandom } from "@kubewright/clock";

import { createApiServer } from "../src/index.js";
import { type HttpListener, listen } from "../src/http/listen.js";

const MERGE = "application/merge-patch+json";

/** Returns the resourceVersion of each object, by namespace and name. */
function versions(objects: readonly (KubernetesObject | ClientObject)[]): Map<string, string> {
  return new Map(
    objects
      .map(({ metadata }): [string, string] => [
        `${metadata?.namespace}/${metadata?.name}`,
        metadata?.resourceVersion ?? "",
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

test(
  "an informer of @kubernetes/client-node converges through disconnects and compaction",
  { timeout: 60_000 },
  async () => {
    const random = seededRandom(3);
    const pick = <T>(items: readonly T[]): T => items.at(Math.floor(random.next() * items.length)) as T;
    const server = createApiServer({ clock: realClock, random: random.fork("server"), freeze: true, historyLimit: 50 });
    const config = new KubeConfig();
    // On another port each time: another process may have taken the previous port.
    const comeUp = async (): Promise<HttpListener> => {
      const listener = await listen(server);
      config.loadFromClusterAndUser({ name: "c", server: listener.url, skipTLSVerify: true }, { name: "u" });
      return listener;
    };
    let listener = await comeUp();
    let lists = 0;
    const list = async (): Promise<KubernetesListObject<ClientObject>> => {
      lists++;
      const response = await fetch(`${listener.url}/api/v1/configmaps`);
      return (await response.json()) as KubernetesListObject<ClientObject>;
    };
    const informer = new ListWatch<ClientObject>(
      "/api/v1/configmaps",
      new Watch(config),
      list,
      false,
      undefined,
      undefined,
      {
        delayFn: () => new Promise((resolve) => setTimeout(resolve, 5)),
      },
    );
    const seen = new Map<string, string>();
    const keyOf = ({ metadata }: ClientObject): string => `${metadata?.namespace}/${metadata?.name}`;
    informer.on("add", (object) => seen.set(keyOf(object), object.metadata?.resourceVersion ?? ""));
    informer.on("update", (object) => seen.set(keyOf(object), object.metadata?.resourceVersion ?? ""));
    informer.on("delete", (object) => seen.delete(keyOf(object)));
    let restarts = 0;
    // The application must handle an error other than 410: this one restarts the informer.
    informer.on("error", () => {
      restarts++;
      setTimeout(() => void informer.start().catch(() => {}), 5);
    });
    await informer.start();

    const send = (method: "POST" | "PATCH" | "DELETE", path: string, value?: unknown): Promise<unknown> =>
      server.transport({
        method,
        path: `/api/v1/namespaces/default/configmaps${path}`,
        headers: { "content-type": method === "PATCH" ? MERGE : "application/json" },
        ...(value === undefined ? {} : { body: { type: "decoded" as const, value } }),
      });
    let disconnects = 0;
    for (let operation = 0; operation < 100; operation++) {
      const name = pick(["a", "b", "c", "d", "e", "f"]);
      switch (pick(["create", "create", "patch", "patch", "patch", "delete"])) {
        case "create":
          await send("POST", "", { metadata: { name }, data: { operation: String(operation) } });
          break;
        case "patch":
          await send("PATCH", `/${name}`, { data: { operation: String(operation) } });
          break;
        default:
          await send("DELETE", `/${name}`);
      }
      if (random.next() < 0.1) {
        // Closes every connection. Meanwhile objects change, sometimes beyond the stored history.
        disconnects++;
        await listener.close();
        await send("POST", "", { metadata: { name }, data: { operation: "unseen" } });
        await send("DELETE", `/${pick(["a", "b", "c"])}`);
        if (random.next() < 0.5) server.compact();
        listener = await comeUp();
      }
      await new Promise((resolve) => setTimeout(resolve, random.next() * 10));
    }

    await vi.waitFor(() => {
      const stored = versions(server.snapshot().objects["/configmaps"] ?? []);
      expect(versions(informer.list())).toEqual(stored);
      expect(seen).toEqual(stored);
    }, 60_000);
    expect(disconnects).toBeGreaterThan(5);
    // At least one watch resumed too late.
    expect(lists).toBeGreaterThan(1);
    expect(restarts).toBeGreaterThan(0);
    await informer.stop();
    await server.close();
  },
);
