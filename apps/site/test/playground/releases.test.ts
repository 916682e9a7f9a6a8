import { KUBERNETES_VERSIONS } from "@kubewright/api";
import { expect, test } from "vitest";

import { parseKubernetesVersion } from "../../../simulator/src/kubernetes-version.js";
import { RELEASES } from "../../playground/page/scenario/releases.ts";

test("every release that can be played is offered, and no other", () => {
  const offered = RELEASES.map(([name, words]) => parseKubernetesVersion(name || words).version);
  expect(new Set(offered)).toEqual(new Set(KUBERNETES_VERSIONS));
});
