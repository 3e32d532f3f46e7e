import type { Catalogue } from '@toolmgr/core';
import type { KubeObject, Resource } from '@toolmgr/plugins/kit/kubernetes';
import { definitionSentences } from '../controllers/composite-definition.ts';
import { CONFIG_KINDS } from '../controllers/config-checks.ts';
import { checkConfig } from '../controllers/config-kinds.ts';
import { compositeToolDefinition } from '../kinds/composite-tool-definition.ts';
import { type McpServerEntry, mcpServerEntry } from '../kinds/mcp-server-entry.ts';
import { entryUrlProblem } from '../resolve/entry-url.ts';

type Check = (object: Resource, catalogue: Catalogue) => Promise<readonly string[]>;

/** Checks of the operator that need nothing but the object. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ...CONFIG_KINDS.map((config): readonly [string, Check] => [
    config.kind,
    async (object) => (await checkConfig(config, object))?.message.split('\n') ?? [],
  ]),
  [compositeToolDefinition.kind, ({ spec }, catalogue) => definitionSentences(spec, catalogue)],
  [
    mcpServerEntry.kind,
    async ({ spec }) => {
      const problem = entryUrlProblem(spec as McpServerEntry['spec']);
      return problem === undefined ? [] : [`spec.remoteUrl: ${problem}`];
    },
  ],
]);

/** Why the operator would call an object that others refer to not valid. Needs an object that the API server accepts. */
export async function sharedProblems(object: KubeObject, catalogue: Catalogue): Promise<readonly string[]> {
  return (await CHECKS.get(object.kind)?.(object as Resource, catalogue)) ?? [];
}
