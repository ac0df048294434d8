import { beforeAll, describe, expect, it } from 'vitest'
import { must, newAgent, sandboxToken, send } from './support.ts'
import { usingLocal } from './using-local.ts'

let token: string
const running = usingLocal()
beforeAll(async () => {
  const scopes = ['files:read', 'files:write', 'tools:invoke']
  const agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/never', scopes })
  token = await sandboxToken(running.baseUrl, agent)
})

const api = (method: string, to: string, body?: unknown) =>
  must(running.baseUrl, method, `/api/v1/files${to}`, { token, ...(body !== undefined && { body }) })
const refused = async (method: string, to: string) =>
  (await send(running.baseUrl, method, `/api/v1/files${to}`, { token })).status

interface Upload {
  url: string
  headers: Record<string, string>
}

/** Requests that a page of any origin makes its browser send: a preflight, then the request. */
const fromBrowser = async ({ url, headers }: Upload, body: Uint8Array<ArrayBuffer>): Promise<Response> => {
  const origin = 'https://app.example.com'
  const asked = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': Object.keys(headers).sort().join(','),
    },
  })
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
  return fetch(url, { method: 'PUT', body, headers: { ...headers, origin } })
}

const content = new Uint8Array(3 * 1_048_576).map((_, i) => i % 251)
const create = () =>
  api('POST', '', { name: 'Bericht 2026.pdf', content_type: 'application/pdf', size: content.length })

describe('a file', () => {
  it('is uploaded from a browser, downloaded unchanged, and can’t be read after it is deleted', async () => {
    const { id, status, upload } = await create()
    expect([status, upload.method]).toEqual(['pending', 'PUT'])
    const put = await fromBrowser(upload, content)
    expect([put.status, put.headers.get('access-control-expose-headers')]).toEqual([200, 'ETag'])
    expect((await fromBrowser(upload, content)).status).toBe(412)

    const file = await api('GET', `/${id}`)
    expect(file).toMatchObject({ status: 'ready', size: content.length })
    const got = await fetch(file.download_url, { headers: { origin: 'https://app.example.com' } })
    expect(Buffer.from(await got.arrayBuffer()).equals(content)).toBe(true)
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="Bericht 2026.pdf"; filename*=UTF-8''Bericht%202026.pdf`,
    })

    expect((await api('GET', '')).items.map((item: { id: string }) => item.id)).toContain(id)
    await api('DELETE', `/${id}`)
    expect(await refused('GET', `/${id}`)).toBe(404)
    expect((await fetch(file.download_url)).status).toBe(404)
  })

  it('can’t be uploaded with another length, type or condition, or after its signed time', async () => {
    const { id, upload } = await create()
    const { url, headers } = upload as Upload
    const statuses = await Promise.all([
      fromBrowser(upload, content.slice(1)),
      fromBrowser({ url, headers: { ...headers, 'content-type': 'text/html' } }, content),
      fromBrowser({ url, headers: { 'content-type': 'application/pdf' } }, content),
      fromBrowser({ url: url.replace('X-Amz-Expires=900', 'X-Amz-Expires=9000'), headers }, content),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(await api('GET', `/${id}`)).toMatchObject({ status: 'pending', download_url: null })
  })

  it('of 4 MiB is accepted in JSON, too', async () => {
    const bytes = Buffer.alloc(4 * 1_048_576, 'abc')
    const fields = { name: 'a.bin', content_type: 'application/octet-stream', content_base64: bytes.toString('base64') }
    const { id } = await api('POST', '', fields)
    const { download_url } = await api('GET', `/${id}`)
    expect(Buffer.from(await (await fetch(download_url)).arrayBuffer()).equals(bytes)).toBe(true)
    await api('DELETE', `/${id}`)
  })

  it('is saved by the tool save_file', async () => {
    const args = { name: 'note.txt', content: 'grüezi' }
    const { result } = await must(running.baseUrl, 'POST', '/api/v1/tools/save_file/invoke', {
      token,
      body: { arguments: args },
    })
    const { download_url } = await api('GET', `/${result.file_id}`)
    expect(await (await fetch(download_url)).text()).toBe('grüezi')
  })
})
