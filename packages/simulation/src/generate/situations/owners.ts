import type { ScenarioEventEntry } from "../../faults/registry.js";
import { durationText, offsetText } from "../duration-text.js";
import { type Owner, configMap, referenceTo } from "../ownership.js";
import { copyOf } from "../unobserved-objects.js";
import { PROPAGATIONS, target } from "../user-actions.js";
import { FOREIGN_FINALIZER, removeFirstFinalizerPatch } from "../jobs.js";
import { ofJob } from "./pick-job.js";
import { deletions } from "./deletions.js";

/** A dependent gets another owner, or none, while the garbage collector handles its deleted owner. */
export const changedOwner = ofJob((draw, job, context) => {
  const { namespace } = job;
  const owner: Owner = { apiVersion: "batch/v1", kind: "Job", namespace, name: job.name };
  const heirs = context.subjects.filter(
    (each) => each.kind === "Job" && each.isRun !== true && each !== job && each.namespace === namespace,
  );
  const heir = heirs.length > 0 && draw.fork("heir").chance(0.5) ? [{ ...owner, name: heirs[0]!.name }] : [];
  // The dependent may keep the former owner beside the other.
  const after = draw.fork("beside").chance(0.3) && heir.length > 0 ? [owner, ...heir] : heir;
  const atMs = draw.fork("at").integer(2_000, 30_000);
  const byMs = draw.fork("by").integer(500, 8_000);
  const movedMs = atMs + draw.fork("moved").integer(0, 3 * byMs);
  return [
    { at: "+0s", apply: configMap(namespace, "left-behind", [owner]) },
    {
      at: offsetText(atMs - draw.fork("before").integer(0, 1_000)),
      for: durationText(byMs * 4),
      apiServerSlow: { by: durationText(byMs), components: ["garbage-collector-controller"] },
    },
    { at: offsetText(atMs), delete: { ...target(job), propagation: draw.fork("propagation").pick(PROPAGATIONS) } },
    { at: offsetText(movedMs), apply: configMap(namespace, "left-behind", after) },
  ];
});

/** An owner is deleted, and another object takes its name, while the garbage collector is down. */
export const replacedOwner = ofJob((draw, job) => {
  const { namespace } = job;
  const atMs = draw.fork("at").integer(2_000, 30_000);
  const goesMs = atMs + draw.fork("goes").integer(100, 5_000);
  const comesMs = goesMs + draw.fork("comes").integer(100, 5_000);
  const isDown = draw.fork("all").chance(0.3) ? "all" : "garbage-collector-controller";
  const forMs = comesMs - atMs + draw.fork("longer").integer(500, 20_000);
  return [
    { at: "+0s", apply: configMap(namespace, "left-behind", [{ ...JOB, namespace, name: job.name }]) },
    { at: offsetText(atMs), for: durationText(forMs), controllerDown: isDown },
    { at: offsetText(goesMs), delete: { ...target(job), propagation: "Background" } },
    { at: offsetText(comesMs), apply: job.manifest },
  ];
});

/** Patches of some dependents fail when an owner is deleted with orphan propagation. */
export const partiallyOrphaned = ofJob((draw, job) => {
  const atMs = Math.max(
    1_000,
    draw.fork("moment").pick(job.moments.slice(0, 2)) + draw.fork("after").integer(0, 20_000),
  );
  return [
    {
      at: offsetText(atMs - 500),
      for: durationText(draw.fork("for").integer(5_000, 60_000)),
      requestFails: {
        components: ["garbage-collector-controller"],
        verbs: ["patch"],
        resources: ["pods"],
        nth: draw.fork("nth").integer(1, 3),
        times: draw.fork("times").integer(1, 3),
        with: draw.fork("with").pick([500, 503, 429]),
      },
    },
    { at: offsetText(atMs), delete: { ...target(job), propagation: "Orphan" } },
  ];
});

