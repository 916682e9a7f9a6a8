export const DOWNLOAD = "M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13.5h10";
export const DICE =
  "M3.5 2.5h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1M5.5 5.5h.01M10.5 5.5h.01M8 8h.01M5.5 10.5h.01M10.5 10.5h.01";
export const REMOVE = "M4.5 4.5l7 7M11.5 4.5l-7 7";
export const COPY = "M6 5.5h6.5v8H6zM3.5 10.5v-8H10";
