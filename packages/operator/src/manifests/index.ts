export { findExports } from "./find-exports.js";
export { operatorManifests } from "./operator-manifests.js";
export { controllerPermissions } from "./operator-permissions.js";
export { policyRules } from "./permissions.js";
export { recordPermissions } from "./record-permissions.js";
export { toYaml } from "./to-yaml.js";

export type { FoundExports } from "./find-exports.js";
export type { ManifestOptions } from "./operator-manifests.js";
export type { Permission } from "./permissions.js";
export type { PermissionRecording } from "./record-permissions.js";
