import type { CertificateClaims, Provenance } from '@toolmgr/plugins/kit/oci';

/** Whether a registry says who must have signed; without it any signature would do, so there is nothing to check. */
export function namesSigner({ repository_uri: uri, signer_identity: identity }: Provenance): boolean {
  return Boolean(withoutSlash(uri)) || Boolean(identity);
}

/**
 * The first difference between what a registry says and who signed; `undefined` when there is none. A member that the registry does
 * not give is not compared.
 *
 * Source: reference run-command §6 (4).
 */
export function provenanceMismatch(wanted: Provenance, claims: CertificateClaims): string | undefined {
  const signer =
    wanted.signer_identity === undefined ? undefined : signerOf(wanted.signer_identity, wanted.repository_uri);
  const compared: readonly (readonly [string, string | undefined, string])[] = [
    ['issuer', wanted.cert_issuer, claims.issuer],
    ['repository', withoutSlash(wanted.repository_uri), withoutSlash(claims.repositoryUri) ?? ''],
    ['ref', wanted.repository_ref, claims.repositoryRef],
    ['runner environment', wanted.runner_environment, claims.runnerEnvironment],
    ['signer', signer, signer?.includes('@') ? claims.identity : withoutRef(claims.identity)],
  ];
  const wrong = compared.find(([, expected, found]) => expected !== undefined && expected !== '' && expected !== found);
  if (wrong === undefined) return undefined;
  const [what, expected = '', found] = wrong;
  return `its signature has the ${what} ${JSON.stringify(found)}, but the registry says ${JSON.stringify(expected)}`;
}

/** A path of a workflow belongs to the repository. */
function signerOf(identity: string, repositoryUri: string | undefined): string {
  return identity.startsWith('/') ? `${withoutSlash(repositoryUri) ?? ''}${identity}` : identity;
}

/** `https://github.com/o/r/.github/workflows/w.yml@refs/tags/v1` without the ref; an e-mail address as it is. */
function withoutRef(identity: string): string {
  return identity.startsWith('https://') ? identity.replace(/@[^@]*$/, '') : identity;
}

function withoutSlash(uri: string | undefined): string | undefined {
  return uri?.replace(/\/+$/, '').replace(/\.git$/, '');
}
