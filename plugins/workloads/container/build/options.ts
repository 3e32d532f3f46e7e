import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ContainerBuild } from '@toolmgr/plugins/kit/extension-points';

import { isImageReference } from '@toolmgr/plugins/kit/oci';
import { readRequirement, requirementText, type SchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';

const PACKAGE = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;
const VARIABLE = /^[A-Z_][A-Z0-9_]{0,127}$/;
const RESERVED = /^(PATH|HOME|USER|SHELL|IFS|ENV|BASH_ENV|LD_.*|NODE_OPTIONS|PYTHONPATH|PYTHONSTARTUP)$/;
const MAX_CA_BYTES = 4 * 1_048_576;

/** Settings of a build that have passed their grammars. */
export interface CheckedBuild {
  readonly baseImage?: string;
  readonly packages: readonly string[];
  readonly constraints: readonly string[];
  readonly runtimeEnv: Readonly<Record<string, string>>;
  /** Certificates in PEM. */
  readonly ca?: string;
}

/** Why a setting cannot be used: the option, its value, what was expected. */
export interface Refused {
  readonly reason: string;
}

/**
 * Checks the settings of a build. Nothing that passes can be read as an option, as shell text or as a second line.
 *
 * Source: reference run-command §5.4.
 */
export async function checkBuild(target: SchemeTarget, build: ContainerBuild): Promise<CheckedBuild | Refused> {
  const { baseImage, packages = [], constraints = [], env = {}, caCertFile } = build;
  if (baseImage !== undefined && !isImageReference(baseImage)) {
    return refused(
      '--runtime-image',
      baseImage,
      'a reference of a container image, such as docker.io/library/node:24-slim',
    );
  }
  const wrong = packages.find((name) => !PACKAGE.test(name));
  if (wrong !== undefined) return refused('--runtime-add-package', wrong, 'the name of a package of apk or apt');
  if (constraints.length > 0 && target.scheme !== 'uvx') {
    return { reason: `--build-with is for uvx:// only: ${target.scheme}:// has no constraints of dependencies` };
  }
  const requirements = constraints.map(readRequirement);
  const at = requirements.indexOf(undefined);
  if (at >= 0) {
    return refused(
      '--build-with',
      constraints[at] ?? '',
      'a requirement of PEP 508 without URL and marker, such as pydantic<3',
    );
  }
  for (const [name, value] of Object.entries(env)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
    if (!VARIABLE.test(name) || RESERVED.test(name) || /[\u0000-\u001f\u007f]/.test(value)) {
      return {
        reason: `runtime_env ${name}: expected an upper-case name that is not reserved, and a value in one line`,
      };
    }
  }
  const ca = caCertFile === undefined ? undefined : await readCertificates(caCertFile);
  if (typeof ca === 'object') return ca;
  return {
    ...(baseImage === undefined ? {} : { baseImage }),
    packages: [...new Set(packages)].sort(),
    constraints: requirements.flatMap((read) => (read === undefined ? [] : [requirementText(read)])),
    runtimeEnv: env,
    ...(ca === undefined ? {} : { ca }),
  };
}

/** The certificates of a PEM file, and nothing else that it contains: a private key beside them stays here. */
async function readCertificates(file: string): Promise<string | Refused> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    return { reason: `--ca-cert ${file} cannot be read: ${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}` };
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
  if (text.length > MAX_CA_BYTES || found.length === 0 || !found.every(isCertificate)) {
    return { reason: `--ca-cert ${file}: expected certificates in PEM` };
  }
  return `${found.join('\n')}\n`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function refused(option: string, value: string, expected: string): Refused {
  return { reason: `${option} ${JSON.stringify(value)}: expected ${expected}` };
}
