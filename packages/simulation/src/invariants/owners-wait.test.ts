import type { KubernetesObject, Pod } from "@kubewright/api";
import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { job, pod } from "../../test/objects.js";
import { ownersWaitForDependents } from "./owners-wait.js";

const GC = "garbage-collector-controller";
const FOREGROUND = "foregroundDeletion";
const ORPHAN = "orphan";

function owner(finalizers?: readonly string[]): KubernetesObject {
  const made = job();
  if (finalizers === undefined) return made;
  return {
    ...made,
    metadata: { ...made.metadata, deletionTimestamp: "2026-03-02T10:00:00Z", finalizers: [...finalizers] },
  };
}

function child(blockOwnerDeletion = true, owned = true): Pod {
  const reference = { apiVersion: "batch/v1", kind: "Job", name: "pi", uid: "uid-of-pi", blockOwnerDeletion };
  const made = pod("Running", { name: "child" });
  return { ...made, metadata: { ...made.metadata, uid: "uid-of-child", ownerReferences: owned ? [reference] : [] } };
}

interface Simulated {
  readonly stored?: Pod;
  readonly shown?: Pod;
  /** Component that deletes the object. Default: the garbage collector. */
  readonly by?: string;
  readonly showsLate?: boolean;
  readonly meanwhile?: (history: History) => void;
}

function released(finalizer: string, { stored, shown, by = GC, showsLate = false, meanwhile }: Simulated = {}) {
  const history = new History(ownersWaitForDependents);
  history.store(owner());
  const dependent = stored ?? child();
  history.store(dependent);
  const show = (): void => history.show(shown ?? dependent, { component: GC });
  if (!showsLate) show();
  history.pass(1_000);
  history.store(owner([finalizer]));
  history.pass(1_000);
  if (showsLate) show();
  meanwhile?.(history);
  history.store(owner([]), { component: by, verb: "patch" });
  return history.violations;
}

describe("S27 owners wait for their dependents", () => {
  it("refuses to let an owner go before a dependent that blocks it, or that it was to let go", () => {
    expect(released(FOREGROUND)).toEqual([
      "Job default/pi: is released from foregroundDeletion, and Pod default/child is left",
    ]);
    expect(released(ORPHAN)).toEqual(["Job default/pi: is released from orphan, and Pod default/child is left"]);
    expect(released(ORPHAN, { stored: child(false) })).toHaveLength(1);
  });

  it("accepts that dependents are gone, let go, or do not block", () => {
    expect(released(FOREGROUND, { meanwhile: (history) => history.remove(child()) })).toEqual([]);
    expect(released(ORPHAN, { meanwhile: (history) => history.store(child(true, false), GC) })).toEqual([]);
    expect(released(FOREGROUND, { stored: child(false) })).toEqual([]);
  });

  it("accepts what it was not shown to be a dependent before the deletion began", () => {
    expect(released(FOREGROUND, { showsLate: true })).toEqual([]);
    expect(released(ORPHAN, { showsLate: true })).toEqual([]);
    expect(released(FOREGROUND, { shown: child(false) })).toEqual([]);
    expect(released(FOREGROUND, { shown: child(true, false) })).toEqual([]);
  });

  it("accepts what it was shown in an earlier life, or to be gone or different meanwhile", () => {
    const again = (type: "delete" | "update", object: Pod) => (history: History) => {
      history.show(object, { component: GC, type });
      history.show(child(), { component: GC });
    };
    expect(released(FOREGROUND, { meanwhile: again("delete", child()) })).toEqual([]);
    expect(released(FOREGROUND, { meanwhile: again("update", child(false)) })).toEqual([]);
    const history = new History(ownersWaitForDependents);
    history.store(owner());
    history.store(child());
    history.show(child(), { component: GC });
    history.pass(1_000);
    history.store(owner([FOREGROUND]));
    history.store(owner([]), { component: GC, verb: "patch", incarnation: 2 });
    expect(history.violations).toEqual([]);
  });

  it("accepts what changed its owners meanwhile, or what users release", () => {
    const changed = (history: History): void => {
      history.store(child(true, false));
      history.store(child());
    };
    expect(released(ORPHAN, { meanwhile: changed })).toEqual([]);
    expect(released(FOREGROUND, { by: "user" })).toEqual([]);
  });

  it("wants what is deleted for an owner that waits to wait for its own dependents", () => {
    const deletedFor = (
      finalizers: readonly string[],
      { deleted = [] as readonly string[], knows = true, looks = true } = {},
    ): readonly string[] => {
      const history = new History(ownersWaitForDependents);
      const grandchild = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: "grandchild",
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "child", uid: "uid-of-child" }],
        },
      };
      history.store(owner());
      history.store(child());
      const stored = history.store(grandchild);
      if (knows) history.show({ ...stored, kind: "ConfigMap" }, { component: GC });
      history.store(owner(finalizers));
      history.pass(1_000);
      if (looks) history.answer({ component: GC, verb: "get", resource: "pods", name: "child", code: 200 });
      history.pass(1_000);
      const now = child();
      const metadata = { ...now.metadata, deletionTimestamp: "2026-03-02T10:00:00Z", finalizers: [...deleted] };
      history.store({ ...now, metadata }, { component: GC, verb: "delete" });
      return history.violations;
    };
    expect(deletedFor([FOREGROUND])).toEqual([
      "Pod default/child: is deleted for an owner that waits, before ConfigMap default/grandchild",
    ]);
    expect(deletedFor([FOREGROUND], { deleted: [FOREGROUND] })).toEqual([]);
    expect(deletedFor([FOREGROUND], { knows: false })).toEqual([]);
    // Without a live read, the time of the view is unknown.
    expect(deletedFor([FOREGROUND], { looks: false })).toEqual([]);
    expect(deletedFor([])).toEqual([]);
  });

  it("accepts the release of what has taken the name of another a short while ago", () => {
    const history = new History(ownersWaitForDependents);
    const first = owner();
    history.store({ ...first, metadata: { ...first.metadata, uid: "another" } });
    history.remove(first);
    history.store(owner());
    history.store(child());
    history.show(child(), { component: GC });
    history.pass(1_000);
    history.store(owner([FOREGROUND]));
    history.store(owner([]), { component: GC, verb: "patch" });
    expect(history.violations).toEqual([]);
  });
});
