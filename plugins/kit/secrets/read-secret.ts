import { GatewayFault, type Secret, type SecretSource, type Slots } from '@toolmgr/core';
import { secretOf } from './secret.ts';

/** The slot with the secret sources of a gateway. */
export type SecretSlots = Pick<Slots, 'secretSources'>;

/**
 * Reads a configured secret, in `prepare` or in `starting`: from a source that the plan adds, such as `encrypted`, then from
 * the environment.
 * @throws GatewayFault SECRET_MISSING or PLAN_INCOMPLETE, with the setting and the name of the secret, never its value; the
 * errors of the source
 */
export async function readSecret({ secretSources }: SecretSlots, name: string, setting: string): Promise<Secret> {
  const sources = secretSources.names().toSorted(byPrecedence);
  if (sources.length === 0) {
    throw new GatewayFault(
      'PLAN_INCOMPLETE',
      `${setting}: ${name} cannot be read, because no plugin reads secrets; add secrets/environment to the plan`,
    );
  }
  const missing: string[] = [];
  for (const source of sources) {
    try {
      return await readSecretFrom(secretSources.get(source), name, setting);
    } catch (cause) {
      if (!isMissing(cause)) throw cause;
      missing.push(missing.length === 0 ? cause.message : cause.message.slice(`${setting}: `.length));
    }
  }
  throw new GatewayFault('SECRET_MISSING', missing.join('; '));
}

/**
 * Reads an optional secret: `undefined` when it is missing, or when the plan has no secret source.
 * @throws the errors of the source
 */
export async function readOptionalSecret(slots: SecretSlots, name: string): Promise<Secret | undefined> {
  if (slots.secretSources.names().length === 0) return undefined;
  return readSecret(slots, name, name).catch(undefinedIfMissing);
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
  return readSecretFrom(source, name, name).catch(undefinedIfMissing);
}

/** The environment is last: it is in every plan. */
function byPrecedence(one: string, other: string): number {
  return Number(one === ENVIRONMENT) - Number(other === ENVIRONMENT);
}

function isMissing(cause: unknown): cause is GatewayFault {
  return cause instanceof GatewayFault && cause.code === 'SECRET_MISSING';
}

function undefinedIfMissing(cause: unknown): undefined {
  if (!isMissing(cause)) throw cause;
}

const ENVIRONMENT = 'environment';
const READ_MS = 10_000;
