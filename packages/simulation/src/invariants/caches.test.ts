import { describe, expect, it } from "vitest";

import { History } from "../../test/history.js";
import { pod } from "../../test/objects.js";
import { cachesAreMonotonic } from "./caches.js";

const at = (resourceVersion: string, uid = "u") => pod("Running", { metadata: { resourceVersion, uid } });
const component = "job-controller";

describe("S17 caches are monotonic", () => {
  it("accepts that an object is added, updated, deleted, and another takes its name", () => {
    const history = new History(cachesAreMonotonic);
    history.show(at("5"), { component });
    history.show(at("5"), { component, type: "update" });
    history.show(at("7"), { component, type: "update" });
    history.show(at("7"), { component, type: "delete" });
    history.show(at("9", "v"), { component });
    history.show(at("12", "w"), { component, type: "update", previous: at("9", "v") });
    history.show(at("5"), { component, incarnation: 2 });
    history.rest();
    expect(history.violations).toEqual([]);
  });

  it.each([
    [
      "goes back from version 10 to 9",
      [
        ["add", "10"],
        ["update", "9"],
      ],
    ],
    [
      "is added again",
      [
        ["add", "1"],
        ["add", "2"],
      ],
    ],
    ["is updated before it is added", [["update", "1"]]],
    ["is deleted without having been added", [["delete", "1"]]],
    [
      "comes back after it was deleted",
      [
        ["add", "1"],
        ["delete", "2"],
        ["add", "1"],
      ],
    ],
    [
      "comes back after it was deleted",
      [
        ["add", "1"],
        ["delete", "2"],
        ["update", "1"],
      ],
    ],
  ] as const)("refuses one that %s", (message, events) => {
    const history = new History(cachesAreMonotonic);
    for (const [type, version] of events) history.show(at(version), { component, type });
    expect(history.violations).toEqual([
      `Pod default/a: in the cache of job-controller of controller-manager-1 ${message}`,
    ]);
  });

  it("refuses a cache that differs at rest, unless what differs was changed within the last minute", () => {
    const history = new History(cachesAreMonotonic);
    history.store(at("5"));
    history.pass(59_000);
    history.stale = [{ component, resource: "pods", difference: "default/a is missing" }];
    history.rest();
    expect(history.violations).toEqual([]);
    history.pass(2000);
    history.stale = [{ component, resource: "pods", difference: "default/a is missing" }];
    history.rest();
    expect(history.violations).toEqual([
      "job-controller's pods: at rest differs from what is stored: default/a is missing",
    ]);
  });
});
