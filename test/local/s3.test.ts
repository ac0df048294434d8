import { request } from 'node:http'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AwsError } from '#local/aws/error.ts'
import { keyObjectsOf } from '#ops/keys/objects.ts'
import { startServices } from '#testkit/services.ts'
import { temporaryFolder } from './support.ts'

const Bucket = 'files'
const cors = [{ methods: ['PUT'], origins: ['https://app.example.com'], headers: ['*'], exposed: ['ETag'] }]

let offset = 0
const place = temporaryFolder()
let services: Awaited<ReturnType<typeof startServices>>
const open = async () => {
  const buckets = [{ name: Bucket, cors }]
  services = await startServices({ dataDir: place.folder, buckets, now: () => Date.now() + offset })
}
beforeAll(open)
afterAll(async () => {
  await services.stop()
  place.remove()
})
beforeEach(() => {
  offset = 0
})

const put = (Key: string, Body: string | Uint8Array, extra: object = {}) =>
  services.s3.send(new PutObjectCommand({ Bucket, Key, Body, ...extra }))
const get = async (Key: string) => {
  const answer = await services.s3.send(new GetObjectCommand({ Bucket, Key }))
  return { ...answer, text: await answer.Body?.transformToString() }
}

describe('with signed headers', () => {
  test('an object is returned as stored, with its type and metadata', async () => {
    const Key = 'a folder/ü & (1)+2.txt'
    await put(Key, 'content', { ContentType: 'text/plain', Metadata: { owner: 'me' }, ContentDisposition: 'inline' })
    expect(await get(Key)).toMatchObject({
      text: 'content',
      ContentType: 'text/plain',
      ContentLength: 7,
      ContentDisposition: 'inline',
      Metadata: { owner: 'me' },
      ETag: '"9a0364b9e99bb480dd25e1f0284c8555"',
    })
    const head = await services.s3.send(new HeadObjectCommand({ Bucket, Key }))
    expect(head).toMatchObject({ ContentLength: 7, ContentType: 'text/plain' })
  })

  test('a streamed body is stored without its chunk framing', async () => {
    const bytes = Buffer.alloc(300_000, 'abc')
    const { Readable } = await import('node:stream')
    const Body = Readable.from([bytes.subarray(0, 100_001), bytes.subarray(100_001)])
    const input = { Bucket, Key: 'streamed', Body, ContentLength: bytes.length }
    await services.s3.send(new PutObjectCommand(input))
    const answer = await services.s3.send(new GetObjectCommand({ Bucket, Key: 'streamed' }))
    expect(Buffer.from((await answer.Body?.transformToByteArray()) ?? [])).toEqual(bytes)
    expect(answer.ContentEncoding).toBeUndefined()
  })

  test('of several conditional puts of a new object, one wins', async () => {
    const tries = await Promise.allSettled(['a', 'b', 'c'].map((body) => put('once', body, { IfNoneMatch: '*' })))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(put('once', 'd', { IfNoneMatch: '*' })).rejects.toMatchObject({
      name: 'PreconditionFailed',
      $metadata: { httpStatusCode: 412 },
    })
  })

  test('a deleted object can’t be read, and deleting it again succeeds', async () => {
    await put('gone', 'x')
    for (let i = 0; i < 2; i += 1) await services.s3.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }))
    await expect(get('gone')).rejects.toMatchObject({ name: 'NoSuchKey' })
  })

  test('objects persist over a restart', async () => {
    await put('kept', 'still here')
    await services.stop()
    await open()
    expect(await get('kept')).toMatchObject({ text: 'still here' })
  })

  test('a bucket that isn’t in the template doesn’t exist', async () => {
    const command = new GetObjectCommand({ Bucket: 'other', Key: 'x' })
    await expect(services.s3.send(command)).rejects.toMatchObject({ name: 'NoSuchBucket' })
  })

  test.each([
    ['another secret', { secretAccessKey: 'wrong' }, 'SignatureDoesNotMatch'],
    ['another key', { accessKeyId: 'somebody' }, 'InvalidAccessKeyId'],
  ])('%s is refused', async (_, wrong, name) => {
    const client = new S3Client({ ...services.config, credentials: { ...services.config.credentials, ...wrong } })
    await expect(client.send(new GetObjectCommand({ Bucket, Key: 'kept' }))).rejects.toMatchObject({ name })
  })

  test('a request with a skewed time is refused', async () => {
    offset = 16 * 60_000
    await expect(put('late', 'x')).rejects.toMatchObject({ name: 'RequestTimeTooSkewed' })
  })

  test('a body that differs from the signed one is refused', async () => {
    const client = new S3Client(services.config)
    client.middlewareStack.add(
      (next) => (args) => {
        const { request } = args as unknown as { request: { body: string } }
        request.body = 'ABC'
        return next(args)
      },
      { step: 'finalizeRequest', priority: 'low' },
    )
    const command = new PutObjectCommand({ Bucket, Key: 'forged', Body: 'abc' })
    await expect(client.send(command)).rejects.toMatchObject({ name: /BadDigest|XAmzContentSHA256Mismatch/ })
    await expect(get('forged')).rejects.toMatchObject({ name: 'NoSuchKey' })
  })
})

