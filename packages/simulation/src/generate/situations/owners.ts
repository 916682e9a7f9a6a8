import { type Owner, configMap, configMapOwner, jobOwner, referenceTo } from "../ownership.js";
import {
  FOREIGN_FINALIZER,
  PROPAGATIONS,
  at,
  deletes,
  during,
  refuses,
  removesFinalizer,
  slow,
} from "../plan-events.js";
import { copyOf } from "../unobserved-objects.js";
import { deletions } from "./deletions.js";
import { ofJob } from "./pick-job.js";

/** A dependent gets another owner, or none, while the garbage collector handles its deleted owner. */
export const changedOwner = ofJob((draw, job, context) => {
  const { namespace } = job;
  const owner = jobOwner(job);
  const heirs = context.subjects.filter(
    (each) => each.kind === "Job" && each.isRun !== true && each !== job && each.namespace === namespace,
  );
  const heir = heirs.length > 0 && draw.fork("heir").chance(0.5) ? [jobOwner(heirs[0]!)] : [];
  // The dependent may keep the former owner beside the other.
  const after = draw.fork("beside").chance(0.3) && heir.length > 0 ? [owner, ...heir] : heir;
  const atMs = draw.fork("at").integer(2_000, 30_000);
  const byMs = draw.fork("by").integer(500, 8_000);
  const movedMs = atMs + draw.fork("moved").integer(0, 3 * byMs);
  return [
    at(0, { apply: configMap(namespace, "left-behind", [owner]) }),
    during(atMs - draw.fork("before").integer(0, 1_000), byMs * 4, slow("garbage-collector-controller", byMs)),
    at(atMs, deletes(job, draw.fork("propagation").pick(PROPAGATIONS))),
    at(movedMs, { apply: configMap(namespace, "left-behind", after) }),
  ];
});

/** An owner is deleted, and another object takes its name, while the garbage collector is down. */
export const replacedOwner = ofJob((draw, job) => {
  const atMs = draw.fork("at").integer(2_000, 30_000);
  const goesMs = atMs + draw.fork("goes").integer(100, 5_000);
  const comesMs = goesMs + draw.fork("comes").integer(100, 5_000);
  const controllerDown = draw.fork("all").chance(0.3) ? "all" : "garbage-collector-controller";
  return [
    at(0, { apply: configMap(job.namespace, "left-behind", [jobOwner(job)]) }),
    during(atMs, comesMs - atMs + draw.fork("longer").integer(500, 20_000), { controllerDown }),
    at(goesMs, deletes(job, "Background")),
    at(comesMs, { apply: job.manifest }),
  ];
});

/** Patches of some dependents fail when an owner is deleted with orphan propagation. */
export const partiallyOrphaned = ofJob((draw, job) => {
  const momentMs = draw.fork("moment").pick(job.moments.slice(0, 2)) + draw.fork("after").integer(0, 20_000);
  const atMs = Math.max(1_000, momentMs);
  const refused = refuses("garbage-collector-controller", "patch", "pods", {
    nth: draw.fork("nth").integer(1, 3),
    times: draw.fork("times").integer(1, 3),
    with: draw.fork("with").pick([500, 503, 429]),
  });
  return [during(atMs - 500, draw.fork("for").integer(5_000, 60_000), refused), at(atMs, deletes(job, "Orphan"))];
});

/**
 * A foreign finalizer blocks the deletion of one owner, and the deletion of the other owner queues their common
 * dependent.
 */
export const blockedOwner = ofJob((draw, job) => {
  const { namespace, manifest } = job;
  const metadata = { ...manifest.metadata, finalizers: [FOREIGN_FINALIZER] };
  const owners = [job.name, "other-owner"].map((name) => jobOwner({ namespace, name }));
  const atMs = draw.fork("moment").pick(job.moments) + draw.fork("after").integer(1_000, 20_000);
  const goesMs = atMs + draw.fork("goes").integer(500, 20_000);
  return [
    at(0, { apply: { ...manifest, metadata } }),
    at(0, { apply: copyOf(manifest, "other-owner") }),
    at(0, { apply: configMap(namespace, "left-behind", owners) }),
    at(atMs, deletes(job, draw.fork("propagation").pick(PROPAGATIONS))),
    at(goesMs, deletes(job, "Background", "other-owner")),
    at(goesMs + draw.fork("let go").integer(1_000, 60_000), removesFinalizer(job)),
  ];
});

/** A Job and its dependents own each other, and the Job is deleted: each waits for the other. */
export const ownershipCycle = ofJob((draw, job) => {
  const { namespace, manifest } = job;
  const names = Array.from({ length: draw.fork("length").integer(1, 3) }, (_, number) => `circle-${number + 1}`);
  const owners = [jobOwner(job), ...names.map((name) => configMapOwner(namespace, name))];
  const metadata = { ...manifest.metadata, ownerReferences: [referenceTo(owners.at(-1)!)] };
  return [
    ...names.map((name, index) => at(0, { apply: configMap(namespace, name, [owners[index]!]) })),
    at(0, { apply: { ...manifest, metadata } }),
    ...deletions(draw, job, 1),
  ];
});

/** An owner that is deleted in the foreground, and waits for its pods, gets another dependent. */
export const lateDependent = ofJob((draw, job) => {
  const atMs = job.moments[Math.min(1, job.moments.length - 1)]! + draw.fork("after").integer(500, 20_000);
  const comesMs = atMs + draw.fork("comes").integer(100, 20_000);
  return [
    at(atMs, deletes(job, "Foreground")),
    at(comesMs, { apply: configMap(job.namespace, "late-dependent", [jobOwner(job)]) }),
  ];
});

/**
 * An object has a cluster-scoped and a namespaced owner; the deletion of the latter makes the garbage collector look up
 * both.
 */
export const ownedByNode = ofJob((draw, job) => {
  const goesMs = draw.fork("moment").pick(job.moments) + draw.fork("after").integer(1_000, 20_000);
  const atMs = goesMs + draw.fork("later").integer(1_000, 60_000);
  return [
    at(0, { apply: configMap(job.namespace, "of-node", [jobOwner(job), NODE]) }),
    at(goesMs, deletes(job, draw.fork("propagation").pick(PROPAGATIONS))),
    ...(draw.fork("node goes").chance(0.4) ? [at(atMs, { delete: { kind: "Node", name: "node-1" } })] : []),
  ];
});

const NODE: Owner = { apiVersion: "v1", kind: "Node", namespace: "", name: "node-1" };
