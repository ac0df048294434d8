import type { ObjectStore } from '../../domain/ports.ts'
import { type Bucket, uriEncode } from './bucket.ts'
import { attachment } from './disposition.ts'

/**
 * Addresses that carry their permission in the query (Signature Version 4, "Authenticating Requests: Using Query
 * Parameters"). Every header that is given is signed, and so has to be sent as it is. Whoever gets an address has what it
 * allows until its time is over: it cannot be taken back.
 */
export const createPresigner = (bucket: () => Bucket): Pick<ObjectStore, 'presignPut' | 'presignGet'> => {
  const presign = async (
    method: 'PUT' | 'GET',
    key: string,
    expiresIn: number,
    { headers = {}, query = {} }: { headers?: Record<string, string>; query?: Record<string, string> },
  ): Promise<string> => {
    const { base, pathOf, signer } = bucket()
    const path = pathOf(key)
    const signed = (await signer.presign(
      {
        method,
        protocol: base.protocol,
        hostname: base.hostname,
        ...(base.port && { port: Number(base.port) }),
        path,
        query,
        // The signer moves it into the query; the body is not known when the address is made.
        headers: { host: base.host, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD', ...headers },
      } as never,
      { expiresIn },
    )) as unknown as { query: Record<string, string> }
    const pairs = Object.entries(signed.query).map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`)
    return `${base.origin}${path}?${pairs.join('&')}`
  }

  return {
    async presignPut(key, { size, contentType, expiresIn }) {
      const headers = { 'content-type': contentType, 'if-none-match': '*' }
      const url = await presign('PUT', key, expiresIn, { headers: { ...headers, 'content-length': String(size) } })
      // Clients set the length themselves, and a browser lets no page set it.
      return { url, headers }
    },
    presignGet: (key, { expiresIn, filename, contentType }) =>
      presign('GET', key, expiresIn, {
        query: { 'response-content-disposition': attachment(filename), 'response-content-type': contentType },
      }),
  }
}
