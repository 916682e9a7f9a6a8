import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { KubectlCluster, OLDEST_KUBECTL, whyKubectlIsMissing, normalized } from "./kubectl-fixture.js";
import { cronJob, job, pod } from "./kubectl-manifests.js";

/** Reads a finished Job, a suspended Job, a CronJob and a running pod with every kubectl command. */
describe.skipIf(whyKubectlIsMissing !== undefined)(`kubectl (1.${OLDEST_KUBECTL} or newer) reads`, () => {
  let k: KubectlCluster;

  beforeAll(async () => {
    k = await KubectlCluster.start();
    await k.kubectl("create -f -", {
      input: [job("pi", { completions: 2 }), job("held", { suspend: true }), cronJob("nightly"), pod("web")].join(
        "---",
      ),
    });
    await k.kubectl("wait --for=condition=complete job/pi --timeout=60s");
    await k.kubectl("wait --for=condition=ready pod/web --timeout=60s");
    // Events are written asynchronously.
    await vi.waitFor(
      async () =>
        expect(await k.kubectl("get events")).toMatch(/Job completed[^]*Suspended|Suspended[^]*Job completed/),
      60_000,
    );
  });
  afterAll(() => k.close());

  const golden = async (name: string, output: string): Promise<void> => {
    await expect(normalized(output)).toMatchFileSnapshot(`golden/${name}.txt`);
  };

  test.for([
    ["get-jobs", "get jobs"],
    ["get-jobs-wide", "get jobs -o wide"],
    ["get-job-labels", "get job pi --show-labels --label-columns app"],
    ["get-cronjobs", "get cronjobs"],
    ["get-cronjobs-wide", "get cj -o wide"],
    ["get-pods", "get pods --sort-by=.metadata.labels.app"],
    ["get-pods-wide", "get pods -l app=web -o wide"],
    ["get-nodes", "get nodes"],
    ["get-nodes-wide", "get nodes -o wide"],
    ["get-namespaces", "get ns"],
    ["get-all", "get all -l app=pi"],
    ["get-several", "get job/pi cronjob/nightly"],
  ] as const)("a table: %s", async ([name, command]) => {
    await golden(name, await k.kubectl(command));
  });

  test.for([
    ["describe-job", "describe job pi"],
    ["describe-suspended-job", "describe job held"],
    ["describe-cronjob", "describe cronjob nightly"],
    ["describe-pod", "describe pod web"],
    ["describe-node", "describe node node-1"],
    ["describe-namespace", "describe ns default"],
  ] as const)("a description: %s", async ([name, command]) => {
    await golden(name, await k.kubectl(command));
  });

  test("every output format", async () => {
    await golden("output-yaml", await k.kubectl("get job pi -o yaml"));
    // An object with one field manager: the order of several depends on the second of their writes.
    await golden("managed-fields", await k.kubectl("get cronjob nightly -o yaml --show-managed-fields"));
    const object = JSON.parse(await k.kubectl("get job pi -o json")) as { kind: string; status: { succeeded: number } };
    expect(object.kind).toBe("Job");
    expect(object.status.succeeded).toBe(2);
    expect(await k.kubectl("get jobs,cronjobs -o name")).toBe("job.batch/held\njob.batch/pi\ncronjob.batch/nightly\n");
    expect(await k.kubectl("get jobs -o jsonpath='{.items[*].metadata.name}'")).toBe("held pi");
    expect(await k.kubectl("get jobs -o go-template='{{range .items}}{{.metadata.name}};{{end}}'")).toBe("held;pi;");
    expect(await k.kubectl("get jobs -o custom-columns=NAME:.metadata.name,N:.spec.completions --no-headers")).toMatch(
      /^held +1\npi +2\n$/,
    );
    const list = JSON.parse(await k.kubectl("get pods,jobs -o json")) as { items: { apiVersion: string }[] };
    expect(new Set(list.items.map(({ apiVersion }) => apiVersion))).toEqual(new Set(["v1", "batch/v1"]));
  });

  test("a watch of one object and of a collection", async () => {
    const one = k.run("get configmap seen --watch --output-watch-events -o name", { until: "MODIFIED" });
    // A watch of one object starts with a get, so the object must exist.
    expect((await one).stderr).toContain('configmaps "seen" not found');

    await k.kubectl("create -f -", { input: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"seen"}}' });
    const watching = k.served(({ verb, resource }) => verb === "watch" && resource === "configmaps", 2);
    const watched = k.run("get configmap seen --watch --output-watch-events", { until: "DELETED" });
    const all = k.run("get configmaps --watch-only", { until: "seen" });
    await watching;
    await k.kubectl("label configmap seen a=b");
    await k.kubectl("delete configmap seen");
    await golden("watch-one", (await watched).stdout);
    await golden("watch-only", ((await all).stdout.match(/^.*\n.*\n/) ?? [""])[0]);
  });

  test("events, sorted and by object", async () => {
    await golden("events-of-job", await k.kubectl("events --for job/pi"));
    expect(await k.kubectl("events --types=Warning")).toBe("");
    expect(
      await k.kubectl(
        "get events --field-selector involvedObject.kind=Job,reason=Completed -o custom-columns=:.message --no-headers",
      ),
    ).toBe("Job completed\n");
  });

  test("explain, api-resources, api-versions, cluster-info and version", async () => {
    await golden("explain-job-spec", fieldsOf(await k.kubectl("explain job.spec")));
    await golden("explain-rules", fieldsOf(await k.kubectl("explain job.spec.podFailurePolicy.rules --recursive")));
    expect((await k.run("explain job.spec.nope")).stderr).toBe('error: field "nope" does not exist\n');
    await golden("api-resources", await k.kubectl("api-resources -o wide"));
    await golden("api-versions", await k.kubectl("api-versions"));
    expect(await k.kubectl("version")).toMatch(/Server Version: v1\.36/);
    expect(await k.kubectl("get --raw /readyz")).toBe("ok");
    expect(await k.kubectl("cluster-info")).toContain("is running at");
  });

  test("large lists in chunks", async () => {
    const maps = Array.from(
      { length: 20 },
      (_, index) =>
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"chunk-${index}","labels":{"chunk":"yes"}}}`,
    );
    await k.kubectl("create -f -", { input: maps.join("\n"), timeoutMs: 60_000 });
    expect((await k.kubectl("get cm -l chunk=yes -o name --chunk-size=7")).split("\n")).toHaveLength(21);
  });

  test("missing objects, with kubectl's messages", async () => {
    expect(await k.run("get job nope")).toEqual({
      code: 1,
      stdout: "",
      stderr: 'Error from server (NotFound): jobs.batch "nope" not found\n',
    });
    expect((await k.run("get jobs -n empty")).stderr).toBe("No resources found in empty namespace.\n");
    expect((await k.run("get nonsense")).stderr).toBe(`error: the server doesn't have a resource type "nonsense"\n`);
    expect((await k.run("get jobs --field-selector a=b")).stderr).toContain('field label "a" not supported for Job');
  });
});

/** Returns the names and types of `kubectl explain`, without prose. */
function fieldsOf(explained: string): string {
  return explained
    .split("\n")
    .filter((line) => /\t<[^>]+>|^[A-Z]+:|^ *enum: /.test(line))
    .join("\n");
}
