// What the page reads of the API's bodies. Every member may be absent: other versions of the host may leave it out.

export interface Workload {
  readonly name: string;
  readonly status: string;
  readonly status_context?: string;
  readonly group?: string;
  readonly package?: string;
  readonly port?: number;
  readonly proxy_mode?: string;
  readonly remote?: boolean;
  readonly tools?: readonly string[];
  readonly transport_type?: string;
  readonly url?: string;
  readonly created_at?: string;
  readonly started_at?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface UpgradeCheck {
  readonly workload_name: string;
  readonly status: string;
  readonly reason?: string;
  readonly current_image?: string;
  readonly candidate_image?: string;
  readonly env_var_drift?: { readonly added?: readonly EnvVar[]; readonly removed?: readonly EnvVar[] };
  readonly config_drift?: Readonly<Record<string, { readonly from?: string; readonly to?: string }>>;
}

export interface EnvVar {
  readonly name: string;
  readonly description?: string;
  readonly default?: string;
  readonly required?: boolean;
  readonly secret?: boolean;
  readonly choices?: readonly string[];
}

/** An image server or a remote server of a registry. */
export interface RegistryServer {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly overview?: string;
  readonly image?: string;
  readonly url?: string;
  readonly transport?: string;
  readonly tier?: string;
  readonly status?: string;
  readonly repository_url?: string;
  readonly tags?: readonly string[];
  readonly tools?: readonly string[];
  readonly args?: readonly string[];
  readonly env_vars?: readonly EnvVar[];
  readonly headers?: readonly EnvVar[];
  readonly required_args?: readonly string[];
  readonly not_used?: readonly string[];
  readonly permissions?: {
    readonly network?: {
      readonly outbound?: {
        readonly allow_host?: readonly string[];
        readonly allow_port?: readonly number[];
        readonly insecure_allow_all?: boolean;
      };
    };
    readonly privileged?: boolean;
    readonly read?: readonly string[];
    readonly write?: readonly string[];
  };
  readonly provenance?: { readonly repository_uri?: string; readonly signer_identity?: string };
  readonly metadata?: { readonly stars?: number; readonly last_updated?: string };
}

export interface RegistrySummary {
  readonly name: string;
  readonly type?: string;
  readonly source?: string;
  readonly server_count?: number;
  readonly last_updated?: string;
  readonly auth_status?: string;
}

export interface ClientStatus {
  readonly client_type: string;
  readonly installed?: boolean;
  readonly registered?: boolean;
  readonly supports_skills?: boolean;
  readonly supports_plugins?: boolean;
}

/** What a registration would write into the file of a client. */
export interface ClientChange {
  readonly client: string;
  readonly path: string;
  readonly conflicts?: readonly { readonly name: string; readonly why: string }[];
  /** Unified; empty when nothing changes. */
  readonly diff?: string;
}

export interface SecretProvider {
  readonly name?: string;
  readonly provider_type?: string;
  readonly capabilities?: Readonly<Record<string, boolean>>;
}

export interface SecretKey {
  readonly key: string;
  readonly description?: string;
}

export interface InstalledSkill {
  readonly metadata?: { readonly name?: string; readonly description?: string; readonly version?: string };
  readonly reference?: string;
  readonly digest?: string;
  readonly scope?: string;
  readonly status?: string;
  readonly clients?: readonly string[];
  readonly managed?: boolean;
  readonly project_root?: string;
  readonly installed_at?: string;
  readonly unsigned?: boolean;
  readonly provenance?: { readonly signer_identity?: string };
}

export interface SkillContent {
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly license?: string;
  readonly body?: string;
  readonly files?: readonly { readonly path: string; readonly size?: number }[];
}

export interface SkillRecord {
  readonly namespace: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly version?: string;
  readonly status?: string;
}

export interface SkillFailure {
  readonly name: string;
  readonly error?: string;
  readonly reason?: string;
}

export interface SyncResult {
  readonly already_current?: readonly string[];
  readonly drifted?: readonly string[];
  readonly installed?: readonly string[];
  readonly missing?: readonly string[];
  readonly never_managed?: readonly string[];
  readonly pruned?: readonly string[];
  readonly removed_from_lock?: readonly string[];
  readonly failed?: readonly SkillFailure[];
}

export interface UpgradeOutcome {
  readonly name: string;
  readonly status: string;
  readonly reason?: string;
  readonly error?: string;
  readonly old_digest?: string;
  readonly new_digest?: string;
  readonly new_resolved_reference?: string;
}

/** Long work of the host. */
export interface Operation {
  readonly id: string;
  readonly title?: string;
  readonly status: string;
  readonly items?: readonly OperationItem[];
}

export interface OperationItem {
  readonly name: string;
  readonly status: string;
  readonly steps?: readonly { readonly text: string }[];
  readonly detail?: string;
}

/** A definition that a gateway holds. Texts of backends are made visible by the host. */
export interface HeldDefinition {
  readonly gateway: string;
  readonly backend: string;
  readonly kind: string;
  readonly name: string;
  readonly hash: string;
  readonly state: string;
  readonly since: string;
  readonly reason: string;
}

/** One difference of a held definition. */
export interface PinChange {
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

/** A held definition with its differences. */
export interface ShownDefinition extends HeldDefinition {
  readonly changes?: readonly PinChange[];
  readonly findings?: readonly { readonly path: string; readonly finding: string }[];
}
