// Without the fonts of VitePress' own theme: letters are the reader's.
import DefaultTheme from "vitepress/theme-without-fonts";

import PlayedExample from "./PlayedExample.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }: { app: { component(name: string, component: unknown): void } }) {
    app.component("PlayedExample", PlayedExample);
  },
};
