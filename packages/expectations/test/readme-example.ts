import { SimulatedClock } from "@kubewright/clock";
import { ControllerExpectations } from "@kubewright/expectations";

const clock = new SimulatedClock("2026-01-01T00:00:00Z");
const expectations = new ControllerExpectations({ clock });

// Before two pods are created, for any order of their events and responses:
expectations.expectCreations("default/pi", 2);
expectations.creationObserved("default/pi"); // the informer shows the first
// Do not act: one creation is outstanding.
console.log(expectations.satisfiedExpectations("default/pi"));
expectations.creationObserved("default/pi"); // the second failed
console.log(expectations.satisfiedExpectations("default/pi"));

// An event that never arrives does not block the owner for ever.
expectations.expectDeletions("default/pi", 1);
await clock.advance(5 * 60_000 + 1);
console.log(expectations.satisfiedExpectations("default/pi"));
