import { expect, test } from "vitest";

import {
  KUBERNETES_VERSIONS,
  NEWEST_VERSION,
  type VersionBehaviours,
  behavioursOf,
  closestVersion,
  gitVersionOf,
  newestBehaviours,
  parseServerVersion,
} from "./kubernetes-version.js";

test("each behaviour exists from one release on", () => {
  const firstWith = (behaviour: keyof VersionBehaviours): string | undefined =>
    KUBERNETES_VERSIONS.find((version) => behavioursOf(version)[behaviour]);
  const behaviours = Object.keys(newestBehaviours) as (keyof VersionBehaviours)[];
  expect(Object.fromEntries(behaviours.map((behaviour) => [behaviour, firstWith(behaviour)]))).toEqual({
    jobManagedBy: "1.33",
    watchList: "1.34",
    mutableSchedulingDirectivesForSuspendedJobs: "1.36.2",
    mutablePodResourcesForSuspendedJobs: "1.36.2",
    activePodsDuringBackoff: "1.36.3",
  });
  for (const behaviour of behaviours) {
    const has = KUBERNETES_VERSIONS.map((version) => behavioursOf(version)[behaviour]);
    expect(has).toEqual([...has].sort((a, b) => Number(a) - Number(b)));
  }
  expect(KUBERNETES_VERSIONS.at(-1)).toBe(NEWEST_VERSION);
});

test.each([
  ["v1.36.3", "1.36.3", "measured"],
  ["v1.36.9", "1.36.3", "measured"],
  ["v1.36.0", "1.36.2", "measured"],
  ["v1.36", "1.36.2", "measured"],
  ["v1.35.6", "1.35", "measured"],
  ["1.34.0-alpha.1", "1.34", "measured"],
  ["v1.33.4-gke.1036000", "1.33", "measured"],
  ["v1.33.1+k3s1", "1.33", "measured"],
  ["v1.32.7-eks-1234", "1.33", "between"],
  ["v1.31.14", "1.31", "measured"],
  ["v1.30.2", "1.31", "older"],
  ["v0.9.0", "1.31", "older"],
  ["v1.37.0", "1.36.3", "newer"],
  ["v2.0.0", "1.36.3", "newer"],
])("a server %s does what %s does: %s", (gitVersion, version, fit) => {
  expect(closestVersion(parseServerVersion(gitVersion)!)).toEqual({ version, fit });
});

test.each(["", "v1", "1.x", "latest", "v1.36.3.4", "11111.2.3"])("%j is no version", (text) => {
  expect(parseServerVersion(text)).toBeUndefined();
});

test("a release that was measured is the closest to itself", () => {
  for (const version of KUBERNETES_VERSIONS)
    expect(closestVersion(parseServerVersion(gitVersionOf(version))!)).toEqual({ version, fit: "measured" });
});
