import { trace } from "@opentelemetry/api";
import { expect, test } from "vitest";

import { backups } from "../test/backups.js";
import { startServer } from "../test/operator-harness.js";
import { type Span, TerminalError, type Tracer, createOperator } from "./index.js";
import { openTelemetryTracer } from "./process/open-telemetry.js";

interface Recorded {
  name: string;
  attributes: Record<string, unknown>;
  status?: object;
  exception?: object;
  ended: boolean;
}

function recordingTracer(): Tracer & { readonly spans: Recorded[] } {
  const spans: Recorded[] = [];
  return {
    spans,
    startActiveSpan(name, { attributes }, fn) {
      const recorded: Recorded = { name, attributes: { ...attributes }, ended: false };
      spans.push(recorded);
      const span: Span = {
        setAttribute: (key, value) => (recorded.attributes[key] = value),
        setStatus: (status) => (recorded.status = status),
        recordException: (exception) => void (recorded.exception = exception),
        end: () => void (recorded.ended = true),
      };
      return fn(span);
    },
  };
}

test("reconciles and requests have spans, which record errors", async () => {
  const { clock, run, createBackup } = await startServer();
  const operator = createOperator({ name: "traced", leaderElection: false });
  operator.controllerFor(backups).reconcile(async ({ object, client }) => {
    if (object.status?.phase === "Seen") throw new TerminalError("seen twice");
    await client.patchStatus(backups, object, { phase: "Seen" });
  });
  const tracer = recordingTracer();
  const { stop } = run(operator, { tracer });
  const { metadata } = await createBackup("a");
  await clock.advance(1_000);
  await stop();
  expect(tracer.spans.every(({ ended }) => ended)).toBe(true);
  const own = tracer.spans.filter(({ name }) => name !== "GET");
  expect(own).toEqual([
    {
      name: "reconcile backup",
      attributes: {
        "kubewright.controller": "backup",
        "k8s.object.key": "default/a",
        "k8s.object.kind": "Backup",
        "k8s.object.uid": metadata.uid,
      },
      ended: true,
    },
    {
      name: "PATCH",
      attributes: {
        "http.request.method": "PATCH",
        "url.path": "/apis/example.com/v1/namespaces/default/backups/a/status",
        "url.query": "fieldManager=traced",
        "http.response.status_code": 200,
      },
      ended: true,
    },
    expect.objectContaining({
      name: "reconcile backup",
      status: { code: 2, message: "seen twice" },
      exception: { name: "TerminalError", message: "seen twice" },
    }),
  ]);
  expect(tracer.spans.filter(({ name }) => name === "GET")).not.toEqual([]);
});

test("a provider that is registered with @opentelemetry/api is found", async () => {
  const made: string[] = [];
  trace.setGlobalTracerProvider({
    getTracer: (name) => {
      made.push(name);
      return recordingTracer() as never;
    },
  });
  const tracer = await openTelemetryTracer("test");
  tracer?.startActiveSpan("x", { kind: 0, attributes: {} }, (span) => span.end());
  expect(made).toEqual(["test"]);
  trace.disable();
});
