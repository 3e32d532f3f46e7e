import type { Era } from '../../contract/era.ts';
import type { JsonObject } from '../../contract/json.ts';
import { joinParts, type Part } from '../../json/join-parts.ts';
import { innerOf } from '../../mcp/inner-of.ts';
import { META } from '../../mcp/meta.ts';
import type { Asked } from './backend-session.ts';

/** Writes the requests of one link: the params as they came, with the `_meta` of its era and the gateway's own progress token. */
export class RequestBodies {
  readonly #clientInfo: JsonObject;
  readonly #envelopes = new WeakMap<JsonObject, string>();

  constructor(clientInfo: JsonObject) {
    this.#clientInfo = clientInfo;
  }

  of(id: number | string, asked: Asked, era: Era): Buffer {
    const parts: Part[] = [
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(asked.method)},"params":{`,
      ...asked.params,
    ];
    let meta = era === '2026-07-28' ? this.#envelope(asked) : '';
    if (asked.hearer?.progressToken !== undefined) {
      meta += `${meta === '' ? '' : ','}"progressToken":${JSON.stringify(id)}`;
    }
    const own = asked.meta === undefined ? undefined : innerOf(asked.meta);
    if (meta === '' && own === undefined) {
      parts.push('}}');
      return joinParts(parts);
    }
    parts.push(`${asked.params.length === 0 ? '' : ','}"_meta":{${meta}`);
    if (own !== undefined) parts.push(meta === '' ? '' : ',', own);
    parts.push('}}}');
    return joinParts(parts);
  }

  #envelope(asked: Asked): string {
    let text = this.#envelopes.get(asked.capabilities);
    if (text === undefined) {
      text =
        `"${META.protocolVersion}":"2026-07-28","${META.clientInfo}":${JSON.stringify(this.#clientInfo)},` +
        `"${META.clientCapabilities}":${JSON.stringify(asked.capabilities)}`;
      this.#envelopes.set(asked.capabilities, text);
    }
    return asked.logLevel === undefined ? text : `${text},"${META.logLevel}":${JSON.stringify(asked.logLevel)}`;
  }
}
