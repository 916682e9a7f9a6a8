import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { realClock, seededRandom } from "@kubewright/clock";
import { InformerFactory } from "@kubewright/informer";
import { JobController } from "@kubewright/job";
import { spawnSync, spawn } from "node:child_process";
const fixed = process.argv[2] === "fixed" ? { syncBatchPeriodMs: 1000 } : {};
const server = createApiServer({ clock: realClock, random: seededRandom(1) });
const counts = {};
server.observe((r) => {
  if (["list", "watch", "get"].includes(r.verb)) return;
  const k = `${r.verb} ${r.resource ?? r.path}${r.subresource ? "/" + r.subresource : ""} ${r.status ?? r.code ?? ""} ${r.userAgent?.slice?.(0, 14) ?? ""}`;
  counts[k] = (counts[k] ?? 0) + 1;
});
const { url } = await server.listen({ port: 0 });
const client = new Client({ transport: server.transport, clock: realClock, userAgent: "job-controller" });
const informers = new InformerFactory({ client, clock: realClock, random: seededRandom(2) });
const errors = {};
const log = (f, m) => {
  const k = m + " " + (f.err ?? "");
  errors[k.slice(0, 90)] = (errors[k.slice(0, 90)] ?? 0) + 1;
};
const c = new JobController({
  client,
  clock: realClock,
  random: seededRandom(3),
  informers,
  ...fixed,
  logger: { debug() {}, info() {}, warn: log, error: log },
});
const stop = new AbortController();
void informers.run(stop.signal);
void c.run(stop.signal);
const p = spawn(
  process.execPath,
  ["/work/shared/bench/jobs-throughput.mjs", "--server", url, "--timeout", "60", "--keep", ...process.argv.slice(3)],
  { stdio: ["ignore", "inherit", "inherit"] },
);
await new Promise((r) => p.once("close", r));
console.log(counts, errors);
process.exit();
