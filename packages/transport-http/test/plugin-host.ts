/**
 * Run as a process of its own: asks for something with a credential plugin, and prints what becomes of it.
 *
 *   node plugin-host.ts HANDLES_SIGTERM COMMAND ARGUMENT…
 */
import { createHttpTransport } from "@kubewright/transport-http";

const [handlesSigterm, command, ...args] = process.argv.slice(2) as [string, string, ...string[]];
if (handlesSigterm === "true") process.on("SIGTERM", () => console.log("asked to end"));
const exec = { apiVersion: "client.authentication.k8s.io/v1", command, args };
const { transport, close } = createHttpTransport({ server: "http://127.0.0.1:1", exec });
await transport({ method: "GET", path: "/", headers: {} }).catch((error: Error) => console.log(error.message));
await close();
