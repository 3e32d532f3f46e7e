/** Types of an artifact of a skill. Source: reference workload-api §5.2. */
export const MEDIA_TYPES = {
  artifact: 'dev.toolmgr.skills.v1',
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

/** Prefix of labels and annotations. */
export const LABEL = 'dev.toolmgr.skills';
