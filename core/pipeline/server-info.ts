import type { BackendManager } from '../backend/backend-manager.ts';
import type { BackendInstructions } from '../contract/catalog-draft.ts';
import type { ClientContext } from '../contract/client-context.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { isObject } from '../json/json-value.ts';
import { transparentExtensions } from '../mcp/capabilities.ts';

/** What `initialize` and `server/discover` say about the gateway. */
export interface ServerDescription {
  readonly serverInfo: JsonObject;
  /** Capabilities of both eras: tools, prompts, resources, completions, logging, extensions. */
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Eras served on this endpoint. */
  readonly eras: readonly Era[];
}

/** Builds the server description from those of the backends; cached until `stale` is called. */
export interface ServerDescriber {
  describeServer(client: ClientContext): ServerDescription;
  stale(): void;
}

/** What a describer is made with. */
export interface ServerDescriberParts {
  readonly serverInfo: JsonObject;
  readonly manager: Pick<BackendManager, 'states'>;
  /** Largest instructions, bytes. */
  readonly maxInstructions: number;
  readonly eras?: ServerDescription['eras'] | undefined;
  /** The `shapeInstructions` hook. */
  shape(instructions: readonly BackendInstructions[]): readonly BackendInstructions[];
}

/**
 * tools, prompts and resources are always declared, because backends may be added later; completions, subscriptions and
 * logging when a backend has them. The instructions of each backend follow its configured name.
 */
export function createServerDescriber(parts: ServerDescriberParts): ServerDescriber {
  let kept: ServerDescription | undefined;
  return {
    describeServer() {
      kept ??= { ...compose(parts), eras: parts.eras ?? ERAS };
      return kept;
    },
    stale() {
      kept = undefined;
    },
  };
}

/** The eras served unless a plugin sets others. */
export const ERAS: ServerDescription['eras'] = ['2026-07-28', '2025-11-25'];

function compose({
  serverInfo,
  manager,
  maxInstructions,
  shape,
}: ServerDescriberParts): Omit<ServerDescription, 'eras'> {
  const hellos = manager.states().flatMap(({ backend, hello }) => (hello === undefined ? [] : [{ backend, hello }]));
  const has = (name: string): boolean => hellos.some(({ hello }) => isObject(hello.capabilities[name]));
  const extensions: Record<string, JsonValue> = {};
  for (const { hello } of hellos) Object.assign(extensions, transparentExtensions(hello.capabilities.extensions));
  const subscribes = hellos.some(({ hello }) => {
    const { resources } = hello.capabilities;
    return isObject(resources) && resources.subscribe === true;
  });
  const told = hellos.flatMap(({ backend, hello }) =>
    hello.instructions ? [{ backend: backend.name, text: hello.instructions }] : [],
  );
  const instructions = shape(told)
    .map(({ backend, text }) => `## ${backend}\n\n${text}`)
    .join('\n\n');
  return {
    serverInfo,
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, ...(subscribes ? { subscribe: true } : {}) },
      ...(has('completions') ? { completions: {} } : {}),
      ...(has('logging') ? { logging: {} } : {}),
      ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
    },
    instructions: instructions === '' ? undefined : cut(instructions, maxInstructions),
  };
}

/** At most `maxBytes` of UTF-8, without splitting a character. */
function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return Buffer.from(text)
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
