import { describe, expect, test } from "vitest";

import { controllerNames, kubernetesControllers } from "./kubernetes/index.js";
import { chooseControllers } from "./managed-controller.js";

const named = (...names: readonly string[]) => names.map((name) => ({ name }));

describe("chooseControllers", () => {
  test("returns controllers in the order of the names", () => {
    expect(chooseControllers(named("a", "b", "c"), ["c", "a"])).toEqual(named("c", "a"));
  });

  test.each([
    [named("a", "b"), ["x"], '"x" is not a controller; there are a, b'],
    [named("a", "b"), ["a", "a"], 'controller "a" is given twice; there are a, b'],
    [named("a", "b", "a"), [], 'there are two controllers "a": a, b, a'],
  ])("%j with names %j is refused", (controllers, names, message) => {
    expect(() => chooseControllers(controllers, names)).toThrow(message);
  });
});

describe("kubernetesControllers", () => {
  test("are all by default, with the names of kube-controller-manager's clients", () => {
    const controllers = kubernetesControllers();
    expect(controllers.map(({ name }) => name)).toEqual(controllerNames);
    expect(controllers.map(({ clientName }) => clientName)).toEqual([
      "job-controller",
      "cronjob-controller",
      "ttl-after-finished-controller",
      "pod-garbage-collector",
      "generic-garbage-collector",
    ]);
  });

  test("of an unknown name are refused", () => {
    expect(() => kubernetesControllers({}, ["jobs"])).toThrow(
      '"jobs" is not a controller; there are job-controller, cronjob-controller',
    );
  });
});
