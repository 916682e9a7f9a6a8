import { expect, test } from "vitest";

import * as expectations from "./index.js";

test("the package exports these values", () => {
  expect(Object.keys(expectations).sort()).toEqual([
    "ConsistencyStore",
    "ControllerExpectations",
    "FinalizerExpectations",
    "UIDTrackingExpectations",
  ]);
});