test('a hook sees each operation before and after, and can lose the answer', async () => {
  const seen: string[] = []
  services.onAwsCall(({ service, operation, phase, input }) => {
    seen.push(`${service} ${operation} ${phase} ${input.Key}`)
    if (phase === 'after') throw new AwsError('InternalError', 'on purpose', 500)
  })
  try {
    await expect(put('lost-answer', 'x')).rejects.toMatchObject({ name: 'InternalError' })
  } finally {
    services.onAwsCall(undefined)
  }
  expect(seen).toEqual(['s3 PutObject before lost-answer', 's3 PutObject after lost-answer'])
  expect(await get('lost-answer')).toMatchObject({ text: 'x' })
})

test('a request without a signature is refused', async () => {
  const answer = await fetch(`${services.address}/${Bucket}/kept`)
  expect(answer.status).toBe(403)
  expect(await answer.text()).toContain('<Code>AccessDenied</Code>')
})

test('buckets can also be addressed by host', async () => {
  await put('by-host', 'content')
  const url = new URL(services.address)
  const endpoint = `http://localhost:${url.port}`
  const client = new S3Client({ ...services.config, endpoint })
  const signed = new URL(await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'by-host' })))
  expect(signed.hostname).toBe(`${Bucket}.localhost`)
  // Not every system resolves names under localhost, so the connection uses the address.
  const text = await new Promise<string>((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: url.port,
      path: signed.pathname + signed.search,
      headers: { host: signed.host },
    }
    request(options, async (answer) => resolve(Buffer.concat(await answer.toArray()).toString()))
      .once('error', reject)
      .end()
  })
  expect(text).toBe('content')
})

