import {
  ApiextensionsV1Api,
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type V1Deployment,
} from "@kubernetes/client-node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";

import { runCli } from "../src/cli.js";
import { READY_LINE } from "../src/commands/serve-command.js";
import { memoryIo } from "./memory-io.js";
import { FOO_API, FOO_DEFINITION, type Foo, SampleController } from "./sample-controller.js";

const NAMESPACE = "default";
const HERE = { namespace: NAMESPACE } as const;
const WAIT = { timeout: 60_000, interval: 10 };

let config: KubeConfig;
let url: string;
let stopServing: () => Promise<number>;
let apps: AppsV1Api;
let core: CoreV1Api;
let custom: CustomObjectsApi;
let controller: SampleController;
let failures: unknown[];

beforeAll(async () => {
  const stopped = new AbortController();
  const { io, said: output, written } = memoryIo({ stopped: stopped.signal });
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const code = runCli(
    ["serve", "--port", "0", "--kubeconfig", "kubeconfig"],
    {
      ...io,
      stderr: {
        ...io.stderr,
        write: (text) => {
          io.stderr.write(text);
          if (text === `${READY_LINE}\n`) resolve();
        },
      },
    },
    "1.2.3",
  );
  await Promise.race([ready, code]);
  url = /Serving on (\S+)/.exec(output.stderr)![1]!;
  stopServing = () => {
    stopped.abort();
    return code;
  };
  config = new KubeConfig();
  config.loadFromString(written["kubeconfig"]!);
  apps = config.makeApiClient(AppsV1Api);
  core = config.makeApiClient(CoreV1Api);
  custom = config.makeApiClient(CustomObjectsApi);
});
afterAll(async () => {
  expect(await stopServing()).toBe(0);
});

beforeEach(async () => {
  await define();
  failures = [];
  controller = new SampleController(config, failures);
  await controller.start();
});
afterEach(async () => {
  await controller.stop();
  await reset();
});

/** Creates the definition of Foo, and waits until the kind is served. */
async function define(): Promise<void> {
  const definitions = config.makeApiClient(ApiextensionsV1Api);
  await definitions.createCustomResourceDefinition({ body: FOO_DEFINITION });
  await vi.waitFor(() => custom.listNamespacedCustomObject({ ...FOO_API, ...HERE }), WAIT);
}

async function reset(): Promise<void> {
  expect((await fetch(`${url}/_kubewright/reset`, { method: "POST" })).status).toBe(200);
}

async function createFoo(name: string, deploymentName = name, replicas = 1): Promise<Foo> {
  const apiVersion = `${FOO_API.group}/${FOO_API.version}`;
  const body = { apiVersion, kind: "Foo", metadata: { name }, spec: { deploymentName, replicas } };
  return (await custom.createNamespacedCustomObject({ ...FOO_API, ...HERE, body })) as Foo;
}

async function getFoo(name: string): Promise<Foo> {
  return (await custom.getNamespacedCustomObject({ ...FOO_API, ...HERE, name })) as Foo;
}

/** Waits until a Deployment matches the expected one. */
function deploymentWith(name: string, expected: object): Promise<V1Deployment> {
  return vi.waitFor(async () => {
    const deployment = await apps.readNamespacedDeployment({ ...HERE, name });
    expect(deployment).toMatchObject(expected);
    return deployment;
  }, WAIT);
}

async function goneDeployment(name: string): Promise<void> {
  await vi.waitFor(
    () => expect(apps.readNamespacedDeployment({ ...HERE, name })).rejects.toMatchObject({ code: 404 }),
    WAIT,
  );
}

/** Acts as the Deployment controller, which this cluster does not have. */
async function reportAvailable(name: string, availableReplicas: number): Promise<void> {
  const deployment = await apps.readNamespacedDeployment({ ...HERE, name });
  deployment.status = { replicas: availableReplicas, readyReplicas: availableReplicas, availableReplicas };
  await apps.replaceNamespacedDeploymentStatus({ ...HERE, name, body: deployment });
}

async function eventsOf(name: string): Promise<readonly string[]> {
  const { items } = await core.listNamespacedEvent({ ...HERE, fieldSelector: `involvedObject.name=${name}` });
  return items.filter(({ involvedObject }) => involvedObject.kind === "Foo").map(({ reason = "" }) => reason);
}

test("a Foo gets its Deployment, which it controls, and the number of available replicas in its status", async () => {
  const foo = await createFoo("one", "example", 2);
  const { uid } = foo.metadata!;
  const created = await deploymentWith("example", {
    metadata: { generation: 1, ownerReferences: [{ kind: "Foo", name: "one", uid, controller: true }] },
    spec: { replicas: 2 },
  });
  await vi.waitFor(async () => expect((await getFoo("one")).status).toEqual({ availableReplicas: 0 }), WAIT);

  await reportAvailable("example", 2);
  await vi.waitFor(async () => expect((await getFoo("one")).status).toEqual({ availableReplicas: 2 }), WAIT);
  // A write through /status increments neither generation.
  expect((await getFoo("one")).metadata?.generation).toBe(1);
  expect(await deploymentWith("example", {})).toMatchObject({
    metadata: { uid: created.metadata?.uid, generation: 1 },
  });
  expect(await eventsOf("one")).toEqual(["Synced", "Synced"]);
});

