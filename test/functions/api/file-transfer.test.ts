import { beforeEach, describe, expect, it } from 'vitest'
import { usingBucket } from '#testkit/bucket.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { filesOf } from './files-support.ts'

const platform = usingPlatform()
const bucket = usingBucket(platform)
beforeEach(() => {
  platform.clock.advance(60_000)
  bucket.later(0)
})

interface Upload {
  url: string
  headers: Record<string, string>
}
const put = ({ url, headers }: Upload, body: string, change: Record<string, string> = {}) =>
  fetch(url, { method: 'PUT', body, headers: { ...headers, ...change } })

describe('the upload URL', () => {
  it('accepts the content once, and the file is ready at the next read', async () => {
    const app = await filesOf(platform)
    const { id, upload } = await app.file({ name: 'Kündigung "1".txt', size: 5 })
    expect((await put(upload, 'hello')).status).toBe(200)
    expect((await put(upload, 'HELLO')).status).toBe(412)
    const { body } = await app.call('GET', `/${id}`)
    expect(body).toMatchObject({ id, status: 'ready', size: 5 })
    const content = await fetch(body.download_url)
    expect([content.status, await content.text()]).toEqual([200, 'hello'])
    expect(content.headers.get('content-type')).toBe('text/plain')
    expect(content.headers.get('content-disposition')).toBe(
      `attachment; filename="K_ndigung _1_.txt"; filename*=UTF-8''K%C3%BCndigung%20%221%22.txt`,
    )
  })

  it.each<[string, string, Record<string, string>]>([
    ['more bytes than announced', 'hello!', {}],
    ['fewer bytes than announced', 'hell', {}],
    ['another type', 'hello', { 'content-type': 'text/html' }],
  ])('refuses %s', async (_, content, change) => {
    const app = await filesOf(platform)
    const { id, upload } = await app.file({ size: 5 })
    expect((await put(upload, content, change)).status).toBe(403)
    expect((await app.call('GET', `/${id}`)).body).toMatchObject({ status: 'pending', download_url: null })
  })

  it('expires after 15 minutes', async () => {
    const app = await filesOf(platform)
    const { upload } = await app.file({ size: 5 })
    bucket.later(15 * 60_000 + 2_000)
    const late = await put(upload, 'hello')
    expect([late.status, await late.text()]).toEqual([403, expect.stringContaining('Request has expired')])
  })
})

describe('the download URL', () => {
  it('expires after 5 minutes, and when the file is deleted', async () => {
    const app = await filesOf(platform)
    const { id } = await app.file()
    const { download_url } = (await app.call('GET', `/${id}`)).body
    bucket.later(5 * 60_000 + 2_000)
    expect((await fetch(download_url)).status).toBe(403)
    bucket.later(0)
    expect((await fetch(download_url)).status).toBe(200)
    await app.call('DELETE', `/${id}`)
    expect((await fetch(download_url)).status).toBe(404)
  })

  it.each([
    ['text/html', 'application/octet-stream'],
    ['text/HTML; charset=utf-8', 'application/octet-stream'],
    ['image/svg+xml', 'application/octet-stream'],
    ['application/xhtml+xml', 'application/octet-stream'],
    ['text/xml', 'application/octet-stream'],
    ['application/atom+xml', 'application/octet-stream'],
    ['text/javascript', 'application/octet-stream'],
    ['application/ecmascript', 'application/octet-stream'],
    ['multipart/x-mixed-replace', 'application/octet-stream'],
    [
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    ['image/png', 'image/png'],
    ['text/csv; charset=utf-8', 'text/csv; charset=utf-8'],
  ])('serves %s as %s, as an attachment', async (type, given) => {
    const app = await filesOf(platform)
    const { id } = await app.file({ content: '<script>alert(1)</script>', content_type: type })
    const { body } = await app.call('GET', `/${id}`)
    expect(body.content_type).toBe(type)
    const { headers } = await fetch(body.download_url)
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      given,
      expect.stringMatching(/^attachment;/),
    ])
  })
})
