import type { LimitRange, Pod } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create } from "../../../test/strategy-calls.js";
import { createApiServer } from "../../api-server.js";
import { limitRangeStrategy } from "./strategy.js";

const POD = "/api/v1/namespaces/default/pods";

interface Given {
  readonly min?: number;
  readonly max?: number;
  readonly default?: number;
  readonly defaultRequest?: number;
}

const bounds: fc.Arbitrary<Given> = fc.record(
  {
    min: fc.integer({ min: 1, max: 4 }),
    max: fc.integer({ min: 1, max: 4 }),
    default: fc.integer({ min: 1, max: 4 }),
    defaultRequest: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: [] },
);

function limitRange(given: Given): object {
  const item = Object.fromEntries(Object.entries(given).map(([member, cpu]) => [member, { cpu: String(cpu) }]));
  return {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "l" },
    spec: { limits: [{ type: "Container", ...item }] },
  };
}

/**
 * Applies the chain of defaults: the default limit is the maximum; the default request is the default limit, or else
 * the minimum.
 */
function withDefaults({ min, max, default: limit = max, defaultRequest = limit ?? min }: Given): Given {
  return JSON.parse(JSON.stringify({ min, max, default: limit, defaultRequest })) as Given;
}

function isOrdered({ min, max, default: limit, defaultRequest: request }: Given): boolean {
  const inOrder = [min, request, limit, max].filter((value) => value !== undefined);
  return inOrder.every((value, index) => index === 0 || inOrder[index - 1]! <= value);
}

test("bounds and defaults of a resource must be ordered after defaulting", () => {
  fc.assert(
    fc.property(bounds, (given) => {
      const { object, message } = create<LimitRange>(limitRangeStrategy, limitRange(given));
      const complete = withDefaults(given);
      const [{ type: _type, ...item } = { type: "" }] = object.spec!.limits;
      expect(item).toEqual(
        Object.fromEntries(Object.entries(complete).map(([member, cpu]) => [member, { cpu: String(cpu) }])),
      );
      expect(message === "").toBe(isOrdered(complete));
    }),
  );
});

test("admitted pods satisfy the namespace's limits, refused pods violate them", async () => {
  const amount = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined });
  const fine = bounds.filter((given) => isOrdered(withDefaults(given)));
  await fc.assert(
    fc.asyncProperty(fine, amount, amount, async (given, request, limit) => {
      fc.pre(request === undefined || limit === undefined || request <= limit);
      const clock = new SimulatedClock("2026-01-01T00:00:00Z");
      const server = createApiServer({ clock, random: seededRandom(1), freeze: true });
      const post = async (path: string, value: object): Promise<Pod & { code?: number }> => {
        const answer = await server.transport({ method: "POST", path, headers: {}, body: { type: "decoded", value } });
        return (answer.body as { value: Pod & { code?: number } }).value;
      };
      await post("/api/v1/namespaces/default/limitranges", limitRange(given));
      const resources = {
        ...(request === undefined ? {} : { requests: { cpu: String(request) } }),
        ...(limit === undefined ? {} : { limits: { cpu: String(limit) } }),
      };
      const made = await post(POD, {
        metadata: { name: "p" },
        spec: { containers: [{ name: "c", image: "i", resources }] },
      });
      const { min, max, default: limitByDefault, defaultRequest } = withDefaults(given);
      const requested = request ?? limit ?? defaultRequest;
      const limited = limit ?? limitByDefault;
      const isValid = requested === undefined || limited === undefined || requested <= limited;
      const isWithin =
        (min === undefined || (requested !== undefined && requested >= min && (limited ?? min) >= min)) &&
        (max === undefined || (limited !== undefined && limited <= max && (requested ?? max) <= max));
      expect(made.code).toBe(isValid ? (isWithin ? undefined : 403) : 422);
      if (made.code !== undefined) return;
      const { requests, limits } = made.spec!.containers[0]!.resources!;
      expect([requests?.["cpu"], limits?.["cpu"]]).toEqual([requested, limited].map((each) => each?.toString()));
    }),
  );
});
