export const LINK =
  "M6.5 9.5l3-3M7 4.5l1.2-1.2a2.9 2.9 0 0 1 4.1 4.1L11 8.7M9 11.5l-1.2 1.2a2.9 2.9 0 0 1-4.1-4.1L5 7.3";
export const DOWNLOAD = "M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13.5h10";
export const SUN =
  "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9L13 13M13 3l-1.1 1.1M4.1 11.9L3 13";
export const DICE =
  "M3.5 2.5h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1M5.5 5.5h.01M10.5 5.5h.01M8 8h.01M5.5 10.5h.01M10.5 10.5h.01";
export const REMOVE = "M4.5 4.5l7 7M11.5 4.5l-7 7";
export const COPY = "M6 5.5h6.5v8H6zM3.5 10.5v-8H10";
