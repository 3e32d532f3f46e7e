/** One reason why the API server would refuse an object. */
export interface ManifestProblem {
  /** Path in the object, such as `spec.incomingAuth.type`. */
  readonly path: string;
  readonly message: string;
}
