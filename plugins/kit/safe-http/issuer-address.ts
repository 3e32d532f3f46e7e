import { remoteUrlProblem } from './remote-url.ts';

/** The members of an OIDC configuration that decide which addresses its issuer may have. */
export interface IssuerAddress {
  readonly issuer: string;
  readonly insecureAllowHttp?: boolean | undefined;
  readonly jwksAllowPrivateIp?: boolean | undefined;
  readonly protectedResourceAllowPrivateIp?: boolean | undefined;
}

/** Why keys of an issuer cannot be fetched, with the setting that allows it. For issuers that are not this gateway itself. */
export function issuerAddressProblem(given: IssuerAddress): string | undefined {
  const problem = remoteUrlProblem(given.issuer, {
    allowHttp: given.insecureAllowHttp === true,
    allowPrivateAddresses: given.jwksAllowPrivateIp === true || given.protectedResourceAllowPrivateIp === true,
  });
  return problem === undefined ? undefined : withAdvice(problem);
}

/** The error of a refused URL, with the setting that allows it. */
export function withAdvice(problem: string): string {
  if (problem.includes('plain http')) return `${problem} (insecureAllowHttp allows it, for development)`;
  return problem.startsWith('leads to') ? `${problem} (jwksAllowPrivateIp allows it)` : problem;
}
