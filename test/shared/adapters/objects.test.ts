import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createObjects } from '#shared/adapters/objects.ts'
import { startBucket } from '#testkit/bucket.ts'

let bucket: Awaited<ReturnType<typeof startBucket>>
beforeAll(async () => {
  bucket = await startBucket()
})
afterAll(() => bucket.stop())
beforeEach(() => bucket.later(0))

let keys = 0
const newKey = () => `files/ws_1/fil_${keys++}`
const upload = { size: 5, contentType: 'text/plain; charset=utf-8', expiresIn: 900 }
const download = { expiresIn: 300, filename: 'a.txt', contentType: 'text/plain' }

type Headers = Record<string, string>
const put = (url: string, body: string | Uint8Array<ArrayBuffer>, headers: Headers) =>
  fetch(url, { method: 'PUT', body, headers })

describe('an object', () => {
  it('has a size while it exists, and none before and after', async () => {
    const key = newKey()
    expect(await bucket.objects.head(key)).toBeUndefined()
    await bucket.objects.put(key, Buffer.from('hello'), 'text/plain')
    expect(await bucket.objects.head(key)).toBe(5)
    expect(Buffer.from((await bucket.objects.get(key)) ?? []).toString()).toBe('hello')
    await bucket.objects.delete(key)
    await bucket.objects.delete(key)
    expect(await bucket.objects.head(key)).toBeUndefined()
    expect(await bucket.objects.get(key)).toBeUndefined()
  })
})

describe('an object that is created', () => {
  it('is never replaced: of concurrent writers, one wins and the others get an error', async () => {
    const key = newKey()
    const texts = ['one', 'two', 'three', 'four']
    const won = await Promise.all(texts.map((text) => bucket.objects.create(key, Buffer.from(text), 'text/plain')))
    expect(won.filter(Boolean)).toHaveLength(1)
    const stored = async () => Buffer.from((await bucket.objects.get(key)) ?? []).toString()
    expect(await stored()).toBe(texts[won.indexOf(true)])
    expect(await bucket.objects.create(key, Buffer.from('later'), 'text/plain')).toBe(false)
    expect(await stored()).toBe(texts[won.indexOf(true)])
  })

  it('can be created again once it was deleted', async () => {
    const key = newKey()
    expect(await bucket.objects.create(key, Buffer.from('one'), 'text/plain')).toBe(true)
    await bucket.objects.delete(key)
    expect(await bucket.objects.create(key, Buffer.from('two'), 'text/plain')).toBe(true)
  })
})

describe('a presigned upload', () => {
  it('accepts what was signed, once, also an empty object', async () => {
    for (const body of ['hello', '']) {
      const key = newKey()
      const { url, headers } = await bucket.objects.presignPut(key, { ...upload, size: body.length })
      expect(headers).toEqual({ 'content-type': upload.contentType, 'if-none-match': '*' })
      expect((await put(url, body, headers)).status).toBe(200)
      expect(await bucket.objects.head(key)).toBe(body.length)
      const again = await put(url, body, headers)
      expect([again.status, await again.text()]).toEqual([412, expect.stringContaining('PreconditionFailed')])
    }
  })

  it.each<[string, string, Headers]>([
    ['a longer body', 'hello!', {}],
    ['a shorter body', 'hell', {}],
    ['another type', 'hello', { 'content-type': 'text/html' }],
    ['another condition', 'hello', { 'if-none-match': '"x"' }],
    ['an unsigned S3 header', 'hello', { 'x-amz-acl': 'public-read' }],
  ])('refuses %s', async (_, body, change) => {
    const key = newKey()
    const { url, headers } = await bucket.objects.presignPut(key, upload)
    expect((await put(url, body, { ...headers, ...change })).status).toBe(403)
    expect(await bucket.objects.head(key)).toBeUndefined()
  })

  it.each(['if-none-match', 'content-type'])('refuses a request without %s', async (name) => {
    const key = newKey()
    const { url, headers } = await bucket.objects.presignPut(key, upload)
    const { [name]: _, ...rest } = headers
    expect((await put(url, Buffer.from('hello'), rest)).status).toBe(403)
    expect(await bucket.objects.head(key)).toBeUndefined()
  })

  it('expires at its time', async () => {
    const { url, headers } = await bucket.objects.presignPut(newKey(), upload)
    bucket.later(902_000)
    const late = await put(url, 'hello', headers)
    expect([late.status, await late.text()]).toEqual([403, expect.stringContaining('Request has expired')])
  })

  it('is valid for one key, and only for putting', async () => {
    const key = newKey()
    await bucket.objects.put(key, Buffer.from('hello'), 'text/plain')
    const { url, headers } = await bucket.objects.presignPut(key, upload)
    expect((await put(url.replace(key, newKey()), 'hello', headers)).status).toBe(403)
    expect((await fetch(url)).status).toBe(403)
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(403)
  })
})

