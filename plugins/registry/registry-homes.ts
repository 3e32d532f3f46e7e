import { defineSlot } from '@toolmgr/core';
import type { RegistryDeps } from './registry-deps.ts';

/** The registries of the user; the host fills it with the name `user`. */
export const registryHomes = defineSlot<RegistryDeps>('registryHomes');
