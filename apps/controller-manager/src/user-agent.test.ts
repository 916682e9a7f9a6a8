import { expect, test } from "vitest";

import { userAgent } from "./user-agent.js";

test("the user agent has client-go's form", () => {
  expect(userAgent({ version: "0.1.0", platform: "linux", arch: "x64" }, "job-controller")).toBe(
    "kubewright-controller-manager/v0.1.0 (linux/amd64) kubernetes/v1.36/job-controller",
  );
  expect(userAgent({ version: "2.0.0", platform: "win32", arch: "arm64" }, "leader-election")).toBe(
    "kubewright-controller-manager/v2.0.0 (windows/arm64) kubernetes/v1.36/leader-election",
  );
});
