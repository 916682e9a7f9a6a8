import { type UnstructuredObject, configMaps, splitObjectKey } from "@kubewright/api";
import { ControllerShell } from "@kubewright/controller";
import { expect, test } from "vitest";

import { backupOperator } from "../../../examples/backup-operator/backup-operator.ts";
import { backups } from "../../../examples/backup-operator/backup.ts";
import { backupController } from "../../../examples/backups/backup-controller.ts";
import { backupDefinition } from "../../../examples/backups/backup.ts";
import { type FaultPlan, type ScenarioEventEntry, type SimulatedController, runPlan } from "../src/index.js";
import { planOf, seconds, recordRun } from "./plans.js";

const backup: UnstructuredObject = {
  apiVersion: "example.com/v1",
  kind: "Backup",
  metadata: { namespace: "default", name: "nightly" },
  spec: { volume: "data", image: "copy:1" },
};

function planWithBackup(
  events: readonly ScenarioEventEntry[],
  definition: object = backupDefinition,
  more: Partial<FaultPlan> = {},
): FaultPlan {
  // The definition is created first, at any position.
  return planOf(events, {
    manifests: [
      backup,
      { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", ...definition } as UnstructuredObject,
    ],
    ...more,
  });
}

test("a custom controller is simulated, crashed and restarted like the built-in ones", async () => {
  const reported = await recordRun(
    planWithBackup([
      {
        at: "+0s",
        controllerCrashes: {
          controller: "backup-controller",
          verbs: ["create"],
          resources: ["jobs"],
          restartAfter: "5s",
        },
      },
    ]),
    { controllers: { "backup-controller": backupController } },
  );
  const creations = reported.answers.filter(
    ({ component, verb }) => component === "backup-controller" && verb === "create",
  );
  expect(creations[0]).toMatchObject({ process: "backup-controller", incarnation: 1, code: 0, tookEffect: true });
  const later = reported.answers.filter(({ component, tookEffect }) => component === "backup-controller" && tookEffect);
  expect(later.find(({ incarnation }) => incarnation === 2)!.atMs - creations[0]!.atMs).toBe(5_000);
  expect(reported.outcome.settled).toMatchObject({ "Job default/nightly": { end: "Complete" } });
  expect(reported.staleCaches).toEqual([]);
});

test("its watches are cut, its requests are refused, its process is paused", async () => {
  const controllers = { "backup-controller": backupController };
  const paused = await recordRun(planWithBackup([{ at: "+2s", for: "1m", paused: "backup-controller" }]), {
    controllers,
  });
  const answers = paused.answers.filter(({ component }) => component === "backup-controller");
  expect(answers.filter(({ atMs }) => seconds(atMs) > 2 && seconds(atMs) < 62)).toEqual([]);
  expect(answers.some(({ atMs }) => seconds(atMs) >= 62)).toBe(true);
  const silent = await recordRun(
    planWithBackup([
      { at: "+2s", for: "1m", watchSilent: { controller: "backup-controller", kinds: ["Backup", "Job"] } },
    ]),
    { controllers },
  );
  const events = silent.cacheEvents.filter(({ component }) => component === "backup-controller");
  expect(events.filter(({ atMs }) => seconds(atMs) > 2 && seconds(atMs) < 62)).toEqual([]);
  expect(silent.staleCaches).toEqual([]);
});

test("an operator is played as it is, as often as it is started", async () => {
  const reported = await recordRun(
    planWithBackup([{ at: "+1s", for: "3s", controllerDown: "backup-operator" }], backups.crd),
    {
      controllers: { "backup-operator": backupOperator as SimulatedController },
    },
  );
  const caches = reported.cacheEvents.filter(({ component }) => component === "backup-operator");
  expect(new Set(caches.map(({ incarnation }) => incarnation))).toEqual(new Set([1, 2]));
  expect(reported.errors).toEqual([]);
  expect(reported.changes.some(({ request }) => request?.component === "backup-operator")).toBe(true);
});

/** Returns a controller that looks at every ConfigMap. */
function looker(
  look: (name: string, shell: ControllerShell) => Promise<{ requeueAfterMs: number } | void>,
): SimulatedController {
  return (environment) => {
    const shell = new ControllerShell(environment, { name: "looker" });
    const informer = shell.informer(configMaps);
    const queue = shell.addLoop({ queue: "looker", reconcile: (key) => look(splitObjectKey(key).name, shell) });
    informer.addEventHandler({ onAdd: ({ metadata }) => queue.add(`${metadata.namespace}/${metadata.name}` as never) });
    return shell;
  };
}

const configMap: UnstructuredObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name: "c" },
};

test("an error of a reconcile is reported when it is a bug, and not when the API server refused a request", async () => {
  const plan = planOf([], { manifests: [configMap], for: "1m" });
  const refused = await recordRun(plan, {
    controllers: {
      looker: looker(
        async (_name, { client }) => void (await client.resource(configMaps).get("no", { namespace: "default" })),
      ),
    },
  });
  expect(refused.errors).toEqual([]);
  const broken = await recordRun(plan, {
    controllers: { looker: looker(async () => (undefined as unknown as { a: { b: never } }).a.b) },
  });
  expect(broken.errors[0]).toMatchObject({ component: "looker", error: expect.any(TypeError) });
});

test("a controller that fails as a whole is reported, and restarted", async () => {
  const reported = await recordRun(planOf([], { manifests: [], for: "10s" }), {
    controllers: {
      dying: ({ clock }) => ({
        name: "dying",
        run: (signal) =>
          clock.sleep(3_000, signal).then(() => {
            throw new TypeError("no");
          }),
      }),
    },
  });
  expect(reported.errors.map(({ component, atMs }) => `${component} ${seconds(atMs)}`)).toEqual(["dying 3", "dying 7"]);
});

test.each([
  ["without end", async () => ({ requeueAfterMs: 0 })],
  [
    "without end, and with requests",
    async (_name: string, { client }: ControllerShell) => {
      await client.resource(configMaps).list();
      return { requeueAfterMs: 0 };
    },
  ],
])("a controller that looks %s, while no time passes, is stopped and reported", async (_what, look) => {
  const outcome = await runPlan(planOf([], { manifests: [configMap] }), { controllers: { looker: looker(look) } });
  expect(outcome.violations).toMatchObject([
    { invariant: "L7 no livelock", message: expect.stringMatching(/virtual time does not advance/) },
  ]);
});

test("names of components are taken", async () => {
  await expect(runPlan(planOf(), { controllers: { kubelet: looker(async () => {}) } })).rejects.toThrow(
    '"kubelet" is a component of every cluster; give the controller another name',
  );
});

test("only the controllers that are asked for run", async () => {
  const { outcome, cacheEvents } = await recordRun(planOf(), { builtIn: ["job-controller"] });
  expect(new Set(cacheEvents.map(({ component }) => component))).toEqual(
    new Set(["job-controller", "kubelet", "node-lifecycle-controller", "scheduler"]),
  );
  expect(outcome.settled).toMatchObject({ "Job default/a": { end: "Complete" } });
});
