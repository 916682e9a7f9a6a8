export type {
  ApiRequest,
  ApiResponse,
  HeaderFields,
  RequestBody,
  RequestTarget,
  ResponseBody,
  Transport,
} from "./transport.js";
