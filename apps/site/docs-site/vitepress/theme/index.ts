// VitePress' theme without its fonts: the site uses the reader's fonts.
import DefaultTheme from "vitepress/theme-without-fonts";

import PlayedExample from "./PlayedExample.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }: { app: { component(name: string, component: unknown): void } }) {
    app.component("PlayedExample", PlayedExample);
  },
};
