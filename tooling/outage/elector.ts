/**
 * Runs a leader elector with upstream's durations, or with a longer Lease for `patient`. With `again` it runs for
 * election again after it has lost the Lease.
 */
import { Client } from "@kubewright/client";
import { realClock, realRandom } from "@kubewright/clock";
import { LeaderElector } from "@kubewright/controller";
import { createHttpTransport } from "@kubewright/transport-http";

const [server, name, ...how] = process.argv.slice(2);
const again = how.includes("again");
const { transport } = createHttpTransport({ server: server! });
const elector = new LeaderElector({
  client: new Client({ transport, clock: realClock }),
  clock: realClock,
  random: realRandom,
  namespace: "default",
  name: name!,
  identity: name!,
  ...(how.includes("patient") ? { leaseDurationMs: 240_000, renewDeadlineMs: 200_000 } : {}),
  callbacks: {
    onStartedLeading: () => console.log("leads"),
    onStoppedLeading: () => console.log("stopped"),
  },
});
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
do {
  await elector.run(stop.signal).catch((error: unknown) => {
    if (!again) throw error;
  });
} while (again && !stop.signal.aborted);
