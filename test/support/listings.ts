import { type Era, encode, type JsonObject } from '@toolmgr/core';
import type { BackendListing, ListedItem } from '../../core/backend/backend-manager.ts';

/** One listed item: only its key, or its whole definition. */
export type Listed = string | JsonObject;

/** Items of a backend by kind. */
export interface Offer {
  readonly era?: Era;
  readonly tools?: readonly Listed[];
  readonly prompts?: readonly Listed[];
  readonly resources?: readonly Listed[];
  readonly templates?: readonly Listed[];
}

/** The lists of several backends in the form of the backend manager. */
export function listingsOf(offers: Readonly<Record<string, Offer>>): Map<string, BackendListing> {
  return new Map(Object.entries(offers).map(([backend, offer]) => [backend, listingOf(backend, offer)]));
}

/** The lists of one backend. */
export function listingOf(backend: string, offer: Offer): BackendListing {
  const { era = '2026-07-28', tools = [], prompts = [], resources = [], templates = [] } = offer;
  return {
    backend,
    era,
    hello: { info: {}, capabilities: {}, instructions: undefined, protocolVersion: era },
    tools: tools.map((tool) => itemFrom('name', tool, { inputSchema: { type: 'object' } })),
    prompts: prompts.map((prompt) => itemFrom('name', prompt)),
    resources: resources.map((resource) => itemFrom('uri', resource, { name: 'thing' })),
    templates: templates.map((template) => itemFrom('uriTemplate', template, { name: 'things' })),
  };
}

/** An item with exactly these bytes. */
export function rawItem(key: string, text: string): ListedItem {
  return { key, definition: Buffer.from(text) };
}

function itemFrom(keyMember: string, listed: Listed, rest: JsonObject = {}): ListedItem {
  if (typeof listed === 'string') return { key: listed, definition: encode({ [keyMember]: listed, ...rest }) };
  return { key: String(listed[keyMember]), definition: encode(listed) };
}
