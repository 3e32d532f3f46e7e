import type { Catalogue, Plan } from '@toolmgr/core';
import { managerCatalogue } from '@toolmgr/plugins';

/** Which plugins a manager loads, in order, and their options. */
export type ManagerPlan = Plan['plugins'];

/** Every plugin of the manager by address. */
export const catalogue: Catalogue = {
  workloads: async () => ({ default: (await import('./workloads/plugin.ts')).workloadsPlugin }),
  groups: async () => ({ default: (await import('./groups/plugin.ts')).groupsPlugin }),
  secrets: async () => ({ default: (await import('./secrets/plugin.ts')).secretsPlugin }),
  upgrades: async () => ({ default: (await import('./upgrades/plugin.ts')).upgradesPlugin }),
  endpoints: async () => ({ default: (await import('./endpoints/plugin.ts')).endpointsPlugin }),
  ...managerCatalogue,
};

/** The plan of `toolmgr serve` without `--config`. Its order is that of the operations in the OpenAPI document. */
export const DEFAULT_PLAN: ManagerPlan = [
  'workloads',
  'groups',
  'clients',
  'secrets',
  'registry',
  'upgrades',
  'image-verification',
  'skills',
  'pins',
  'endpoints',
].map((use) => ({ use }));
