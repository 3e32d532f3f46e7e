import { defineSlot } from '@toolmgr/core';
import type { Problem } from './problems.ts';

/** A client, as far as what is installed into its folders needs it. */
export interface ClientPlace {
  readonly name: string;
  /** Whether it is on this machine. */
  readonly isInstalled: boolean;
  /** Absolute path of the folder for the user's skills. */
  readonly userFolder?: string;
  /** Path below the root of a project, with `/`. */
  readonly projectFolder?: string;
}

/** Finds every known client. */
export type FindClients = () => Promise<readonly ClientPlace[]>;

/** Where skills find clients. */
export const clientPlaces = defineSlot<FindClients>('clientPlaces');

/** A skill of a registry, as far as it says where its artifact is. */
export interface RegistrySkill {
  readonly namespace: string;
  readonly name: string;
  readonly version?: string;
  readonly packages: readonly RegistrySkillPackage[];
  /** Whether the user lets this registry lead to private addresses. */
  readonly allowsPrivateAddresses?: boolean;
}

/** One place of an artifact. Source: manager spec §2, SkillRecord. */
export interface RegistrySkillPackage {
  readonly registryType: string;
  readonly identifier?: string;
  readonly digest?: string;
  readonly url?: string;
  readonly ref?: string;
  readonly commit?: string;
  readonly subfolder?: string;
}

/** Skills of the registries with exactly this name: of one namespace, or of all. */
export type SkillLookup = (
  wanted: { readonly namespace?: string; readonly name: string },
  signal: AbortSignal,
) => Promise<readonly RegistrySkill[] | Problem>;

/** Where skills are found by their name. */
export const skillLookups = defineSlot<SkillLookup>('skillLookups');

/** Folders and settings of the user for skills. */
export interface SkillHome {
  /** Folder for the downloaded trust root of Sigstore. */
  readonly cacheDir: string;
  /** How skills are read, at that moment. `publicKeyFiles`: PEM files of keys that may sign. */
  settings(): Promise<{
    readonly allowPrivateAddresses?: boolean;
    readonly trustedRootFile?: string;
    readonly publicKeyFiles?: readonly string[];
  }>;
  /** How skills are pushed, at that moment. Certificate authority and transparency log, by default those of the public-good instance. */
  pushSettings(): Promise<{
    readonly allowPrivateAddresses?: boolean;
    readonly fulcioUrl?: string;
    readonly rekorUrl?: string;
  }>;
}

/** The skills of the user; the host fills it with the name `user`. */
export const skillHomes = defineSlot<SkillHome>('skillHomes');
