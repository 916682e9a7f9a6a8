import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { KubectlCluster, OLDEST_KUBECTL, whyKubectlIsMissing } from "./kubectl-fixture.js";
import { cronTab, cronTabDefinition } from "./kubectl-manifests.js";

const configMap = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: {} });
const list = (...items: object[]): string => JSON.stringify({ apiVersion: "v1", kind: "List", items });

describe.skipIf(whyKubectlIsMissing !== undefined)(`kubectl (1.${OLDEST_KUBECTL} or newer) and OpenAPI`, () => {
  let k: KubectlCluster;

  beforeAll(async () => {
    k = await KubectlCluster.start();
    await k.kubectl("apply -f -", { input: cronTabDefinition });
    await k.kubectl("wait --for=condition=Established crd/crontabs.stable.example.com --timeout=60s");
  });
  afterAll(() => k.close());

  test("a List is created and applied, of all kinds together", async () => {
    expect(await k.kubectl("create -f -", { input: list(configMap("created")) })).toBe("configmap/created created\n");
    const items = [configMap("a"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "b" } }];
    expect(await k.kubectl("apply -f -", { input: list(...items) })).toBe(
      "configmap/a created\nserviceaccount/b created\n",
    );
  });

  test("a kind that is not served is named", async () => {
    const input = JSON.stringify({ apiVersion: "example.com/v1", kind: "Nothing", metadata: { name: "x" } });
    for (const command of ["create -f -", "apply -f -"])
      expect((await k.run(command, { input })).stderr).toContain(
        'no matches for kind "Nothing" in version "example.com/v1"',
      );
    expect((await k.run("apply -f -", { input: list(JSON.parse(input) as object) })).stderr).toContain(
      'no matches for kind "Nothing" in version "example.com/v1"',
    );
  });

  test("a List that fails client-side validation is refused before it is sent", async () => {
    const wrong = { ...configMap("w"), data: [] };
    const { code, stderr } = await k.run("create -f -", { input: list(wrong) });
    expect(code).toBe(1);
    expect(stderr).toContain("ValidationError(ConfigMap.data): invalid type for io.k8s.api.core.v1.ConfigMap.data");
    expect((await k.run("create -f -", { input: list({ ...configMap("w"), colour: "red" }) })).stderr).toContain(
      'unknown field "colour" in io.k8s.api.core.v1.ConfigMap',
    );
  });

  test("explain describes what it lists, from v3 and from v2", async () => {
    for (const form of ["", " --output=plaintext-openapiv2"]) {
      const explained = await k.kubectl(`explain job.spec.completionMode${form}`);
      expect(explained).toContain("completionMode specifies how Pod completions are tracked.");
      expect(await k.kubectl(`explain job${form}`)).toContain("Job represents the configuration of a single job.");
      expect(await k.kubectl(`explain crontab.spec.cronSpec${form}`)).toContain("When to run.");
    }
    expect(await k.kubectl("explain pod.spec.containers.resources.limits")).toContain("maximum amount of compute");
    expect(await k.kubectl("explain events --api-version=events.k8s.io/v1")).toContain(
      "regarding contains the object this Event is about.",
    );
  });

  test("a List with a custom resource passes by its own schema", async () => {
    const items = `apiVersion: v1\nkind: List\nitems:\n${cronTab("listed").trim().replace(/^/gm, "  ").replace("  ", "- ")}\n`;
    expect(await k.kubectl("apply -f -", { input: items })).toBe("crontab.stable.example.com/listed created\n");
  });
});
