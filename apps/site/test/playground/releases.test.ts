import { KUBERNETES_VERSIONS } from "@kubewright/api";
import { expect, test } from "vitest";

import { parseKubernetesVersion } from "../../../../packages/analysis/src/input/kubernetes-version.js";
import { RELEASES } from "../../playground/page/scenario/releases.ts";

test("exactly the releases that can be simulated are offered", () => {
  const offered = RELEASES.map(([name, words]) => parseKubernetesVersion(name || words).version);
  expect(new Set(offered)).toEqual(new Set(KUBERNETES_VERSIONS));
});
