export type { ApiRequest, ApiResponse, HeaderFields, RequestBody, ResponseBody, Transport } from "./transport.js";
