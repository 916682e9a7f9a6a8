import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { KubectlCluster, OLDEST_KUBECTL, whyKubectlIsMissing } from "./kubectl-fixture.js";
import { configMap, cronJob, job, pod } from "./kubectl-manifests.js";

describe.skipIf(whyKubectlIsMissing !== undefined)(`kubectl (1.${OLDEST_KUBECTL} or newer) deletes and waits`, () => {
  let k: KubectlCluster;

  beforeAll(async () => {
    k = await KubectlCluster.start();
  });
  afterAll(() => k.close());

  const running = async (name: string): Promise<void> => {
    await k.kubectl("create -f -", { input: job(name, { duration: "10m", completions: 2 }) });
    await k.kubectl(`wait --for=jsonpath='{.status.ready}'=2 job/${name} --timeout=60s`);
  };
  const podsOf = (name: string): Promise<string> =>
    k.kubectl(`get pods -l app=${name} -o jsonpath='{range .items[*]}{.metadata.ownerReferences[*].kind};{end}'`);

  test("a Job with its pods, by default and in the background", async () => {
    await running("background");
    expect(await k.kubectl("delete job background")).toBe('job.batch "background" deleted\n');
    expect((await k.run("get job background")).code).toBe(1);
    await k.kubectl("wait --for=delete pod -l app=background --timeout=60s");
    expect(await podsOf("background")).toBe("");
  });

  test("a Job after its pods, in the foreground", async () => {
    await running("foreground");
    expect(await k.kubectl("delete job foreground --cascade=foreground")).toBe('job.batch "foreground" deleted\n');
    // --wait is the default, and the Job is deleted last.
    expect(await podsOf("foreground")).toBe("");
  });

  test("a Job without its pods, as orphans", async () => {
    await running("orphaned");
    expect(await k.kubectl("delete job orphaned --cascade=orphan")).toBe('job.batch "orphaned" deleted\n');
    expect((await k.run("get job orphaned")).code).toBe(1);
    expect(await podsOf("orphaned")).toBe(";;");
    await k.kubectl("delete pods -l app=orphaned --force --grace-period=0");
    expect(await podsOf("orphaned")).toBe("");
  });

  test("a CronJob with the Jobs and pods it made", async () => {
    await k.kubectl("create -f -", { input: cronJob("every", { suspend: false }).replace("0 2 * * *", "* * * * *") });
    await k.kubectl(
      `patch cronjob every --subresource=status --type=merge -p '{"status":{"lastScheduleTime":"2026-01-01T00:00:00Z"}}'`,
    );
    await vi.waitFor(
      async () => expect(await k.kubectl("get jobs -l app=every -o name")).toMatch(/^job\.batch\/every-\d+/),
      60_000,
    );
    await k.kubectl("delete cronjob every");
    await vi.waitFor(async () => expect(await k.kubectl("get jobs,pods -l app=every -o name")).toBe(""), 60_000);
  });

  test("pods: gracefully and waiting, without waiting, and by force", async () => {
    for (const name of ["graceful", "forced"]) await k.kubectl("create -f -", { input: pod(name) });
    // The pod terminates slowly, so that kubectl finds it for as long as it runs.
    const stubborn = pod("unwaited")
      .replace('sigterm: "false"', 'sigterm: "true"')
      .replace(/(Seconds): 2$/m, "$1: 600");
    await k.kubectl("create -f -", { input: stubborn });
    await k.kubectl("wait --for=condition=ready pod/graceful pod/unwaited pod/forced --timeout=60s");
    const started = performance.now();
    expect(await k.kubectl("delete pod graceful")).toBe('pod "graceful" deleted\n');
    expect(performance.now() - started).toBeGreaterThan(500);
    expect((await k.run("get pod graceful")).code).toBe(1);

    await k.kubectl("delete pod unwaited --wait=false");
    expect(await k.kubectl("get pod unwaited --no-headers")).toMatch(/^unwaited +1\/1 +Terminating/);
    await k.kubectl("delete pod unwaited --wait=false --grace-period=1");
    await k.kubectl("wait --for=delete pod/unwaited --timeout=60s");

    const forced = await k.run("delete pod forced --force");
    expect(forced.stderr).toContain("Immediate deletion does not wait for confirmation");
    expect((await k.run("get pod forced")).code).toBe(1);
    expect((await k.run("delete pod forced")).stderr).toBe('Error from server (NotFound): pods "forced" not found\n');
    expect(await k.run("delete pod forced --ignore-not-found")).toMatchObject({ code: 0, stdout: "" });
  });

  test("a finalizer holds a deletion until it is gone", async () => {
    await k.kubectl("create -f -", { input: configMap("held", {}) });
    await k.kubectl(`patch cm held --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'`);
    expect((await k.run("delete cm held --timeout=500ms")).stderr).toContain(
      "timed out waiting for the condition on configmaps/held",
    );
    const asked = new Promise<void>((resolve) => {
      k.cluster.apiServer.observe(({ verb, name }) => {
        if (verb === "delete" && name === "held") resolve();
      });
    });
    const deletion = k.run("delete cm held");
    await asked;
    await k.kubectl(`patch cm held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`);
    expect((await deletion).code).toBe(0);
  });

  test("everything of a kind, of a label, and of a namespace", async () => {
    await k.kubectl("create -f -", { input: '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"doomed"}}' });
    for (const name of ["a", "b", "c"]) await k.kubectl("create -n doomed -f -", { input: configMap(name, {}) });
    await k.kubectl("create -n doomed -f -", { input: job("busy", { duration: "10m" }) });
    await k.kubectl("label -n doomed cm a b pick=me");
    expect(await k.kubectl("delete -n doomed cm -l pick=me")).toBe('configmap "a" deleted\nconfigmap "b" deleted\n');
    expect(await k.kubectl("delete -n doomed cm --all")).toBe('configmap "c" deleted\n');
    expect(await k.kubectl("delete ns doomed", { timeoutMs: 120_000 })).toBe('namespace "doomed" deleted\n');
    expect((await k.run("get ns doomed")).code).toBe(1);
    expect((await k.run("delete ns default")).stderr).toBe(
      'Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted\n',
    );
  });

  test("drain moves everything off a node", async () => {
    await k.kubectl("create -f -", { input: pod("drained") });
    await k.kubectl("wait --for=condition=ready pod/drained --timeout=60s");
    const node = await k.kubectl("get pod drained -o jsonpath='{.spec.nodeName}'");
    expect(await k.kubectl(`drain ${node} --force --ignore-daemonsets --timeout=60s`)).toContain("pod/drained evicted");
    expect((await k.run("get pod drained")).code).toBe(1);
    await k.kubectl(`uncordon ${node}`);
  });

  test("wait for conditions, values, creation and deletion", async () => {
    const created = k.run("wait --for=create cm/awaited --timeout=60s");
    await k.kubectl("create -f -", { input: configMap("awaited", {}) });
    expect((await created).stdout).toBe("configmap/awaited condition met\n");
    const value = k.run("wait --for=jsonpath='{.data.state}'=ready cm/awaited --timeout=60s");
    await k.kubectl(`patch cm awaited --type=merge -p '{"data":{"state":"ready"}}'`);
    expect((await value).stdout).toBe("configmap/awaited condition met\n");

    await k.kubectl("create -f -", { input: job("awaited") });
    expect(await k.kubectl("wait --for=condition=Complete job/awaited --timeout=60s")).toBe(
      "job.batch/awaited condition met\n",
    );
    await k.kubectl("create -f -", { input: job("hopeless", { suspend: true }) });
    const timedOut = await k.run("wait --for=condition=Complete job/hopeless --timeout=300ms");
    expect(timedOut).toMatchObject({
      code: 1,
      stderr: "error: timed out waiting for the condition on jobs/hopeless\n",
    });
  });
});
