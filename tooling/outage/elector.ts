/** An elector, bare. With `again` it runs for election again when it has lost its Lease. */
import { Client } from "@kubewright/client";
import { realClock, realRandom } from "@kubewright/clock";
import { LeaderElector } from "@kubewright/controller";
import { createHttpTransport } from "@kubewright/transport-http";

const [server, name, again] = process.argv.slice(2);
const { transport } = createHttpTransport({ server: server! });
const elector = new LeaderElector({
  client: new Client({ transport, clock: realClock }),
  clock: realClock,
  random: realRandom,
  namespace: "default",
  name: name!,
  identity: name!,
  callbacks: {
    onStartedLeading: () => console.log("leads"),
    onStoppedLeading: () => console.log("stopped"),
  },
});
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
do {
  await elector.run(stop.signal).catch((error: unknown) => {
    if (again === undefined) throw error;
  });
} while (again !== undefined && !stop.signal.aborted);
