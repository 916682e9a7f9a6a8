import type { MutantRows } from "../mutant.ts";

/** Known bugs of leader election, expectations, caches, watches and queues. */
export const CLIENT_MACHINERY_MUTANTS: MutantRows = {
  "expectations-failed-create": {
    entry: "E10",
    issue: "kubernetes/kubernetes#77436",
    sentence: "A pod that could not be created stays in the expectations.",
    file: "packages/job/src/apply-pod-plan.ts",
    find: `      expectations.creationObserved(key);
`,
    replace: "",
  },
  "expectations-failed-delete": {
    entry: "E10",
    issue: "kubernetes/kubernetes#77436",
    sentence: "A pod that could not be deleted stays in the expectations.",
    inPlan: [
      /requestFails|apiServer|controllerCrashes|controllerDown|"delete":\{"kind":"Pod"/,
      /"with":\{"spec":\{"parallelism"|"suspend":/,
    ],
    file: "packages/job/src/apply-pod-plan.ts",
    find: `      expectations.deletionObserved(key);
`,
    replace: "",
  },
  "expectations-skipped-creates": {
    entry: "E10",
    issue: "kubernetes/kubernetes#77436",
    sentence:
      "Pods that were skipped because an earlier creation was refused stay in the expectations: the Job stalls for five minutes.",
    file: "packages/job/src/apply-pod-plan.ts",
    find: "if (skipped > 0) expectations.lowerExpectations(key, skipped, 0);",
    replace: "",
  },
  "informer-ghosts-stay": {
    entry: "E7",
    issue: "kubernetes/kubernetes#115658",
    sentence: "Objects that were deleted while the watch was interrupted stay in the cache.",
    inPlan: [/watchCut|watchSilent|apiServer|staleList/],
    file: "packages/informer/src/store.ts",
    find: `    this.#entries = after;
`,
    replace: `    for (const entry of before.values()) if (!after.has(entry.key)) after.set(entry.key, entry);
    this.#entries = after;
`,
  },
  "informer-missed-delete": {
    entry: "E7",
    issue: "kubernetes/kubernetes#115658",
    sentence: "Handlers do not receive the deletion of objects that were deleted while the watch was interrupted.",
    inPlan: [/watchCut|watchSilent|apiServer|staleList/],
    file: "packages/informer/src/store.ts",
    find: "if (!after.has(key)) vanished.push({ key, object });",
    replace: "if (!after.has(key)) continue;",
  },
  "lease-lead-after-deadline": {
    entry: "E9c",
    issue: "kubernetes/kubernetes#44887",
    sentence: "A leader that could not renew its Lease in time continues to lead and to retry.",
    inPlan: [/controllerManagers/],
    changes: [
      {
        file: "packages/controller/src/leader-elector.ts",
        find: "const deadlineMs = startMs + this.#renewDeadlineMs;",
        replace: "const deadlineMs = Number.POSITIVE_INFINITY;",
      },
      {
        file: "packages/controller/src/leader-elector.ts",
        find: "return this.isLeader && (this.#isDeferred || this.#clock.monotonic() - this.#renewedMs < this.#renewDeadlineMs);",
        replace: "return this.isLeader;",
      },
    ],
  },
  "lease-renewals-deferred-too-long": {
    entry: "own",
    sentence:
      "A leader defers its renewals, and continues to when another candidate observes and takes over its Lease.",
    inPlan: [/controllerManagers/],
    file: "packages/apiserver/src/lease-renewals.ts",
    find: "if (this.#deferrals.size === 1) this.#start();",
    replace: "",
  },
  "lease-own-duration": {
    entry: "E9",
    issue: "kubernetes/kubernetes#114872",
    sentence: "A candidate uses its own lease duration instead of the leader's, and takes over too early.",
    inPlan: [/controllerManagers/],
    file: "packages/controller/src/leader-elector.ts",
    find: "return this.#observedMs + this.#observed.leaseDurationSeconds * 1000;",
    replace: "return this.#observedMs + this.#leaseDurationMs;",
  },
  "lease-release-foreign": {
    entry: "E9b",
    sentence:
      "A stopping leader releases the Lease even if another candidate has acquired it: a third starts beside it.",
    inPlan: [/controllerManagers/],
    file: "packages/controller/src/leader-elector.ts",
    find: "if (found.holderIdentity !== this.identity) return;",
    replace: "",
  },
  "lease-release-invalid": {
    entry: "own",
    issue: "kubernetes/kubernetes#80954",
    sentence: "A stopping leader releases the Lease with an invalid write: there is no leader until the Lease expires.",
    inPlan: [/controllerManagers/],
    file: "packages/controller/src/leader-elector.ts",
    find: "leaseDurationSeconds: 1,",
    replace: "leaseDurationSeconds: 0,",
  },
  "lease-wall-clock": {
    entry: "own",
    sentence: "Whether a Lease has expired is decided by the time that is written in it.",
    inPlan: [/"controllerManagers"/, /clock(Jump|Skew)/],
    file: "packages/controller/src/leader-elector.ts",
    find: "return this.#validUntilMs() > this.#clock.monotonic();",
    replace: "return this.#observed.renewTimeMs + this.#observed.leaseDurationSeconds * 1000 > this.#clock.now();",
  },
  "queue-never-forgets": {
    entry: "own",
    sentence: "A success does not reset the failure count of a key: each later failure waits longer.",
    inPlan: [/requestFails|apiServer/],
    file: "packages/controller/src/reconcile-loop.ts",
    find: "if (result?.keepFailures !== true) this.#queue.forget(key);",
    replace: "",
  },
  "queue-not-brought-forward": {
    entry: "own",
    sentence: "A delayed key keeps its delay when a shorter one is requested.",
    file: "packages/workqueue/src/delaying-queue.ts",
    find: "} else if (readyAtMs < waiting.rank) {",
    replace: "} else if (readyAtMs < waiting.rank && waiting.rank < 0) {",
  },
  "reflector-time-travel": {
    entry: "E8",
    issue: "kubernetes/kubernetes#59848",
    sentence: "Every new list accepts any version: from a server that is behind, deleted objects come back.",
    inPlan: [/staleList/],
    changes: [
      {
        file: "packages/informer/src/reflector.ts",
        find: 'const requestedVersion = this.#lastSyncUnavailable ? "" : this.#lastSyncResourceVersion || initialVersion;',
        replace: 'const requestedVersion: string = "0";',
      },
      {
        file: "packages/informer/src/reflector.ts",
        find: '      this.#lastSyncUnavailable || this.#lastSyncResourceVersion === "" ? undefined : this.#lastSyncResourceVersion;',
        replace: '      "0";',
      },
    ],
  },
  "reflector-too-large-version": {
    entry: "E8",
    issue: "kubernetes/kubernetes#91073",
    sentence:
      "A server that is behind the last seen version is asked for that version again and again, instead of for the latest that it has.",
    inPlan: [/staleList/],
    file: "packages/informer/src/reflector.ts",
    find: "return isResourceExpired(error) || isTooLargeResourceVersion(error);",
    replace: "return isResourceExpired(error);",
  },
  "watch-half-open": {
    entry: "E8",
    sentence: "A watch that is silent, and not closed, is never timed out: the cache does not change any more.",
    inPlan: [/watchSilent/],
    file: "packages/informer/src/watch-stream.ts",
    find: "new Deadline(clock, signal, options.timeoutSeconds * 1000 + GRACE_MS)",
    replace: "new Deadline(clock, signal, Number.MAX_SAFE_INTEGER)",
  },
};
