import { randomUUID } from 'node:crypto'
import { createReadStream, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import type { BucketModel } from '../template/model.ts'
import { AwsError } from './error.ts'
import { type Stored, storeBody } from './s3/body.ts'
import { verifySignature } from './s3/sigv4.ts'

/** The template's buckets: put, get, head and delete of objects, by signed header or presigned address. */
export interface S3 {
  /**
   * @param watch called before the operation, and after it but before the response
   * @param at address that the request has for the client, which it has signed. By default, the request's own
   */
  handle(request: IncomingMessage, response: ServerResponse, watch?: S3Watch, at?: SignedAddress): Promise<void>
}

export type S3Watch = (
  operation: string,
  input: { Bucket: string; Key: string },
  phase: 'before' | 'after',
) => Promise<void>

/** Address of a bucket's objects behind another one. */
export interface SignedAddress {
  host: string
  /** Path before the bucket's. */
  prefix: string
}

interface Target {
  bucket: BucketModel
  key: string
  url: URL
  request: IncomingMessage
  response: ServerResponse
  payloadHash: string
  /** Called once the operation is complete except for the response. */
  done: () => Promise<void>
}

const OPERATIONS: Record<string, string> = { PUT: 'Put', GET: 'Get', HEAD: 'Head', DELETE: 'Delete' }

/** Headers stored with the object and returned with it. */
const KEPT =
  /^(content-type|content-disposition|content-language|cache-control|expires|content-encoding|x-amz-meta-.+)$/

const RESPONSE_OVERRIDES: Record<string, string> = {
  'response-content-type': 'content-type',
  'response-content-disposition': 'content-disposition',
  'response-content-language': 'content-language',
  'response-content-encoding': 'content-encoding',
  'response-cache-control': 'cache-control',
  'response-expires': 'expires',
}

const keptHeaders = (request: IncomingMessage): Record<string, string> => {
  const kept = Object.entries(request.headers).filter(([name]) => KEPT.test(name))
  const headers = Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
  // `aws-chunked` describes the transfer, not the object.
  const encoding = headers['content-encoding']?.replace(/,?\s*aws-chunked\s*,?/, '')
  if (encoding) headers['content-encoding'] = encoding
  else delete headers['content-encoding']
  return { 'content-type': 'binary/octet-stream', ...headers }
}

/** Splits `/bucket/key` or `bucket.localhost`, as S3 clients may address it. */
const locate = (host: string, pathname: string): { name: string; key: string } => {
  const virtual = /^(.+)\.(?:localhost|127\.0\.0\.1)(?::\d+)?$/.exec(host)?.[1]
  const path = decodeURIComponent(pathname).slice(1)
  if (virtual) return { name: virtual, key: path }
  const slash = path.indexOf('/')
  return slash < 0 ? { name: path, key: '' } : { name: path.slice(0, slash), key: path.slice(slash + 1) }
}

const allowBrowser = (bucket: BucketModel, request: IncomingMessage, response: ServerResponse): boolean => {
  const { origin } = request.headers
  const method = String(request.headers['access-control-request-method'] ?? request.method)
  const asked = request.headers['access-control-request-headers']
  const names = asked?.split(',').map((name) => name.trim().toLowerCase()) ?? []
  const rule = bucket.cors.find(
    ({ origins, methods, headers }) =>
      (origins.includes('*') || origins.includes(origin ?? '')) &&
      methods.includes(method) &&
      (headers.includes('*') || names.every((name) => headers.includes(name))),
  )
  if (!origin || !rule) return false
  response.setHeader('access-control-allow-origin', rule.origins.includes('*') ? '*' : origin)
  response.setHeader('access-control-allow-methods', rule.methods.join(', '))
  if (asked) response.setHeader('access-control-allow-headers', asked)
  if (rule.exposed.length > 0) response.setHeader('access-control-expose-headers', rule.exposed.join(', '))
  response.setHeader('vary', 'Origin')
  return true
}

/** Opens the buckets over the folder and database that store their objects. */
export const createS3 = (options: {
  buckets: BucketModel[]
  database: DatabaseSync
  dataDir: string
  now?: () => number
}): S3 => {
  const { database, now = Date.now } = options
  const folder = path.join(options.dataDir, 'objects')
  mkdirSync(folder, { recursive: true })
  const read = database.prepare('SELECT * FROM objects WHERE bucket = ? AND key = ?')
  const write = database.prepare('INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?)')
  const drop = database.prepare('DELETE FROM objects WHERE bucket = ? AND key = ?')
  const known = new Set(
    database
      .prepare('SELECT file FROM objects')
      .all()
      .map((row) => String(row.file)),
  )
  // Left by a run that was killed while it read a body, or before it removed what a put replaced.
  for (const file of readdirSync(folder)) if (!known.has(file)) rmSync(path.join(folder, file), { force: true })

  const put = async ({ bucket, key, request, response, payloadHash, done }: Target) => {
    const { 'if-none-match': none, 'if-match': same } = request.headers
    const refuseUnmet = () => {
      const row = read.get(bucket.name, key)
      if (same !== undefined && !row) throw new AwsError('NoSuchKey', 'The specified key does not exist.', 404)
      const isMet = (none !== '*' || !row) && (same === undefined || same === `"${row?.etag}"`)
      if (isMet) return
      throw new AwsError('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', 412)
    }
    refuseUnmet()
    const file = randomUUID()
    let stored: Stored
    let old: ReturnType<typeof read.get>
    try {
      stored = await storeBody(request, path.join(folder, file), payloadHash)
      // Another put may have completed while this body was read. The first to finish wins.
      refuseUnmet()
      old = read.get(bucket.name, key)
      write.run(bucket.name, key, file, stored.size, stored.etag, JSON.stringify(keptHeaders(request)), now())
    } catch (error) {
      await rm(path.join(folder, file), { force: true })
      throw error
    }
    if (old) await rm(path.join(folder, String(old.file)), { force: true })
    await done()
    response.writeHead(200, { etag: `"${stored.etag}"` }).end()
  }

  const get = async ({ bucket, key, request, response, url, done }: Target) => {
    const row = read.get(bucket.name, key)
    if (!row) throw new AwsError('NoSuchKey', 'The specified key does not exist.', 404)
    const headers = JSON.parse(String(row.headers)) as Record<string, string>
    for (const [parameter, header] of Object.entries(RESPONSE_OVERRIDES)) {
      const value = url.searchParams.get(parameter)
      if (value !== null) headers[header] = value
    }
    await done()
    response.writeHead(200, {
      ...headers,
      etag: `"${row.etag}"`,
      'content-length': Number(row.size),
      'last-modified': new Date(Number(row.modified_at)).toUTCString(),
      'accept-ranges': 'bytes',
    })
    if (request.method === 'HEAD') response.end()
    else await pipeline(createReadStream(path.join(folder, String(row.file))), response)
  }

  const remove = async ({ bucket, key, response, done }: Target) => {
    const row = read.get(bucket.name, key)
    drop.run(bucket.name, key)
    if (row) await rm(path.join(folder, String(row.file)), { force: true })
    await done()
    response.writeHead(204).end()
  }

  const methods: Record<string, (target: Target) => Promise<void>> = { PUT: put, GET: get, HEAD: get, DELETE: remove }

  return {
    handle: async (request, response, watch, at) => {
      const host = at?.host ?? request.headers.host ?? ''
      const url = new URL(request.url ?? '/', `http://${host}`)
      const { name: bucketName, key } = locate(host, url.pathname)
      const bucket = options.buckets.find((candidate) => candidate.name === bucketName)
      if (!bucket) throw new AwsError('NoSuchBucket', 'The specified bucket does not exist', 404)
      const browser = allowBrowser(bucket, request, response)
      if (request.method === 'OPTIONS') {
        if (!browser) throw new AwsError('AccessForbidden', 'CORSResponse: This CORS request is not allowed.', 403)
        response.writeHead(200).end()
        return
      }
      const headers = Object.fromEntries(
        Object.entries({ ...request.headers, host }).map(([header, value]) => [
          header,
          Array.isArray(value) ? value.join(',') : value,
        ]),
      )
      const [pathname = '/'] = (request.url ?? '/').split('?')
      const method = request.method ?? 'GET'
      const payloadHash = verifySignature(
        { method, path: (at?.prefix ?? '') + pathname, query: url.searchParams, headers },
        now(),
      )
      const operation = methods[method]
      if (!operation || key === '')
        throw new AwsError('MethodNotAllowed', 'The specified method is not allowed against this resource.', 405)
      const name = `${OPERATIONS[method]}Object`
      const tell = async (phase: 'before' | 'after') => watch?.(name, { Bucket: bucket.name, Key: key }, phase)
      await tell('before')
      await operation({ bucket, key, url, request, response, payloadHash, done: () => tell('after') })
    },
  }
}
