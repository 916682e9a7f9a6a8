import type { DaemonSet, Deployment, StatefulSet } from "@kubewright/api";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create, update, updateStatus } from "../../../test/strategy-calls.js";
import { daemonSetStrategy } from "./daemon-set.js";
import { deploymentStrategy } from "./deployment.js";
import { replicaSetStrategy } from "./replica-set.js";
import { replicationControllerStrategy } from "./replication-controller.js";
import { statefulSetStrategy } from "./stateful-set.js";

const containers = [{ name: "c", image: "busybox" }];
const key = fc.constantFrom("app", "tier", "example.com/team");
const value = fc.constantFrom("a", "b", "");
const labels = fc.dictionary(key, value, { maxKeys: 3 });

function workload(spec: object = {}, templateLabels: object = { app: "x" }): object {
  return {
    metadata: { name: "w" },
    spec: {
      selector: { matchLabels: { app: "x" } },
      template: { metadata: { labels: templateLabels }, spec: { containers } },
      ...spec,
    },
  };
}

const amount = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.integer({ min: 0, max: 150 }).map((percent) => `${percent}%`),
  fc.constantFrom("0%", "many", "5", "-5%", "%"),
);
const isAmount = (given: number | string): boolean =>
  typeof given === "number" ? given >= 0 : /^[0-9]+%$/.test(given);
const isNothing = (given: number | string): boolean => given === 0 || /^0+%$/.test(String(given));
const isTooMuch = (given: number | string): boolean => typeof given === "string" && Number.parseInt(given, 10) > 100;

test("a Deployment needs readable maxSurge and maxUnavailable that are not both zero", () => {
  fc.assert(
    fc.property(amount, amount, (maxSurge, maxUnavailable) => {
      const { message } = create(
        deploymentStrategy,
        workload({ strategy: { rollingUpdate: { maxSurge, maxUnavailable } } }),
      );
      const fine = isAmount(maxSurge) && isAmount(maxUnavailable) && !isTooMuch(maxUnavailable);
      expect(message === "").toBe(fine && !(isNothing(maxSurge) && isNothing(maxUnavailable)));
    }),
  );
});

test("a DaemonSet sets exactly one of maxSurge and maxUnavailable", () => {
  fc.assert(
    fc.property(amount, amount, (maxSurge, maxUnavailable) => {
      const rollingUpdate = { maxSurge, maxUnavailable };
      const { message } = create(daemonSetStrategy, workload({ updateStrategy: { rollingUpdate } }));
      const fine = [maxSurge, maxUnavailable].every((given) => isAmount(given) && !isTooMuch(given));
      expect(message === "").toBe(fine && isNothing(maxSurge) !== isNothing(maxUnavailable));
    }),
  );
});

test.each([
  ["deployment", deploymentStrategy],
  ["replicaset", replicaSetStrategy],
  ["statefulset", statefulSetStrategy],
  ["daemonset", daemonSetStrategy],
])("a %s takes a template whose labels its selector selects, and no other", (_kind, strategy) => {
  fc.assert(
    fc.property(labels, labels, (matchLabels, templateLabels) => {
      const { message } = create(
        strategy as typeof deploymentStrategy,
        workload({ selector: { matchLabels } }, templateLabels),
      );
      const selected = Object.entries(matchLabels).every(([name, wanted]) => templateLabels[name] === wanted);
      expect(message === "").toBe(selected && Object.keys(matchLabels).length > 0);
    }),
  );
});

test("a ReplicationController defaults its selector to its template's labels", () => {
  fc.assert(
    fc.property(labels, (templateLabels) => {
      const { object, message } = create(
        replicationControllerStrategy,
        workload({ selector: undefined }, templateLabels),
      );
      const wanted =
        Object.keys(templateLabels).length === 0
          ? [{}, {}, "spec.selector: Required value"]
          : [templateLabels, templateLabels, ""];
      expect([object.spec?.selector, object.metadata.labels, message]).toEqual(wanted);
    }),
  );
});

const stored = (): StatefulSet => create(statefulSetStrategy, workload({ serviceName: "svc" })).object;

test.each<[string, (spec: NonNullable<StatefulSet["spec"]>) => void]>([
  ["serviceName", (spec) => (spec.serviceName = "other")],
  ["podManagementPolicy", (spec) => (spec.podManagementPolicy = "Parallel")],
  ["volumeClaimTemplates", (spec) => (spec.volumeClaimTemplates = [claim("data")])],
])("a StatefulSet keeps its %s", (_field, change) => {
  const { message } = update(statefulSetStrategy, stored(), ({ spec }) => change(spec!));
  expect(message).toMatch(
    /^spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', /,
  );
});

test("a StatefulSet may change replicas, template and update strategy, which bumps the generation", () => {
  const { object, message } = update(statefulSetStrategy, stored(), ({ spec }) => {
    spec!.replicas = 3;
    spec!.ordinals = { start: 2 };
    spec!.template.spec!.nodeSelector = { disk: "ssd" };
    spec!.updateStrategy = { type: "OnDelete" };
  });
  expect(message).toBe("");
  expect(statefulSetStrategy.bumpsGeneration?.(object, stored())).toBe(true);
});

test("a volume claim template counts as a volume of the pods", () => {
  const mounts = [{ name: "data", mountPath: "/data" }];
  const template = {
    metadata: { labels: { app: "x" } },
    spec: { containers: [{ name: "c", image: "busybox", volumeMounts: mounts }] },
  };
  expect(create(statefulSetStrategy, workload({ template })).message).toBe(
    'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"',
  );
  expect(create(statefulSetStrategy, workload({ template, volumeClaimTemplates: [claim("data")] })).message).toBe("");
});

const count = fc.integer({ min: 0, max: 4 });

test("status counts do not exceed replicas, and available does not exceed ready", () => {
  fc.assert(
    fc.property(count, count, count, count, (replicas, readyReplicas, availableReplicas, updatedReplicas) => {
      const counts = { replicas, readyReplicas, availableReplicas, updatedReplicas };
      const deployment: Deployment = create(deploymentStrategy, workload()).object;
      const { message } = updateStatus(deploymentStrategy, deployment, (object) => (object.status = counts));
      const fits = [readyReplicas, availableReplicas, updatedReplicas].every((number) => number <= replicas);
      expect(message === "").toBe(fits && availableReplicas <= readyReplicas);
    }),
  );
});

test("a DaemonSet's template generation is set by the server only", () => {
  const first: DaemonSet = create(daemonSetStrategy, workload()).object;
  const generation = ({ metadata }: DaemonSet): unknown =>
    metadata.annotations?.["deprecated.daemonset.template.generation"];
  expect(generation(first)).toBe("1");
  const same = update(daemonSetStrategy, first, ({ metadata, spec }) => {
    metadata.annotations!["deprecated.daemonset.template.generation"] = "9";
    spec!.minReadySeconds = 3;
  });
  expect(generation(same.object)).toBe("1");
  const next = update(daemonSetStrategy, first, ({ spec }) => (spec!.template.spec!.nodeSelector = { disk: "ssd" }));
  expect(generation(next.object)).toBe("2");
});

function claim(name: string): NonNullable<NonNullable<StatefulSet["spec"]>["volumeClaimTemplates"]>[number] {
  return { metadata: { name }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
}
