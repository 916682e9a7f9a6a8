import { defineResource, type EventsV1 } from "@kubewright/api";

/** The newer form of Events. The definition of the older one, which is also what is stored, is in `@kubewright/api`. */
export const eventsV1 = defineResource<EventsV1>({
  group: "events.k8s.io",
  version: "v1",
  resource: "events",
  kind: "Event",
  namespaced: true,
});
