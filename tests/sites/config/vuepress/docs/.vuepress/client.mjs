import { h } from 'vue';
import { defineClientConfig } from 'vuepress/client';

export default defineClientConfig({ rootComponents: [() => h('turnwise-agent')] });
