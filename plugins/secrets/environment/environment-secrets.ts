import { GatewayFault, type SecretSource } from '@toolmgr/core';

/** Secrets of an environment: the name of a secret is the name of its variable. */
export function environmentSecrets(environment: NodeJS.ProcessEnv): SecretSource {
  return {
    async read(name) {
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (value !== undefined && value !== '') return value;
      const state = value === undefined ? 'not set' : 'empty';
      throw new GatewayFault(
        'SECRET_MISSING',
        `the environment variable ${name} is ${state}; export it before the start`,
      );
    },
  };
}
