import { ANY_CLIENT, type DelegationConfig } from './config.ts';

/** What the rest of the configuration says. */
export interface ServerFacts {
  readonly issuer: string;
  readonly allowedAudiences: readonly string[];
  readonly supportedScopes: readonly string[];
}

/** A wrong value and its place in `authServerConfig`. */
export interface ConfigProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Names in the configuration of delegation that do not exist. */
export function delegationProblems(
  { delegateClients, trustedIssuers }: Pick<DelegationConfig, 'delegateClients' | 'trustedIssuers'>,
  { issuer: own, allowedAudiences, supportedScopes }: ServerFacts,
): readonly ConfigProblem[] {
  const clientIds = [ANY_CLIENT, ...delegateClients.map(({ clientId }) => clientId)];
  return [
    ...delegateClients.flatMap(({ scopes, audiences = [] }, index) => [
      ...unknown(scopes, supportedScopes, ['delegateClients', index, 'scopes']),
      ...unknown(audiences, allowedAudiences, ['delegateClients', index, 'audiences']),
    ]),
    ...trustedIssuers.flatMap(({ issuer, allowedDelegateClients, jwtBearer }, index) => {
      const at = ['trustedIssuers', index];
      return [
        ...(issuer === own
          ? [{ path: [...at, 'issuer'], message: 'is the issuer of this server, which is always trusted' }]
          : []),
        ...unknown(allowedDelegateClients, clientIds, [...at, 'allowedDelegateClients']),
        ...(jwtBearer?.subjectBindings ?? []).flatMap(({ resources, scopes }, binding) => [
          ...unknown(resources, allowedAudiences, [...at, 'jwtBearer', 'subjectBindings', binding, 'resources']),
          ...unknown(scopes, supportedScopes, [...at, 'jwtBearer', 'subjectBindings', binding, 'scopes']),
        ]),
      ];
    }),
  ];
}

function unknown(
  given: readonly string[],
  known: readonly string[],
  path: ConfigProblem['path'],
): readonly ConfigProblem[] {
  return given.flatMap((each, index) =>
    known.includes(each)
      ? []
      : [{ path: [...path, index], message: `"${each}" is not known; expected one of ${known.join(', ')}` }],
  );
}
