import type { ApiRequest, ApiResponse } from "@kubewright/transport";
import { expect, test } from "vitest";

import { finishWrites } from "./finish-writes.js";

test("writes lose their signal, reads keep it", async () => {
  const seen: ApiRequest[] = [];
  const transport = finishWrites(async (request): Promise<ApiResponse> => {
    seen.push(request);
    return { status: 200, headers: {}, body: { type: "decoded", value: {} } };
  });
  const { signal } = new AbortController();
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"] as const)
    await transport({ method, path: "/x", headers: {}, signal });
  expect(seen.map(({ method, signal: kept }) => [method, kept === signal])).toEqual([
    ["GET", true],
    ["POST", false],
    ["PUT", false],
    ["PATCH", false],
    ["DELETE", false],
  ]);
});
