export {
  byteLength,
  configKeyErrors,
  dns1035LabelErrors,
  environmentNameErrors,
  httpPathErrors,
  ipAddressErrors,
  portNameErrors,
  portNumberErrors,
  underscoreSubdomainErrors,
  wildcardSubdomainErrors,
} from "./formats.js";
export {
  type Cidr,
  type IpAddress,
  type IpAddressScope,
  cidrContains,
  formatIpAddress,
  ipAddressScope,
  ipFamily,
  isIPv4Mapped,
  maskedCidr,
  parseCidr,
  parseIpAddress,
} from "./ip-address.js";
export {
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelKeyErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "./names.js";