/**
 * A foreign finalizer blocks the deletion of one owner, and the deletion of the other owner queues their common
 * dependent.
 */
export const blockedOwner = ofJob((draw, job) => {
  const { namespace, manifest } = job;
  const other = copyOf(manifest, "other-owner");
  const metadata = { ...manifest.metadata, finalizers: [FOREIGN_FINALIZER] };
  const atMs = draw.fork("moment").pick(job.moments) + draw.fork("after").integer(1_000, 20_000);
  const goesMs = atMs + draw.fork("goes").integer(500, 20_000);
  const finalizerRemovedMs = goesMs + draw.fork("let go").integer(1_000, 60_000);
  return [
    { at: "+0s", apply: { ...manifest, metadata } },
    { at: "+0s", apply: other },
    {
      at: "+0s",
      apply: configMap(
        namespace,
        "left-behind",
        [job.name, "other-owner"].map((name) => ({ ...JOB, namespace, name })),
      ),
    },
    { at: offsetText(atMs), delete: { ...target(job), propagation: draw.fork("propagation").pick(PROPAGATIONS) } },
    { at: offsetText(goesMs), delete: { ...target(job), name: "other-owner", propagation: "Background" } },
    {
      at: offsetText(finalizerRemovedMs),
      patch: { ...target(job), type: "json", with: removeFirstFinalizerPatch() },
    },
  ];
});

const JOB = { apiVersion: "batch/v1", kind: "Job" };

/** A Job and its dependents own each other, and the Job is deleted: each waits for the other. */
export const ownershipCycle = ofJob((draw, job) => {
  const { namespace, manifest } = job;
  const names = Array.from({ length: draw.fork("length").integer(1, 3) }, (_, number) => `circle-${number + 1}`);
  let owner: Owner = { apiVersion: "batch/v1", kind: "Job", namespace, name: job.name };
  const entries: ScenarioEventEntry[] = [];
  for (const name of names) {
    entries.push({ at: "+0s", apply: configMap(namespace, name, [owner]) });
    owner = { apiVersion: "v1", kind: "ConfigMap", namespace, name };
  }
  const metadata = { ...manifest.metadata, ownerReferences: [referenceTo(owner)] };
  return [...entries, { at: "+0s", apply: { ...manifest, metadata } }, ...deletions(draw, job, 1)];
});

/** An owner that is deleted in the foreground, and waits for its pods, gets another dependent. */
export const lateDependent = ofJob((draw, job) => {
  const { namespace, name } = job;
  const atMs = job.moments[Math.min(1, job.moments.length - 1)]! + draw.fork("after").integer(500, 20_000);
  const comesMs = atMs + draw.fork("comes").integer(100, 20_000);
  return [
    { at: offsetText(atMs), delete: { ...target(job), propagation: "Foreground" } },
    { at: offsetText(comesMs), apply: configMap(namespace, "late-dependent", [{ ...JOB, namespace, name }]) },
  ];
});

/**
 * An object has a cluster-scoped and a namespaced owner; the deletion of the latter makes the garbage collector look up
 * both.
 */
export const ownedByNode = ofJob((draw, job) => {
  const { namespace, name } = job;
  const goesMs = draw.fork("moment").pick(job.moments) + draw.fork("after").integer(1_000, 20_000);
  const atMs = goesMs + draw.fork("later").integer(1_000, 60_000);
  const nodeGoes: ScenarioEventEntry[] = draw.fork("node goes").chance(0.4)
    ? [{ at: offsetText(atMs), delete: { kind: "Node", name: "node-1" } }]
    : [];
  return [
    { at: "+0s", apply: configMap(namespace, "of-node", [{ ...JOB, namespace, name }, NODE]) },
    { at: offsetText(goesMs), delete: { ...target(job), propagation: draw.fork("propagation").pick(PROPAGATIONS) } },
    ...nodeGoes,
  ];
});

const NODE: Owner = { apiVersion: "v1", kind: "Node", namespace: "", name: "node-1" };
