import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createGateway, type Gateway } from '@toolmgr/core';
import { testClient } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stderrLog } from '../../../core/extension/log.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const program = (name: string) => createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/dist/index.js`);
const server = (name: string, file: string, args: string[] = [], env = {}) => ({
  name,
  transport: 'stdio',
  command: { file: process.execPath, args: [program(file), ...args], env },
});

/** Stores each item as an entity, writes a list of them to a file, and reads it back. */
const FILED = {
  name: 'file_facts',
  parameters: {
    type: 'object',
    properties: { facts: { type: 'array', items: { type: 'string' } }, path: { type: 'string' } },
    required: ['facts', 'path'],
  },
  steps: [
    { id: 'sum', tool: 'every.get-sum', arguments: { a: '{{ len .params.facts }}', b: '0' } },
    {
      id: 'remember',
      type: 'forEach',
      collection: '{{ json .params.facts }}',
      itemVar: 'fact',
      maxParallel: 1,
      step: {
        tool: 'memory.create_entities',
        arguments: {
          entities: [{ name: '{{.forEach.fact}}', entityType: 'fact', observations: ['number {{.forEach.index}}'] }],
        },
      },
    },
    { id: 'graph', tool: 'memory.read_graph', dependsOn: ['remember'] },
    {
      id: 'write',
      tool: 'files.write_file',
      dependsOn: ['graph', 'sum'],
      arguments: {
        path: '{{.params.path}}',
        content: '{{ range .steps.graph.output.entities }}{{ .name }};{{ end }}{{ .steps.sum.output.text }}',
      },
    },
    { id: 'read', tool: 'files.read_text_file', dependsOn: ['write'], arguments: { path: '{{.params.path}}' } },
  ],
  output: {
    properties: {
      filed: { type: 'string', value: '{{ .steps.read.content.text }}' },
      count: { type: 'integer', value: '{{ .steps.remember.output.completed }}' },
    },
    required: ['filed', 'count'],
  },
};

describe('a composite tool over published servers', () => {
  const folder = temporaryFolderOfFile('composite');
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await createGateway(
      {
        name: 'real',
        plugins: [
          { use: 'incoming-auth/anonymous' },
          { use: 'outgoing-auth/unauthenticated' },
          { use: 'aggregation', with: { conflictResolution: 'prefix', excludeAllTools: true } },
          {
            use: 'backend-sources/static',
            with: {
              backends: [
                server('every', 'server-everything'),
                server('memory', 'server-memory', [], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }),
                server('files', 'server-filesystem', [folder]),
              ],
            },
          },
          { use: 'composite/engine', with: { compositeTools: [FILED] } },
        ],
      },
      { catalogue, log: stderrLog('silent') },
    );
    await gateway.settled();
  });
  afterAll(async () => {
    await gateway.stop();
  });

  for (const era of ['2025-11-25', '2026-07-28'] as const) {
    it(`is the only tool that a ${era} client sees, and replaces six calls`, async () => {
      const client = await testClient((request) => gateway.fetch(request), 'http://localhost/mcp', { era });
      expect(await client.toolNames()).toEqual(['file_facts']);
      const path = join(folder, `facts-${era}.txt`);
      const { structuredContent, isError } = await client.callTool('file_facts', { facts: ['tea', 'ale'], path });
      expect(isError).not.toBe(true);
      const filed = 'tea;ale;The sum of 2 and 0 is 2.';
      expect(structuredContent).toEqual({ filed, count: 2 });
      expect(await readFile(path, 'utf8')).toBe(filed);
    });
  }
});
