import type { TypeDeclarations } from "../../schema/type-declarations.js";

/** The types of the core group's Endpoints and of discovery.k8s.io/v1. */
export const endpointsTypes: TypeDeclarations = {
  fields: {
    Endpoints: "metadata:ObjectMeta subsets:[]EndpointSubset | apiVersion kind",
    EndpointSlice:
      "metadata:ObjectMeta endpoints+*:[]Endpoint ports+*:[]DiscoveryV1EndpointPort addressType!+ | apiVersion kind",
    EndpointSubset: "addresses:[]EndpointAddress notReadyAddresses:[]EndpointAddress ports:[]EndpointPort",
    Endpoint:
      "addresses!+*:[apply:set]string conditions+:EndpointConditions hostname* targetRef:ObjectReference deprecatedTopology:{}string nodeName* zone* hints:EndpointHints",
    DiscoveryV1EndpointPort: "name* protocol* port:int32 appProtocol*",
    EndpointAddress: "ip!+ targetRef:ObjectReference hostname nodeName*",
    EndpointPort: "name port!+:int32 protocol appProtocol*",
    EndpointConditions: "ready:boolean serving:boolean terminating:boolean",
    EndpointHints: "forZones:[]ForZone forNodes:[]ForNode",
    ForNode: "name!+",
    ForZone: "name!+",
  },
  atomicTypes: new Set(["EndpointAddress", "EndpointPort", "DiscoveryV1EndpointPort"]),
};
