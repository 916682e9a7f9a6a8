import * as fc from "fast-check";
import { expect, test } from "vitest";

import { WaiterQueue } from "./waiter-queue.js";

test("the queue stays in order for any pushes, shifts and removals", () => {
  const steps = fc.array(fc.oneof(fc.constantFrom("push", "push", "shift", "shift"), fc.nat(60)), {
    minLength: 100,
    maxLength: 400,
  });
  fc.assert(
    fc.property(steps, (actions) => {
      const line = new WaiterQueue<string>();
      const model: string[] = [];
      const seen: (string | number)[] = [];
      const expected: typeof seen = [];
      let next = 0;
      for (const action of ["push" as const, ...Array<"push">(40).fill("push"), ...actions]) {
        if (action === "push") {
          line.push(`w${next}`);
          model.push(`w${next++}`);
        } else if (action !== "shift") {
          line.remove(`w${action}`);
          if (model.includes(`w${action}`)) model.splice(model.indexOf(`w${action}`), 1);
        } else if (model.length > 0) {
          seen.push(line.shift());
          expected.push(model.shift()!);
        }
        seen.push(line.size);
        expected.push(model.length);
      }
      expect(seen).toEqual(expected);
    }),
  );
});