describe('presigned', () => {
  const upload = (Key: string, ContentLength: number) =>
    getSignedUrl(
      services.s3,
      new PutObjectCommand({ Bucket, Key, ContentLength, ContentType: 'text/plain', IfNoneMatch: '*' }),
      {
        expiresIn: 300,
        signableHeaders: new Set(['content-type', 'content-length', 'if-none-match']),
        unhoistableHeaders: new Set(['if-none-match']),
      },
    )
  const send = (url: string, body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'PUT', body, headers: { 'content-type': 'text/plain', 'if-none-match': '*', ...headers } })

  test('an upload accepts exactly what was signed, once', async () => {
    const url = await upload('up', 5)
    expect((await send(url, 'hello')).status).toBe(200)
    expect(await get('up')).toMatchObject({ text: 'hello', ContentType: 'text/plain' })
    expect((await send(url, 'hello')).status).toBe(412)
  })

  test('an object is replaced only as long as it is the one that was read', async () => {
    await put('kept', 'one')
    const objects = keyObjectsOf(services.s3, Bucket)
    const first = await objects.read('kept')
    if (!first) throw new Error('there is no such object')
    const replace = (text: string, read = first) => objects.replace('kept', Buffer.from(text), 'text/plain', read)
    expect([await replace('two'), await replace('three')]).toEqual([true, false])
    expect((await get('kept')).text).toBe('two')
    expect(await objects.replace('none', Buffer.from('x'), 'text/plain', first)).toBe(false)
  })

  test.each([
    ['another length', 'hello!', {}],
    ['another type', 'hello', { 'content-type': 'text/html' }],
    ['a condition other than the signed one', 'hello', { 'if-none-match': '"x"' }],
  ])('an upload of %s is refused', async (_, body, headers) => {
    const answer = await send(await upload('refused', 5), body, headers)
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('SignatureDoesNotMatch')
  })

  test('an S3 header that wasn’t signed is refused', async () => {
    const answer = await send(await upload('acl', 5), 'hello', { 'x-amz-acl': 'public-read' })
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('not signed')
  })

  test('an address expires at its time, not before', async () => {
    await put('timed', 'x')
    const url = await getSignedUrl(services.s3, new GetObjectCommand({ Bucket, Key: 'timed' }), { expiresIn: 300 })
    offset = 298_000
    expect((await fetch(url)).status).toBe(200)
    offset = 302_000
    const late = await fetch(url)
    expect(late.status).toBe(403)
    expect(await late.text()).toContain('Request has expired')
  })

  test.each([
    ['key', (url: string) => url.replace('/timed', '/up')],
    ['expiry', (url: string) => url.replace('X-Amz-Expires=300', 'X-Amz-Expires=3000')],
    ['disposition', (url: string) => url.replace('attachment', 'inline')],
  ])('changing %s breaks the signature', async (_, change) => {
    const command = new GetObjectCommand({
      Bucket,
      Key: 'timed',
      ResponseContentDisposition: 'attachment; filename="a.txt"',
    })
    const url = await getSignedUrl(services.s3, command, { expiresIn: 300 })
    const right = await fetch(url)
    expect([right.status, right.headers.get('content-disposition')]).toEqual([200, 'attachment; filename="a.txt"'])
    expect(change(url)).not.toBe(url)
    expect((await fetch(change(url))).status).toBe(403)
  })

  test('a session token is part of the address, as on Lambda', async () => {
    const credentials = { ...services.config.credentials, sessionToken: 'local-function-api' }
    const client = new S3Client({ ...services.config, credentials })
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'timed' }))
    expect(url).toContain('X-Amz-Security-Token=')
    expect((await fetch(url)).status).toBe(200)
  })
})

test('browsers may send only the headers that the bucket’s CORS rules name', async () => {
  const rule = { methods: ['PUT'], origins: ['*'], headers: ['content-type', 'if-none-match'], exposed: [] }
  const other = temporaryFolder()
  const strict = await startServices({ dataDir: other.folder, buckets: [{ name: Bucket, cors: [rule] }] })
  const ask = (names: string) =>
    fetch(`${strict.address}/${Bucket}/x`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': names,
      },
    })
  const statuses = [await ask('content-type,if-none-match'), await ask('Content-Type, x-other'), await ask('x-other')]
  expect(statuses.map(({ status }) => status)).toEqual([200, 403, 403])
  await strict.stop()
  other.remove()
})

test('browsers may do what the bucket’s CORS rules allow', async () => {
  const ask = (origin: string, method: string) =>
    fetch(`${services.address}/${Bucket}/x`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method },
    })
  const allowed = await ask('https://app.example.com', 'PUT')
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example.com'])
  expect((await ask('https://app.example.com', 'DELETE')).status).toBe(403)
  expect((await ask('https://evil.example.com', 'PUT')).status).toBe(403)
})
