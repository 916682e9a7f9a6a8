/** Runs an informer without a stop signal. */
import { configMaps } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { realClock, realRandom } from "@kubewright/clock";
import { SharedInformer } from "@kubewright/informer";
import { createHttpTransport } from "@kubewright/transport-http";

const { transport } = createHttpTransport({ server: process.argv[2]! });
const client = new Client({ transport, clock: realClock }).resource(configMaps);
const informer = new SharedInformer({ client, clock: realClock, random: realRandom });
informer.addEventHandler({ onAdd: ({ metadata }) => console.log(`added ${metadata.name}`) });
await informer.run(new AbortController().signal);
