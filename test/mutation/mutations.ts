import { behaviours } from './behaviours.ts';
import { authStorageBehaviours } from './behaviours-auth-storage.ts';
import { clientBehaviours } from './behaviours-clients.ts';
import { featureBehaviours } from './behaviours-features.ts';
import { managerBehaviours } from './behaviours-manager.ts';
import { oauthServerBehaviours } from './behaviours-oauth-server.ts';
import { outsideBehaviours } from './behaviours-outside.ts';
import { policyBehaviours } from './behaviours-policy.ts';
import { protocolBehaviours } from './behaviours-protocol.ts';
import { runBehaviours } from './behaviours-run.ts';
import { signInBehaviours } from './behaviours-sign-in.ts';
import { upstreamBehaviours } from './behaviours-upstreams.ts';
import { defaults } from './defaults.ts';
import type { Mutation } from './mutation.ts';

/** The whole table. */
export const mutations: readonly Mutation[] = [
  ...defaults,
  ...behaviours,
  ...policyBehaviours,
  ...protocolBehaviours,
  ...featureBehaviours,
  ...outsideBehaviours,
  ...oauthServerBehaviours,
  ...signInBehaviours,
  ...upstreamBehaviours,
  ...clientBehaviours,
  ...authStorageBehaviours,
  ...managerBehaviours,
  ...runBehaviours,
];
