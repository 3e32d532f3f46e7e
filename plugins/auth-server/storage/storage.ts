import type { JsonObject } from '@toolmgr/core';

/** Members of one set. */
export const MAX_MEMBERS = 10_000;

/**
 * Where the authorization server keeps its records: this process, or Redis for several replicas.
 *
 * Every method is atomic for one key, and no method spans keys, so that a Redis Cluster may spread them. Keys are texts such as
 * `client:ID`; the storage adds its own prefix. All methods reject with STORE_UNAVAILABLE when the storage does not answer in
 * time, and with STORE_FULL when a new record has no room.
 */
export interface AuthStorage {
  /** The record, `undefined` when it is unknown or expired. */
  get(key: string): Promise<StoredRecord | undefined>;
  /** Writes a record. `ttlMs`: time to live in milliseconds; `undefined` keeps it until it is deleted. */
  set(key: string, value: JsonObject, ttlMs: number | undefined): Promise<void>;
  /** Writes a record unless there is one; returns whether it was written. */
  add(key: string, value: JsonObject, ttlMs: number | undefined): Promise<boolean>;
  /** Writes a record if the stored one is still `before`, as `get` returned it; returns whether it was written. */
  replace(key: string, before: StoredRecord, value: JsonObject, ttlMs: number | undefined): Promise<boolean>;
  /** Reads and deletes a record; of several callers one gets it. */
  take(key: string): Promise<StoredRecord | undefined>;
  delete(key: string): Promise<void>;
  /** Gives an existing record a new time to live. */
  touch(key: string, ttlMs: number): Promise<void>;
  /** Adds a member to a set of at most {@link MAX_MEMBERS}. The set lives at least as long as `ttlMs` from now. */
  addMember(key: string, member: string, ttlMs: number | undefined): Promise<void>;
  removeMember(key: string, member: string): Promise<void>;
  /** Members of a set in any order; none for an unknown one. */
  members(key: string): Promise<readonly string[]>;
  /**
   * Tells every replica that listens a short text. Never rejects: while the storage is away no replica gets it, so only the time
   * after which a change is seen may depend on it.
   */
  announce(text: string): Promise<void>;
  /** Calls `heard` for every text that a replica announces, this one included. Returns the function that ends it. */
  listen(heard: (text: string) => void): () => void;
  close(): Promise<void>;
}

/** A record as it was read. */
export interface StoredRecord {
  readonly value: JsonObject;
  /** Changes with every write of the record. */
  readonly version: string;
}
