export { projectFiles, projectNameError } from "./project-files.js";

export type { ProjectOptions } from "./project-files.js";
