import { defineSlot } from '@toolmgr/core';
import type { RegistrationPlaces } from './registration/registrations.ts';

/** Where the clients of the user are; the host fills it with the name `user`. */
export const clientHomes = defineSlot<RegistrationPlaces>('clientHomes');
