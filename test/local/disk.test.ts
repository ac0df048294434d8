import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import path from 'node:path'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createQueue } from '#local/aws/sqs/queue.ts'
import type { Message, MessageStore } from '#local/aws/sqs/store.ts'
import { watchDisk } from '#local/disk.ts'
import { NO_JUMPS } from '#local/jumps.ts'
import { prepare } from '#local/prepare.ts'
import { ASSEMBLY } from '#testkit/assembly.ts'
import { queueModel, startServices } from '#testkit/services.ts'
import { killAll, npmStart } from './npm-start.ts'
import { temporaryFolder, until } from './support.ts'

let place: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  place = temporaryFolder()
})
afterEach(() => {
  vi.useRealTimers()
  place.remove()
})

const FULL = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })

describe('a queue on a full disk', () => {
  /** A store whose writes fail while `full` is set. */
  const storeOn = (disk: { full: boolean }): MessageStore => {
    const write = () => {
      if (disk.full) throw FULL
    }
    return { load: () => [], save: write, remove: write }
  }

  test('receives nothing and counts no receive, and delivers everything due once there is space', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const disk = { full: false }
    const onError = vi.fn()
    const queue = createQueue(queueModel('q'), {
      store: storeOn(disk),
      now: Date.now,
      byArn: () => undefined,
      onError,
      jumps: NO_JUMPS,
    })
    const delayed = ['a', 'b'].map((body) => queue.send({ body, delaySeconds: 1 }))
    const received: Message[] = []
    void queue.receive({ max: 10, waitMs: 60_000 }).then((messages) => received.push(...messages))
    disk.full = true
    // The timer of the delay receives for the waiting caller, and can't store that.
    await vi.advanceTimersByTimeAsync(5_000)
    expect(received).toEqual([])
    expect(onError).toHaveBeenCalledWith(FULL)
    disk.full = false
    await vi.advanceTimersByTimeAsync(1_000)
    expect(received.map(({ id, receives }) => [id, receives]).sort()).toEqual(delayed.map(({ id }) => [id, 1]).sort())
    queue.stop()
  })

  test('keeps a dead letter where it is until it can be moved', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const disk = { full: false }
    const deps = { store: storeOn(disk), now: Date.now, byArn: () => dead, onError: () => undefined, jumps: NO_JUMPS }
    const dead = createQueue(queueModel('dead'), deps)
    const redrive = { targetArn: dead.model.arn, maxReceives: 1 }
    const queue = createQueue(queueModel('q', { redrive, visibilitySeconds: 1 }), deps)
    queue.send({ body: 'bad' })
    await queue.receive({ max: 1 })
    disk.full = true
    void queue.receive({ max: 1, waitMs: 60_000 })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(queue.counts().visible).toBe(1)
    disk.full = false
    await vi.advanceTimersByTimeAsync(1_000)
    expect([queue.counts().visible, dead.counts().visible]).toEqual([0, 1])
    queue.stop()
  })
})

test('a full disk is said once, and so is that there is space again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let full = true
  const said: string[] = []
  const probe = () => {
    if (full) throw FULL
  }
  const disk = watchDisk({ dataDir: '/data', say: (message) => said.push(message), probe })
  expect(disk.notice(new Error('another'))).toBe(false)
  expect([disk.notice(FULL), disk.notice(FULL), disk.notice('InternalServerError: database or disk is full')]).toEqual([
    true,
    true,
    true,
  ])
  const goesOn = vi.fn()
  void disk.writable().then(goesOn)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(disk.isFull).toBe(true)
  expect(goesOn).not.toHaveBeenCalled()
  full = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(disk.isFull).toBe(false)
  expect(goesOn).toHaveBeenCalled()
  expect(said).toEqual([expect.stringContaining('The disk of /data is full.'), expect.stringContaining('again')])
  // An agent's own disk is none of ours.
  expect(disk.notice('the agent answered: ENOSPC')).toBe(false)
})

