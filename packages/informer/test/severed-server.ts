/**
 * Runs as a separate process in its own network namespace. Serves the part of the API that one informer needs, on two
 * ports, which it prints as one line of JSON. Reads PEM files of a key and a certificate.
 *
 *     node severed-server.ts HOST KEY CERT
 */
import { readFileSync } from "node:fs";
import { type RequestListener, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";

const [host, key, cert] = process.argv.slice(2) as [string, string, string];

/** A new handler for each port. The second watch sends an event immediately. */
function api(): RequestListener {
  let watches = 0;
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://server");
    if (pathname !== "/api/v1/configmaps") {
      response.end("ok");
    } else if (searchParams.get("watch") === "true") {
      response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
      if (++watches > 1) response.write(`${JSON.stringify({ type: "ADDED", object: configMap("second", "11") })}\n`);
    } else {
      const items = [configMap("first", "9")];
      response.end(
        JSON.stringify({ kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "10" }, items }),
      );
    }
  };
}

function configMap(name: string, resourceVersion: string): object {
  return { kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace: "default", resourceVersion } };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

const http = await listen(createServer(api()));
const https = await listen(createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, api()));
console.log(JSON.stringify({ http, https }));
