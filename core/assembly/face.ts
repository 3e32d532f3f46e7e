import type { BackendRoom } from '../backend/room.ts';
import type { Asker } from '../contract/call.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { transparentExtensions } from '../protocol/capabilities.ts';
import type { Face } from '../protocol/intent.ts';
import { isObject } from '../protocol/raw-json.ts';

/** Composes the gateway's hello from what backends said; kept until `stale` is called. */
export interface FaceMaker {
  face(asker: Asker): Face;
  stale(): void;
}

/**
 * tools, prompts and resources are always offered, since backends may come later; completions, subscriptions and
 * logging when a backend has them. Instructions come with the backend's configured name above each part.
 */
export function createFace(
  serverInfo: JsonObject,
  room: Pick<BackendRoom, 'states'>,
  maxInstructions: number,
  eras: Face['eras'] = ERAS,
): FaceMaker {
  let kept: Face | undefined;
  return {
    face() {
      kept ??= { ...compose(serverInfo, room, maxInstructions), eras };
      return kept;
    },
    stale() {
      kept = undefined;
    },
  };
}

/** What is spoken unless a plugin says otherwise. */
export const ERAS: Face['eras'] = ['2026-07-28', '2025-11-25'];

function compose(
  serverInfo: JsonObject,
  room: Pick<BackendRoom, 'states'>,
  maxInstructions: number,
): Omit<Face, 'eras'> {
  const hellos = room.states().flatMap(({ backend, hello }) => (hello === undefined ? [] : [{ backend, hello }]));
  const has = (name: string): boolean => hellos.some(({ hello }) => isObject(hello.capabilities[name]));
  const extensions: Record<string, JsonValue> = {};
  for (const { hello } of hellos) Object.assign(extensions, transparentExtensions(hello.capabilities.extensions));
  const subscribes = hellos.some(({ hello }) => {
    const { resources } = hello.capabilities;
    return isObject(resources) && resources.subscribe === true;
  });
  const instructions = hellos
    .flatMap(({ backend, hello }) => (hello.instructions ? [`## ${backend.name}\n\n${hello.instructions}`] : []))
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

/** At most `maxBytes` of UTF-8, never in the middle of a character. */
function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return Buffer.from(text)
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
