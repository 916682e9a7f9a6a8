export { startChild } from "./child-process.js";
export { freePort } from "./free-port.js";
export { missingKubeApiServer, startKubeApiServer } from "./kube-apiserver.js";
export { missingServe, startServeProcess } from "./serve.js";
export { withFolder } from "./temporary-folder.js";

export type { Child } from "./child-process.js";
export type { ServeProcess, ServeProcessOptions } from "./serve.js";
export type { StartedServer } from "./started-server.js";
