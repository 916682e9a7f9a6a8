export { YamlDocument, type YamlPath } from "./yaml-document.js";
export { YamlError } from "./yaml-error.js";
