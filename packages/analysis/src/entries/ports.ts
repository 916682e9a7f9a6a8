export { connectThrough } from "../ports/connection.js";
export { Outputs, openOutput } from "../ports/outputs.js";
export { silentProgress } from "../ports/output.js";

export type { ConnectOptions, ClusterConnection } from "../ports/connection.js";
export type { Files, FolderEntry, OutputFile, Spool } from "../ports/files.js";
export type { ExecuteOptions, ExecuteResult, HostProcess } from "../ports/host-process.js";
export type { Threads } from "../ports/threads.js";
export type { Output, Progress, TextStream } from "../ports/output.js";
