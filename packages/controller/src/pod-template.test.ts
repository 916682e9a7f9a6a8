import { deepFreeze, newControllerRef } from "@kubewright/api";
import { expect, test } from "vitest";

import { podFromTemplate } from "./pod-template.js";

const owner = (name: string) => ({ metadata: { namespace: "default", name, uid: "u1" } });
const reference = newControllerRef(owner("pi"), { apiVersion: "batch/v1", kind: "Job" });

test("the pod shares nothing with the template", () => {
  const template = deepFreeze({ metadata: { labels: { app: "pi" } }, spec: { containers: [{ name: "main" }] } });
  const pod = podFromTemplate(template, owner("pi"), reference);
  pod.metadata.labels!["batch.kubernetes.io/job-completion-index"] = "0";
  pod.spec!.containers[0]!.env = [{ name: "JOB_COMPLETION_INDEX", value: "0" }];
  expect(template).toEqual({ metadata: { labels: { app: "pi" } }, spec: { containers: [{ name: "main" }] } });
});

test("the name is generated from the owner's name and a dash, or without the dash when it would be too long", () => {
  const prefix = (name: string): unknown => podFromTemplate({}, owner(name), reference).metadata.generateName;
  expect(prefix("pi")).toBe("pi-");
  expect(prefix("a".repeat(252))).toBe(`${"a".repeat(252)}-`);
  expect(prefix("a".repeat(253))).toBe("a".repeat(253));
});

test("an explicit prefix wins, an empty one does not", () => {
  expect(podFromTemplate({}, owner("pi"), reference, "pi-0-").metadata.generateName).toBe("pi-0-");
  expect(podFromTemplate({}, owner("pi"), reference, "").metadata.generateName).toBe("pi-");
});
