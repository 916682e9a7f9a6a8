import { SimulatedClock } from "@kubewright/clock";
import { ControllerExpectations } from "@kubewright/expectations";

const clock = new SimulatedClock("2026-01-01T00:00:00Z");
const expectations = new ControllerExpectations({ clock });

// Before two pods are created, and whichever way their events and responses come in:
expectations.expectCreations("default/pi", 2);
expectations.creationObserved("default/pi"); // the informer shows the first
// Hands off: one is outstanding.
console.log(expectations.satisfiedExpectations("default/pi"));
expectations.creationObserved("default/pi"); // the second failed: nothing more will come
console.log(expectations.satisfiedExpectations("default/pi"));

// An event that never comes holds nothing up for ever.
expectations.expectDeletions("default/pi", 1);
await clock.advance(5 * 60_000 + 1);
console.log(expectations.satisfiedExpectations("default/pi"));
