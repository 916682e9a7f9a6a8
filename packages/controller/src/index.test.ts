import { expect, test } from "vitest";

import * as kit from "./index.js";

test("the package exports these values and no others", () => {
  expect(Object.keys(kit).sort()).toEqual([
    "ControllerRefManager",
    "EventCorrelator",
    "EventRecorder",
    "LeaderElector",
    "NotLeaderError",
    "PodControl",
    "ReconcileLoop",
    "TerminalError",
    "aggregateErrors",
    "canonicalControllers",
    "comparePodsForDeletion",
    "controllerListErrors",
    "defaultBackoff",
    "defaultRetry",
    "discardEvents",
    "isControllerEnabled",
    "isDnsSubdomain",
    "isDnsSubdomainPrefix",
    "isPodActive",
    "isPodReady",
    "isPodTerminal",
    "isPodTerminating",
    "knownControllers",
    "leaderFence",
    "podControllerIndex",
    "podControllerIndexKey",
    "podControllerIndexValues",
    "podFromTemplate",
    "podsOfController",
    "recheckDeletionTimestamp",
    "retryOnConflict",
    "runAll",
    "selectControllers",
    "silentLogger",
    "slowStartBatch",
  ]);
});
