import { events, eventsV1 } from "@kubewright/api";
import { EventRecorder, type EventRecorderOptions, EventsV1Recorder } from "@kubewright/controller";

/**
 * The API that events are recorded with. `v1` writes every repetition as a count. `events.k8s.io/v1` adds an action and
 * a related object, and writes repetitions as a series.
 */
export type EventsApi = "v1" | "events.k8s.io/v1";

/** Creates a recorder. Only events.k8s.io/v1 uses the host, as in controller-runtime. */
export function eventRecorder(
  api: EventsApi,
  { host, ...options }: EventRecorderOptions,
): EventRecorder | EventsV1Recorder {
  return api === "v1" ? new EventRecorder(options) : new EventsV1Recorder({ ...options, host });
}

/** The resource that the recorder writes. */
export function eventsResource(api: EventsApi = "v1"): typeof events | typeof eventsV1 {
  return api === "v1" ? events : eventsV1;
}
