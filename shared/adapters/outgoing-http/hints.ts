import type { OutgoingFailure } from '../../kernel/ports/outgoing-http.ts'

const STATUS_HINTS: Record<number, string> = {
  400: 'The receiver rejected the request as malformed. Check that it accepts a JSON body and reads the raw bytes.',
  401: 'The receiver asked for credentials. Platform requests carry a signature instead: let this path through without a login, check the signature with the current secret over the raw body, and check the server clock.',
  403: 'The receiver refused the request. Check the signature with the current secret over the raw body, and that no firewall or bot protection blocks this path.',
  404: 'Nothing is served at this path. Check the path and that the route is deployed.',
  405: 'The path does not accept this method. Make the handler accept POST.',
  408: 'The receiver stopped waiting for the request. Check that it reads the whole request body.',
  410: 'The receiver reports that this address no longer exists. Retries continue as scheduled. Set the new address, or delete the subscription.',
  413: 'The receiver rejected the body as too large. Raise the body limit of the server or of the proxy in front of it.',
  415: 'The receiver does not accept this content type. Make it accept application/json.',
  421: 'The server does not answer for this host name. Check the host name and the server or CDN configuration.',
  429: 'The receiver limits its callers. Retry-After does not change the schedule. Raise the limit for the platform, or answer 2xx at once and do the work later.',
  502: 'A proxy could not reach the server behind it. Check that the application runs and listens.',
  503: 'The receiver is overloaded or in maintenance. Check that the application runs. Retry-After does not change the schedule.',
  504: 'A proxy waited too long for the server behind it. Answer 2xx at once and do the work later.',
}

/**
 * Returns the likely cause of an unsuccessful response and its fix, for the operator of the receiving server.
 *
 * @returns undefined for a 2xx
 */
export const statusHint = (status: number): string | undefined => {
  if (status >= 200 && status < 300) return undefined
  const known = STATUS_HINTS[status]
  if (known) return known
  if (status >= 300 && status < 400) {
    return 'The receiver redirects. Redirects are not followed. Set the address that it redirects to.'
  }
  if (status >= 500) return 'The receiver failed while handling the request. Check its logs at this time.'
  return 'The receiver rejected the request. Check its logs at this time for the reason.'
}

const CHAIN =
  'The server does not send a certificate chain that leads to a public authority. Install the full chain, including the intermediate certificates.'
const SELF_SIGNED =
  'The certificate is self-signed or from a private authority. Use one from a public authority, for example Let’s Encrypt.'
const NOT_TLS =
  'The port does not speak TLS as expected. Check the port, and that it serves https and TLS 1.2 or newer.'

const CODE_HINTS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'The certificate has expired. Renew it, and check that the server loaded the new one.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet. Check the clock of the machine that issued it.',
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF_SIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: SELF_SIGNED,
  UNABLE_TO_GET_ISSUER_CERT: CHAIN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CHAIN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CHAIN,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'The certificate is for another host name. Install one that covers the host name of this address.',
  EPROTO: NOT_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ECONNREFUSED:
    'No server is listening on this port. Check that the server runs, the port is right and the firewall lets it through.',
  EHOSTUNREACH: 'The network has no route to the server. Check that it is up and that its DNS address is correct.',
  ENETUNREACH: 'The network has no route to the server. Check that it is reachable over IPv4.',
  ENOTFOUND: 'The host name does not exist in DNS. Check its spelling and its DNS records.',
  ENODATA: 'The host name has no A or AAAA record. Add one.',
}

const PHASE_HINTS: Record<OutgoingFailure['phase'], string> = {
  blocked: 'Use an https address on a public host, without credentials in it.',
  dns: 'The name servers of the host name did not answer. Check its DNS records and name servers.',
  connect:
    'No connection could be established. Check that the server runs, the port is right and the firewall lets it through.',
  tls: 'The connection could not be secured. Check the certificate and that the server supports TLS 1.2 or newer.',
  timeout: 'The receiver took too long. Answer 2xx at once and do the work later.',
  reset: 'The receiver closed the connection before its response was complete. Check its logs for a crash or a limit.',
  too_large: 'The response headers are too large. Keep them under 16 KiB.',
  decode: 'The response is not HTTP. Check the port and the service that listens on it.',
  dropped: 'Nothing is wrong: the platform didn’t need the response any longer.',
}

/** Returns the hint for a failure of this phase and code. */
export const failureHint = (phase: OutgoingFailure['phase'], code: string | undefined): string =>
  (phase === 'timeout' ? undefined : CODE_HINTS[code ?? '']) ?? PHASE_HINTS[phase]
