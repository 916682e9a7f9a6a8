import { defineResource, type EventsV1 } from "@kubewright/api";

/**
 * The definition of Events in events.k8s.io/v1. `@kubewright/api` has the definition of the v1 form, which is also the
 * stored form.
 */
export const eventsV1 = defineResource<EventsV1>({
  group: "events.k8s.io",
  version: "v1",
  resource: "events",
  kind: "Event",
  namespaced: true,
});
