/** How to reach an API server. */
export interface Connection {
  /** URL of the API server; with a path when the server is behind a proxy. */
  readonly server: string;
  /** Namespace of the own pod, or of the current context of a kubeconfig. */
  readonly namespace?: string;
  /**
   * Credentials for the next request. Called before each request, so it is cheap while nothing changed.
   * `refused`: the server answered 401 to the last ones.
   * @throws Error without secrets when they cannot be read
   */
  credentials(refused?: boolean): Promise<Credentials>;
}

/** What a request proves who it is with. */
export interface Credentials {
  /** Value of the header `Authorization`. */
  readonly authorization?: string;
  /** Further headers, such as `Impersonate-User`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The same object while nothing changed: connections with another object are closed. */
  readonly tls: TlsSettings;
}

/** TLS to the API server. PEM texts. */
export interface TlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Name in the certificate of the server, when it is not the host of the URL. */
  readonly servername?: string;
  /** `false` accepts any certificate. */
  readonly rejectUnauthorized?: boolean;
}
