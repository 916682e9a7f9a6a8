export {
  byteLength,
  configKeyErrors,
  dns1035LabelErrors,
  environmentNameErrors,
  httpPathErrors,
  ipAddressErrors,
  ipFamily,
  portNameErrors,
  portNumberErrors,
  underscoreSubdomainErrors,
  wildcardSubdomainErrors,
} from "./formats.js";
export {
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelKeyErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "./names.js";
