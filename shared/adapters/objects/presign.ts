import type { ObjectStore } from '../../kernel/ports/objects.ts'
import { requestTo } from '../signed-requests.ts'
import { type Bucket, uriEncode } from './bucket.ts'
import { disposition } from './disposition.ts'

/**
 * Creates addresses that carry their permission in the query (Signature Version 4, "Authenticating Requests: Using
 * Query Parameters"). Every given header is signed and must be sent unchanged. An address grants its permission to any
 * holder until it expires and can't be revoked.
 */
export const createPresigner = (bucket: () => Bucket): Pick<ObjectStore, 'presignPut' | 'presignGet'> => {
  const presign = async (
    method: 'PUT' | 'GET',
    key: string,
    expiresIn: number,
    { headers = {}, query = {} }: { headers?: Record<string, string>; query?: Record<string, string> },
  ): Promise<string> => {
    const { clientUrlOf, requests } = bucket()
    const url = clientUrlOf(key)
    // The signer moves this into the query. The body is unknown when the address is created.
    const unsigned = { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD', ...headers }
    const signed = await requests.presign(requestTo(url, { method, query, headers: unsigned }), { expiresIn })
    const pairs = Object.entries(signed.query ?? {}).map(
      ([name, value]) => `${uriEncode(name)}=${uriEncode(String(value))}`,
    )
    return `${url.href}?${pairs.join('&')}`
  }

  return {
    async presignPut(key, { size, contentType, expiresIn }) {
      const headers = { 'content-type': contentType, 'if-none-match': '*' }
      const url = await presign('PUT', key, expiresIn, { headers: { ...headers, 'content-length': String(size) } })
      // Clients set the length themselves; browsers don't let pages set it.
      return { url, headers }
    },
    presignGet: (key, { expiresIn, filename, contentType, inline = false }) =>
      presign('GET', key, expiresIn, {
        query: {
          'response-content-disposition': disposition(inline ? 'inline' : 'attachment', filename),
          'response-content-type': contentType,
        },
      }),
  }
}
