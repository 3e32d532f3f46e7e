// copied into the project of VitePress as .vitepress/config.ts
import { readFileSync } from 'node:fs';
import { anchorOf } from '../anchors.ts';

const settings = JSON.parse(readFileSync(new URL('settings.json', import.meta.url), 'utf8'));

interface Renderers {
  readonly renderer: {
    readonly rules: Record<string, (tokens: readonly { readonly content: string }[], at: number) => string>;
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('{{', '&#123;&#123;');
}

export default {
  title: 'toolmgr',
  description: 'Many MCP servers behind one endpoint: documentation',
  lang: 'en',
  base: settings.base,
  cleanUrls: false,
  ignoreDeadLinks: false,
  appearance: true,
  markdown: {
    anchor: { slugify: anchorOf },
    // text in braces is text, not an expression of Vue
    config(md: Renderers) {
      md.renderer.rules.text = (tokens, at) => escaped(tokens[at]?.content ?? '');
      md.renderer.rules.code_inline = (tokens, at) => `<code v-pre>${escaped(tokens[at]?.content ?? '')}</code>`;
    },
  },
  themeConfig: {
    siteTitle: 'toolmgr',
    nav: settings.nav,
    sidebar: settings.sidebar,
    outline: { level: [2, 3], label: 'On this page' },
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: settings.repository }],
    externalLinkIcon: true,
    footer: { message: 'Apache-2.0' },
  },
};