describe('a presigned download', () => {
  it.each([
    ['report.csv', `attachment; filename="report.csv"; filename*=UTF-8''report.csv`],
    ['a "b" \\ 100%.txt', `attachment; filename="a _b_ _ 100_.txt"; filename*=UTF-8''a%20%22b%22%20%5C%20100%25.txt`],
    [
      "Zürich (1) 'x'!*.txt",
      `attachment; filename="Z_rich (1) 'x'!*.txt"; filename*=UTF-8''Z%C3%BCrich%20%281%29%20%27x%27%21%2A.txt`,
    ],
    ['📄.txt', `attachment; filename="_.txt"; filename*=UTF-8''%F0%9F%93%84.txt`],
  ])('of %j is an attachment with that name and the signed type', async (filename, disposition) => {
    const key = newKey()
    await bucket.objects.put(key, Buffer.from('<b>'), 'text/html')
    const url = await bucket.objects.presignGet(key, { ...download, filename })
    const answer = await fetch(url)
    expect([answer.status, await answer.text()]).toEqual([200, '<b>'])
    expect(answer.headers.get('content-disposition')).toBe(disposition)
    expect(answer.headers.get('content-type')).toBe('text/plain')
  })

  it('expires at its time, and reveals only what was signed', async () => {
    const key = newKey()
    await bucket.objects.put(key, Buffer.from('x'), 'text/plain')
    const url = await bucket.objects.presignGet(key, download)
    expect((await fetch(url.replace('attachment', 'inline'))).status).toBe(403)
    expect((await fetch(url.replace('text%2Fplain', 'text%2Fhtml'))).status).toBe(403)
    bucket.later(298_000)
    expect((await fetch(url)).status).toBe(200)
    bucket.later(302_000)
    expect((await fetch(url)).status).toBe(403)
  })
})

/** AWS's own presigner over the same bucket. Its signatures and ours have to be indistinguishable. */
describe('compared with @aws-sdk/s3-request-presigner', () => {
  const withoutVariables = (text: string) => {
    const url = new URL(text)
    const variable = ['X-Amz-Date', 'X-Amz-Signature', 'X-Amz-Credential']
    // Parameters that SDKs add for themselves.
    const own = ['x-id', 'x-amz-checksum-crc32', 'x-amz-sdk-checksum-algorithm', 'x-amz-checksum-mode']
    const pairs = [...url.searchParams].filter(([name]) => ![...variable, ...own].includes(name))
    return { place: url.origin + url.pathname, query: Object.fromEntries(pairs.sort()) }
  }
  const client = () => {
    const { credentials, ...config } = bucket.services.config
    return new S3Client({
      ...config,
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      credentials: { ...credentials, sessionToken: 'local-function-workspace' },
    })
  }

  it('an upload has the same parameters, and the bucket accepts both', async () => {
    const [ours, theirs] = [newKey(), newKey()]
    const signed = await bucket.objects.presignPut(ours, upload)
    const command = (Key: string) =>
      new PutObjectCommand({
        Bucket: bucket.name,
        Key,
        ContentLength: upload.size,
        ContentType: upload.contentType,
        IfNoneMatch: '*',
      })
    const options = {
      expiresIn: upload.expiresIn,
      signableHeaders: new Set(['content-type', 'content-length', 'if-none-match']),
      unhoistableHeaders: new Set(['if-none-match']),
    }
    const other = await getSignedUrl(client(), command(ours), options)
    expect(withoutVariables(signed.url)).toEqual(withoutVariables(other))
    expect((await put(signed.url, 'hello', signed.headers)).status).toBe(200)
    expect((await put(await getSignedUrl(client(), command(theirs), options), 'hello', signed.headers)).status).toBe(
      200,
    )
  })

  it('a download has the same parameters, and the bucket answers both', async () => {
    const key = newKey()
    await bucket.objects.put(key, Buffer.from('hello'), 'text/plain')
    const ours = await bucket.objects.presignGet(key, { ...download, filename: "ü ('1').txt" })
    const query = new URL(ours).searchParams
    const command = new GetObjectCommand({
      Bucket: bucket.name,
      Key: key,
      ResponseContentDisposition: query.get('response-content-disposition') ?? '',
      ResponseContentType: 'text/plain',
    })
    const theirs = await getSignedUrl(client(), command, { expiresIn: download.expiresIn })
    expect(withoutVariables(ours)).toEqual(withoutVariables(theirs))
    expect([(await fetch(ours)).status, (await fetch(theirs)).status]).toEqual([200, 200])
  })
})

describe('the bucket’s address', () => {
  it.each([
    ['eu-central-1', 'https://data.s3.eu-central-1.amazonaws.com/files/a'],
    ['us-gov-west-1', 'https://data.s3.us-gov-west-1.amazonaws.com/files/a'],
    ['cn-north-1', 'https://data.s3.cn-north-1.amazonaws.com.cn/files/a'],
  ])('in %s has the suffix of its partition', async (region, address) => {
    const objects = createObjects('data', { AWS_REGION: region, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
    const url = new URL(await objects.presignGet('files/a', download))
    expect(url.origin + url.pathname).toBe(address)
  })
})
