import { aggregation } from './choices/aggregation.ts';
import { authStorage } from './choices/auth-storage.ts';
import { authorization } from './choices/authorization.ts';
import { clients } from './choices/clients.ts';
import { codeMode } from './choices/code-mode.ts';
import { foreign } from './choices/foreign.ts';
import { gatewayChoices } from './choices/gateway.ts';
import { limits } from './choices/limits.ts';
import { oauthServer } from './choices/oauth-server.ts';
import { oidc } from './choices/oidc.ts';
import { outgoing } from './choices/outgoing.ts';
import { passing } from './choices/passing.ts';
import { remote } from './choices/remote.ts';
import { resultLimits } from './choices/result-limits.ts';
import { revisions } from './choices/revisions.ts';
import { search } from './choices/search.ts';
import { signIn } from './choices/sign-in.ts';
import { telemetry } from './choices/telemetry.ts';
import { templates } from './choices/templates.ts';
import { upstreams } from './choices/upstreams.ts';
import { webhooks } from './choices/webhooks.ts';
import { wire } from './choices/wire.ts';

/** Decisions where the three documents show nothing, so that invented behaviour is visible. */
export const choices = [
  ...wire,
  ...authorization,
  ...authStorage,
  ...revisions,
  ...passing,
  ...aggregation,
  ...clients,
  ...codeMode,
  ...foreign,
  ...gatewayChoices,
  ...limits,
  ...oidc,
  ...outgoing,
  ...remote,
  ...resultLimits,
  ...search,
  ...oauthServer,
  ...signIn,
  ...telemetry,
  ...templates,
  ...upstreams,
  ...webhooks,
] as const;
