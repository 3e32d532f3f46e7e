import type { Rule } from '@toolmgr/plugins/kit/kubernetes';

/** A name of the catalogue or a package, or an absolute path of a module in the image of the pods. Read by CEL too: no escapes. */
const ADDRESS =
  '^(@[a-z0-9][A-Za-z0-9_.-]*/)?[a-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)*$|^(/[A-Za-z0-9_.@+-]+)+[.][cm]?[jt]s$';
const LEADS_OUT = '(^|/)[.][.]?(/|$)';

/** Characters of one `use`. */
export const MAX_PLUGIN_ADDRESS = 512;
/** Entries of `spec.config.plugins`. */
export const MAX_PLUGINS = 100;

/** What a VirtualMCPServer may name under `plugins`. A relative path would be in the folder that the operator writes. */
export const PLUGIN_RULE: Rule = {
  rule: `self.matches('${ADDRESS}') && !self.matches('${LEADS_OUT}')`,
  message: 'must be a plugin of toolmgr, a package, or the absolute path of a .js, .mjs, .cjs or .ts file of the image',
};

/** Whether {@link PLUGIN_RULE} accepts an address. Objects may be older than the rule. */
export function isPluginAddress(use: string): boolean {
  return use.length <= MAX_PLUGIN_ADDRESS && new RegExp(ADDRESS).test(use) && !new RegExp(LEADS_OUT).test(use);
}
