export { JsonDataError, jsonData } from "./json-data.js";
export { parseQuery, parseRequestUrl, unescapePath } from "./request-url.js";

export type { RequestUrl } from "./request-url.js";
export type { ApiRequest, ApiResponse, HeaderFields, RequestBody, ResponseBody, Transport } from "./transport.js";
