import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { decodeProtectedHeader } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { RINGS } from '#infra/rings.ts'
import { AwsError } from '#local/aws/error.ts'
import { type DataKeyObjects, type KeyObjects, reseal } from '#ops/keys/reseal.ts'
import { readRing } from '#ops/keys/ring.ts'
import { describeRing, type Operation, type Reseal, resealAll, retire, rotate, WAIT } from '#ops/keys/rotate.ts'
import { ringStore } from '#ops/keys/secret.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { publishKeys } from '#shared/adapters/public-keys.ts'
import { createKeys, KEYS_FRESH } from '#shared/adapters/secrets.ts'
import { createWorkspaceKeys } from '#shared/adapters/workspace-keys.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { signingSecretRecord } from '#shared/catalogue/apps/signing-secret.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import { parseKeyring } from '#shared/kernel/keyring.ts'
import { isSigningRing, RING_NAMES, type RingName } from '#shared/kernel/ports/keys.ts'
import type { ObjectStore } from '#shared/kernel/ports/objects.ts'
import { temporaryFolder } from '#test/local/support.ts'
import { runCommand } from '#testkit/command.ts'
import { installed, member } from '#testkit/fixtures.ts'
import { startServices } from '#testkit/services.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const place = temporaryFolder()
const platform = usingPlatform()
let services: Awaited<ReturnType<typeof startServices>>
/** Each test has its own keyrings. */
let unique = 0
let printed: string[]
let stored: Map<string, Uint8Array>
/** Public keys, which are in another bucket than the data keys. */
let published: Map<string, Uint8Array>
const objectsIn = (read: () => Map<string, Uint8Array>): KeyObjects & DataKeyObjects & Pick<ObjectStore, 'create'> => ({
  get: async (key) => read().get(key),
  put: async (key, bytes) => void read().set(key, bytes),
  read: async (key) => {
    const bytes = read().get(key)
    return bytes && { bytes, tag: Buffer.from(bytes).toString('base64') }
  },
  replace: async (key, bytes, _type, { tag }) => {
    if (Buffer.from(read().get(key) ?? '').toString('base64') !== tag) return false
    read().set(key, bytes)
    return true
  },
  create: async (key, bytes) => {
    if (read().has(key)) return false
    read().set(key, bytes)
    return true
  },
  async *list(prefix) {
    yield* [...read().keys()].filter((name) => name.startsWith(prefix))
  },
})
const objects = objectsIn(() => stored)
const publicObjects = objectsIn(() => published)

const names = (): RingName[] => [...RING_NAMES]
const arnOf = (ring: RingName) => `arn:aws:secretsmanager:us-east-1:000000000000:secret:${ring}-${unique}`
const generate = { SecretStringTemplate: '{"current":"k1"}', GenerateStringKey: 'k1', PasswordLength: 64 }

