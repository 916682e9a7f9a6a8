/**
 * Runs as a separate process: sends a request with a credential plugin, and prints the result.
 *
 *     node plugin-host.ts HANDLES_SIGTERM COMMAND ARGUMENT…
 */
import { createHttpTransport } from "@kubewright/transport-http";

const [handlesSigterm, command, ...args] = process.argv.slice(2) as [string, string, ...string[]];
if (handlesSigterm === "true") process.on("SIGTERM", () => console.log("asked to end"));
const exec = { apiVersion: "client.authentication.k8s.io/v1", command, args };
const { transport, close } = createHttpTransport({ server: "http://127.0.0.1:1", exec });
await transport({ method: "GET", path: "/", headers: {} }).catch((error: Error) => console.log(error.message));
await close();
