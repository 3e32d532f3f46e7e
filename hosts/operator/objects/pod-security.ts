/** User and group of the product's image. */
const USER = 65_532;

/** `securityContext` of containers that run the product's image: the profile "restricted", and a read-only root file system. */
export const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  privileged: false,
  readOnlyRootFilesystem: true,
};

/** `securityContext` of their pods. OpenShift assigns the user ids itself. */
export function podSecurity(isOpenShift: boolean): object {
  return {
    runAsNonRoot: true,
    ...(isOpenShift ? {} : { fsGroup: USER, runAsGroup: USER, runAsUser: USER }),
    seccompProfile: { type: 'RuntimeDefault' },
  };
}