beforeAll(async () => {
  const secrets = Array.from({ length: 20 }, (_, n) =>
    names().map((ring) => ({
      name: `${ring}-${n + 1}`,
      arn: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${ring}-${n + 1}`,
      generate: { ...generate, ExcludePunctuation: true },
      value: undefined,
    })),
  ).flat()
  services = await startServices({
    dataDir: place.folder,
    secrets,
    buckets: [{ name: 'bucket', cors: [] }],
    now: () => platform.clock.now(),
  })
})
afterAll(async () => {
  await services.stop()
  place.remove()
})
beforeEach(() => {
  unique += 1
  printed = []
  stored = new Map()
  published = new Map()
  platform.deps.keys = instance()
})
afterEach(() => services.onAwsCall(undefined))

/** The keyrings as one function instance sees them. */
const instance = () => {
  const arns = Object.fromEntries(RING_NAMES.map((ring) => [ring, arnOf(ring)])) as Record<RingName, string>
  return createKeys(arns, platform.clock, publicObjects, {
    dataKeys: objects,
    readText: async (SecretId) => {
      const { SecretString = '' } = await services.secrets.send(new GetSecretValueCommand({ SecretId }))
      return SecretString
    },
  })
}

const operation = (ring: RingName, given: Partial<Operation> = {}): Operation => ({
  ring,
  store: ringStore(services.secrets, arnOf(ring)),
  clock: platform.clock,
  sleep: async (ms) => platform.clock.advance(ms),
  say: (line) => printed.push(line),
  ...(isSigningRing(ring) && {
    publish: (text) => publishKeys(publicObjects, ring, parseKeyring(text)),
  }),
  ...given,
})
const textOf = async (ring: RingName, VersionStage = 'AWSCURRENT') =>
  (await services.secrets.send(new GetSecretValueCommand({ SecretId: arnOf(ring), VersionStage }))).SecretString ?? ''
const stateOf = async (ring: RingName) => readRing(await textOf(ring))
const resealPlace = () => ({
  client: platform.store.client as DynamoDBClient,
  tableName: platform.tableName,
  objects,
})
const walk: Reseal = (text, options) => reseal(resealPlace(), text, options)
const noWalk: Reseal = () => Promise.reject(new Error('tokens are not in the table'))
const kidOf = (token: string) => decodeProtectedHeader(token).kid
const me = async (token: string) => (await platform.call('GET', '/api/v1/me', { token })).status

describe('npm run keys -- rotate', () => {
  it('adds the key first, uses it only after every function has read it, and signs nobody out', async () => {
    const app = await installed(platform.deps)
    const person = await member(platform.deps, app.workspaceId, 'owner')
    expect([kidOf(app.token), kidOf(person.token)]).toEqual(['k1', 'k1'])
    const waited: number[] = []
    await rotate(
      operation('access', {
        sleep: async (ms) => {
          waited.push(ms)
          expect(await stateOf('access')).toEqual({ current: 'k1', next: 'k2', old: [] })
          platform.clock.advance(ms)
        },
      }),
    )
    expect(waited).toEqual([WAIT])
    expect(WAIT).toBeGreaterThan(KEYS_FRESH)
    expect(await stateOf('access')).toEqual({ current: 'k2', next: undefined, old: ['k1'] })
    platform.clock.advance(KEYS_FRESH)
    const { token } = await installed(platform.deps)
    expect(kidOf(token)).toBe('k2')
    expect([await me(token), await me(app.token)]).toEqual([200, 200])
    const session = await platform.call('GET', '/console/me', { token: person.token })
    expect(session.status).toBe(200)
    // Secrets Manager's own way back.
    expect(readRing(await textOf('access', 'AWSPREVIOUS'))).toEqual({ current: 'k1', next: 'k2', old: [] })
  })

  it('lets functions that are already running accept tokens of the new key', async () => {
    const before = instance()
    await before.access()
    platform.clock.advance(31_000)
    await rotate(operation('access'), { now: true })
    platform.deps.keys = instance()
    const { token } = await installed(platform.deps)
    expect(kidOf(token)).toBe('k2')
    platform.deps.keys = before
    expect((await before.access()).currentId).toBe('k1')
    expect(await me(token)).toBe(200)
  })

  it('resumes where it was stopped, and adds no second key when it is repeated', async () => {
    const stopped = operation('access', { sleep: () => Promise.reject(new Error('stopped')) })
    await expect(rotate(stopped)).rejects.toThrow('stopped')
    platform.clock.advance(WAIT - 60_000)
    const waited: number[] = []
    const again = operation('access', { sleep: async (ms) => void waited.push(ms) })
    await rotate(again)
    expect(waited).toEqual([60_000])
    expect(await stateOf('access')).toEqual({ current: 'k2', next: undefined, old: ['k1'] })
    await rotate(again)
    expect(printed.at(-1)).toMatch(/^k2 is in use since .* Give --again/)
    await rotate(again, { again: true, now: true })
    expect(await stateOf('access')).toEqual({ current: 'k3', next: undefined, old: ['k1', 'k2'] })
  })

  it('of two operators at once tells one to retry, loses nothing of the other, and lets both continue', async () => {
    const results = await Promise.allSettled([
      rotate(operation('access'), { now: true }),
      rotate(operation('access'), { now: true }),
    ])
    const refused = results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    for (const reason of refused) expect(reason).toContain('at the same time')
    expect(refused.length).toBeLessThan(2)
    await rotate(operation('access'), { now: true })
    expect(await stateOf('access')).toEqual({ current: 'k2', next: undefined, old: ['k1'] })
  })

  it('does not undo a change between its read and its write', async () => {
    const theirs = JSON.stringify({ ...JSON.parse(await textOf('access')), k7: 'x'.repeat(64) })
    services.onAwsCall(async ({ operation: name, input, phase }) => {
      if (name !== 'PutSecretValue' || phase !== 'before' || !input.VersionStages) return
      services.onAwsCall(undefined)
      await services.secrets.send(new PutSecretValueCommand({ SecretId: arnOf('access'), SecretString: theirs }))
    })
    await expect(rotate(operation('access'))).rejects.toThrow('at the same time. Run the command again')
    expect(await textOf('access')).toBe(theirs)
  })

  it('recognizes a lost answer', async () => {
    services.onAwsCall(({ operation: name, input, phase }) => {
      if (name !== 'UpdateSecretVersionStage' || phase !== 'after' || input.VersionStage !== 'AWSCURRENT') return
      throw new AwsError('InternalServiceError', 'The answer is lost.', 500)
    })
    await rotate(operation('access'))
    expect(await stateOf('access')).toEqual({ current: 'k2', next: undefined, old: ['k1'] })
  })
})

describe('npm run keys -- retire', () => {
  it.each(['access', 'staff'] as const)(
    'of %s refuses while a token may be valid, and removes the old keys after that',
    async (ring) => {
      const { token } = await installed(platform.deps)
      await rotate(operation(ring))
      platform.clock.advance(RINGS[ring].life - 1)
      await expect(retire(operation(ring), noWalk)).rejects.toThrow(/k1 may still be needed by a token until/)
      platform.clock.advance(1)
      await retire(operation(ring), noWalk)
      expect(await stateOf(ring)).toEqual({ current: 'k2', next: undefined, old: [] })
      platform.clock.advance(KEYS_FRESH)
      if (ring === 'access') expect(await me(token)).toBe(401)
      await retire(operation(ring), noWalk)
      expect(printed.at(-1)).toContain('nothing to retire')
    },
  )

  it('with --leaked refuses tokens of the old key at once, before they expire', async () => {
    const { app, installation, grant, token } = await installed(platform.deps)
    await rotate(operation('access'), { now: true })
    await retire(operation('access'), noWalk, { leaked: true })
    platform.deps.keys = instance()
    expect(await me(token)).toBe(401)
    const claims = { ins: installation.id, ws: installation.workspace_id, app: app.id, grt: grant.id, sv: 1 }
    expect(await me((await issueToken(platform.deps, 'access', claims)).token)).toBe(200)
  })

  it('keeps a key that was added and isn’t in use yet', async () => {
    await expect(rotate(operation('access', { sleep: () => Promise.reject(new Error('stopped')) }))).rejects.toThrow(
      'stopped',
    )
    await retire(operation('access'), noWalk, { leaked: true })
    expect(await stateOf('access')).toEqual({ current: 'k1', next: 'k2', old: [] })
  })
})

describe('the ring of data at rest', () => {
  const SETTINGS = 'settings-of-the-tests'

  /**
   * Creates an app with two signing secrets, and an installation with sealed settings and a text that only looks
   * sealed.
   */
  const sealedRecords = async () => {
    const { app, installation, signingSecret } = await installed(platform.deps)
    const installationKey = { workspace_id: installation.workspace_id, id: installation.id }
    const ring = await platform.deps.keys.data()
    const [, forged = ''] = (await seal(ring, 'another record', 'x')).split('..')
    const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid: 'k1', rec: SETTINGS }))
    const lookalike = `${header.toString('base64url')}..${forged}`
    const older = await seal(ring, signingSecretRecord(app.id), 'agsec_older')
    await platform.deps.table.transact([
      AppEntity.update(
        { id: app.id },
        { set: { signing_secrets: [...app.signing_secrets, { value: older }], summary: lookalike } },
      ),
      InstallationEntity.update(installationKey, {
        set: {
          settings: await seal(
            platform.deps.keys.ofWorkspace(installation.workspace_id),
            SETTINGS,
            '{"language":"en"}',
          ),
        },
      }),
    ])
    const read = async () => {
      const [record, of] = await platform.deps.table.getAll([
        AppEntity.ref({ id: app.id }),
        InstallationEntity.ref(installationKey),
      ])
      const now = await instance().data()
      const ofWorkspace = instance().ofWorkspace(installation.workspace_id)
      const secrets = (record?.signing_secrets ?? []).map(({ value }) => value)
      return {
        kids: [...secrets, of?.settings ?? ''].map(kidOf),
        plain: await Promise.all([
          ...secrets.map((value) => unseal(now, signingSecretRecord(app.id), value)),
          unseal(ofWorkspace, SETTINGS, of?.settings ?? ''),
        ]),
        summary: record?.summary,
      }
    }
    const workspace = installation.workspace_id
    return { read, plain: [signingSecret, 'agsec_older', '{"language":"en"}'], lookalike, workspace }
  }

  it('opens what older keys sealed; reseal re-encrypts what the ring sealed in any record, and nothing that only looks sealed', async () => {
    const { read, plain, lookalike, workspace } = await sealedRecords()
    await rotate(operation('data'))
    expect(await read()).toEqual({ kids: ['k1', 'k1', workspace], plain, summary: lookalike })
    await expect(retire(operation('data'), walk, { leaked: true })).rejects.toThrow(
      /\d+ values are encrypted with the old/,
    )
    await resealAll(operation('data'), walk)
    expect(printed.at(-1)).toMatch(/^\d+ values in \d+ items are encrypted again\.$/)
    expect(await read()).toEqual({ kids: ['k2', 'k2', workspace], plain, summary: lookalike })
  })

  it('wraps the data keys of workspaces again, so that they open without the old key', async () => {
    const { workspace } = await sealedRecords()
    const name = `data-keys/${workspace}`
    const wrapped = async () => new TextDecoder().decode(await objects.get(name))
    const sealed = await seal(await platform.deps.keys.ofWorkspace(workspace), 'note:1', 'Kept.')
    const before = await wrapped()
    expect(kidOf(before)).toBe('k1')
    await rotate(operation('data'))
    const { sealed: found } = await walk(await textOf('data'), { dry: true })
    expect(found).toBeGreaterThan(0)
    expect(await wrapped(), 'a count changes nothing').toBe(before)
    await resealAll(operation('data'), walk)
    expect(kidOf(await wrapped())).toBe('k2')
    // A reader that knows the new key only opens what the workspace's key encrypted before.
    const { k1: _, ...newer } = JSON.parse(await textOf('data'))
    const ring = parseKeyring(JSON.stringify(newer))
    const reader = createWorkspaceKeys({ objects, clock: platform.clock, data: async () => ring, fresh: 0 })
    expect(await unseal(reader.ofWorkspace(workspace), 'note:1', sealed)).toBe('Kept.')
  })

  it('brings back no data key of a workspace that is removed meanwhile', async () => {
    const { workspace } = await sealedRecords()
    const { keys } = platform.deps
    await seal(await keys.ofWorkspace(workspace), 'note:1', 'Kept.')
    await rotate(operation('data'))
    const { replace } = objects
    objects.replace = async (...given) => {
      if (given[0] === `data-keys/${workspace}`) await keys.destroyWorkspaceKey(workspace)
      return replace(...given)
    }
    try {
      await resealAll(operation('data'), walk)
    } finally {
      objects.replace = replace
    }
    expect(new TextDecoder().decode(await objects.get(`data-keys/${workspace}`))).toBe('destroyed')
  })

  it('keeps an old key as long as a backup needs it, counted from the last re-encrypted value', async () => {
    const { read, plain } = await sealedRecords()
    await rotate(operation('data'))
    platform.clock.advance(RINGS.data.life)
    await resealAll(operation('data'), walk)
    await expect(retire(operation('data'), walk)).rejects.toThrow(/k1 may still be needed by a restored table until/)
    platform.clock.advance(RINGS.data.life)
    // Nothing is left to reseal, so no new version is written and the time keeps counting.
    await resealAll(operation('data'), walk)
    await retire(operation('data'), walk)
    expect(await stateOf('data')).toEqual({ current: 'k2', next: undefined, old: [] })
    expect((await read()).plain).toEqual(plain)
  })

  it('leaves a value to a concurrent change during the walk', async () => {
    const both = [await sealedRecords(), await sealedRecords()]
    await rotate(operation('data'))
    const client = platform.store.client as DynamoDBClient
    const text = await textOf('data')
    const send = client.send.bind(client)
    let changed = 0
    vi.spyOn(client, 'send').mockImplementation((async (command: { constructor: { name: string }; input: never }) => {
      if (command.constructor.name === 'UpdateItemCommand' && changed++ === 0) {
        const { Key, TableName } = command.input as { Key: Record<string, { S: string }>; TableName: string }
        const { UpdateItemCommand } = await import('@aws-sdk/client-dynamodb')
        const input = { Key, TableName, UpdateExpression: 'SET settings = :s, signing_secrets = :s' }
        await send(new UpdateItemCommand({ ...input, ExpressionAttributeValues: { ':s': { S: 'theirs' } } }))
      }
      return send(command as never)
    }) as never)
    await reseal(resealPlace(), text, { dry: false })
    vi.mocked(client.send).mockRestore()
    const found = await Promise.allSettled(both.map(({ read }) => read()))
    expect(found.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(changed).toBe(2)
  })
})

describe('run by an operator', () => {
  const run = (...args: string[]) =>
    runCommand('ops/keys.ts', [...args, '--stage', 'prod'], {
      env: {
        AWS_ACCESS_KEY_ID: services.config.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: services.config.credentials.secretAccessKey,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: services.address,
        AWS_ENDPOINT_URL_S3: services.address,
      },
    })

  it('shows ids and never a key', async () => {
    platform.clock.advance(Date.now() - platform.clock.now())
    const place = ['--ring', 'access', '--secret-id', arnOf('access'), '--bucket', 'bucket']
    const rotated = await run('rotate', ...place, '--now')
    expect(rotated, rotated.output).toMatchObject({ code: 0 })
    const listed = await run('list', ...place)
    expect(listed.output).toMatch(
      /^access: access tokens of apps and people; .*\n {2}k2 {2}current\n {2}k1 {2}out of use; can be retired from/,
    )
    const { current, ...keys } = JSON.parse(await textOf('access'))
    expect([current, Object.keys(keys)]).toEqual(['k2', ['k1', 'k2']])
    for (const key of Object.values(keys)) expect(rotated.output + listed.output).not.toContain(key)
  })

  it('says what is wrong', async () => {
    const { code, output } = await run('rotate', '--ring', 'toString')
    expect([code, output]).toEqual([1, 'Give --ring data, receipts, cards, access, callback, console or staff.\n'])
  })

  it('quotes nothing of a secret that isn’t a keyring', async () => {
    const SecretString = JSON.stringify({ api_key: 'very secret, and more than thirty-two characters' })
    await services.secrets.send(new PutSecretValueCommand({ SecretId: arnOf('access'), SecretString }))
    const failure = await describeRing(operation('access')).catch((error: Error) => error)
    expect(failure).toMatchObject({ message: expect.stringMatching(/^The secret is not a keyring/) })
    expect(`${(failure as Error).stack} ${(failure as Error).cause}`).not.toContain('very secret')
  })
})
