import { expect, test } from "vitest";

import * as informer from "./index.js";

test("the package exports these values", () => {
  expect(Object.keys(informer).sort()).toEqual([
    "InformerError",
    "InformerFactory",
    "NamespaceFeed",
    "SharedInformer",
    "Store",
    "deletedObject",
    "filteringHandler",
    "foreignObjectsDefinition",
    "informerMetricDefinitions",
    "isDeletedFinalStateUnknown",
    "isRecreated",
    "namespaceIndex",
    "withoutManagedFields",
  ]);
});
