import { MANAGED_INFORMERS } from '../objects/managed-informers.ts';
import { compositeDefinitionController } from './composite-definition.ts';
import { CONFIG_KINDS } from './config-checks.ts';
import { configController } from './config-kinds.ts';
import { embeddingServerController } from './embedding-server/index.ts';
import { entryController } from './entry.ts';
import { groupController } from './group.ts';

/** Groups, entries, configurations, composite tools and embedding servers: what servers refer to. */
export function sharedKindsPart() {
  return {
    controllers: [
      groupController,
      entryController,
      compositeDefinitionController,
      embeddingServerController(),
      ...CONFIG_KINDS.map(configController),
    ],
    informers: MANAGED_INFORMERS,
  };
}
