const KB = 1024;
const MB = 1024 * KB;

/** Bounds of skills. Source: reference workload-api §5.1, §5.2, §5.3. */
export const LIMITS = {
  frontMatterBytes: 64 * KB,
  /** Its body is sent whole. */
  skillFileBytes: 5 * MB,
  descriptionLength: 1024,
  compatibilityLength: 500,
  requires: 100,
  /** A longer body is a warning. */
  bodyLines: 500,
  /** Of a folder, a build and an installation. */
  files: 1000,
  buildBytes: 95 * MB,
  manifestBytes: 1 * MB,
  blobBytes: 100 * MB,
  manifestsPerIndex: 32,
  layersPerManifest: 64,
  layerBytes: 50 * MB,
  extractedBytes: 500 * MB,
  /** Headers of an archive, beside its contents. */
  archiveHeaderBytes: 32 * MB,
  fileBytes: 100 * MB,
  /** Extracted bytes per compressed byte, for layers that extract to more than `ratioFromBytes`. */
  ratio: 200,
  ratioFromBytes: 10 * MB,
  /** Entries of an archive or folder, with folders and hidden files. */
  entries: 10_000,
  pathBytes: 1024,
  nameBytes: 255,
  depth: 32,
  referenceLength: 512,
  pullMs: 300_000,
  gitMs: 120_000,
  gitPackBytes: 100 * MB,
  gitObjects: 100_000,
} as const;
