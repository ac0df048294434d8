import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { requestFunctions, workerFunctions } from '#functions/registry.ts'
import { planFunctions } from '#infra/plan.ts'
import { createObjects } from '#shared/adapters/objects.ts'
import { CALL_MS } from '#shared/kernel/aws-calls.ts'
import { createStoreClient } from '#shared/table/client.ts'

/** Answers in order; the last one stays. */
let answers: ((response: ServerResponse) => void)[] = []
let received: number[] = []
const server = createServer((request, response) => {
  request.resume()
  received.push(performance.now())
  const [next] = answers.length > 1 ? answers.splice(0, 1) : answers
  next?.(response)
})

const hang = () => {}
const stall = (response: ServerResponse) => void response.writeHead(200, { 'content-length': '100' }).write('{"Item":')
const answer = (status: number, body = '') => {
  return (response: ServerResponse) => void response.writeHead(status).end(body)
}

let endpoint = ''
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  received = []
})

const where = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
const get = new GetCommand({ TableName: 'table', Key: { pk: 'a', sk: 'b' } })
const bucket = () => createObjects('bucket', { ...where, AWS_ENDPOINT_URL_S3: endpoint })

describe('a call of the table', () => {
  const item = answer(200, '{"Item":{"pk":{"S":"a"}}}')

  /** Returns a client whose next call is its first, which the SDK makes, or a later one. */
  const clientBefore = async (call: string) => {
    const client = createStoreClient({ endpoint, region: 'us-east-1', credentials })
    if (call === 'first') return client
    answers = [item]
    await client.send(get)
    received = []
    return client
  }

  it.each(['first', 'later'])(
    '(%s) is tried again after four seconds on a connection that never answers',
    async (call) => {
      const client = await clientBefore(call)
      answers = [hang, item]
      const began = performance.now()
      expect((await client.send(get)).Item).toEqual({ pk: 'a' })
      expect(performance.now() - began).toBeLessThan(7_000)
      expect(received).toHaveLength(2)
    },
    20_000,
  )

  it.each(['first', 'later'])(
    '(%s) ends if the rest of an answer never comes',
    async (call) => {
      const client = await clientBefore(call)
      answers = [stall, item]
      const began = performance.now()
      await client.send(get).catch(() => undefined)
      expect(performance.now() - began).toBeLessThan(12_000)
    },
    20_000,
  )

  it('is tried again if its answer breaks off', async () => {
    const client = await clientBefore('later')
    const breaksOff = (response: ServerResponse) => {
      stall(response)
      setTimeout(() => response.destroy(), 50)
    }
    answers = [breaksOff, item]
    expect((await client.send(get)).Item).toEqual({ pk: 'a' })
    expect(received).toHaveLength(2)
  })

  it('ends with all its attempts within the time of the shortest function', () => {
    const seconds = planFunctions({ requestFunctions, workerFunctions }).map(({ timeoutSeconds }) => timeoutSeconds)
    expect(CALL_MS).toBeLessThan(Math.min(...seconds) * 1_000)
  })
})

describe('the bucket', () => {
  it('is asked again with growing pauses while it wants fewer requests', async () => {
    answers = [answer(503), answer(503), answer(503), answer(200, 'here')]
    expect(Buffer.from((await bucket().get('payloads/a')) ?? []).toString()).toBe('here')
    const [first = 0, second = 0, third = 0, fourth = 0] = received
    expect(second - first).toBeGreaterThanOrEqual(99)
    expect(third - second).toBeGreaterThanOrEqual(199)
    expect(fourth - third).toBeGreaterThanOrEqual(399)
  })

  it('gives up after five attempts', async () => {
    answers = [answer(503)]
    await expect(bucket().get('payloads/a')).rejects.toThrow('503')
    expect(received).toHaveLength(5)
  })

  it('is asked again after a broken connection', async () => {
    answers = [(response) => void response.destroy(), answer(200, 'here')]
    expect(await bucket().get('payloads/a')).toBeDefined()
  })

  it('isn’t asked again for an object that is missing or forbidden', async () => {
    answers = [answer(404)]
    expect(await bucket().get('payloads/a')).toBeUndefined()
    answers = [answer(403)]
    await expect(bucket().get('payloads/a')).rejects.toThrow('403')
    expect(received).toHaveLength(2)
  })
})
