import { Hash } from '@smithy/core/serde'
import { HttpRequest } from '@smithy/core/transport'
import { NodeHttpHandler, streamCollector } from '@smithy/node-http-handler'
import { SignatureV4 } from '@smithy/signature-v4'
import { AWS_CALLS } from '../kernel/aws-calls.ts'
import { regionOf } from '../kernel/bucket-address.ts'

type Environment = Record<string, string | undefined>

export interface Answer {
  status: number
  headers: Record<string, string>
  body: Uint8Array
}

export interface SignedRequests {
  /** Sends a request with its signature in the headers. */
  send(request: HttpRequest): Promise<Answer>
  /** Moves the permission into the query of a request (Signature Version 4, "Using Query Parameters"). */
  presign(request: HttpRequest, options: { expiresIn: number }): Promise<{ query?: HttpRequest['query'] }>
}

export const requestTo = (
  url: URL,
  { headers, ...more }: Partial<Pick<HttpRequest, 'method' | 'headers' | 'query' | 'body'>>,
): HttpRequest =>
  new HttpRequest({
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port && { port: Number(url.port) }),
    path: url.pathname,
    headers: { host: url.host, ...headers },
    ...more,
  })

/**
 * Creates signed requests to an AWS service that needs no client of its own. Every bundle already contains the signer,
 * hash and connections through the SDK's clients.
 *
 * @param environment AWS_REGION, and the credentials that Lambda sets
 * @param timeout milliseconds
 * @param uriEscapePath true if the path has escaped characters: every service but S3 signs them escaped twice
 */
export const signedRequests = (
  service: string,
  environment: Environment,
  timeout: number,
  uriEscapePath = false,
): SignedRequests => {
  const signer = new SignatureV4({
    service,
    region: regionOf(environment),
    uriEscapePath,
    applyChecksum: true,
    sha256: Hash.bind(null, 'sha256'),
    credentials: async () => ({
      accessKeyId: environment.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.AWS_SECRET_ACCESS_KEY ?? '',
      ...(environment.AWS_SESSION_TOKEN && { sessionToken: environment.AWS_SESSION_TOKEN }),
    }),
  })
  const connections = new NodeHttpHandler({
    connectionTimeout: Math.min(timeout, AWS_CALLS.requestHandler.connectionTimeout),
    requestTimeout: timeout,
    throwOnRequestTimeout: true,
    socketTimeout: timeout,
  })
  return {
    async send(request) {
      const { response } = await connections.handle(HttpRequest.clone(await signer.sign(request)))
      const { statusCode, headers, body } = response
      return { status: statusCode, headers, body: await streamCollector(body) }
    },
    presign: (request, options) => signer.presign(request, options),
  }
}