describe('the emulated services', () => {
  const Bucket = 'files'
  const start = () =>
    startServices({
      dataDir: place.folder,
      buckets: [{ name: Bucket, cors: [] }],
      queues: [queueModel('q')],
      disk: { notice: (error) => /disk is full/.test(String(error)) },
    })
  const stored = () => readdirSync(path.join(place.folder, 'objects'))

  test('answer 503 and say that the disk is full', async () => {
    const services = await start()
    services.database.exec('PRAGMA max_page_count = 1')
    const sending = services.sqs.send(
      new SendMessageCommand({ QueueUrl: services.urlOf('q'), MessageBody: 'x'.repeat(100_000) }),
    )
    await expect(sending).rejects.toMatchObject({
      name: 'ServiceUnavailable',
      message: 'The disk of the local run is full.',
      $metadata: { httpStatusCode: 503 },
    })
    const url = await getSignedUrl(services.s3, new PutObjectCommand({ Bucket, Key: 'k' }))
    const put = async () => {
      const headers = { 'content-disposition': 'x'.repeat(9_000) }
      const answer = await fetch(url, { method: 'PUT', headers, body: 'bytes' })
      return { status: answer.status, text: await answer.text() }
    }
    expect(await put()).toEqual({ status: 503, text: expect.stringContaining('The disk of the local run is full.') })
    expect(stored()).toEqual([])
    services.database.exec('PRAGMA max_page_count = 1000000')
    expect((await put()).status).toBe(200)
    await services.stop()
  })

  test('an upload that breaks off leaves no bytes, and neither does one that a killed run was reading', async () => {
    let services = await start()
    const url = new URL(await getSignedUrl(services.s3, new PutObjectCommand({ Bucket, Key: 'k' })))
    const upload = request(url, { method: 'PUT', headers: { 'content-length': 1_000_000 } })
    upload.on('error', () => undefined)
    upload.write(Buffer.alloc(300_000))
    await until(() => (stored().length === 1 ? true : undefined))
    upload.destroy()
    await until(() => (stored().length === 0 ? true : undefined))
    await services.s3.send(new PutObjectCommand({ Bucket, Key: 'whole', Body: 'whole' }))
    await services.stop()
    writeFileSync(path.join(place.folder, 'objects', 'half'), 'bytes')
    services = await start()
    expect(stored()).toHaveLength(1)
    const { Body } = await services.s3.send(new GetObjectCommand({ Bucket, Key: 'whole' }))
    expect(await Body?.transformToString()).toBe('whole')
    await services.stop()
  })
})

/** Mounts a small disk. @returns false where that isn't permitted */
const mounted = (folder: string): boolean => {
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', folder], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

test('the platform outlives a full disk: writes are refused with the reason, reads go on, and so does everything due', async (context) => {
  const folder = path.join(place.folder, 'disk')
  if (!mounted(folder)) return context.skip('only a user who may mount can fill a disk')
  try {
    await (await prepare({ ...ASSEMBLY, together: true }))?.()
    const { baseUrl, lines } = await npmStart(['--port', '0'], { env: { DATA_DIR: folder } })
    const register = async (name: string) => {
      const answer = await fetch(`${baseUrl}/api/v1/dev/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: `${name}@example.com`, name }),
      })
      return { status: answer.status, body: await answer.json() }
    }
    expect((await register('before')).status).toBe(201)
    const { bavail, bsize } = statfsSync(folder)
    try {
      writeFileSync(path.join(folder, 'filling'), Buffer.alloc(bavail * bsize + 4_096))
    } catch {
      // As much as there is space for.
    }
    const refused = await until(async () => {
      const answer = await register('while')
      return answer.status === 201 ? undefined : answer
    })
    expect(refused).toMatchObject({
      status: 503,
      body: {
        error: { code: 'unavailable', message: 'The disk of the local run is full.', request_id: expect.any(String) },
      },
    })
    expect((await fetch(`${baseUrl}/api/v1/me`)).status).toBe(401)
    rmSync(path.join(folder, 'filling'))
    await until(async () => ((await register('after')).status === 201 ? true : undefined))
    expect(lines.filter((line) => line.includes(`The disk of ${folder} is full.`))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('database or disk is full'))).toEqual([])
  } finally {
    killAll()
    await until(() => {
      try {
        execFileSync('umount', [folder], { stdio: 'pipe' })
        return true
      } catch {
        return undefined
      }
    })
  }
})
