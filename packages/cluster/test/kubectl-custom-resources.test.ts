import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { KubectlCluster, OLDEST_KUBECTL, whyKubectlIsMissing, normalized } from "./kubectl-fixture.js";
import { cronTab, cronTabDefinition, job } from "./kubectl-manifests.js";

describe.skipIf(whyKubectlIsMissing !== undefined)(
  `kubectl (1.${OLDEST_KUBECTL} or newer) and custom resources`,
  () => {
    let k: KubectlCluster;

    beforeAll(async () => {
      k = await KubectlCluster.start();
      await k.kubectl("apply -f -", { input: cronTabDefinition });
      await k.kubectl("wait --for=condition=Established crd/crontabs.stable.example.com --timeout=60s");
    });
    afterAll(() => k.close());

    const golden = async (name: string, output: string): Promise<void> => {
      await expect(normalized(output)).toMatchFileSnapshot(`golden/${name}.txt`);
    };

    test("their definition is found, listed and explained", async () => {
      expect(normalized(await k.kubectl("get crds"))).toBe("NAME  CREATED AT\ncrontabs.stable.example.com  <time>\n");
      await golden("describe-definition", await k.kubectl("describe crd crontabs.stable.example.com"));
      expect(await k.kubectl("api-resources --api-group=stable.example.com -o name")).toBe(
        "crontabs.stable.example.com\n",
      );
      const explained = await k.kubectl("explain ct.spec");
      expect(explained).toContain("cronSpec\t<string> -required-\n    When to run.");
      expect(explained).toContain("replicas\t<integer>");
    });

    test("objects are created with defaults, shown in their own columns, changed and deleted", async () => {
      expect(await k.kubectl("apply -f -", { input: cronTab("one") })).toBe("crontab.stable.example.com/one created\n");
      expect(await k.kubectl("apply -f -", { input: cronTab("one") })).toBe(
        "crontab.stable.example.com/one unchanged\n",
      );
      await golden("get-custom", await k.kubectl("get ct"));
      await golden("get-custom-wide", await k.kubectl("get crontabs -o wide"));
      await golden("describe-custom", await k.kubectl("describe ct one"));
      expect(await k.kubectl("get all -o name")).toContain("crontab.stable.example.com/one");
      expect(await k.kubectl("apply -f -", { input: cronTab("one").replace("*/5", "*/6") })).toBe(
        "crontab.stable.example.com/one configured\n",
      );
      expect(await k.kubectl("apply --server-side -f -", { input: cronTab("applied") })).toBe(
        "crontab.stable.example.com/applied serverside-applied\n",
      );
      expect(await k.kubectl(`patch ct one --type=merge -p '{"spec":{"image":"nginx"}}'`)).toBe(
        "crontab.stable.example.com/one patched\n",
      );
      expect((await k.run(`patch ct one -p '{"spec":{"image":"nginx"}}'`)).stderr).toContain(
        "error: application/strategic-merge-patch+json is not supported by stable.example.com/v1, Kind=CronTab",
      );
      const editor = k.file("image.sh", '#!/bin/sh\nsed -i "s/image: nginx/image: edited/" "$1"\n');
      expect(await k.kubectl("edit ct one", { env: { KUBE_EDITOR: editor } })).toBe(
        "crontab.stable.example.com/one edited\n",
      );
      expect(await k.kubectl("get ct one -o jsonpath='{.spec.image} {.metadata.generation}'")).toBe("edited 4");
      expect(await k.kubectl("delete ct applied")).toBe('crontab.stable.example.com "applied" deleted\n');
    });

    test("objects that the schema does not allow are refused, with kubectl's message around the server's", async () => {
      const invalid = await k.run("create -f -", { input: cronTab("bad").replace("* * * * */5", "soon") });
      expect(invalid.stderr).toContain(
        'The CronTab "bad" is invalid: spec.cronSpec: Invalid value: "soon": spec.cronSpec in body should match',
      );
      const unknown = await k.run("create -f -", { input: `${cronTab("bad")}  colour: red\n` });
      expect(unknown.stderr).toContain('strict decoding error: unknown field "spec.colour"');
      expect((await k.run("create -f -", { input: `${cronTab("bad")}  replicas: 11\n` })).stderr).toContain(
        "should be less than or equal to 10",
      );
    });

    test("scale goes through the scale subresource, where there is one", async () => {
      await k.kubectl("apply -f -", { input: cronTab("scaled") });
      expect(await k.kubectl("scale ct/scaled --replicas=3")).toBe("crontab.stable.example.com/scaled scaled\n");
      expect(await k.kubectl("get ct scaled -o jsonpath='{.spec.replicas}'")).toBe("3");
      expect((await k.run("scale ct/scaled --current-replicas=1 --replicas=5")).stderr).toContain(
        "Expected replicas to be 1, was 3",
      );
      await k.kubectl(`patch ct scaled --subresource=status --type=merge -p '{"status":{"replicas":2}}'`);
      expect(
        await k.kubectl("get ct scaled --subresource=scale -o jsonpath='{.spec.replicas}/{.status.replicas}'"),
      ).toBe("3/2");
      await k.kubectl("create -f -", { input: job("unscalable", { suspend: true }) });
      expect((await k.run("scale job/unscalable --replicas=3")).stderr).toContain(
        "the server could not find the requested resource",
      );
    });

    test("the definition goes, and its objects with it", async () => {
      expect(await k.kubectl("delete crd crontabs.stable.example.com")).toContain("deleted");
      // kubectl caches the resource until its next discovery.
      expect((await k.run("get crontabs")).stderr).toContain("the server could not find the requested resource");
      expect(await k.kubectl("api-resources -o name")).not.toContain("crontabs");
      expect((await k.run("get crontabs")).stderr).toBe(`error: the server doesn't have a resource type "crontabs"\n`);
    });
  },
);
