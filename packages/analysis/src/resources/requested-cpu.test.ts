import type { Pod } from "@kubewright/api";
import { expect, test } from "vitest";

import { requestedCpuMillis } from "./requested-cpu.js";

const pod = (containers: readonly string[], initContainers: readonly string[] = []): Pod => {
  const made = (cpu: string, index: number): { name: string; resources: { requests: Record<string, string> } } => ({
    name: `c${index}`,
    resources: { requests: { cpu } },
  });
  return {
    metadata: { name: "p" },
    spec: { containers: containers.map(made), initContainers: initContainers.map(made) },
  };
};

test.each([
  ["nothing", pod([]), 0],
  ["cores and thousandths of all containers", pod(["1", "250m", "0.5"]), 1_750],
  ["other suffixes and exponents", pod(["1e1", "1k", "100u"]), 1_010_001],
  ["binary suffixes and large ones", pod(["1Mi", "1M"]), 2_048_576_000],
  ["init containers only where they request more", pod(["1"], ["2", "1500m"]), 2_000],
  ["invalid quantities", pod(["many", "1Q"]), 0],
])("counts %s", (_title, object, millis) => {
  expect(requestedCpuMillis(object)).toBe(millis);
});
