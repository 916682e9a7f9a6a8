import { defineKubewrightTimeline } from "./element/define.js";

defineKubewrightTimeline();
