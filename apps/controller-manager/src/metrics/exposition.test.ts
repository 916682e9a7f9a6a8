import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";

import { exposition, goFloat, negotiateFormat } from "./exposition.js";

function filledRegistry(): Registry {
  const registry = new Registry();
  const registers = [registry];
  const counter = new Counter({ name: "b_total", help: "[BETA] Counts\nlines", labelNames: ["z", "a"], registers });
  counter.inc({ z: "2", a: 'quote " and \\' }, 3);
  counter.inc({ z: "1", a: "first" });
  registry.registerMetric(new Gauge({ name: "unused", help: "[ALPHA] Never set", labelNames: ["x"], registers: [] }));
  new Gauge({ name: "c", help: "[ALPHA] Plain", registers }).set(1_048_576);
  const seconds = new Histogram({
    name: "a_seconds",
    help: "[STABLE] Time",
    labelNames: ["verb"],
    buckets: [1e-8, 1],
    registers,
  });
  seconds.observe({ verb: "GET" }, 0.5);
  return registry;
}

test("families come by name, series by labels, and a family without series not at all, as in Go", async () => {
  expect(await exposition(filledRegistry(), "text")).toBe(`# HELP a_seconds [STABLE] Time
# TYPE a_seconds histogram
a_seconds_bucket{verb="GET",le="1e-08"} 0
a_seconds_bucket{verb="GET",le="1"} 1
a_seconds_bucket{verb="GET",le="+Inf"} 1
a_seconds_sum{verb="GET"} 0.5
a_seconds_count{verb="GET"} 1
# HELP b_total [BETA] Counts\\nlines
# TYPE b_total counter
b_total{a="first",z="1"} 1
b_total{a="quote \\" and \\\\",z="2"} 3
# HELP c [ALPHA] Plain
# TYPE c gauge
c 1.048576e+06
`);
});

test("OpenMetrics names counters without _total, has bounds that are floats and an end, and changes nothing", async () => {
  const registry = filledRegistry();
  const open = (await exposition(registry, "openmetrics")).split("\n");
  expect(open).toContain("# TYPE b counter");
  expect(open).toContain('b_total{a="first",z="1"} 1');
  expect(open).toContain('a_seconds_bucket{verb="GET",le="1.0"} 1');
  expect(open.at(-2)).toBe("# EOF");
  expect(await exposition(registry, "text")).toContain("# TYPE b_total counter\n");
});

test.each([
  [0, "0"],
  [-2, "-2"],
  [0.25, "0.25"],
  [100_000, "100000"],
  [1_000_000, "1e+06"],
  [123_456.5, "123456.5"],
  [1.5e21, "1.5e+21"],
  [0.0001, "0.0001"],
  [0.00001, "1e-05"],
  [9.999999999999999e-6, "9.999999999999999e-06"],
  [Number.POSITIVE_INFINITY, "+Inf"],
  [Number.NEGATIVE_INFINITY, "-Inf"],
  [Number.NaN, "NaN"],
])("%d is written %s", (value, text) => {
  expect(goFloat(value)).toBe(text);
});

test.each([
  [undefined, "text"],
  ["*/*", "text"],
  ["text/html", "text"],
  ["application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "openmetrics"],
  ["application/openmetrics-text; version=1.0.0; q=0.2, text/plain; q=0.9", "text"],
  ["application/openmetrics-text; version=9.0.0", "text"],
  ["application/openmetrics-text;q=0", "text"],
] as const)("Accept %s is answered with %s", (accept, format) => {
  expect(negotiateFormat(accept)).toBe(format);
});
