import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { KubectlCluster, OLDEST_KUBECTL, whyKubectlIsMissing, normalized } from "./kubectl-fixture.js";
import { configMap, cronJob, job, pod } from "./kubectl-manifests.js";

describe.skipIf(whyKubectlIsMissing !== undefined)(`kubectl (1.${OLDEST_KUBECTL} or newer) writes`, () => {
  let k: KubectlCluster;

  beforeAll(async () => {
    k = await KubectlCluster.start();
  });
  afterAll(() => k.close());

  test("client-side apply creates, configures, removes omitted fields, and leaves equal objects unchanged", async () => {
    const apply = (data: Record<string, string>): Promise<string> =>
      k.kubectl("apply -f -", { input: configMap("client-side", data) });
    expect(await apply({ a: "1", b: "2" })).toBe("configmap/client-side created\n");
    const before = await k.kubectl("get cm client-side -o jsonpath='{.metadata.resourceVersion}'");
    expect(await apply({ a: "1", b: "2" })).toBe("configmap/client-side unchanged\n");
    expect(await k.kubectl("get cm client-side -o jsonpath='{.metadata.resourceVersion}'")).toBe(before);
    expect(await apply({ a: "3" })).toBe("configmap/client-side configured\n");
    expect(await k.kubectl("get cm client-side -o jsonpath='{.data}'")).toBe('{"a":"3"}');
  });

  test("apply of a Job and a CronJob, then of changes to them", async () => {
    expect(
      await k.kubectl("apply -f -", { input: [job("applied", { suspend: true }), cronJob("applied")].join("---") }),
    ).toBe("job.batch/applied created\ncronjob.batch/applied created\n");
    expect(await k.kubectl("apply -f -", { input: job("applied", { suspend: true }) })).toBe(
      "job.batch/applied unchanged\n",
    );
    expect(await k.kubectl("apply -f -", { input: cronJob("applied").replace("0 2 * * *", "30 2 * * *") })).toBe(
      "cronjob.batch/applied configured\n",
    );
    const refused = await k.run("apply -f -", { input: job("applied", { completions: 3, suspend: true }) });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /^The Job "applied" is invalid: spec\.completions: Invalid value: 3: field is immutable/m,
    );
    expect(await k.kubectl("apply -f -", { input: job("applied") })).toBe("job.batch/applied configured\n");
    await k.kubectl("wait --for=condition=complete job/applied --timeout=60s");
  });

  test("apply on the server's side shares, conflicts, takes over by force, and takes over from the client's side", async () => {
    const apply = (data: Record<string, string>, flags = "") =>
      k.run(`apply --server-side ${flags} -f -`, { input: configMap("server-side", data) });
    expect((await apply({ a: "1" }, "--field-manager=one")).stdout).toBe("configmap/server-side serverside-applied\n");
    expect((await apply({ a: "1", b: "1" }, "--field-manager=two")).code).toBe(0);
    const conflict = await apply({ a: "2" }, "--field-manager=one");
    expect(conflict.code).toBe(1);
    expect(conflict.stderr).toMatch(/^error: Apply failed with 1 conflict: conflict with "two": \.data\.a\n/);
    expect((await apply({ a: "2" }, "--field-manager=one --force-conflicts")).code).toBe(0);
    expect(await k.kubectl("get cm server-side -o jsonpath='{.data}'")).toBe('{"a":"2","b":"1"}');

    await k.kubectl("apply -f -", { input: configMap("migrated", { a: "1" }) });
    const migrated = await k.run("apply --server-side -f -", { input: configMap("migrated", { a: "2" }) });
    expect(migrated).toMatchObject({ code: 0, stdout: "configmap/migrated serverside-applied\n" });
    const managers = await k.kubectl("get cm migrated -o jsonpath='{.metadata.managedFields[*].manager}'");
    expect(managers.split(" ").sort()).toEqual(["kubectl", "kubectl-last-applied"]);
  });

  test("a dry run of every kind of write changes nothing", async () => {
    expect(await k.kubectl("apply --dry-run=server -f -", { input: configMap("dry", { a: "1" }) })).toBe(
      "configmap/dry created (server dry run)\n",
    );
    expect(await k.kubectl("create --dry-run=server -f -", { input: configMap("dry", {}) })).toBe(
      "configmap/dry created (server dry run)\n",
    );
    expect((await k.run("get cm dry")).code).toBe(1);
    await k.kubectl("create -f -", { input: configMap("dry", { a: "1" }) });
    await k.kubectl(`patch cm dry --type=merge -p '{"data":{"a":"2"}}' --dry-run=server`);
    await k.kubectl("delete cm dry --dry-run=server");
    expect(await k.kubectl("get cm dry -o jsonpath='{.data.a}'")).toBe("1");
  });

  test("diff shows what apply would change", async () => {
    await k.kubectl("apply -f -", { input: configMap("different", { a: "1" }) });
    expect(await k.run("diff -f -", { input: configMap("different", { a: "1" }) })).toMatchObject({
      code: 0,
      stdout: "",
    });
    const diff = await k.run("diff -f -", { input: configMap("different", { a: "2" }) });
    expect(diff.code).toBe(1);
    expect(diff.stdout).toMatch(/^- {2}a: "1"\n\+ {2}a: "2"$/m);
    const fresh = await k.run("diff --server-side -f -", { input: configMap("undone", { a: "2" }) });
    expect(fresh.stdout).toMatch(/^\+ {2}a: "2"$/m);
    expect((await k.run("get cm undone")).code).toBe(1);
  });

  test("edit sends the editor's changes, and nothing without changes", async () => {
    await k.kubectl("create -f -", { input: configMap("edited", { a: "1" }) });
    const editor = k.file("editor.sh", '#!/bin/sh\nsed -i "s/a: \\"1\\"/a: \\"edited\\"/" "$1"\n');
    expect(await k.kubectl("edit cm edited", { env: { KUBE_EDITOR: editor } })).toBe("configmap/edited edited\n");
    expect(await k.kubectl("get cm edited -o jsonpath='{.data.a}'")).toBe("edited");
    const none = await k.run("edit cm edited", { env: { KUBE_EDITOR: "true" } });
    expect(none).toMatchObject({ code: 0, stderr: "Edit cancelled, no changes made.\n" });

    await k.kubectl("apply -f -", { input: cronJob("edited") });
    const reschedule = k.file("reschedule.sh", '#!/bin/sh\nsed -i "s/schedule: 0 2/schedule: 15 3/" "$1"\n');
    expect(await k.kubectl("edit cronjob edited", { env: { KUBE_EDITOR: reschedule } })).toBe(
      "cronjob.batch/edited edited\n",
    );
    expect(await k.kubectl("get cronjob edited -o jsonpath='{.spec.schedule}'")).toBe("15 3 * * *");

    // A refused edit opens the editor again; an edit that is abandoned leaves the object unchanged.
    const broken = k.file("broken.sh", '#!/bin/sh\nsed -i "s/schedule: 15 3/schedule: 99 3/" "$1"\n');
    const refused = await k.run("edit cronjob edited", { env: { KUBE_EDITOR: broken } });
    expect(refused.stderr).toContain('error: cronjobs.batch "edited" is invalid');
    expect(await k.kubectl("get cronjob edited -o jsonpath='{.spec.schedule}'")).toBe("15 3 * * *");
  });

  test("edit of the status subresource", async () => {
    await k.kubectl("apply -f -", { input: cronJob("status-edited") });
    const editor = k.file(
      "status.sh",
      '#!/bin/sh\nsed -i "s/^status: {}/status:\\n  lastScheduleTime: \\"2026-01-01T00:00:00Z\\"/" "$1"\n',
    );
    await k.kubectl("edit cronjob status-edited --subresource=status", { env: { KUBE_EDITOR: editor } });
    expect(await k.kubectl("get cronjob status-edited -o jsonpath='{.status.lastScheduleTime}'")).toBe(
      "2026-01-01T00:00:00Z",
    );
  });

  test("patch of each type, and one that changes nothing", async () => {
    await k.kubectl("create -f -", { input: pod("patched") });
    expect(
      await k.kubectl(`patch pod patched -p '{"spec":{"containers":[{"name":"main","image":"busybox:1.37"}]}}'`),
    ).toBe("pod/patched patched\n");
    expect(await k.kubectl(`patch pod patched --type=merge -p '{"metadata":{"labels":{"app":null,"b":"1"}}}'`)).toBe(
      "pod/patched patched\n",
    );
    expect(
      await k.kubectl(`patch pod patched --type=json -p '[{"op":"replace","path":"/metadata/labels/b","value":"2"}]'`),
    ).toBe("pod/patched patched\n");
    expect(await k.kubectl("get pod patched -o jsonpath='{.spec.containers[*].image} {.metadata.labels}'")).toBe(
      'busybox:1.37 {"b":"2"}',
    );
    expect(await k.kubectl(`patch pod patched --type=merge -p '{"metadata":{"labels":{"b":"2"}}}'`)).toBe(
      "pod/patched patched (no change)\n",
    );
    const missing = await k.run(`patch pod patched --type=json -p '[{"op":"remove","path":"/metadata/labels/nope"}]'`);
    expect(missing.stderr).toBe(
      "The request is invalid: the server rejected our request due to an error in our request\n",
    );
    const frozen = await k.run(`patch pod patched -p '{"spec":{"containers":[{"name":"main","command":["x"]}]}}'`);
    expect(frozen.stderr).toMatch(
      /^The Pod "patched" is invalid: spec: Forbidden: pod updates may not change fields other than/,
    );
  });

  test("label, annotate, replace, set and cordon", async () => {
    await k.kubectl("create -f -", { input: configMap("labelled", { a: "1" }) });
    expect(await k.kubectl("label cm labelled a=1 b=2")).toBe("configmap/labelled labeled\n");
    expect((await k.run("label cm labelled a=2")).stderr).toContain(
      "'a' already has a value (1), and --overwrite is false",
    );
    expect(await k.kubectl("label cm labelled a=2 b- --overwrite")).toBe("configmap/labelled labeled\n");
    expect(await k.kubectl("label cm labelled a=2")).toBe("configmap/labelled not labeled\n");
    expect(await k.kubectl("annotate cm labelled note='two words'")).toBe("configmap/labelled annotated\n");
    expect(await k.kubectl("get cm labelled -o jsonpath='{.metadata.labels} {.metadata.annotations}'")).toBe(
      '{"a":"2"} {"note":"two words"}',
    );
    const stale = await k.run("label cm labelled c=3 --resource-version=1");
    expect(stale.stderr).toContain(
      "the object has been modified; please apply your changes to the latest version and try again",
    );
    expect((await k.run("label cm labelled 'x y=1'")).code).toBe(1);

    expect(await k.kubectl("replace -f -", { input: configMap("labelled", { a: "replaced" }) })).toBe(
      "configmap/labelled replaced\n",
    );
    expect(await k.kubectl("get cm labelled -o jsonpath='{.data.a}{.metadata.labels}'")).toBe("replaced");
    expect(await k.kubectl("replace --force -f -", { input: configMap("labelled", { a: "anew" }) })).toContain(
      "configmap/labelled replaced",
    );

    await k.kubectl("apply -f -", { input: cronJob("images") });
    expect(await k.kubectl("set image cronjob/images main=busybox:1.37")).toBe("cronjob.batch/images image updated\n");
    expect(await k.kubectl("cordon node-3")).toBe("node/node-3 cordoned\n");
    expect(normalized(await k.kubectl("get node node-3 --no-headers"))).toMatch(/^node-3 {2}Ready,SchedulingDisabled/);
    expect(await k.kubectl("uncordon node-3")).toBe("node/node-3 uncordoned\n");
    expect(await k.kubectl("taint node node-3 dedicated=batch:NoSchedule")).toBe("node/node-3 tainted\n");
    expect(await k.kubectl("taint node node-3 dedicated-")).toBe("node/node-3 untainted\n");
  });

  test("unknown fields are refused by the server, by name", async () => {
    const bad = job("unknown").replace("completions:", "completion:");
    expect(await k.run("create -f -", { input: bad })).toEqual({
      code: 1,
      stdout: "",
      stderr:
        'Error from server (BadRequest): error when creating "STDIN": Job in version "v1" cannot be handled as a Job: strict decoding error: unknown field "spec.completion"\n',
    });
    const warned = await k.run("create --validate=warn -f -", { input: bad });
    expect(warned.stdout).toBe("job.batch/unknown created\n");
    expect(warned.stderr).toBe('Warning: unknown field "spec.completion"\n');
  });

  test("create job, create job --from and create cronjob", async () => {
    expect(await k.kubectl("create job made --image=busybox -- true")).toBe("job.batch/made created\n");
    await k.kubectl("apply -f -", { input: cronJob("source") });
    expect(await k.kubectl("create job by-hand --from=cronjob/source")).toBe("job.batch/by-hand created\n");
    const made = JSON.parse(await k.kubectl("get job by-hand -o json")) as {
      metadata: { annotations: object; ownerReferences: object[]; labels: object };
    };
    expect(made.metadata.annotations).toEqual({ "cronjob.kubernetes.io/instantiate": "manual" });
    expect(made.metadata.labels).toMatchObject({ app: "source" });
    expect(made.metadata.ownerReferences).toMatchObject([{ kind: "CronJob", name: "source", controller: true }]);
    await k.kubectl("wait --for=condition=complete job/by-hand --timeout=60s");
    expect(await k.kubectl("create cronjob made --image=busybox --schedule='*/5 * * * *' -- true")).toBe(
      "cronjob.batch/made created\n",
    );
    const refused = await k.run("create cronjob refused --image=busybox --schedule='x'");
    expect(refused.stderr).toContain("expected exactly 5 fields, found 1: [x]");
    expect(await k.kubectl("create namespace made")).toBe("namespace/made created\n");
    expect(await k.kubectl("create configmap made --from-literal=a=b")).toBe("configmap/made created\n");
    expect(await k.kubectl("create serviceaccount made")).toBe("serviceaccount/made created\n");
    expect(await k.kubectl("run made --image=busybox --restart=Never")).toBe("pod/made created\n");
  });

  test("auth can-i and whoami", async () => {
    expect(await k.kubectl("auth can-i create jobs")).toBe("yes\n");
    expect(await k.kubectl("auth whoami -o jsonpath='{.status.userInfo.username}'")).toMatch(/^system:/);
  });
});
