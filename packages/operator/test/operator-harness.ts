import { type KubernetesObject, type ResourceDefinition, customResourceDefinitions, events } from "@kubewright/api";
import { type ApiServerOptions, createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { type Logger, SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { HealthChecks } from "@kubewright/controller";
import type { ApiRequest, Transport } from "@kubewright/transport";
import { Registry } from "prom-client";

import type { OperatorEnvironment, RunnableOperator } from "../src/index.js";
import { type Backup, backupDefinition, backups } from "./backups.js";

export const place = { namespace: "default" };

/**
 * Starts an API server in simulated time with the resource Backup, and returns functions that run operators with it.
 */
export async function startServer(options: Partial<ApiServerOptions> = {}) {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, ...options });
  const client = new Client({ transport: server.transport, clock, userAgent: "test" });
  await client.resource(customResourceDefinitions).create(backupDefinition);
  await clock.advance(2_000);
  let replicas = 0;
  /** Runs an operator. `requests` contains the requests that it sends. `stop` ends it and returns how it ended. */
  const run = (operator: RunnableOperator, environment: Partial<OperatorEnvironment> = {}) => {
    const stopping = new AbortController();
    const lines: object[] = [];
    const requests: ApiRequest[] = [];
    const line =
      (level: string) =>
      (fields: object, message: string): void =>
        void lines.push({ level, message, ...fields });
    const logger: Logger = { ...silentLogger, info: line("info"), warn: line("warn"), error: line("error") };
    const transport: Transport = (request) => {
      requests.push(request);
      return (environment.transport ?? server.transport)(request);
    };
    const registry = new Registry();
    const health = { healthz: new HealthChecks(), readyz: new HealthChecks() };
    const random = seededRandom(100 + replicas++);
    const running = operator
      .run({ clock, random, logger, registry, health, signal: stopping.signal, ...environment, transport })
      .then(
        () => "stopped",
        (error: Error) => error.message,
      );
    const stop = async (): Promise<string> => {
      stopping.abort();
      await clock.advance(60_000);
      return running;
    };
    const metric = async (name: string): Promise<string[]> =>
      (await registry.metrics()).split("\n").filter((each) => each.startsWith(name));
    const writes = (): string[] =>
      requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path.split("?")[0]}`);
    return { lines, requests, writes, metric, health, running, stop, stopping };
  };
  const createBackup = (name: string, spec: Partial<Backup["spec"]> = {}, metadata: Partial<Backup["metadata"]> = {}) =>
    client.resource(backups).create({ metadata: { name, ...place, ...metadata }, spec: { volume: "data", ...spec } });
  const get = <T extends KubernetesObject>(definition: ResourceDefinition<T>, name: string) =>
    client.resource(definition).get(name, place);
  const reportedEvents = async (): Promise<string[]> =>
    (await client.resource(events).list()).items
      .filter(({ involvedObject }) => involvedObject.kind !== "Lease")
      .map(({ type, reason, message, source }) => `${source?.component}: ${type} ${reason} ${message}`);
  return { clock, client, server, run, createBackup, get, reportedEvents };
}
