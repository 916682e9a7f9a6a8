import { type Lease, leases } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { expect, test } from "vitest";

import { createFreeAssignment } from "./assignment.js";
import { unsplitLayout } from "./layout.js";
import { MemberFencing } from "./member-fencing.js";
import { Members } from "./members.js";
import { SCHEME_ANNOTATION, leaseName, schemeOf } from "./own-lease.js";
import { shardTiming } from "./timing.js";

test("a Lease that the cache still has after its deletion does not stop a member", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1) });
  const client = new Client({ transport: server.transport, clock, userAgent: "test" });
  const timing = shardTiming();
  const members = new Members({ clock, me: "me", leaseDurationMs: timing.leaseDurationMs, layout: unsplitLayout });
  const fencing = new MemberFencing({ client, clock, namespace: "default", timing, members, logger: silentLogger });
  const lease: Lease = {
    metadata: {
      name: leaseName("gone"),
      namespace: "default",
      annotations: { [SCHEME_ANNOTATION]: schemeOf(unsplitLayout) },
    },
    spec: { holderIdentity: "gone", leaseDurationSeconds: 15 },
  };
  const created = await client.resource(leases).create(lease);
  await client.resource(leases).delete(leaseName("gone"), { namespace: "default" });
  // The watch delivered the deletion before this version: a read of the Lease was answered late.
  members.observe(created);
  await clock.advance(timing.leaseDurationMs);
  await fencing.fenceExpiredMembers(createFreeAssignment(unsplitLayout), new AbortController().signal);
  expect(members.has("gone")).toBe(false);
});
