import { GatewayFault, type Secret, type SecretSource, type Slots } from '@toolmgr/core';
import { secretOf } from './secret.ts';

/** The slot with the secret sources of a gateway. */
export type SecretSlots = Pick<Slots, 'secretSources'>;

/**
 * Reads a configured secret, in `prepare` or in `starting`.
 * @throws GatewayFault SECRET_MISSING or PLAN_INCOMPLETE, with the setting and the name of the secret, never its value
 */
export async function readSecret({ secretSources }: SecretSlots, name: string, setting: string): Promise<Secret> {
  if (secretSources.has(SOURCE)) return readSecretFrom(secretSources.get(SOURCE), name, setting);
  throw new GatewayFault(
    'PLAN_INCOMPLETE',
    `${setting}: ${name} cannot be read, because no plugin reads secrets; add secrets/environment to the plan`,
  );
}

/**
 * Reads an optional secret: `undefined` when it is missing, or when the plan has no secret source.
 * @throws the errors of the source
 */
export async function readOptionalSecret({ secretSources }: SecretSlots, name: string): Promise<Secret | undefined> {
  return secretSources.has(SOURCE) ? readOptionalSecretFrom(secretSources.get(SOURCE), name) : undefined;
}

/** Like {@link readSecret}, from a given source, for hosts without a gateway. @throws like it */
export async function readSecretFrom(source: SecretSource, name: string, setting: string): Promise<Secret> {
  try {
    return secretOf(await source.read(name, AbortSignal.timeout(READ_MS)));
  } catch (cause) {
    throw cause instanceof GatewayFault ? new GatewayFault(cause.code, `${setting}: ${cause.message}`) : cause;
  }
}

/** Like {@link readOptionalSecret}, from a given source. @throws like it */
export async function readOptionalSecretFrom(source: SecretSource, name: string): Promise<Secret | undefined> {
  try {
    return await readSecretFrom(source, name, name);
  } catch (cause) {
    if (cause instanceof GatewayFault && cause.code === 'SECRET_MISSING') return undefined;
    throw cause;
  }
}

const SOURCE = 'environment';
const READ_MS = 10_000;
