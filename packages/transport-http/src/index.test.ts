import { expect, test } from "vitest";

import * as exported from "./index.js";

test("the package exports these values", () => {
  expect(Object.keys(exported).sort()).toEqual([
    "ConnectionError",
    "createHttpTransport",
    "inClusterConfig",
    "loadClientConfig",
    "loadKubeConfig",
    "proxyFromEnvironment",
  ]);
});
