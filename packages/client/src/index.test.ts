import { expect, test } from "vitest";

import * as exported from "./index.js";

test("the package exports these values", () => {
  expect(Object.keys(exported).sort()).toEqual([
    "Client",
    "ResourceClient",
    "ShardReader",
    "StatusError",
    "errorMessage",
    "hasStatusCause",
    "isAlreadyExists",
    "isConflict",
    "isConnectionLost",
    "isConnectionRefused",
    "isForbidden",
    "isInternalError",
    "isInvalid",
    "isNotFound",
    "isResourceExpired",
    "isTooLargeResourceVersion",
    "isTooManyRequests",
    "reasonOf",
  ]);
});
