import type { JsonObject, ToolEntry } from '@toolmgr/core';

/** Properties of a tool in a test. */
export interface WrittenTool {
  readonly name: string;
  readonly backend?: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
}

/** Creates a catalogue entry. */
export function toolEntry({ name, backend = 'backend', ...said }: WrittenTool): ToolEntry {
  return {
    kind: 'tool',
    key: name,
    backend,
    original: name,
    definition: Buffer.from(JSON.stringify({ name, inputSchema: { type: 'object' }, ...said })),
    shapedBy: [],
  };
}
