import { configMaps } from "@kubewright/api";
import { definitionOf } from "@kubewright/operator";
import { startTestCluster } from "@kubewright/testing";
import "@kubewright/testing/vitest";
import { describe, expect, test } from "vitest";

import { websites, websitesV1beta1 } from "./website.ts";
import { websiteOperator } from "./website-operator.ts";

describe.each(["in-process", "serve"] as const)("the website operator, %s", (against) => {
  async function start() {
    const crds = [definitionOf(websites, [websitesV1beta1])];
    const cluster = await startTestCluster({
      against,
      crds,
      kubelet: "none",
    });
    await cluster.run(websiteOperator, { webhooks: true });
    return { cluster, [Symbol.asyncDispose]: () => cluster.stop() };
  }
  const metadata = { name: "shop" };

  test("a Website gets a ConfigMap with its defaults, which the mutating webhook sets", async () => {
    await using started = await start();
    const { cluster } = started;
    const shop = await cluster.create(websites, {
      metadata,
      spec: { hosts: ["Shop.example.com", "example.com"] },
    });
    await cluster.eventually(() => expect(shop).toOwn(configMaps, 1), {
      within: "5s",
    });
    const text = "Welcome to shop.example.com";
    expect((await cluster.object(configMaps, "shop").get()).data).toEqual({
      "shop.example.com": text,
      "example.com": text,
    });
    await cluster.eventually(async () => (await shop.get()).status?.mainHost === "shop.example.com");
  });

  test("the validating webhook refuses another main host", async () => {
    await using started = await start();
    const shop = await started.cluster.create(websites, {
      metadata,
      spec: { hosts: ["example.com"] },
    });
    await shop.patch({ spec: { hosts: ["example.com", "example.org"] } });
    await expect(shop.patch({ spec: { hosts: ["example.org"] } })).rejects.toThrow(
      "spec.hosts: the main host may not change",
    );
  });

  test("both versions show the same Website", async () => {
    await using started = await start();
    const { cluster } = started;
    const old = await cluster.create(websitesV1beta1, {
      metadata,
      spec: { host: "example.com", text: "Hello" },
    });
    const shop = cluster.object(websites, "shop");
    expect((await shop.get()).spec).toEqual({
      hosts: ["example.com"],
      text: "Hello",
    });
    await cluster.eventually(async () => (await old.get()).status?.mainHost === "example.com");
    await shop.patch({ spec: { hosts: ["example.com", "example.org"] } });
    expect((await old.get()).spec).toEqual({
      host: "example.com",
      text: "Hello",
    });
  });
});
