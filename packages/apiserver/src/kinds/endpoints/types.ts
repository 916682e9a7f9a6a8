import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

/** The types of the core group's Endpoints and of discovery.k8s.io/v1. */
export const endpointsTypes: TypeDeclarations = {
  fields,
  rules: {
    listTypes: { "Endpoint.addresses": "set" },
    presentWhenZero: {
      "EndpointAddress.ip": "",
      "EndpointPort.port": 0,
      "EndpointSlice.addressType": "",
      "EndpointSlice.endpoints": null,
      "EndpointSlice.ports": null,
      "Endpoint.addresses": null,
      "Endpoint.conditions": {},
      "ForZone.name": "",
      "ForNode.name": "",
    },
    keepsEmptyString: new Set([
      "EndpointAddress.nodeName",
      "EndpointPort.appProtocol",
      "Endpoint.hostname",
      "Endpoint.nodeName",
      "Endpoint.zone",
      "DiscoveryV1EndpointPort.name",
      "DiscoveryV1EndpointPort.protocol",
      "DiscoveryV1EndpointPort.appProtocol",
    ]),
    keepsEmptyCollection: new Set(["EndpointSlice.endpoints", "EndpointSlice.ports", "Endpoint.addresses"]),
    atomicTypes: new Set(["EndpointAddress", "EndpointPort", "DiscoveryV1EndpointPort"]),
  },
  fieldNumbers: {
    Endpoints: "metadata,subsets",
    EndpointSubset: "addresses,notReadyAddresses,ports",
    EndpointAddress: "ip,targetRef,hostname,nodeName",
    EndpointPort: "name,port,protocol,appProtocol",
    EndpointSlice: "metadata,endpoints,ports,addressType",
    Endpoint: "addresses,conditions,hostname,targetRef,deprecatedTopology,nodeName,zone,hints",
    EndpointConditions: "ready,serving,terminating",
    EndpointHints: "forZones,forNodes",
    ForZone: "name",
    ForNode: "name",
    DiscoveryV1EndpointPort: "name,protocol,port,appProtocol",
  },
};
