import { objectKey } from "@kubewright/api";
import { expect, test } from "vitest";

import { job, pod } from "../test/fixtures.js";
import { orphanPodKey, orphanSelectorKey, orphanTarget } from "./orphan-key.js";

test("a key of the orphan queue names the pod, or the namespace and selector, that it was made of", () => {
  const { namespace = "", name = "" } = pod("p").metadata;
  expect(orphanTarget(orphanPodKey(pod("p")))).toEqual({ type: "pod", key: objectKey({ namespace, name }) });
  // Contains the separators of type prefix and namespace.
  const selector = { matchLabels: { "example.com/who": "a:b" } };
  const selecting = job({ selector });
  expect(orphanTarget(orphanSelectorKey(selecting))).toEqual({ type: "selector", namespace, selector });
});

test("a Job without a selector has a key as well", () => {
  const without = { ...job(), spec: { template: job().spec!.template } };
  expect(orphanTarget(orphanSelectorKey(without))).toMatchObject({ type: "selector", selector: undefined });
});