test("a changed number of replicas is corrected, whether it was scaled or patched", async () => {
  await createFoo("one", "example", 2);
  await deploymentWith("example", { spec: { replicas: 2 } });
  await reportAvailable("example", 2);
  const name = "example";

  const scale = await apps.readNamespacedDeploymentScale({ ...HERE, name });
  expect(scale).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 2, selector: "app=nginx,controller=one" } });
  scale.spec = { replicas: 7 };
  await apps.replaceNamespacedDeploymentScale({ ...HERE, name, body: scale });
  await deploymentWith("example", { metadata: { generation: 3 }, spec: { replicas: 2 } });

  await apps.patchNamespacedDeployment({ ...HERE, name, body: [{ op: "replace", path: "/spec/replicas", value: 0 }] });
  const restored = await deploymentWith("example", { metadata: { generation: 5 }, spec: { replicas: 2 } });
  // An update of the spec does not change the status.
  expect(restored.status?.availableReplicas).toBe(2);
});

test("a changed Foo changes its Deployment, and one that its definition does not allow is refused", async () => {
  await createFoo("one", "example", 2);
  await deploymentWith("example", { spec: { replicas: 2 } });
  const body = {
    ...(await getFoo("one")),
    spec: { deploymentName: "example", replicas: 5 },
    status: { availableReplicas: 9 },
  };
  await custom.replaceNamespacedCustomObject({ ...FOO_API, ...HERE, name: "one", body });
  await deploymentWith("example", { spec: { replicas: 5 } });
  expect((await getFoo("one")).status?.availableReplicas ?? 0).toBe(0);
  await expect(createFoo("many", "many", 11)).rejects.toMatchObject({
    code: 422,
    body: expect.stringContaining(
      "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10",
    ),
  });
});

test("a Deployment of another owner is not changed, and an event says so", async () => {
  const labels = { app: "theirs" };
  const body: V1Deployment = {
    metadata: { name: "theirs" },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx" }] } },
    },
  };
  const theirs = await apps.createNamespacedDeployment({ ...HERE, body });
  await createFoo("thief", "theirs", 3);
  await vi.waitFor(async () => expect(await eventsOf("thief")).toContain("ErrResourceExists"), WAIT);
  expect((await deploymentWith("theirs", {})).metadata?.resourceVersion).toBe(theirs.metadata?.resourceVersion);
});

test("the Deployment is deleted with its Foo: after it in the background, before it in the foreground", async () => {
  await createFoo("background");
  await deploymentWith("background", {});
  await custom.deleteNamespacedCustomObject({
    ...FOO_API,
    ...HERE,
    name: "background",
    propagationPolicy: "Background",
  });
  await expect(getFoo("background")).rejects.toMatchObject({ code: 404 });
  await goneDeployment("background");

  await createFoo("foreground");
  const name = "foreground";
  const deployment = await deploymentWith(name, {});
  // A finalizer of the Deployment keeps the Foo.
  const finalizers = ["example.com/held"];
  const hold = [{ op: "add", path: "/metadata/finalizers", value: finalizers }];
  await apps.patchNamespacedDeployment({ ...HERE, name, body: hold });
  await custom.deleteNamespacedCustomObject({ ...FOO_API, ...HERE, name, propagationPolicy: "Foreground" });
  const deleting = await deploymentWith(name, { metadata: { uid: deployment.metadata?.uid, finalizers } });
  await vi.waitFor(
    async () => expect((await deploymentWith(name, {})).metadata?.deletionTimestamp).toBeInstanceOf(Date),
    WAIT,
  );
  expect((await getFoo(name)).metadata?.finalizers).toEqual(["foregroundDeletion"]);
  expect(deleting.metadata?.uid).toBe(deployment.metadata?.uid);
  await apps.patchNamespacedDeployment({ ...HERE, name, body: [{ op: "remove", path: "/metadata/finalizers" }] });
  await goneDeployment(name);
  await vi.waitFor(() => expect(getFoo(name)).rejects.toMatchObject({ code: 404 }), WAIT);
});

test("an orphaned Deployment stays, without its owner", async () => {
  await createFoo("one", "example");
  await deploymentWith("example", {});
  await custom.deleteNamespacedCustomObject({ ...FOO_API, ...HERE, name: "one", propagationPolicy: "Orphan" });
  await vi.waitFor(() => expect(getFoo("one")).rejects.toMatchObject({ code: 404 }), WAIT);
  expect((await deploymentWith("example", {})).metadata?.ownerReferences).toBeUndefined();
});

test("the controller continues after a reset that deletes its definition, its Foos and their Deployments", async () => {
  await createFoo("one", "example", 2);
  const before = await deploymentWith("example", {});
  await reset();
  await expect(apps.readNamespacedDeployment({ ...HERE, name: "example" })).rejects.toMatchObject({ code: 404 });
  await expect(getFoo("one")).rejects.toMatchObject({ code: 404 });

  await define();
  await createFoo("one", "example", 3);
  const after = await deploymentWith("example", { spec: { replicas: 3 } });
  expect(after.metadata?.uid).not.toBe(before.metadata?.uid);
  await apps.deleteNamespacedDeployment({ ...HERE, name: "example" });
  await deploymentWith("example", { spec: { replicas: 3 } });
});
