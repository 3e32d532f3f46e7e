import { anchorOf } from '../site/anchors.ts';

/** First folder of the address of a plugin; plugins of one family have one page. */
export function familyOf(address: string): string {
  return address.split('/')[0] ?? address;
}

/** Page of a plugin from `docs/reference`, with its anchor. */
export function pluginLink(address: string): string {
  return `plugins/${familyOf(address)}.md#${anchorOf(address)}`;
}
