import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HostReadingEntity } from '#shared/access/hosts/entity.ts'
import { HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { HOST_REDIRECT, hostActors } from '#testkit/hosts.ts'
import { type Answer, json, startReceiver } from '#testkit/receiver.ts'
import { using } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const act = hostActors(platform)
const server = using(startReceiver, (started) => started.close())

const keyPair = await generateKeyPair('ES256', { extractable: true })
const keys = { keys: [{ ...(await exportJWK(keyPair.publicKey)), kid: 'one' }] }
const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

let count = 0
let id: string
beforeEach(() => {
  platform.clock.advance(HOUR)
  id = `${server.url}/client-${++count}.json`
})

const documentOf = (client_id: string, changes: object = {}) =>
  json({ client_id, client_name: 'Assistant', redirect_uris: [HOST_REDIRECT], ...changes })

const outcomeOf = ({ status, body }: { status: number; body: { error?: string } }) =>
  status < 400 ? 'accepted' : `${status} ${body.error}`

const counted = (outcomes: string[]) =>
  Object.fromEntries([...new Set(outcomes)].map((one) => [one, outcomes.filter((other) => other === one).length]))

/** Returns how many requests the server gets while something is done. */
const requestsDuring = async (work: () => Promise<unknown>) => {
  const before = server.requests.length
  await work()
  return server.requests.length - before
}

/** Sets the server's answer, which it gives once this many requests have asked for a reading. */
const answerOnce = (requests: number, answer: Answer) => {
  const { table } = platform.deps
  const transact = table.transact.bind(table)
  const { promise, resolve } = Promise.withResolvers<void>()
  const readers = new Set<unknown>()
  vi.spyOn(table, 'transact').mockImplementation(async (writes) => {
    const write = writes.find(({ entity }) => entity === HostReadingEntity)
    try {
      return await transact(writes)
    } finally {
      if (write) readers.add(write.item?.by)
      if (readers.size >= requests) resolve()
    }
  })
  server.answer(async () => {
    await promise
    return answer
  })
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('assertions that a stranger makes up for a host whose keys can’t be read', () => {
  const known = async () => {
    server.answer(documentOf(id, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${server.url}/jwks` }))
    const place = await workspace(platform.deps)
    const person = await member(platform.deps, place.id, 'member')
    const consent = await act.consented(id, person.token)
    platform.clock.advance(10 * SECOND)
    return consent
  }
  const assertion = async (privateKey: Parameters<SignJWT['sign']>[0]) => {
    const seconds = Math.floor(platform.clock.now() / 1_000)
    const claims = { iss: id, sub: id, aud: 'https://platform.test/connect', jti: crypto.randomUUID() }
    const jwt = new SignJWT({ ...claims, iat: seconds, exp: seconds + 60 })
    return jwt.setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey)
  }
  const refresh = async (client_assertion: string) =>
    act.refresh(id, 'made-up', { client_assertion, client_assertion_type })

  it('make the platform ask its server 10 times a minute, and then wait', async () => {
    await known()
    server.answer({ kind: 'answer', status: 404 })
    const { privateKey } = await generateKeyPair('ES256')
    const answers: Awaited<ReturnType<typeof refresh>>[] = []
    const asked = await requestsDuring(async () => {
      for (let i = 0; i < 20; i++) answers.push(await refresh(await assertion(privateKey)))
    })
    expect(asked).toBe(10)
    expect(counted(answers.map(outcomeOf))).toEqual({ '401 invalid_client': 10, '429 temporarily_unavailable': 10 })
    expect(Number(answers.at(-1)?.headers['retry-after'])).toBeGreaterThan(0)
  })

  it('don’t lock the host out: its keys are read when its server answers again', async () => {
    const { code, verifier } = await known()
    server.answer({ kind: 'answer', status: 500 })
    const { privateKey } = await generateKeyPair('ES256')
    for (let i = 0; i < 20; i++) await refresh(await assertion(privateKey))
    server.answer(json(keys))
    platform.clock.advance(MINUTE / 2)
    const by = { client_assertion: await assertion(keyPair.privateKey), client_assertion_type }
    expect((await act.redeem(id, { code, verifier }, by)).status).toBe(200)
  })

  it('share one request when they come at once', async () => {
    await known()
    const { privateKey } = await generateKeyPair('ES256')
    const assertions = await Promise.all(Array.from({ length: 8 }, () => assertion(privateKey)))
    answerOnce(8, { kind: 'answer', status: 404 })
    const answers: string[] = []
    const asked = await requestsDuring(async () => {
      answers.push(...(await Promise.all(assertions.map(refresh))).map(outcomeOf))
    })
    expect(asked).toBe(1)
    expect(counted(answers)).toEqual({ '401 invalid_client': 8 })
  })

  it('don’t replace its keys with something else', async () => {
    const { code, verifier } = await known()
    server.next(json(['no keys']))
    server.answer(json(keys))
    expect(outcomeOf(await refresh(await assertion(keyPair.privateKey)))).toBe('401 invalid_client')
    const by = { client_assertion: await assertion(keyPair.privateKey), client_assertion_type }
    expect((await act.redeem(id, { code, verifier }, by)).status).toBe(200)
  })
})

describe('documents that can’t be used', () => {
  it('are read 10 times a minute for one host, however many addresses ask', async () => {
    server.answer({ kind: 'answer', status: 404 })
    const answers: string[] = []
    const asked = await requestsDuring(async () => {
      for (let i = 0; i < 15; i++) answers.push(outcomeOf(await act.authorize(id)))
    })
    expect(asked).toBe(10)
    expect(counted(answers)).toEqual({ '401 invalid_client': 10, '429 temporarily_unavailable': 5 })
    platform.clock.advance(MINUTE)
    server.answer(documentOf(id))
    expect((await act.authorize(id)).status).toBe(302)
  })

  it('are read 60 times a minute at one domain for hosts that a stranger invents, without harm to the known', async () => {
    server.answer(documentOf(id))
    expect((await act.authorize(id)).status).toBe(302)
    platform.clock.advance(2 * HOUR)
    server.answer({ kind: 'answer', status: 404 })
    const asked = await requestsDuring(async () => {
      for (let i = 0; i < 62; i++) await act.authorize(`${server.url}/invented-${count}-${i}.json`)
    })
    expect(asked).toBe(60)
    server.answer(documentOf(id))
    expect((await act.authorize(id)).status).toBe(302)
  })

  it('share one request when they are asked for at once', async () => {
    answerOnce(12, documentOf(id))
    const answers: string[] = []
    const asked = await requestsDuring(async () => {
      answers.push(...(await Promise.all(Array.from({ length: 12 }, () => act.authorize(id)))).map(outcomeOf))
    })
    expect(asked).toBe(1)
    expect(counted(answers)).toEqual({ accepted: 12 })
  })
})

describe('a source address', () => {
  beforeEach(() => {
    platform.deps.settings.addressRateLimits = true
    return () => {
      platform.deps.settings.addressRateLimits = false
    }
  })

  it('makes the platform read 10 documents a minute, known or not', async () => {
    server.answer({ kind: 'answer', status: 404 })
    const answers: string[] = []
    const asked = await requestsDuring(async () => {
      for (let i = 0; i < 12; i++) answers.push(outcomeOf(await act.authorize(`${id}?${i}`)))
    })
    expect(asked).toBe(10)
    expect(counted(answers)).toEqual({ '401 invalid_client': 10, '429 temporarily_unavailable': 2 })
  })
})
